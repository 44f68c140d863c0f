// The best of a short portfolio, always with a bound: what most people want.
//
// `exact` begins with `map` and `local` and goes on to prove how good their answer is, or to find a better
// one; its effort is limited in steps. Where tasks wait for several fcfs servers the throughput is an
// approximation, on which `exact` proves nothing. Then small systems are enumerated, and the bound is one
// that holds for any order of service.
#include "allot/solve/best.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "allot/solve/detail/linear_program.hpp"
#include "allot/solve/solver.hpp"

namespace allot {
namespace {

/// Systems of at most so many states are enumerated where no formula is exact.
constexpr double kFewStates = 2e6;
/// More than all rounding in a sum of prices.
constexpr double kRounding = 1e-9;

bool is_feasible(const System& system, const Solution& solution) {
  return is_placement(system, solution.assignment) &&
         floor_shortfall(system, evaluate(system, solution.assignment).throughput_by_task) == 0;
}

/// Takes the other assignment if it is better: feasible first, then the throughput.
void take_better(const System& system, Solution& best, const Solution& other) {
  if (!is_feasible(system, other)) return;
  if (is_feasible(system, best) &&
      evaluate(system, best.assignment).throughput >= evaluate(system, other.assignment).throughput)
    return;
  best.assignment = other.assignment;
  best.outcome = Outcome::kConverged;
  best.reason.clear();
}

/// With prices on threads, every server has its best type all the time: no way of serving the tasks is worth
/// more than that and the prices together, whatever they are.
double priced(const System& system, const std::vector<double>& per_thread) {
  double bound = 0;
  for (const TaskType i : system.types())
    bound += per_thread[index(i)] * static_cast<double>(system.count(i));
  for (const ResourceId j : system.resource_ids()) {
    double most = 0;
    for (const TaskType i : system.types()) {
      if (system.count(i) > 0) most = std::max(most, system.rate(i, j) - per_thread[index(i)]);
    }
    bound += most * static_cast<double>(std::min(system.resource(j).servers, system.reach(j)));
  }
  return bound * (1 + kRounding);
}

/// An upper bound that needs no formula for waiting tasks: at most c_j tasks are in service at a resource, at
/// most N_i of a type in all, each at its rate. Prices from that linear programme, which hold even if it was
/// not solved to its end.
double service_bound(const System& system, const SolveOptions& options) {
  std::vector<double> per_thread(system.type_count(), 0.0);
  const double without = priced(system, per_thread);
  detail::LinearProgram programme;
  double scale = 0;
  for (const TaskType i : system.types()) {
    programme.add_row(-detail::kInfinity, static_cast<double>(system.count(i)));
    if (system.count(i) == 0) continue;
    for (const ResourceId j : system.resources_for(i)) scale = std::max(scale, system.rate(i, j));
  }
  for (const ResourceId j : system.resource_ids()) {
    programme.add_row(-detail::kInfinity,
                      static_cast<double>(std::min(system.resource(j).servers, system.reach(j))));
  }
  detail::LinearProgram::Batch batch;
  for (const TaskType i : system.types()) {
    if (system.count(i) == 0) continue;
    for (const ResourceId j : system.resources_for(i)) {
      batch.begin_column(-system.rate(i, j) / scale);
      batch.entry(static_cast<int>(index(i)), 1.0);
      batch.entry(static_cast<int>(system.type_count() + index(j)), 1.0);
    }
  }
  if (batch.size() == 0) return without;
  programme.add_columns(std::move(batch));
  StopPoll poll(options.stop);
  if (programme.solve(&poll) != detail::LinearProgram::Status::kOptimal) return without;
  const auto duals = programme.duals();
  for (const TaskType i : system.types()) per_thread[index(i)] = std::max(0.0, -duals[index(i)] * scale);
  return std::min(without, priced(system, per_thread));
}

Solution best_search(const Problem& problem, const SolveOptions& options) {
  const System& system = problem.system;
  SolveOptions limited = options;
  const bool free = options.stop.steps == StopLimits{}.steps;
  if (free) limited.stop.steps = kBestSteps;
  Solution best = find_solver("exact")->search(problem, limited);
  if (!best.upper_bound && !best.proven_optimal && system.approximate()) {
    limited.max_states = kFewStates;
    take_better(system, best, find_solver("exhaustive")->search(problem, limited));
  }
  if (best.outcome == Outcome::kBudget && free) best.outcome = Outcome::kConverged;
  if (best.outcome == Outcome::kInfeasible || !is_feasible(system, best)) return best;
  if (!best.upper_bound) {
    const double throughput = evaluate(system, best.assignment).throughput;
    best.upper_bound = std::max(throughput, service_bound(system, limited));
  }
  return best;
}

}  // namespace

Solution best_known(const System& system, const SolveOptions& options) {
  return solve(*find_solver("best"), Problem{system, Objective::kThroughput}, options);
}

namespace solvers {

extern const SolverInfo best;
const SolverInfo best{"best",
                      "the best of map, local and exact in about 0.2 s, and how far it can be from the "
                      "optimum",
                      true, false, best_search};

}  // namespace solvers
}  // namespace allot
