// MAP, maximise SA then GP: the paper's Algorithms 1-3, read so that they end (see paper/README.md).
//
// Start with every task at home and climb: single moves, each kept only if the throughput rises, OptSA first,
// then OptGP, until a pass changes nothing. Then all tasks of a type at a resource are tried as one move,
// because X_j is convex in the number of slow tasks there and single moves may have climbed to the wrong end.
#include "allot/solve/map.hpp"

#include <algorithm>
#include <utility>

#include "allot/solve/detail/climb.hpp"
#include "allot/solve/detail/needs_starts.hpp"
#include "allot/solve/detail/open_sets.hpp"
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/overflow_starts.hpp"
#include "allot/solve/detail/search_state.hpp"
#include "allot/solve/detail/shared_climb.hpp"
#include "allot/solve/detail/start.hpp"
#include "allot/solve/solver.hpp"

namespace allot {

using detail::SearchState;

struct MapSolver::Workspace {
  detail::SharedClimb shared;
  detail::OverflowStarts starts;
  SearchState state;
  SearchState second;
  Assignment home;
  Assignment start;
};

namespace {

bool has_pools(const System& system) noexcept {
  for (const Resource& resource : system.resources()) {
    if (resource.servers > 1) return true;
  }
  return false;
}

}  // namespace

/// Climbs from home (with pools: from the second best start by overflow) and from the best start by overflow.
/// With pools, continues from the better end with exchanges.
double MapSolver::climb_shared(const System& system, Assignment& assignment, StopPoll& poll) {
  detail::SharedClimb& climb = workspace_->shared;
  detail::OverflowStarts& starts = workspace_->starts;
  starts.make(system);
  const bool pools = has_pools(system);
  if (!pools || starts.size() < 2) {
    home_assignment(system, workspace_->start);
  } else {
    starts.write(1, workspace_->start);
  }
  climb.run(system, workspace_->start, MapMoves::kBulk, poll);
  climb.write(assignment);
  double most = climb.value();
  if (starts.size() == 0 || poll.stopped()) return most;
  starts.write(0, workspace_->start);
  climb.run_from(workspace_->start, MapMoves::kBulk, poll);
  const bool better = climb.value() > most;
  if (!better && pools) climb.place(assignment);
  if (pools) climb.exchange(poll);
  if (better || pools) {
    climb.write(assignment);
    most = climb.value();
  }
  return most;
}

constexpr std::string_view kMapMovesWords[] = {"bulk", "single"};
constexpr Setting kMapMoves{.name = "map_moves",
                            .help =
                                "several starts, moving many tasks and two types at once (default), or one "
                                "task at a time from home, as in the paper",
                            .words = kMapMovesWords};

MapSolver::MapSolver() : workspace_(std::make_unique<Workspace>()) {}
MapSolver::~MapSolver() = default;
MapSolver::MapSolver(MapSolver&&) noexcept = default;
MapSolver& MapSolver::operator=(MapSolver&&) noexcept = default;

MapSolver::Result MapSolver::solve(const System& system, Assignment& assignment,
                                   const SolveOptions& options) {
  StopPoll poll(options.stop);
  const auto sensitivity = options.settings.get<Sensitivity>(detail::kSensitivity);
  const auto moves = options.settings.get<MapMoves>(kMapMoves);
  const bool shared = sensitivity == Sensitivity::kExact && detail::shares_evenly(system);
  if (shared && moves == MapMoves::kBulk) {
    const double throughput = climb_shared(system, assignment, poll);
    return {throughput, detail::outcome_of(poll)};
  }
  Assignment& home = workspace_->home;
  home_assignment(system, home);
  if (!detail::keep_depths(system, home)) {
    assignment = home;
    return {0, Outcome::kInfeasible};
  }
  if (shared) {
    workspace_->shared.run(system, home, moves, poll);
    workspace_->shared.write(assignment);
    return {workspace_->shared.value(), detail::outcome_of(poll)};
  }

  climb_any(system, assignment, options, poll);
  return {workspace_->state.value(), detail::outcome_of(poll)};
}

/// The same under every discipline, with floors, minimum depths and needs. Bulk moves come with more starts:
/// the answer of the same system under ps, which is then never better than ours, and which resources with a
/// minimum depth are open.
void MapSolver::climb_any(const System& system, Assignment& assignment, const SolveOptions& options,
                          StopPoll& poll) {
  const auto sensitivity = options.settings.get<Sensitivity>(detail::kSensitivity);
  const auto moves = options.settings.get<MapMoves>(kMapMoves);
  SearchState& best = workspace_->state;
  SearchState& other = workspace_->second;
  const bool bulk = moves == MapMoves::kBulk;
  best.reset(system, Objective::kThroughput, workspace_->home);
  detail::climb(best, sensitivity, moves, poll);
  const auto try_from = [&](const Assignment& start) {
    if (poll.stopped() || !is_placement(system, start)) return;
    other.reset(system, Objective::kThroughput, start);
    detail::climb(other, sensitivity, moves, poll);
    if (other.cost() < best.cost()) std::swap(best, other);
  };
  Assignment& start = workspace_->start;
  if (bulk) {
    detail::OverflowStarts& starts = workspace_->starts;
    starts.make(system);
    for (std::size_t rank = 0; rank < std::min<std::size_t>(2, starts.size()); ++rank) {
      starts.write(rank, start);
      if (detail::keep_depths(system, start)) try_from(start);
    }
    if (system.has_needs()) {
      for (Assignment& greedy : detail::starts_by_needs(system, 2)) {
        if (detail::keep_depths(system, greedy)) try_from(greedy);
      }
    }
    if (system.has_depths()) {
      for (const Assignment& opened : detail::starts_by_open_set(system, 4)) try_from(opened);
    }
  }
  if (detail::has_fcfs(system)) {
    MapSolver under_ps;
    under_ps.solve(system.with_discipline(Discipline::kPs), start, options);
    try_from(start);
  }
  if (bulk && sensitivity == Sensitivity::kExact) detail::exchange(best, poll);
  best.write(assignment);
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

constexpr const Setting* kSettings[] = {&detail::kSensitivity, &kMapMoves};

extern const SolverInfo map;
const SolverInfo map{
    "map",      "the paper's MAP: moves tasks from home while that helps, in about a microsecond",
    true,       false,
    map_search, kSettings,
    false,      true};

}  // namespace solvers
}  // namespace allot
