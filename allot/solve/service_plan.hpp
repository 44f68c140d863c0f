// What planned service adds to a solution: how the machine is used, and what keeps it from doing more.
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
  double price = 0;  ///< what one more unit would add to what is optimised
};

/// A limit that somebody asked for and that the plan just meets.
struct BindingLimit {
  std::string what;    ///< "the floor of 'detect'"
  double amount = 0;   ///< as it was asked for
  std::string unit;    ///< of the amount
  double relaxed = 0;  ///< what is added to what is optimised where it is relaxed by 10%
};

/// Time shares are in Solution::time_shares.
struct ServicePlan {
  std::vector<CapacityUse> capacities;
  std::vector<BindingLimit> limits;
  /// Value per second that whole tasks can reach at most.
  std::optional<double> packing_bound;
  /// Means in service of a mix of whole tasks that reaches it, row after row; empty where none was found.
  std::vector<double> packing_shares;
  /// Whole tasks that are worth as much or nearly if they are always in service, row after row, where there
  /// are such: `packing_shares` is then what they get.
  std::vector<double> packing_tasks;
  /// Per group of threads: rounds per second.
  std::vector<double> rounds;
  /// With arrivals: the load that the machine can carry, as a multiple of the load that arrives.
  std::optional<double> headroom;
  double value = 0;  ///< with groups of threads, of their rounds
  std::optional<double> mean_power;
  /// Task types with threads of their own that complete nothing.
  std::vector<std::string> unserved;
  /// Where nothing is feasible: limits that cannot be met together; without any one of them the others can.
  std::vector<std::string> conflict;
};

}  // namespace allot
