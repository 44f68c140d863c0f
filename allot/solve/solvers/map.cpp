// MAP, maximise SA then GP: the paper's Algorithms 1-3, read so that they end (see paper/README.md).
//
// Start with every task at home and climb: single moves, each kept only if the throughput rises, OptSA first,
// then OptGP, until a pass changes nothing. Then all tasks of a type at a resource are tried as one move,
// because X_j is convex in the number of slow tasks there and single moves may have climbed to the wrong end.
#include "allot/solve/map.hpp"

#include "allot/solve/detail/climb.hpp"
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/search_state.hpp"
#include "allot/solve/detail/shared_climb.hpp"
#include "allot/solve/detail/start.hpp"
#include "allot/solve/solver.hpp"

namespace allot {

using detail::SearchState;

struct MapSolver::Workspace {
  detail::SharedClimb shared;
  SearchState state;
  SearchState second;
  Assignment home;
};

MapSolver::MapSolver() : workspace_(std::make_unique<Workspace>()) {}
MapSolver::~MapSolver() = default;
MapSolver::MapSolver(MapSolver&&) noexcept = default;
MapSolver& MapSolver::operator=(MapSolver&&) noexcept = default;

MapSolver::Result MapSolver::solve(const System& system, Assignment& assignment,
                                   const SolveOptions& options) {
  StopPoll poll(options.stop);
  Assignment& home = workspace_->home;
  home_assignment(system, home);
  if (!detail::keep_depths(system, home)) {
    assignment = home;
    return {0, Outcome::kInfeasible};
  }
  if (options.sensitivity == Sensitivity::kExact && detail::shares_evenly(system)) {
    workspace_->shared.run(system, home, options.map_moves, poll);
    workspace_->shared.write(assignment);
    return {workspace_->shared.throughput(), detail::outcome_of(poll)};
  }

  const auto climb = [&](SearchState& state, const Assignment& start) {
    state.reset(system, Objective::kThroughput, start);
    detail::climb(state, options.sensitivity, options.map_moves, poll);
  };
  SearchState* best = &workspace_->state;
  if (!detail::has_fcfs(system)) {
    climb(*best, home);
  } else {
    // Second start: the answer for the same system under ps, which is then never better than ours.
    solve(system.with_discipline(Discipline::kPs), assignment, options);
    SearchState& second = workspace_->second;
    climb(second, assignment);
    climb(*best, home);
    if (second.cost() < best->cost()) best = &second;
  }
  best->write(assignment);
  return {best->throughput(), detail::outcome_of(poll)};
}

namespace solvers {
namespace {

Solution map_search(const Problem& problem, const SolveOptions& options) {
  Solution solution;
  MapSolver solver;
  solution.outcome = solver.solve(problem.system, solution.assignment, options).outcome;
  return solution.outcome == Outcome::kInfeasible ? detail::no_placement(problem.system) : solution;
}

}  // namespace

extern const SolverInfo map;
const SolverInfo map{"map", "the paper's MAP: moves from home while they help, about a microsecond", true,
                     false, map_search};

}  // namespace solvers
}  // namespace allot
