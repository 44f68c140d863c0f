#include "allot/solve/detail/joined_search.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "allot/solve/detail/column_table.hpp"
#include "allot/solve/detail/filled_state.hpp"
#include "allot/solve/detail/local_search.hpp"
#include "allot/solve/detail/states.hpp"
#include "allot/solve/solver.hpp"

namespace allot::detail {
namespace {

/// At most this many states are enumerated; more would take longer than half a minute.
constexpr double kMostStates = 2e7;
/// A relative gap up to this counts as closed.
constexpr double kSame = 1e-9;

bool is_feasible(const System& system, const Assignment& assignment) {
  return is_placement(system, assignment) &&
         floor_shortfall(system, evaluate(system, assignment).throughput_by_task) == 0;
}

}  // namespace

bool has_inexact_queues(const System& system) {
  if (!system.has_needs()) return system.approximate();
  std::vector<TaskClass> tasks = system.tasks();
  for (TaskClass& task : tasks) task.needs.clear();
  return system.with_tasks(std::move(tasks)).approximate();
}

bool is_sum_of_columns(const System& system, std::uint64_t steps) {
  if (!system.has_needs()) return true;
  if (system.is_joined()) return false;
  double contents = 0;
  for (const ResourceId j : system.resource_ids()) {
    if (ColumnTable::is_needed(system, j)) contents += ColumnTable::size(system, j);
  }
  return contents <= std::min(ColumnTable::kMostContents, static_cast<double>(steps));
}

void take_planned_bound(const Problem& problem, const SolveOptions& options, Solution& best) {
  SolveOptions plain;
  plain.stop.flag = options.stop.flag;  // its cost is small compared with what has been spent
  plain.bound_packings = false;
  const Solution planned =
      find_solver("planned")->search(Problem{problem.system, Objective::kThroughput}, plain);
  if (planned.upper_bound) best.upper_bound = std::min(*best.upper_bound, *planned.upper_bound);
}

Solution search_joined(const Problem& problem, const SolveOptions& options) {
  const System& system = problem.system;
  Solution best = find_solver("local")->search(problem, options);
  SolveOptions quiet = options;
  quiet.progress = nullptr;
  quiet.bound_packings = false;
  SolveOptions plain = quiet;
  plain.stop.deadline.reset();  // there is always a bound, and this one is cheap
  const Solution planned = find_solver("planned")->search(Problem{system, Objective::kThroughput}, plain);
  if (planned.outcome == Outcome::kInfeasible) {
    best.outcome = Outcome::kInfeasible;
    best.reason = "proven: " + planned.reason;
    return best;
  }
  bool feasible = is_feasible(system, best.assignment);
  double value = evaluate(system, best.assignment).value;
  if (best.outcome == Outcome::kBudget) {  // with many tasks, map gets further in the same steps
    const Solution map = find_solver("map")->search(problem, quiet);
    const double found = evaluate(system, map.assignment).value;
    if (is_feasible(system, map.assignment) && (!feasible || found > value)) {
      best.assignment = map.assignment;
      value = found;
      feasible = true;
    }
  }
  const auto report = [&] {
    if (options.progress)
      options.progress({feasible ? std::optional(value) : std::nullopt, best.upper_bound});
  };
  best.upper_bound = planned.upper_bound.value_or(most_value(system) * (1 + 1e-12));
  report();
  const double states = count_states(system);
  const bool is_stopped = best.outcome != Outcome::kConverged && best.outcome != Outcome::kInfeasible;
  const bool is_open = !feasible || *best.upper_bound > value * (1 + kSame);
  const double effort = states * static_cast<double>(1 + steps_per_rating(system));
  if (is_open && !is_stopped && effort <= std::min(kMostStates, static_cast<double>(options.stop.steps))) {
    const Solution all = find_solver("exhaustive")->search(problem, quiet);
    if (is_feasible(system, all.assignment)) {
      const double found = evaluate(system, all.assignment).value;
      if (!feasible || found > value) best.assignment = all.assignment;
      value = feasible ? std::max(value, found) : found;
      feasible = true;
    }
    best.outcome = all.outcome;
    best.reason = all.reason;
    if (all.upper_bound) best.upper_bound = value;
  } else if (is_open && !is_stopped) {
    best.reason = "the bound is that of planned service, which even sharing may not reach: there are " +
                  format_states(states) + " states, too many to examine";
  }
  if (!feasible) {
    best.upper_bound.reset();
    return best;
  }
  best.upper_bound = std::max(*best.upper_bound, value);
  if (*best.upper_bound > value * (1 + kSame)) return best;
  if (evaluate(system, best.assignment).approximate) {
    best.reason = kFluidLevels;
    return best;
  }
  best.outcome = Outcome::kOptimal;
  best.proven_optimal = true;
  return best;
}

}  // namespace allot::detail
