#include "allot/solve/solver.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "allot/base/error.hpp"

namespace allot {

std::string_view to_string(Objective objective) noexcept {
  return objective == Objective::kThroughput ? "throughput" : "priority";
}

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
  return objective == Objective::kThroughput ? solver.maximises_throughput : solver.minimises_priority_error;
}

const SolverInfo& default_solver(Objective objective) noexcept {
  const auto known = builtin_solvers();
  return **std::find_if(known.begin(), known.end(), [&](const SolverInfo* solver) {
    return solver->is_default && supports(*solver, objective);
  });
}

namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// Names the first depth or floor that the answer misses; empty when it misses none.
std::string missed_constraint(const System& system, const Solution& solution) {
  for (const ResourceId j : system.resource_ids()) {
    const Count depth = solution.assignment.column_sum(j);
    if (depth != 0 && depth < system.resource(j).min_depth) {
      return "resource '" + system.resource(j).name + "' holds " + std::to_string(depth) +
             " tasks, below its least depth of " + std::to_string(system.resource(j).min_depth);
    }
  }
  if (floor_shortfall(system, solution.performance.throughput_by_task) == 0) return {};
  for (const TaskType i : system.types()) {
    const double x = solution.performance.throughput_by_task[index(i)];
    if (x < system.floor(i) * (1 - kFloorTolerance)) {
      return "task type '" + system.task(i).name + "' completes " + number(x) +
             " tasks/s, below its floor of " + number(system.floor(i));
    }
  }
  return {};
}

}  // namespace

Solution solve(const SolverInfo& solver, const Problem& problem, const SolveOptions& options) {
  if (!supports(solver, problem.objective)) {
    throw InvalidModel("solver", "'" + std::string(solver.name) + "' does not optimise for " +
                                     std::string(to_string(problem.objective)));
  }
  if (problem.objective == Objective::kPriority && problem.system.shares().empty()) {
    throw InvalidModel("tasks", "the priority objective needs a priority for every task type");
  }
  const Clock::time_point start = Clock::now();
  Solution solution = solver.search(problem, options);
  solution.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  solution.solver = solver.name;
  solution.objective = problem.objective;
  solution.performance = solution.time_shares.empty()
                             ? evaluate(problem.system, solution.assignment)
                             : evaluate_time_shares(problem.system, solution.time_shares);
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
