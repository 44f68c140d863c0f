// Why tasks are where they are: what moving one task elsewhere would change.
#pragma once

#include <string>
#include <vector>

#include "allot/model/system.hpp"
#include "allot/solve/solver.hpp"

namespace allot {

/// The effect of moving one task of a placement to another resource, with everything else unchanged.
struct Alternative {
  ResourceId resource{};
  double gain = 0;          ///< change of the value per second; negative: a loss
  double error_change = 0;  ///< change of the priority error; 0 without priorities
  /// False: the move would leave a resource below its minimum depth, or miss a floor or a max_response by
  /// more than now.
  bool allowed = true;
};

/// n(i, j) > 0 tasks of a type at a resource.
struct Placement {
  TaskType task{};
  ResourceId resource{};
  Count count = 0;
  std::vector<Alternative> alternatives;  ///< every other resource that can run the type, best gain first
};

/// A floor or max_response that costs something: what the same solver reaches without it.
struct LimitCost {
  std::string limit;  ///< "the max_response of 'detect' (0.2 s)"
  double value = 0;   ///< per second, without the limit
};

/// The limits without which `solver` reaches more value than `solution`, its answer to `problem`: each is
/// left out in turn, and the problem solved again. Cost: one solve for each limit.
std::vector<LimitCost> costs_of_limits(const SolverInfo& solver, const Problem& problem,
                                       const Solution& solution, const SolveOptions& options);

/// One entry for each (type, resource) with tasks, by type, then resource.
std::vector<Placement> explain(const System& system, const Assignment& assignment);

}  // namespace allot
