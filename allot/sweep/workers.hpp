// Workers do the units: threads of this process here, processes on other machines in integrations/mpi.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "allot/base/stop.hpp"
#include "allot/sweep/experiment.hpp"

namespace allot {

/// Experiments to be done with one effort. Views only.
struct SweepJob {
  std::span<const Experiment> experiments;
  Effort effort;
};

/// One unit of one of a job's experiments.
struct Unit {
  std::size_t experiment = 0;
  std::size_t unit = 0;
  friend bool operator==(const Unit&, const Unit&) = default;
};

/// The outcome of one attempt at a unit.
struct UnitOutcome {
  Unit unit;
  UnitResult result;
  double seconds = 0;
  std::string error;  ///< why there is no result; empty if there is one
};

/// Does one unit. Exceptions of the experiment, and rows that do not fit its columns, become `error`. Absent
/// if it was stopped. Thread-safe.
std::optional<UnitOutcome> do_unit(const SweepJob& job, const Unit& unit, const StopLimits& stop);

class Workers {
 public:
  virtual ~Workers() = default;

  /// Number of units done at the same time.
  virtual std::size_t count() const noexcept = 0;

  using Done = std::function<void(UnitOutcome)>;

  /// Starts each unit once, in the order given, and passes every outcome to `done` on the calling thread.
  /// Returns when all units are done or, after a stop, when no worker is busy any more. An exception of
  /// `done` ends the run in the same way and is rethrown.
  virtual void run(const SweepJob& job, std::span<const Unit> units, const StopLimits& stop,
                   const Done& done) = 0;
};

/// Threads of this process.
class ThreadWorkers : public Workers {
 public:
  /// 0: as many as there are cores.
  explicit ThreadWorkers(unsigned threads = 0);

  std::size_t count() const noexcept override { return threads_; }
  void run(const SweepJob& job, std::span<const Unit> units, const StopLimits& stop,
           const Done& done) override;

 private:
  unsigned threads_;
};

}  // namespace allot
