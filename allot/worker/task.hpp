// The tasks that a worker runs, and its records of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

/// One process to run. All strings are bytes and are passed on unchanged; relative paths start at
/// `directory`.
struct TaskRequest {
  std::uint64_t id = 0;                  ///< chosen by the caller; unique on the lane
  std::vector<std::string> argv;         ///< the command, looked up in the task's PATH, and its arguments
  std::vector<std::string> environment;  ///< "NAME=value", on top of the worker's own
  std::string directory;                 ///< working directory; empty: the worker's
  /// Files for the output. An existing file is replaced; both may be the same. A file that stays empty is
  /// removed, unless it is the temporary output. Without a path, the output is captured and sent back with
  /// the record.
  std::string stdout_path;
  std::string stderr_path;
  /// Both are empty, or: if the task succeeds, `temporary_output` is made durable and renamed to
  /// `final_output`; if it does not, it is removed. A task that exits with 0 but leaves no temporary output
  /// has failed.
  std::string temporary_output;
  std::string final_output;
  double timeout_s = 0;  ///< 0: none. When it is over, the task's processes get SIGTERM, and after `grace_s`
                         ///< SIGKILL
  double grace_s = 5;

  friend bool operator==(const TaskRequest&, const TaskRequest&) = default;
};

enum class TaskStatus : std::uint8_t {
  kOk,       ///< exit 0, and the output, if one was promised, is in place
  kFailed,   ///< another exit, a signal that was not ours, or it could not be started
  kTimeout,  ///< ended because its time was over, with any exit
  kKilled,   ///< ended because the caller requested it
  kLost,     ///< unknown: the lane was lost before a record came
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
  bool not_found = false;  ///< the command cannot be executed, now or later: `error` has the reason
  std::string error;       ///< an error outside the task's own code; usually empty
  double start_unix = 0;   ///< seconds since 1970
  double wall_s = 0;       ///< from its start, by a monotonic clock; time while stopped is not counted
  double user_s = 0;
  double sys_s = 0;
  std::int64_t maxrss_kb = 0;  ///< peak memory; at least the worker's own, from which the task was forked
  bool was_stopped = false;    ///< it was paused at some time
  /// Without a path: the beginning of its output, at most kMostOutput bytes each; cut: there was more.
  std::string out;
  std::string err;
  bool out_cut = false;
  bool err_cut = false;

  friend bool operator==(const TaskRecord&, const TaskRecord&) = default;
};

/// Maximum bytes captured of a task's standard output, and of its standard error.
inline constexpr std::size_t kMostOutput = std::size_t{1} << 20;

}  // namespace allot
