// Turns a relaxed assignment into whole tasks: which fractions go up, and which down.
#pragma once

#include <optional>
#include <span>

#include "allot/base/stop.hpp"
#include "allot/model/system.hpp"

namespace allot::detail {

/// All roundings are tried if there are at most this many.
inline constexpr double kMaxRoundings = 20'000;

/// The best assignment found among the roundings of `relaxed` (row-major, T x R, rows summing to the counts):
/// the largest remainders; the greatest gains, one task at a time, improved by single moves; and all of them
/// if there are at most kMaxRoundings. Further moves try to repair a rounding that misses a minimum depth or
/// a floor. Nothing if no rounding could be made to keep the minimum depths. Floors are met if some rounding
/// or repair meets them. Once the poll says stop, the best so far.
std::optional<Assignment> best_rounding(const System& system, std::span<const double> relaxed,
                                        StopPoll& poll);

}  // namespace allot::detail
