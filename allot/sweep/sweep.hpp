// The sweep engine: does what is not in the store yet, and keeps every unit as it is finished.
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
  std::optional<double> seconds_left;  ///< from what units have taken so far; absent before the first
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
  /// For each experiment the results of all its units in their order; empty where one is missing.
  std::vector<std::vector<UnitResult>> results;
  std::vector<bool> complete;          ///< by experiment
  std::vector<SweepFailure> failures;  ///< in the order of experiments and units
  std::size_t all = 0;                 ///< units
  std::size_t found = 0;               ///< units that the store held already
  std::size_t done = 0;                ///< units that this run added
  bool stopped = false;                ///< by the limits, before everything was tried
};

/// Does the units of the job that the store lacks, the exclusive ones last and one at a time on the calling
/// thread. A unit that fails stops no other. The results do not depend on the workers, nor on how often the
/// run was broken off and begun again. Throws StoreError.
SweepOutcome run_sweep(const SweepJob& job, Store& store, Workers& workers, const SweepOptions& options = {});

}  // namespace allot
