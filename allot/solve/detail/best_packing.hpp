// The single packing that is worth most: whole tasks that fit together and stay in service all the time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/solve/solution.hpp"

namespace allot::detail {

struct BestPacking {
  std::vector<double> tasks;          ///< in service, by pair, row-major
  std::vector<double> at_full_speed;  ///< the same at full speed, given what shared capacities allow
  double value = 0;                   ///< per second
  bool is_proven = false;             ///< no other is worth more
};

/// Under any policy, the tasks in service at any moment are a packing. So no policy has more value on average
/// than the best packing, and a policy that keeps that packing in service has as much. Only for throughput,
/// and only if tasks have needs. Empty with limits, groups of threads or arrivals, since a mix of packings
/// may be better there.
std::optional<BestPacking> best_packing(const Problem& problem, StopPoll& poll);

/// Writes what whole tasks can reach into the plan, whose value is at most `plain`. Returns the reason if
/// whole tasks cannot meet all limits; otherwise an empty text.
std::string bound_packings(const Problem& problem, double plain, StopPoll& poll, ServicePlan& plan);

}  // namespace allot::detail
