// A worker may be anywhere and anybody's: what its records say is confined to what the near end itself saw.
#pragma once

#include <string>
#include <string_view>

#include "allot/base/stop.hpp"
#include "allot/worker/task.hpp"

namespace allot {

/// What the near end knows of a task that it has sent.
struct SentTask {
  Clock::time_point sent{};
  double sent_unix = 0;     ///< seconds since 1970
  double timeout_s = 0;     ///< of the request; 0: none
  bool was_killed = false;  ///< the near end asked for that
};

inline constexpr std::size_t kMostRecordError = 4096;

/// Makes a record say nothing that cannot be:
///
/// - times are finite, not negative, and lie between the moments when the task was sent and when the record
/// came;
/// - `killed` only if that was asked for, `timeout` only if there was one and it has passed, `ok` only with
/// exit 0:
///   otherwise it failed, and the error says what the worker claimed. `lost` is for this end to say;
/// - exit status, signal and memory are of a kind that systems have;
/// - error is one line of printable text, at most 4 KiB; output at most what a worker is to send.
void confine_record(TaskRecord& record, const SentTask& task, Clock::time_point now);

/// What a worker says of itself, for messages: one line, printable, short.
std::string confined_name(std::string_view program);

}  // namespace allot
