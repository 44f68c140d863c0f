// The far end of a lane: runs tasks, and leaves no process behind when it ends.
#pragma once

#include <string>

namespace allot {

struct ServeOptions {
  int input = 0;   ///< descriptor for requests
  int output = 1;  ///< descriptor for records
};

/// Why a worker ended.
struct ServeOutcome {
  bool in_order = true;  ///< it received Finish, or its input closed
  std::string why;       ///< the reason, if not in order
};

/// Serves one lane until it receives Finish, the input closes, the output cannot be written, the input
/// violates the protocol, the near end is silent for longer than agreed, or SIGTERM arrives. Then it kills
/// every descendant, also those that left their session or lost their parents: the process becomes a
/// subreaper, so none escapes.
///
/// Every task has its own session, with default signals, /dev/null as standard input, and only the three
/// standard descriptors. A task ends with its main process: the rest of its process group is then killed, and
/// so are daemons that left the group but still have the task's environment. A daemon without any trace of
/// its task lives until no task is running.
///
/// Takes over the process: signal dispositions (INT, HUP, QUIT, TSTP, TTIN, TTOU, PIPE are ignored) and all
/// children. Call it from the main thread, with no other thread running. Does not throw.
ServeOutcome serve(const ServeOptions& options = {}) noexcept;

}  // namespace allot
