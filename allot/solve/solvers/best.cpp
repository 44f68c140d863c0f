// The best of a short portfolio, always with a bound: what most people want.
//
// `exact` begins with `map` and `local` and goes on to prove how good their answer is, or to find a better
// one; its effort is limited in steps. Where tasks of different rates wait for several fcfs servers the
// throughput is an approximation, on which `exact` proves nothing: then small systems are enumerated.
#include "allot/solve/best.hpp"

#include <algorithm>

#include "allot/solve/solver.hpp"

namespace allot {
namespace {

/// Systems of at most so many states are enumerated where no formula is exact.
constexpr double kFewStates = 2e6;

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

Solution best_search(const Problem& problem, const SolveOptions& options) {
  const System& system = problem.system;
  SolveOptions limited = options;
  const bool free = options.stop.steps == StopLimits{}.steps;
  if (free) limited.stop.steps = kBestSteps;
  Solution best = find_solver("exact")->search(problem, limited);
  if (!best.proven_optimal && system.approximate()) {
    limited.max_states = kFewStates;
    take_better(system, best, find_solver("exhaustive")->search(problem, limited));
  }
  if (best.outcome == Outcome::kBudget && free) best.outcome = Outcome::kConverged;
  if (best.upper_bound)
    best.upper_bound = std::max(*best.upper_bound, evaluate(system, best.assignment).throughput);
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
