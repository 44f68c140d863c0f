// Best Fit: every task at the home of its type. The paper's BF, and the start of its other algorithms.
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/start.hpp"
#include "allot/solve/solver.hpp"

namespace allot::solvers {
namespace {

Solution best_fit_search(const Problem& problem, const SolveOptions&) {
  const std::optional<Assignment> start = detail::home_start(problem.system);
  if (!start) return detail::no_placement(problem.system);
  Solution solution;
  solution.assignment = *start;
  return solution;
}

}  // namespace

extern const SolverInfo best_fit;
const SolverInfo best_fit{
    "best-fit", "every task at the home of its type", true, false, best_fit_search, {}, false, true};

}  // namespace allot::solvers
