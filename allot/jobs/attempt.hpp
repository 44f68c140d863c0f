// One attempt at a task, as recorded in the journal.
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

/// What is known of an attempt when it begins.
struct AttemptOrigin {
  int attempt = 1;  ///< of this task, from 1; 0: there was no attempt, because the task could not begin
  std::string resource;
  std::int64_t slot = 0;
  double start_unix = 0;
  double queue_s = 0;   ///< from being ready to run until running
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
  bool counted = false;  ///< used for the rates
  std::string error;     ///< an error outside the task's own code
};

/// An attempt begins.
struct AttemptStart : AttemptOrigin {
  std::size_t task = 0;  ///< its position among the registered tasks
};

/// An attempt has ended. `resource` to `command` are as in its start; if the start was not recorded, or was
/// recorded differently, these values apply.
struct AttemptEnd : AttemptStart, AttemptResult {
  bool forgiven = false;  ///< counts neither against the task's retries nor against its requeues
};

/// An attempt as read from the journal. If it has not ended, the status is kStarted.
struct AttemptRow : AttemptOrigin, AttemptResult {
  std::int64_t sequence = 0;  ///< in order of start
  std::int64_t run = 0;       ///< the run of the job, from 1
  std::string task;           ///< text of its identity
  std::int64_t task_id = 0;   ///< its number in the journal
  std::string type;
  bool is_final = false;  ///< the final record of its task; a task has only one
  std::string out_file;   ///< its captured output; empty: none, or not looked for
  std::string err_file;
};

/// The path of the captured output of an attempt, without its ending (.out or .err). It uses the number of
/// the task in the journal, because its position in the job may differ in the next run.
std::string kept_output(const std::string& folder, std::int64_t task_id, int attempt);

/// The learned rate of a pair.
struct LearntRate {
  std::string type;
  std::string resource;
  double rate = 0;  ///< tasks per second on one slot
  double low = 0;   ///< 95% interval
  double high = 0;
  std::int64_t completions = 0;
  double time_unix = 0;
};

/// The prediction of a plan: completions per second of a type, from this time on.
struct Prediction {
  double time_unix = 0;
  std::string type;
  double throughput = 0;
};

}  // namespace allot
