// The ranks of an MPI job as workers: rank 0 hands out units, does some itself, and keeps all results.
//
// A conversation, seen from rank 0: every other rank says hello once, with a digest of the job it is ready
// for or with what went wrong; then it gets units and answers each with its outcome; then it is released.
// Nobody waits inside MPI: a rank without work asks now and then and sleeps in between, so that it leaves its
// core to others.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "allot/sweep/workers.hpp"

namespace allot::mpi {

/// This process's place in the job. MPI must have been initialised (funneled is enough) and not finalised.
std::size_t rank();
std::size_t ranks();

/// On rank 0: hears every other rank's hello and releases them all. Once it has been called, or `greet` has
/// thrown, they end. Does nothing where that has been done.
void release_ranks();

/// On rank 0: waits until every rank is ready for this job. Throws std::runtime_error naming a rank that is
/// not, and why.
void greet_ranks(const SweepJob& job);

/// On other ranks: says that this one is ready, and does units until it is released.
void serve(const SweepJob& job);

/// On other ranks: says what went wrong before it could serve, and waits to be released. Nothing after
/// `serve`.
void report_unfit(const std::string& why);

/// On rank 0, after `greet_ranks`: all ranks, this one included, one unit at a time each (or one and the
/// next, where many are left).
class RankWorkers : public Workers {
 public:
  std::size_t count() const noexcept override;
  void run(const SweepJob& job, std::span<const Unit> units, const StopLimits& stop,
           const Done& done) override;
};

}  // namespace allot::mpi
