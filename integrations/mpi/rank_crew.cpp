// The workers of `allot-mpi`: rank 0 is the main process, the others work for it.
#include <signal.h>
#include <unistd.h>

#include <stdexcept>

#include "apps/allot/commands/crew.hpp"
#include "apps/allot/exit.hpp"
#include "integrations/mpi/ranks.hpp"

namespace allot::app {
namespace {

constexpr char kEnded[] =
    "\nerror: the job was ended from outside: a rank died, or somebody stopped it. Every unit that was "
    "finished is "
    "kept;\nrun the same command to resume.\n";

/// mpirun sends this to all ranks if one has died, or if it is stopped itself; the store is always valid.
extern "C" void on_terminate(int) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kEnded, sizeof kEnded - 1);
  ::_exit(static_cast<int>(Exit::kFailed));
}

}  // namespace

bool work_for_another(const SweepJob& job) {
  if (mpi::rank() == 0) return false;
  mpi::serve(job);
  return true;
}

std::unique_ptr<Workers> hire_workers(const SweepJob& job, unsigned threads) {
  if (threads > 1)
    throw Failure(Exit::kUsage,
                  "--jobs: a rank does one unit at a time; 'mpirun -n' says how many ranks there are.");
  try {
    mpi::greet_ranks(job);
  } catch (const std::runtime_error& error) {
    throw Failure(Exit::kFailed, error.what());
  }
  struct sigaction action {};
  action.sa_handler = on_terminate;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGTERM, &action, nullptr);
  return std::make_unique<mpi::RankWorkers>();
}

}  // namespace allot::app
