// One attempt at a task, as the journal keeps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace allot {

enum class AttemptStatus { kStarted, kOk, kFailed, kTimeout, kKilled, kLost };

/// "started", "ok", "failed", "timeout", "killed", "lost"
std::string_view to_string(AttemptStatus status) noexcept;
std::optional<AttemptStatus> parse_status(std::string_view text) noexcept;

/// What is known of an attempt as it begins.
struct AttemptOrigin {
  int attempt = 1;  ///< of this task; 0: none was made, and its end is that of a task that could not begin
  std::string resource;
  std::int64_t slot = 0;
  double start_unix = 0;
  double queue_s = 0;   ///< between being ready to run and running
  std::string command;  ///< as a command line
};

/// How an attempt ended.
struct AttemptResult {
  AttemptStatus status = AttemptStatus::kOk;
  std::optional<int> exit;
  std::optional<int> signal;
  double wall_s = 0;
  double user_s = 0;
  double sys_s = 0;
  std::int64_t maxrss_kb = 0;
  bool counted = false;  ///< entered the rates
  std::string error;     ///< what went wrong outside the task's own code
};

/// An attempt begins.
struct AttemptStart : AttemptOrigin {
  std::size_t task = 0;  ///< its place among the tasks that were registered
};

/// An attempt has ended. `resource` to `command` as in its start; where the start was never recorded, or was
/// recorded otherwise, these count.
struct AttemptEnd : AttemptStart, AttemptResult {
  bool forgiven = false;  ///< counts neither against the task's retries nor its requeues
};

/// An attempt as it is read back; of one that has not ended the status is kStarted.
struct AttemptRow : AttemptOrigin, AttemptResult {
  std::int64_t sequence = 0;  ///< in the order of their starts
  std::int64_t run = 0;       ///< which run of the job, from 1
  std::string task;           ///< text of its identity
  std::int64_t task_id = 0;   ///< its number in the journal
  std::string type;
  bool is_final = false;  ///< the task's one final record
  std::string out_file;   ///< what it printed; empty: nothing, or not looked for
  std::string err_file;
};

/// Where what an attempt prints is kept, without its ending (.out or .err). By the number that the journal
/// gives a task: its place in the job may be another one in the next run.
std::string kept_output(const std::string& folder, std::int64_t task_id, int attempt);

/// How fast a pair was found to be.
struct LearntRate {
  std::string type;
  std::string resource;
  double rate = 0;  ///< tasks per second on one slot
  double low = 0;   ///< 95% interval
  double high = 0;
  std::int64_t completions = 0;
  double time_unix = 0;
};

/// What a plan promises: completions per second of a type, from this moment on.
struct Prediction {
  double time_unix = 0;
  std::string type;
  double throughput = 0;
};

}  // namespace allot
