// Why tasks are where they are: what moving one task elsewhere would change.
#pragma once

#include <vector>

#include "allot/model/system.hpp"

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

/// One entry for each (type, resource) with tasks, by type, then resource.
std::vector<Placement> explain(const System& system, const Assignment& assignment);

}  // namespace allot
