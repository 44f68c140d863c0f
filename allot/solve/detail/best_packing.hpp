// The one packing that is worth most: whole tasks that fit together, kept in service for ever.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/solve/solution.hpp"

namespace allot::detail {

struct BestPacking {
  std::vector<double> tasks;          ///< in service, by pair, row after row
  std::vector<double> at_full_speed;  ///< the same at the speed that what is shared leaves them
  double value = 0;                   ///< per second
  bool is_proven = false;             ///< that no other is worth more
};

/// Whatever a policy does, at each moment its tasks in service are a packing, so that no policy is worth more
/// on average than the best one, and who keeps that one in service is worth as much. Limits make mixtures of
/// packings, and so do stages and arrivals: nothing there, and nothing where no task has needs.
std::optional<BestPacking> best_packing(const Problem& problem, StopPoll& poll);

/// Writes what whole tasks can reach into the plan, whose value is at most `plain`. Returns a word on it
/// where they cannot keep all limits.
std::string bound_packings(const Problem& problem, double plain, StopPoll& poll, ServicePlan& plan);

}  // namespace allot::detail
