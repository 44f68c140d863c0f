// The sweep engine: does the units that are not in the store yet, and saves each when it is finished.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allot/sweep/store.hpp"
#include "allot/sweep/workers.hpp"

namespace allot {

struct SweepProgress {
  std::size_t done = 0;  ///< units in the store, from this run or an earlier one
  std::size_t all = 0;
  std::optional<double> seconds_left;  ///< estimated from past units; absent before the first
};

struct SweepOptions {
  StopLimits stop;
  /// Called on the calling thread at the start and after every unit.
  std::function<void(const SweepProgress&)> progress;
};

struct SweepFailure {
  std::string experiment;
  std::size_t unit = 0;
  std::string message;
};

struct SweepOutcome {
  /// For each experiment, the results of all its units in order; empty if one is missing.
  std::vector<std::vector<UnitResult>> results;
  std::vector<bool> complete;          ///< by experiment
  std::vector<SweepFailure> failures;  ///< in the order of experiments and units
  std::size_t all = 0;                 ///< units
  std::size_t found = 0;               ///< units that were already in the store
  std::size_t done = 0;                ///< units that this run added
  bool stopped = false;                ///< by the limits, before all units were tried
};

/// Does the units of the job that the store lacks. Exclusive units come last, one at a time on the calling
/// thread. A failed unit does not stop the others. The results do not depend on the workers, nor on how often
/// the run was interrupted and resumed. Throws StoreError.
SweepOutcome run_sweep(const SweepJob& job, Store& store, Workers& workers, const SweepOptions& options = {});

}  // namespace allot
