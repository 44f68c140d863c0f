// The ranks of an MPI job as workers: rank 0 distributes units, does some itself, and keeps all results.
//
// The protocol from the view of rank 0: every other rank says hello once, with a digest of the job that it is
// ready for, or with its error; then it receives units and answers each with its outcome; then it is
// released. No rank waits inside MPI: a rank without work polls from time to time and sleeps in between, so
// that it leaves its core to others.
// core to others.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "allot/sweep/workers.hpp"

namespace allot::mpi {

/// The number of this process in the job. MPI must be initialised (funneled is enough) and not finalised.
std::size_t rank();
std::size_t ranks();

/// On rank 0: receives every other rank's hello and releases them all. After this call, or after
/// `greet_ranks` has thrown, they end. Does nothing if they were released already.
void release_ranks();

/// On rank 0: waits until every rank is ready for this job. Throws std::runtime_error with a rank that is not
/// ready, and its reason.
void greet_ranks(const SweepJob& job);

/// On other ranks: reports that this rank is ready, and does units until it is released.
void serve(const SweepJob& job);

/// On other ranks: reports an error that occurred before `serve`, and waits until released. Does nothing
/// after `serve`.
void report_unfit(const std::string& why);

/// On rank 0, after `greet_ranks`: all ranks including this one, each with one unit at a time (or one and the
/// next, if many are left).
class RankWorkers : public Workers {
 public:
  std::size_t count() const noexcept override;
  void run(const SweepJob& job, std::span<const Unit> units, const StopLimits& stop,
           const Done& done) override;
};

}  // namespace allot::mpi
