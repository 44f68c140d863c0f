#include "allot/run/attempt_record.hpp"

namespace allot {

AttemptStatus status_of(TaskStatus status) noexcept {
  return parse_status(to_string(status)).value_or(AttemptStatus::kLost);
}

AttemptEnd end_of(const RunningAttempt& attempt, const TaskRecord& record, AttemptStatus status) {
  AttemptEnd end;
  static_cast<AttemptStart&>(end) = attempt.start;
  if (record.start_unix > 0) end.start_unix = record.start_unix;
  end.status = status;
  end.exit = record.exit;
  end.signal = record.signal;
  end.wall_s = record.wall_s;
  end.user_s = record.user_s;
  end.sys_s = record.sys_s;
  end.maxrss_kb = record.maxrss_kb;
  end.error = record.error;
  if (end.error.empty() && (record.out_cut || record.err_cut)) end.error = "its output was cut at 1 MiB";
  const bool ended_by_itself =
      status == AttemptStatus::kOk || status == AttemptStatus::kFailed || status == AttemptStatus::kTimeout;
  end.counted = ended_by_itself && !record.not_found && !record.was_stopped && !attempt.disturbed;
  return end;
}

}  // namespace allot
