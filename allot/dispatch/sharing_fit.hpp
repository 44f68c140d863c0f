// The needs of tasks for shared capacities, learned from how much tasks in mixes slow each other down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/base/stop.hpp"
#include "allot/model/system.hpp"

namespace allot {

/// A mix of tasks that ran for a while: the mean number of tasks of each pair in service, and completions per
/// second. A pair whose tasks never ended loads the others but gives no information itself.
struct MixMeasurement {
  PerPair<double> in_service;
  PerPair<double> throughput;
  /// Its weight in a fit: higher for a mix that is similar to future plans.
  double weight = 1;
};

/// A number and its 95% interval.
struct FittedNumber {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Relative errors of the predicted throughputs of mixes.
struct SharingError {
  double median = 0;
  double worst = 0;
  double within_tenth = 0;  ///< the part of the mixes with an error of 10% or less
};

struct SharingFit {
  /// At full speed, tasks per second of one task in service; 0: the pair was in no mix.
  PerPair<FittedNumber> rates;
  /// For each shared capacity, all of amount 1: what a task in service takes of it; 0: nothing.
  std::vector<PerPair<FittedNumber>> needs;
  SharingError in_sample;
  /// For mixes that were left out of the fit that predicts them, by number of capacities: 0, 1, ...
  std::vector<SharingError> left_out;
  std::size_t mixes = 0;

  /// Tasks per second of each pair, with these numbers in service.
  PerPair<double> predict(const PerPair<double>& in_service) const;
};

struct SharingFitOptions {
  std::size_t most_capacities = 2;
  std::size_t folds = 8;       ///< groups of mixes, each left out in turn
  std::size_t resamples = 60;  ///< bootstrap, for the intervals
  std::uint64_t seed = 1;
  StopLimits stop;  ///< checked between descents; a stopped fit uses the folds and resamples so far
};

/// Fits rates at full speed and needs of up to `most_capacities` shared capacities, so that the model
/// (`Filling`) explains the mixes best. Uses the number of capacities that best predicts left-out mixes, and
/// a need only if it explains more than chance would. Depends only on its arguments, unless it is stopped.
/// Needs at least one mix; throws InvalidModel if mixes differ in shape or hold a value that is not a number.
SharingFit fit_sharing(std::span<const MixMeasurement> mixes, const SharingFitOptions& options = {});

/// The system with the rates and needs of the fit, where it has any. Capacities are named shared1, shared2,
/// or with a higher number if that name is taken.
System with_sharing(const System& system, const SharingFit& fit);

}  // namespace allot
