// allot worker: the far end of a lane.
#include <unistd.h>

#include "allot/worker/serve.hpp"
#include "apps/allot/command.hpp"

namespace allot::app::worker_command {
namespace {

Exit run_worker(Console& console) {
  if (::isatty(STDIN_FILENO) != 0 || ::isatty(STDOUT_FILENO) != 0) {
    throw Failure(Exit::kUsage,
                  "a worker talks to the 'allot run' that started it, not to a terminal.\n"
                  "Launchers that create a terminal, such as 'ssh -t', 'srun --pty' and 'srun -u', corrupt "
                  "its messages.");
  }
  const ServeOutcome outcome = serve();
  if (outcome.in_order) return Exit::kOk;
  console.error("the worker ended: " + outcome.why);
  return Exit::kFailed;
}

Declared declare() { return {{}, run_worker}; }

}  // namespace

extern const Command command;
const Command command{"worker", "Run tasks on behalf of 'allot run', on this machine or another.",
                      "allot run jobs.toml     # starts it here, or through a resource's `launch`", declare,
                      "It speaks the worker protocol on its standard input and output."};

}  // namespace allot::app::worker_command
