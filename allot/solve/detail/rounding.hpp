// From a relaxed assignment to a real one: which fractions go up, and which down.
#pragma once

#include <optional>
#include <span>

#include "allot/base/stop.hpp"
#include "allot/model/system.hpp"

namespace allot::detail {

/// All roundings are looked at when there are no more of them than this.
inline constexpr double kMaxRoundings = 20'000;

/// In how many ways every entry can go to its floor or its ceiling so that each type places all its tasks.
double count_roundings(const System& system, std::span<const double> relaxed);

/// The best assignment found among the roundings of `relaxed` (row-major, T x R, rows summing to the counts):
/// the largest remainders, the greatest gains one task at a time improved by single moves, and all of them
/// where they are at most kMaxRoundings. A rounding that leaves a minimum depth or a floor unmet is repaired
/// by further moves where that works. Nothing when no rounding could be made to keep the minimum depths.
/// Floors are met where a rounding or a repair meets them. Once the poll says stop, the best so far.
std::optional<Assignment> best_rounding(const System& system, std::span<const double> relaxed,
                                        StopPoll& poll);

}  // namespace allot::detail
