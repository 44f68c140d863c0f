#include "allot/solve/solver.hpp"

#include <algorithm>
#include <string>

#include "allot/base/error.hpp"
#include "allot/model/filling.hpp"
#include "allot/solve/detail/unmet_limits.hpp"

namespace allot {

std::string_view to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::kOptimal:
      return "optimal";
    case Outcome::kConverged:
      return "converged";
    case Outcome::kTimeLimit:
      return "time_limit";
    case Outcome::kBudget:
      return "budget";
    case Outcome::kInterrupted:
      return "interrupted";
    case Outcome::kInfeasible:
      return "infeasible";
  }
  return "unknown";
}

const SolverInfo* find_solver(std::string_view name) noexcept {
  for (const SolverInfo* solver : builtin_solvers()) {
    if (solver->name == name) return solver;
  }
  return nullptr;
}

bool supports(const SolverInfo& solver, Objective objective) noexcept {
  const ObjectiveInfo& wanted = info(objective);
  if (wanted.is_planned || solver.plans_service) return solver.plans_service;
  return wanted.weight != nullptr ? solver.maximises_value : solver.minimises_priority_error;
}

const SolverInfo& default_solver(Objective objective) noexcept {
  const auto known = builtin_solvers();
  return **std::find_if(known.begin(), known.end(), [&](const SolverInfo* solver) {
    return solver->is_default && supports(*solver, objective);
  });
}

namespace {

/// Names the first depth or floor that the answer misses; empty when it misses none.
std::string missed_constraint(const System& system, const Solution& solution) {
  for (const ResourceId j : system.resource_ids()) {
    const Count depth = solution.assignment.column_sum(j);
    if (depth != 0 && depth < system.resource(j).min_depth) {
      return "resource '" + system.resource(j).name + "' holds " + std::to_string(depth) +
             " tasks, below its minimum depth of " + std::to_string(system.resource(j).min_depth);
    }
  }
  return detail::missed_floor(system, solution.performance.throughput_by_task);
}

void require_even_sharing(const SolverInfo& solver, const System& system) {
  allot::require_even_sharing(system);
  if (!solver.instead_with_needs.empty()) {
    throw InvalidModel("solver", "'" + std::string(solver.name) +
                                     "' does not support tasks with needs; use " +
                                     std::string(solver.instead_with_needs));
  }
}

}  // namespace

System weighted_for(const System& system, Objective objective) {
  const auto weight = info(objective).weight;
  if (weight == nullptr || objective == Objective::kThroughput) return system;
  std::vector<double> weights;
  for (const TaskType i : system.types()) weights.push_back(weight(system, i));
  return system.with_worths(weights);
}

Solution solve(const SolverInfo& solver, const Problem& problem, const SolveOptions& options) {
  if (!supports(solver, problem.objective)) {
    throw InvalidModel("solver", "'" + std::string(solver.name) + "' does not optimise for " +
                                     std::string(to_string(problem.objective)));
  }
  const ObjectiveInfo& wanted = info(problem.objective);
  if (wanted.needs_shares && problem.system.shares().empty()) {
    throw InvalidModel("tasks",
                       "the " + std::string(wanted.name) + " objective needs a priority for every task type");
  }
  if (!solver.plans_service &&
      (!problem.threads.empty() || !problem.arrivals.empty() || problem.power_cap.has_value())) {
    throw InvalidModel("solver", "'" + std::string(solver.name) +
                                     "' does not support threads, arrivals or power_cap; 'planned' does");
  }
  if (!solver.plans_service && problem.system.has_needs()) require_even_sharing(solver, problem.system);
  const Clock::time_point start = Clock::now();
  const bool counts_worth = wanted.weight == nullptr || problem.objective == Objective::kThroughput;
  const auto search = [&] {
    if (counts_worth) return solver.search(problem, options);
    Problem weighted = problem;
    weighted.system = weighted_for(problem.system, problem.objective);
    return solver.search(weighted, options);
  };
  Solution solution = search();
  solution.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  solution.solver = solver.name;
  solution.objective = problem.objective;
  solution.performance = solution.time_shares.empty()
                             ? evaluate(problem.system, solution.assignment)
                             : evaluate_time_shares(problem.system, solution.time_shares);
  if (solution.is_planned) {
    Performance& performance = solution.performance;
    if (counts_worth && (problem.system.has_worths() || !problem.threads.empty())) {
      performance.value = solution.plan.value;
    }
    // Little's law is about the threads of a type, and all its completions must be theirs.
    if (!problem.threads.empty() || !problem.arrivals.empty()) performance.response_time.reset();
    const auto forget = [&](TaskType i) { performance.response_time_by_task[index(i)].reset(); };
    for (const Arrivals& stream : problem.arrivals) forget(stream.task);
    for (const ThreadGroup& group : problem.threads)
      std::for_each(group.sequence.begin(), group.sequence.end(), forget);
    return solution;
  }
  if (wanted.weight != nullptr) {
    for (const TaskType i : problem.system.types())
      solution.objective_value +=
          wanted.weight(problem.system, i) * solution.performance.throughput_by_task[index(i)];
    solution.objective_bound = solution.upper_bound;
    if (problem.objective != Objective::kThroughput) solution.upper_bound.reset();
  } else {
    solution.objective_value = solution.performance.priority_error.value_or(0);
  }
  if (solution.outcome != Outcome::kInfeasible) {
    if (std::string missed = missed_constraint(problem.system, solution); !missed.empty()) {
      if (solution.outcome == Outcome::kConverged || solution.outcome == Outcome::kOptimal) {
        solution.outcome = Outcome::kInfeasible;
      }
      solution.reason = std::move(missed);
      solution.proven_optimal = false;
    }
  }
  return solution;
}

}  // namespace allot
