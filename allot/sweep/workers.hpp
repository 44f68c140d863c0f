// Who does the units: threads of this process here, processes on other machines elsewhere (integrations/mpi).
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

/// A unit that has been tried.
struct UnitOutcome {
  Unit unit;
  UnitResult result;
  double seconds = 0;
  std::string error;  ///< why there is no result; empty when there is
};

/// Does one unit. What the experiment throws, and rows that do not fit its columns, become `error`. Absent
/// when it was stopped. Thread-safe.
std::optional<UnitOutcome> do_unit(const SweepJob& job, const Unit& unit, const StopLimits& stop);

class Workers {
 public:
  virtual ~Workers() = default;

  /// How many units are worked on at a time.
  virtual std::size_t count() const noexcept = 0;

  using Done = std::function<void(UnitOutcome)>;

  /// Starts the units in the order given, each once, and hands every outcome to `done` as it comes, on the
  /// calling thread. Returns when all are done or, once stopped, when nobody works any more. What `done`
  /// throws ends the run the same way and is thrown on.
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
