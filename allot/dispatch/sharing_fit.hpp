// What tasks take of capacities that they share, learned from how much mixes of tasks slow each other down.
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

/// A mix of tasks that ran for a while: how many of each pair were in service on average, and how many of
/// them ended per second. A pair with tasks of which none ended loads the others, and says nothing itself.
struct MixMeasurement {
  PerPair<double> in_service;
  PerPair<double> throughput;
  /// How much it counts in a fit beside others: more for a mix that is like what will be planned.
  double weight = 1;
};

/// A number and its 95% interval.
struct FittedNumber {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// By how much predicted throughputs of mixes are off, as parts of what was measured.
struct SharingError {
  double median = 0;
  double worst = 0;
  double within_tenth = 0;  ///< the part of the mixes that are off by 10% or less
};

struct SharingFit {
  /// At full speed, tasks per second of one task in service; 0: the pair was in no mix.
  PerPair<FittedNumber> rates;
  /// One for each shared capacity, of which there is 1: what a task in service takes of it; 0: nothing.
  std::vector<PerPair<FittedNumber>> needs;
  SharingError in_sample;
  /// Of mixes that were left out of the fit which predicts them, by the number of capacities: 0, 1, ...
  std::vector<SharingError> left_out;
  std::size_t mixes = 0;

  /// Tasks per second of each pair, with so many in service.
  PerPair<double> predict(const PerPair<double>& in_service) const;
};

struct SharingFitOptions {
  std::size_t most_capacities = 2;
  std::size_t folds = 8;       ///< of the mixes, each left out in turn
  std::size_t resamples = 60;  ///< bootstrap, for the intervals
  std::uint64_t seed = 1;
  StopLimits stop;  ///< looked at between descents: the folds and resamples so far count, the fit stands
};

/// Rates at full speed and needs of one or two shared capacities such that the filling of the model
/// (`Filling`) explains the mixes best: as many capacities as predict mixes that were left out best, and a
/// need only where it explains more than chance would. Depends on its arguments alone, unless it is stopped.
/// Needs at least one mix; throws InvalidModel when mixes differ in shape or hold what is no number.
SharingFit fit_sharing(std::span<const MixMeasurement> mixes, const SharingFitOptions& options = {});

/// The system with the rates and needs of the fit where it has any; capacities are named shared1, shared2, or
/// with a higher number where that name is taken.
System with_sharing(const System& system, const SharingFit& fit);

}  // namespace allot
