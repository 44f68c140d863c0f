// What `planned` solves instead if the original problem has no plan, or one that would not last.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "allot/base/quote.hpp"
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

/// The same work, and a note about it. The share of a type without threads, arrivals or group cannot be met:
/// the types that are present keep the proportions of their shares.
inline std::pair<Problem, std::string> without_absent_shares(Problem problem) {
  if (problem.objective != Objective::kPriority) return {std::move(problem), ""};
  std::vector<TaskClass> tasks = problem.system.tasks();
  std::vector<bool> is_present;
  for (const TaskClass& task : tasks) is_present.push_back(task.count > 0);
  for (const Arrivals& stream : problem.arrivals) is_present[index(stream.task)] = true;
  for (const ThreadGroup& group : problem.threads) {
    for (const TaskType i : group.sequence) is_present[index(i)] = true;
  }
  double left = 0;
  std::string names;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (is_present[i] || !(tasks[i].priority.value_or(0) > 0)) {
      left += tasks[i].priority.value_or(0);
      continue;
    }
    tasks[i].priority = 0.0;
    names += (names.empty() ? "" : ", ") + quote::name(tasks[i].name);
  }
  if (names.empty() || left == 0) return {std::move(problem), ""};
  problem.system = problem.system.with_tasks(std::move(tasks));
  return {std::move(problem),
          "no thread of " + names + " is in the system: the other types divide its share"};
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
