// The far end of a lane: runs tasks, and leaves no process behind however it ends.
#pragma once

#include <string>

namespace allot {

struct ServeOptions {
  int input = 0;   ///< descriptor that requests come in on
  int output = 1;  ///< descriptor that records go out on
};

/// Why a worker ended.
struct ServeOutcome {
  bool in_order = true;  ///< told to finish, or its input closed
  std::string why;       ///< otherwise: why
};

/// Serves one lane until it is told to finish, the input closes, the output cannot be written, something else
/// than the protocol comes in, nothing is heard for as long as the near end said, or SIGTERM arrives. Then
/// every descendant is killed, also those that left their session or lost their parents: the process becomes
/// a subreaper, so none gets away.
///
/// Every task is a session of its own, with default signals, /dev/null as standard input, and no descriptors
/// but the three. A task ends with its main process: what is left of its process group then is killed, and so
/// are daemons that left the group but still carry the task's environment. One that has no trace of its task
/// lives until no task is running.
///
/// Takes the process over: signal dispositions (INT, HUP, QUIT, TSTP, TTIN, TTOU, PIPE are ignored), all
/// children. Call it from the main thread, with no other thread running. Does not throw.
ServeOutcome serve(const ServeOptions& options = {}) noexcept;

}  // namespace allot
