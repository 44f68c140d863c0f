// What a worker is asked to run, and what it says about it afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

/// One process to run. All strings are bytes, passed on as they are; paths that are not absolute start at
/// `directory`.
struct TaskRequest {
  std::uint64_t id = 0;                  ///< the caller's; unique on the lane
  std::vector<std::string> argv;         ///< the command, looked up in the task's PATH, and its arguments
  std::vector<std::string> environment;  ///< "NAME=value", on top of the worker's own
  std::string directory;                 ///< working directory; empty: the worker's
  /// Files to write, made new (what lies there is removed); they may be the same. Those that stay empty are
  /// removed, but for the temporary output. No path: what is printed is kept, and sent back with the record.
  std::string stdout_path;
  std::string stderr_path;
  /// Both empty; or, when the task succeeded, `temporary_output` is made durable and renamed to
  /// `final_output`, and when it did not, removed. No temporary output after a success is a failure.
  std::string temporary_output;
  std::string final_output;
  double timeout_s = 0;  ///< 0: none. After it the task's processes get SIGTERM, and after `grace_s` SIGKILL
  double grace_s = 5;

  friend bool operator==(const TaskRequest&, const TaskRequest&) = default;
};

enum class TaskStatus : std::uint8_t {
  kOk,       ///< exit 0, and the output, if one was promised, is in place
  kFailed,   ///< another exit, a signal of its own, or it could not be started
  kTimeout,  ///< ended because its time was over, however it then ended
  kKilled,   ///< ended because the caller asked for it
  kLost,     ///< nobody knows: the lane was lost before a record came
};

/// "ok", "failed", "timeout", "killed", "lost".
std::string_view to_string(TaskStatus status) noexcept;

/// How a task ended. The times are those of its main process; processor time and memory include the
/// descendants that it waited for.
struct TaskRecord {
  std::uint64_t id = 0;
  TaskStatus status = TaskStatus::kLost;
  std::optional<int> exit;
  std::optional<int> signal;
  bool not_found = false;  ///< the command cannot be executed at all, now or later: `error` says why
  std::string error;       ///< what went wrong outside the task's own code; mostly empty
  double start_unix = 0;   ///< seconds since 1970
  double wall_s = 0;       ///< from its spawning, by a monotonic clock; time stopped not counted
  double user_s = 0;
  double sys_s = 0;
  std::int64_t maxrss_kb = 0;  ///< peak memory; never less than the worker's own, which it was forked from
  bool was_stopped = false;    ///< was paused during its life
  /// Where no path was given: the beginning of what it wrote, at most kMostOutput bytes each; cut: it wrote
  /// more.
  std::string out;
  std::string err;
  bool out_cut = false;
  bool err_cut = false;

  friend bool operator==(const TaskRecord&, const TaskRecord&) = default;
};

/// What is kept of a task's standard output, and of its standard error.
inline constexpr std::size_t kMostOutput = std::size_t{1} << 20;

}  // namespace allot
