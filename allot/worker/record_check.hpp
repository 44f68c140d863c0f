// A worker is not trusted: its records are limited to what the near end has observed.
#pragma once

#include <string>
#include <string_view>

#include "allot/base/stop.hpp"
#include "allot/worker/task.hpp"

namespace allot {

/// What the near end knows about a task that it has sent.
struct SentTask {
  Clock::time_point sent{};
  double sent_unix = 0;     ///< seconds since 1970
  double timeout_s = 0;     ///< of the request; 0: none
  bool was_killed = false;  ///< the near end requested it
};

inline constexpr std::size_t kMostRecordError = 4096;

/// Replaces impossible contents of a record:
///
/// - Times are finite, not negative, and between the sending of the task and the arrival of the record.
/// - `killed` is accepted only if it was requested, `timeout` only if there was one and it has passed, `ok`
///   only with exit 0. Otherwise the task failed, and the error says what the worker claimed. Only the near
///   end may report `lost`.
/// - Exit status, signal and memory are in the range that systems have.
/// - The error is one line of printable text, at most 4 KiB; the output is at most what a worker may send.
void confine_record(TaskRecord& record, const SentTask& task, Clock::time_point now);

/// The name of a worker's program for messages: one line, printable, short.
std::string confined_name(std::string_view program);

}  // namespace allot
