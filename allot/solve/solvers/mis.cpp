// MIS, minimise squared error independently: the paper's Algorithm 4, read so that it can also take a type
// below its share back up or above its share down (see paper/README.md).
//
// From MAP's answer, types from low to high priority: one task of the type goes from where it hurts the
// throughput least to where it helps most (the printed direction, which only ever raises the type's own
// throughput), or the other way round, whichever lowers the total squared error more, as long as either does.
// This ends when a pass over all types changes nothing. Then come additions to the paper: moves of many
// tasks, swaps, and other starts, since the desired shares are often met far from where the throughput is
// largest. With `forward` it ends as printed.
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "allot/solve/detail/climb.hpp"
#include "allot/solve/detail/local_search.hpp"
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/search_state.hpp"
#include "allot/solve/detail/start.hpp"
#include "allot/solve/map.hpp"
#include "allot/solve/solver.hpp"

namespace allot::solvers {
namespace {

using detail::Exchange;
using detail::SearchState;

/// Starts besides MAP's answer, at most.
constexpr std::size_t kStarts = 8;

/// D_tj of Eq. 8: the exact difference of n tasks, or the printed derivative where it is defined.
double sensitivity(const SearchState& state, Sensitivity kind, TaskType i, ResourceId j, Count n) noexcept {
  return kind == Sensitivity::kExact ? state.change(i, j, n) : state.printed_change(i, j, n);
}

/// The move between the two ends that Eq. 8 picks. `towards_better`: from the smallest loss to the largest
/// gain of throughput; otherwise from the largest loss to the smallest gain.
Exchange pick_move(const SearchState& state, Sensitivity kind, TaskType i, bool towards_better) {
  Exchange best;
  double best_value = -std::numeric_limits<double>::infinity();
  const auto allowed = state.system().resources_for(i);
  for (const ResourceId a : allowed) {
    if (state.at(i, a) == 0) continue;
    for (const ResourceId b : allowed) {
      if (a == b) continue;
      const Count n = state.smallest_move(i, a, b);
      if (n == 0) continue;
      const double gain = state.system().has_needs()
                              ? state.value_change(i, a, b, n)
                              : sensitivity(state, kind, i, a, -n) + sensitivity(state, kind, i, b, n);
      const double value = towards_better ? gain : -gain;
      if (value > best_value) {
        best_value = value;
        best = {i, a, b, n, {}, 0};
      }
    }
  }
  return best;
}

std::vector<TaskType> by_rising_priority(const System& system) {
  std::vector<TaskType> order;
  for (const TaskType i : system.types()) {
    if (system.count(i) > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](TaskType a, TaskType b) {
    return system.shares()[index(a)] < system.shares()[index(b)];
  });
  return order;
}

/// Doubles the number of tasks as long as that is better, so that counts of millions end soon.
void lengthen(const SearchState& state, Exchange& move, double change) {
  for (Exchange longer = move; longer.n <= state.at(move.i, move.a) / 2;) {
    longer.n *= 2;
    const double longer_change = state.keeps_depths(longer) ? state.cost_change(longer) : change;
    if (longer_change >= change) return;
    change = longer_change;
    move = longer;
  }
}

constexpr std::string_view kMisMovesWords[] = {"both", "forward"};
constexpr Setting kMisMoves{
    .name = "mis_moves",
    .help = "move tasks both ways (default) or only towards the more sensitive resource",
    .words = kMisMovesWords};

bool improve(SearchState& state, const SolveOptions& options, TaskType i) {
  Exchange best;
  double best_change = -state.tolerance();
  for (const bool towards_better : {true, false}) {
    if (!towards_better && options.settings.get<MisMoves>(kMisMoves) == MisMoves::kForward) continue;
    const Exchange move =
        pick_move(state, options.settings.get<Sensitivity>(detail::kSensitivity), i, towards_better);
    if (move.n == 0) continue;
    const double change = state.cost_change(move);
    if (change < best_change) {
      best_change = change;
      best = move;
    }
  }
  if (best.n == 0) return false;
  if (options.settings.get<MisMoves>(kMisMoves) == MisMoves::kBoth) lengthen(state, best, best_change);
  state.apply(best);
  return true;
}

/// Algorithm 4 from the current state.
void minimise(SearchState& state, const std::vector<TaskType>& order, const SolveOptions& options,
              StopPoll& poll) {
  for (bool changed = true; changed && !poll.stopped();) {
    changed = false;
    for (const TaskType i : order) {
      while (!poll.should_stop() && improve(state, options, i)) changed = true;
    }
  }
}

/// Every type spread evenly over all resources that can run it.
Assignment even_start(const System& system) {
  Assignment start(system.type_count(), system.resource_count());
  for (const TaskType i : system.types()) {
    const auto allowed = system.resources_for(i);
    for (std::size_t at = 0; at < allowed.size(); ++at) {
      const auto places = static_cast<Count>(allowed.size());
      start(i, allowed[at]) =
          system.count(i) / places + (static_cast<Count>(at) < system.count(i) % places ? 1 : 0);
    }
  }
  return start;
}

/// Other starts: home, every type spread evenly, and all tasks together at each resource in turn, where a
/// share is a count.
std::vector<Assignment> other_starts(const System& system) {
  std::vector<Assignment> starts = {home_assignment(system), even_start(system)};
  for (const ResourceId j : system.resource_ids()) {
    if (starts.size() == kStarts) break;
    Assignment together = home_assignment(system);
    for (const TaskType i : system.types()) {
      if (system.count(i) == 0 || !system.can_run(i, j)) continue;
      together(i, *system.home(i)) = 0;
      together(i, j) = system.count(i);
    }
    if (std::find(starts.begin(), starts.end(), together) == starts.end()) starts.push_back(together);
  }
  return starts;
}

Solution mis_search(const Problem& problem, const SolveOptions& options) {
  const System& system = problem.system;
  Solution solution;
  if (MapSolver().solve(system, solution.assignment, options).outcome == Outcome::kInfeasible) {
    return detail::no_placement(system);
  }
  StopPoll poll(options.stop, detail::poll_stride(system, Objective::kPriority));
  const std::vector<TaskType> order = by_rising_priority(system);
  SearchState state;
  state.reset(system, Objective::kPriority, solution.assignment);
  minimise(state, order, options, poll);
  if (options.settings.get<MisMoves>(kMisMoves) == MisMoves::kBoth) {
    detail::LocalSearch search(poll);
    search.descend(state);
    double least = state.cost();
    state.write(solution.assignment);
    for (Assignment& start : other_starts(system)) {
      if (poll.stopped() || !detail::keep_depths(system, start)) continue;
      state.reset(system, Objective::kPriority, start);
      minimise(state, order, options, poll);
      search.descend(state);
      if (state.cost() >= least) continue;
      least = state.cost();
      state.write(solution.assignment);
    }
  } else {
    state.write(solution.assignment);
  }
  solution.outcome = detail::outcome_of(poll);
  return solution;
}

}  // namespace

constexpr const Setting* kSettings[] = {&detail::kSensitivity, &kMisMoves};

extern const SolverInfo mis;
const SolverInfo mis{
    .name = "mis",
    .summary = "the paper's MIS: moves towards the desired shares, from MAP's answer and other starts",
    .minimises_priority_error = true,
    .search = mis_search,
    .settings = kSettings,
    .is_default = true,
    .is_quick = true};

}  // namespace allot::solvers
