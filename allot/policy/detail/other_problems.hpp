// What `planned` solves instead if the original problem has no plan, or one that would not last.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "allot/solve/solution.hpp"

namespace allot::detail {

/// The same work without any limits that may be impossible to meet.
inline Problem without_limits(Problem problem) {
  std::vector<TaskClass> tasks = problem.system.tasks();
  for (TaskClass& task : tasks) {
    task.floor.reset();
    task.max_response.reset();
  }
  for (ThreadGroup& group : problem.threads) group.max_response.reset();
  problem.power_cap.reset();
  problem.system = problem.system.with_tasks(std::move(tasks));
  return problem;
}

/// The same work, but completions should be proportional to the arrivals of each type, and as many as
/// possible. If nothing arrives, the same problem.
inline Problem in_proportion(Problem problem, const std::vector<double>& arrivals) {
  if (std::none_of(arrivals.begin(), arrivals.end(), [](double rate) { return rate > 0; })) return problem;
  std::vector<TaskClass> tasks = problem.system.tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].priority = arrivals[i];
  problem.system = problem.system.with_tasks(std::move(tasks));
  problem.objective = Objective::kMaxMin;
  return problem;
}

}  // namespace allot::detail
