#include "allot/worker/record_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "allot/base/quote.hpp"

namespace allot {
namespace {

/// Clocks of two machines differ: times may be this much longer.
constexpr double kSlack = 1.01;
constexpr double kSlackSeconds = 0.1;
/// Maximum processors that a task can have used at the same time.
constexpr double kMostProcessors = 1e5;
constexpr std::int64_t kMostMemoryKb = std::int64_t{1} << 50;
constexpr int kLastSignal = 64;

double within(double value, double least, double most) {
  return std::isfinite(value) ? std::clamp(value, least, std::max(least, most)) : least;
}

void add_error(TaskRecord& record, const std::string& claim) {
  record.error = claim + (record.error.empty() ? "" : "; " + record.error);
}

void confine_status(TaskRecord& record, const SentTask& task, double elapsed) {
  if (record.exit && (*record.exit < 0 || *record.exit > 255)) record.exit.reset();
  if (record.signal && (*record.signal < 1 || *record.signal > kLastSignal)) record.signal.reset();
  if (record.exit) record.signal.reset();
  std::string claim;
  switch (record.status) {
    case TaskStatus::kOk:
      if (record.exit != 0) claim = "the worker reports success, but not with exit status 0";
      break;
    case TaskStatus::kTimeout:
      if (!(task.timeout_s > 0) || elapsed * kSlack + kSlackSeconds < task.timeout_s)
        claim = "the worker reports a timeout that has not passed";
      break;
    case TaskStatus::kKilled:
      if (!task.was_killed)
        claim = "the worker reports that it was killed, but this run did not ask for that";
      break;
    case TaskStatus::kLost:
      claim = "the worker reports that it lost the task";
      break;
    case TaskStatus::kFailed:
      break;
  }
  if (!claim.empty()) {
    record.status = TaskStatus::kFailed;
    add_error(record, claim);
  }
  if (record.status != TaskStatus::kFailed) record.not_found = false;
}

void confine_text(std::string& text, bool& cut) {
  if (text.size() <= kMostOutput) return;
  text.resize(kMostOutput);
  cut = true;
}

}  // namespace

void confine_record(TaskRecord& record, const SentTask& task, Clock::time_point now) {
  const double elapsed = std::max(0.0, std::chrono::duration<double>(now - task.sent).count());
  confine_status(record, task, elapsed);
  record.wall_s = within(record.wall_s, 0, elapsed);
  record.start_unix = within(record.start_unix, task.sent_unix, task.sent_unix + elapsed - record.wall_s);
  record.user_s = within(record.user_s, 0, (elapsed + kSlackSeconds) * kMostProcessors);
  record.sys_s = within(record.sys_s, 0, (elapsed + kSlackSeconds) * kMostProcessors);
  record.maxrss_kb = std::clamp<std::int64_t>(record.maxrss_kb, 0, kMostMemoryKb);
  record.error = quote::terminal(record.error, kMostRecordError - 3);
  if (record.error.size() > kMostRecordError) record.error.resize(kMostRecordError);
  confine_text(record.out, record.out_cut);
  confine_text(record.err, record.err_cut);
}

std::string confined_name(std::string_view program) { return quote::terminal(program, 80); }

}  // namespace allot
