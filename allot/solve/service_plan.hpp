// What planned service adds to a solution: how the machine is used, and what limits it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace allot {

/// One capacity of the machine under a plan.
struct CapacityUse {
  std::string name;
  double amount = 0;
  double used = 0;
  double price = 0;  ///< what one more unit would add to the objective
};

/// A limit of the scenario that the plan just meets.
struct BindingLimit {
  std::string what;    ///< "the floor of 'detect'"
  double amount = 0;   ///< as in the scenario
  std::string unit;    ///< of the amount
  double relaxed = 0;  ///< what relaxing it by 10% adds to the objective
};

/// Time shares are in Solution::time_shares.
struct ServicePlan {
  std::vector<CapacityUse> capacities;
  std::vector<BindingLimit> limits;
  /// The most value per second that whole tasks can reach.
  std::optional<double> packing_bound;
  /// Means in service of a mix of whole tasks that reaches it, row-major; empty if none was found.
  std::vector<double> packing_shares;
  /// If there is one: a set of whole tasks that is worth as much, or nearly, when always in service;
  /// row-major. `packing_shares` is then what these tasks get.
  std::vector<double> packing_tasks;
  /// Per group of threads: rounds per second.
  std::vector<double> rounds;
  /// With arrivals: the load that the machine can carry, as a multiple of the load that arrives.
  std::optional<double> headroom;
  double value = 0;  ///< with groups of threads, of their rounds
  std::optional<double> mean_power;
  /// Task types with threads of their own that complete nothing.
  std::vector<std::string> unserved;
  /// If nothing is feasible: limits that cannot be met together; without any one of them, the others can.
  std::vector<std::string> conflict;
};

}  // namespace allot
