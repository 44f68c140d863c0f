// What fairness costs: the most value of planned service against what the least-served type completes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "allot/solve/options.hpp"
#include "allot/solve/solution.hpp"

namespace allot {

/// Every type with threads and a priority above 0 completes at least `least` times its priority (1 without
/// priorities), every group of threads at least `least` rounds per second, and no such plan has more value.
struct FairnessPoint {
  double least = 0;
  double value = 0;
  friend bool operator==(const FairnessPoint&, const FairnessPoint&) = default;
};

struct FairnessTrade {
  /// From the most value of all plans to the largest `least`, evenly spaced in `least`. Between two points
  /// the true curve is on or above the line. Empty if no plan meets the limits, or if nothing has threads.
  std::vector<FairnessPoint> points;
  /// optimal, infeasible, or what came first: time_limit, budget, interrupted.
  Outcome outcome = Outcome::kOptimal;
};

/// The trade at `points` (>= 2) levels; the objective of the problem does not matter. A single point if the
/// plan with the most value is also the fairest. Thread-safe.
FairnessTrade trade_fairness(const Problem& problem, std::size_t points, const SolveOptions& options = {});

/// What the least-served of all has: the smallest ratio of completions to priority, over the same types and
/// groups. For types with arrivals, only completions beyond the arrivals count. 0 if nothing has threads.
double least_served(const Problem& problem, std::span<const double> completions_by_task,
                    std::span<const double> rounds);

}  // namespace allot
