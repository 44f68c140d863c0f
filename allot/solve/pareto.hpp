// The trade-off between throughput and priority error, so that a user can choose.
#pragma once

#include <vector>

#include "allot/solve/options.hpp"
#include "allot/solve/solution.hpp"

namespace allot {

/// A state that no other found state beats in both throughput and priority error.
struct ParetoPoint {
  Assignment assignment;
  double value = 0;
  double priority_error = 0;
  double throughput = 0;
  friend bool operator==(const ParetoPoint&, const ParetoPoint&) = default;
};

/// The part of the value that a point gives up, and the part of the error that it cuts.
struct ParetoBargain {
  double given_up = 0;
  double cut = 0;
};
ParetoBargain bargain(const ParetoPoint& fastest, const ParetoPoint& point);

struct ParetoFrontier {
  /// From the largest value to the smallest error.
  std::vector<ParetoPoint> points;
  /// The point that most people would choose: where the product of the value kept and the error cut is
  /// largest, over the whole frontier; the fastest where none cuts a larger part than it gives up.
  ParetoPoint advised;
  /// Every state was looked at, so no point is missing but those thinned out by `max_points`.
  bool exhaustive = false;
  bool approximate = false;
  /// optimal (exhaustive), converged, time_limit or interrupted.
  Outcome outcome = Outcome::kConverged;
};

/// The frontier, thinned to at most `max_points` (>= 2; the two ends always stay, and with 3
/// or more the advised point). Small systems are
/// enumerated, large ones searched. Floors and depths are honoured. Throws InvalidModel without priorities.
ParetoFrontier pareto(const System& system, std::size_t max_points, const SolveOptions& options = {});

}  // namespace allot
