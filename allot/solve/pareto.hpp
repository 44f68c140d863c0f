// The trade-off between throughput and priority error, so that a user can choose.
#pragma once

#include <vector>

#include "allot/solve/options.hpp"
#include "allot/solve/solution.hpp"

namespace allot {

/// A state or a plan that no other one found beats in both value and priority error.
struct ParetoPoint {
  Assignment assignment;  ///< for a state
  double value = 0;
  /// For a plan without priorities: the fraction by which the least served is below what it could have.
  double priority_error = 0;
  double throughput = 0;
  std::vector<double> time_shares = {};  ///< for a plan, row-major
  std::vector<double> rounds = {};       ///< for a plan: per second, per group of threads
  double least_served = 0;  ///< for a plan: the fewest completions relative to the priority, or rounds
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
  /// largest, over the whole frontier; the fastest if no point cuts a larger part than it gives up.
  ParetoPoint advised;
  /// Every state was examined, so no point is missing except those thinned out by `max_points`.
  bool exhaustive = false;
  bool approximate = false;
  bool is_planned = false;
  /// Plans without priorities trade value against the least served.
  bool has_priorities = true;
  /// optimal (exhaustive), converged, time_limit or interrupted.
  Outcome outcome = Outcome::kConverged;
};

/// The frontier, thinned to at most `max_points` (>= 2; the two ends always stay, and with 3
/// or more the advised point). Small systems are
/// enumerated, large ones searched. Floors and depths are honoured. Throws InvalidModel without priorities.
ParetoFrontier pareto(const System& system, std::size_t max_points, const SolveOptions& options = {});

/// The frontier of planned service. Each point has the least priority error of all plans with as much value,
/// to within 1e-4 of it; without priorities, the most for the least served of all types with threads and
/// groups of threads. Points are evenly spread in value from the most to that of the fairest plan. All limits
/// are met. Throws InvalidModel if nothing has threads.
ParetoFrontier pareto_planned(const Problem& problem, std::size_t max_points,
                              const SolveOptions& options = {});

/// Which of the points most people would choose (see ParetoFrontier::advised). There must be one.
std::size_t advised_point(const std::vector<ParetoPoint>& points);

}  // namespace allot
