// The best of a short portfolio, always with a bound: what most people want.
//
// `exact` begins with `map` and `local` and goes on to prove how good their answer is, or to find a better
// one; here its effort is limited in steps.
#include "allot/solve/best.hpp"

#include "allot/solve/solver.hpp"

namespace allot {
namespace {

Solution best_search(const Problem& problem, const SolveOptions& options) {
  SolveOptions limited = options;
  const bool free = options.stop.steps == StopLimits{}.steps;
  if (free) limited.stop.steps = kBestSteps;
  Solution best = find_solver("exact")->search(problem, limited);
  if (best.outcome == Outcome::kBudget && free) best.outcome = Outcome::kConverged;
  return best;
}

}  // namespace

Solution best_known(const System& system, const SolveOptions& options) {
  return solve(*find_solver("best"), Problem{system, Objective::kThroughput}, options);
}

namespace solvers {

extern const SolverInfo best;
const SolverInfo best{.name = "best",
                      .summary = "the best of map, local and exact in about 0.2 s, with a bound on the gap",
                      .maximises_value = true,
                      .search = best_search,
                      .is_default = true};

}  // namespace solvers
}  // namespace allot
