#include "allot/solve/explain.hpp"

#include <algorithm>
#include <utility>

#include "allot/model/throughput.hpp"
#include "allot/solve/detail/unmet_limits.hpp"

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

std::vector<LimitCost> costs_of_limits(const SolverInfo& solver, const Problem& problem,
                                       const Solution& solution, const SolveOptions& options) {
  constexpr double kSame = 1e-9;
  const System& system = problem.system;
  std::vector<LimitCost> costs;
  for (const TaskType i : system.types()) {
    if (!(system.floor(i) > 0)) continue;
    std::vector<TaskClass> tasks = system.tasks();
    TaskClass& task = tasks[index(i)];
    // Of a floor and a max_response, the stricter one counts.
    if (task.max_response && system.floor(i) > task.floor.value_or(0)) {
      task.max_response.reset();
    } else {
      task.floor.reset();
    }
    Problem without = problem;
    without.system = system.with_tasks(std::move(tasks));
    const double value = solve(solver, without, options).performance.value;
    if (value > solution.performance.value * (1 + kSame))
      costs.push_back({detail::limit_name(system, i), value});
  }
  return costs;
}

}  // namespace allot
