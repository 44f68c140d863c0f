// MAP, maximise SA then GP: the paper's Algorithms 1-3, read so that they end (see paper/README.md).
//
// Start with every task at home. OptSA takes one task of each accelerator's type from the accelerator to the
// resource where it helps most; OptGP takes one task of each type from where it hurts least to where it helps
// most. A move is kept only if the throughput rises; when a whole pass changes nothing, that is the answer.
// A move is rated in O(1), so a pass costs O(T R).
#include "allot/solve/map.hpp"

#include <limits>

#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/search_state.hpp"
#include "allot/solve/detail/start.hpp"
#include "allot/solve/solver.hpp"

namespace allot {
namespace {

using detail::Exchange;
using detail::SearchState;

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// The resource with the largest value and the one after it; ties go to the lower index.
struct BestTwo {
  double first_value = kNever;
  double second_value = kNever;
  ResourceId first{};
  ResourceId second{};

  void offer(ResourceId j, double value) noexcept {
    if (value > first_value) {
      second_value = first_value;
      second = first;
      first_value = value;
      first = j;
    } else if (value > second_value) {
      second_value = value;
      second = j;
    }
  }
};

/// Eq. 8 as printed for a single ps server that has tasks; the exact difference everywhere else.
double sensitivity(const SearchState& state, Sensitivity kind, TaskType i, ResourceId j, Count n) noexcept {
  const double exact = state.change(i, j, n);
  if (kind == Sensitivity::kExact) return exact;
  const Resource& resource = state.system().resource(j);
  const Count tasks = state.tasks_at(j);
  if (resource.discipline != Discipline::kPs || resource.servers != 1 || tasks + n < 1 || tasks < 1) return exact;
  const double x = state.change(i, j, -tasks) * -1;  // X_j: what would be lost with every task
  return static_cast<double>(n) * (state.system().rate(i, j) - x) / static_cast<double>(tasks);
}

/// The accelerator where a type is at home, if its home is one.
std::optional<ResourceId> accelerator_home(const System& system, TaskType i) noexcept {
  const std::optional<ResourceId> home = system.home(i);
  if (home && system.resource(*home).kind == Kind::kSpecialized) return home;
  return std::nullopt;
}

/// Keeps the exchange if the cost falls.
bool try_exchange(SearchState& state, const Exchange& exchange) {
  if (exchange.n == 0 || !(state.cost_change(exchange) < -state.tolerance())) return false;
  state.apply(exchange);
  return true;
}

/// The best move of type i from one of its resources to another, over all pairs: where floors or depths make
/// the two ends depend on each other.
bool move_over_all_pairs(SearchState& state, TaskType i) {
  Exchange best;
  double best_change = -state.tolerance();
  for (const ResourceId a : state.system().resources_for(i)) {
    if (state.at(i, a) == 0) continue;
    for (const ResourceId b : state.system().resources_for(i)) {
      if (a == b) continue;
      const Exchange move{i, a, b, state.smallest_move(i, a, b), {}, 0};
      if (move.n == 0) continue;
      const double change = state.cost_change(move);
      if (change < best_change) {
        best_change = change;
        best = move;
      }
    }
  }
  if (best.n == 0) return false;
  state.apply(best);
  return true;
}

/// Algorithm 2 for one type: one task from its accelerator to the resource where it helps most.
bool optimise_accelerator(SearchState& state, TaskType i, ResourceId home, Sensitivity kind) {
  if (state.at(i, home) == 0) return false;
  BestTwo to;
  for (const ResourceId j : state.system().resources_for(i)) {
    if (j != home) to.offer(j, sensitivity(state, kind, i, j, 1));
  }
  return to.first_value > kNever && try_exchange(state, {i, home, to.first, 1, {}, 0});
}

/// Algorithm 3 for one type: one task from j_min to j_max, the accelerator at home left out.
bool optimise_processors(SearchState& state, TaskType i, std::optional<ResourceId> home, Sensitivity kind) {
  BestTwo from;
  BestTwo to;
  for (const ResourceId j : state.system().resources_for(i)) {
    if (home && j == *home) continue;
    to.offer(j, sensitivity(state, kind, i, j, 1));
    if (state.at(i, j) > 0) from.offer(j, sensitivity(state, kind, i, j, -1));
  }
  if (from.first_value == kNever) return false;
  Exchange move{i, from.first, to.first, 1, {}, 0};
  if (from.first == to.first) {  // best at both ends: the better of the two runners-up
    const double other_end = from.first_value + to.second_value;
    const double other_start = from.second_value + to.first_value;
    if (other_end == kNever && other_start == kNever) return false;
    (other_end >= other_start ? move.b : move.a) = other_end >= other_start ? to.second : from.second;
  }
  return try_exchange(state, move);
}

/// Algorithm 1 from where the state is.
void climb(SearchState& state, Sensitivity kind, StopPoll& poll) {
  const System& system = state.system();
  const bool pairs_matter = system.has_floors() || system.has_depths();
  for (bool changed = true; changed;) {
    changed = false;
    if (pairs_matter) {
      for (const TaskType i : system.types()) {
        if (poll.should_stop()) return;
        if (system.count(i) > 0) changed |= move_over_all_pairs(state, i);
      }
      continue;
    }
    for (const TaskType i : system.types()) {
      if (poll.should_stop()) return;
      if (system.count(i) == 0) continue;
      if (const auto home = accelerator_home(system, i)) changed |= optimise_accelerator(state, i, *home, kind);
    }
    for (const TaskType i : system.types()) {
      if (poll.should_stop()) return;
      if (system.count(i) > 0) changed |= optimise_processors(state, i, accelerator_home(system, i), kind);
    }
  }
}

bool has_fcfs(const System& system) noexcept {
  for (const Resource& resource : system.resources()) {
    if (resource.discipline == Discipline::kFcfs) return true;
  }
  return false;
}

}  // namespace

struct MapSolver::Workspace {
  SearchState state;
  SearchState second;
  Assignment home;
};

MapSolver::MapSolver() : workspace_(std::make_unique<Workspace>()) {}
MapSolver::~MapSolver() = default;
MapSolver::MapSolver(MapSolver&&) noexcept = default;
MapSolver& MapSolver::operator=(MapSolver&&) noexcept = default;

MapSolver::Result MapSolver::solve(const System& system, Assignment& assignment, const SolveOptions& options) {
  StopPoll poll(options.stop);
  home_assignment(system, workspace_->home);
  if (!detail::keep_depths(system, workspace_->home)) {
    assignment = workspace_->home;
    return {0, Outcome::kInfeasible};
  }
  SearchState* best = &workspace_->state;
  best->reset(system, Objective::kThroughput, workspace_->home);
  climb(*best, options.sensitivity, poll);
  if (has_fcfs(system) && !poll.stopped()) {
    // Second start: the answer for the same system under ps, which is then never better than ours.
    const System shared = system.with_discipline(Discipline::kPs);
    SearchState& second = workspace_->second;
    second.reset(shared, Objective::kThroughput, workspace_->home);
    climb(second, options.sensitivity, poll);
    const Assignment shared_answer = second.assignment();
    second.reset(system, Objective::kThroughput, shared_answer);
    climb(second, options.sensitivity, poll);
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
const SolverInfo map{"map", "the paper's MAP: single moves from home, about a microsecond", true, false, map_search};

}  // namespace solvers
}  // namespace allot
