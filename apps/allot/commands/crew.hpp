// Who does the units of a sweep: the threads of this process (`allot`), or the processes of a job
// (`allot-mpi`). Each program links its own version of these two functions.
#pragma once

#include <memory>

#include "allot/sweep/workers.hpp"

namespace allot::app {

/// In a process that works for another: does so until it is released, and returns true. In one that is in
/// charge: returns false at once.
bool work_for_another(const SweepJob& job);

/// Workers for the job. `threads`: 0 unless the user gave a number. Throws Failure when they cannot be had.
std::unique_ptr<Workers> hire_workers(const SweepJob& job, unsigned threads);

}  // namespace allot::app
