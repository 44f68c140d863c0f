// A solver to copy: starts at home and tries every other resource of each type once.
//
// Copy this file to <your_name>.cpp, rename, and add the word to the list of solvers in allot/CMakeLists.txt.
// Then it is in `allot list`, in `allot solve --solver your-name`, and under the conformance tests. This file
// is compiled and tested, but is not in the table of built-ins.
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/search_state.hpp"
#include "allot/solve/detail/start.hpp"
#include "allot/solve/solver.hpp"

namespace allot::solvers {
namespace {

/// The input is valid: no checks are needed. Return an assignment that places every thread; `solve` computes
/// its throughput, measures the time and checks floors and depths. Ask the poll once per small step, and stop
/// with the best so far when it says so.
Solution template_search(const Problem& problem, const SolveOptions& options) {
  const System& system = problem.system;
  StopPoll poll(options.stop);
  const std::optional<Assignment> start = detail::home_start(system);
  if (!start) return detail::no_placement(system);
  detail::SearchState state;
  state.reset(system, problem.objective, *start);
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      const std::optional<ResourceId> home = system.home(i);
      if (poll.should_stop() || j == *home || state.smallest_move(i, *home, j) == 0) continue;
      const detail::Exchange move{i, *home, j, state.smallest_move(i, *home, j), {}, 0};
      if (state.cost_change(move) < -state.tolerance()) state.apply(move);
    }
  }
  Solution solution;
  solution.assignment = state.assignment();
  solution.outcome = detail::outcome_of(poll);
  return solution;
}

}  // namespace

extern const SolverInfo template_solver;
const SolverInfo template_solver{"template", "one look at every other resource of each type", true, false,
                                 template_search};

}  // namespace allot::solvers
