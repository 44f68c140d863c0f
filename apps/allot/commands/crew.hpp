// The workers of a sweep: threads of this process (`allot`), or processes of an MPI job (`allot-mpi`). Each
// program links its own version of these two functions.
#pragma once

#include <memory>

#include "allot/sweep/workers.hpp"

namespace allot::app {

/// In a process that works for another: works until it is released, and returns true. In the main process:
/// returns false at once.
bool work_for_another(const SweepJob& job);

/// Workers for the job. `threads`: 0 unless the user gave a number. Throws Failure if they are not available.
std::unique_ptr<Workers> hire_workers(const SweepJob& job, unsigned threads);

}  // namespace allot::app
