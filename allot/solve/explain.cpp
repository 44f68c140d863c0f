#include "allot/solve/explain.hpp"

#include <algorithm>

#include "allot/model/throughput.hpp"

namespace allot {

std::vector<Placement> explain(const System& system, const Assignment& assignment) {
  const Performance now = evaluate(system, assignment);
  const double missed = floor_shortfall(system, now.throughput_by_task);
  std::vector<Placement> placements;
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      if (assignment(i, j) == 0) continue;
      Placement placement{i, j, assignment(i, j), {}};
      for (const ResourceId b : system.resources_for(i)) {
        if (b == j) continue;
        Assignment moved = assignment;
        --moved(i, j);
        ++moved(i, b);
        const Performance then = evaluate(system, moved);
        placement.alternatives.push_back(
            {b, then.value - now.value, then.priority_error.value_or(0) - now.priority_error.value_or(0),
             is_placement(system, moved) && floor_shortfall(system, then.throughput_by_task) <= missed});
      }
      std::stable_sort(placement.alternatives.begin(), placement.alternatives.end(),
                       [](const Alternative& a, const Alternative& b) { return a.gain > b.gain; });
      placements.push_back(std::move(placement));
    }
  }
  return placements;
}

}  // namespace allot
