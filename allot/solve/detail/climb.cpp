#include "allot/solve/detail/climb.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "allot/solve/detail/chains.hpp"
#include "allot/solve/detail/local_search.hpp"

namespace allot::detail {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr ResourceId kNoResource{~std::uint32_t{0}};

/// A resource and how much one task more, or one fewer, changes its throughput.
struct End {
  ResourceId resource{};
  double value = kNever;
};

class Climb {
 public:
  Climb(SearchState& state, Sensitivity sensitivity, MapMoves moves)
      : state_(state), sensitivity_(sensitivity), several_(moves == MapMoves::kBulk) {}

  /// Algorithm 2 for one type: one task from its accelerator to the resource where it helps most.
  bool optimise_accelerator(TaskType i, ResourceId home) {
    if (state_.at(i, home) == 0) return false;
    return try_move(i, {home, worth(i, home, -1)}, best_addition(i, home));
  }

  /// Algorithm 3 for one type: one task from j_min to j_max.
  bool optimise_processors(TaskType i) {
    End from = best_removal(i, kNoResource);
    End to = best_addition(i, kNoResource);
    part_ends(
        from, to, [&](ResourceId j) { return best_removal(i, j); },
        [&](ResourceId j) { return best_addition(i, j); });
    return try_move(i, from, to);
  }

  /// The best move of type i from one of its resources to another, over all pairs: of as few tasks as minimum
  /// depths allow, or of all tasks there.
  bool move_best_pair(TaskType i, bool all) {
    Exchange best;
    double best_change = -state_.tolerance();
    for (const ResourceId a : state_.system().resources_for(i)) {
      if (state_.at(i, a) == 0) continue;
      for (const ResourceId b : state_.system().resources_for(i)) {
        if (a == b) continue;
        const Exchange move{i, a, b, all ? state_.at(i, a) : state_.smallest_move(i, a, b), {}, 0};
        if (move.n == 0 || (all && !state_.keeps_depths(move))) continue;
        const double change = state_.cost_change(move);
        if (change < best_change) {
          best_change = change;
          best = move;
        }
      }
    }
    if (best.n == 0) return false;
    if (several_ && !all && best.n == 1) {
      best.n = amount(best, best_change);
      if (!state_.keeps_depths(best)) best.n = 1;
    }
    state_.apply(best);
    return true;
  }

 private:
  /// D_tj: the worth of one task more (n = 1) or one fewer (n = -1).
  double worth(TaskType i, ResourceId j, Count n) const noexcept {
    return sensitivity_ == Sensitivity::kExact ? state_.change(i, j, n) : state_.printed_change(i, j, n);
  }

  /// j_max: where one more task helps most, one resource left out. Ties: the lowest index.
  End best_addition(TaskType i, ResourceId left_out) const noexcept {
    End end;
    for (const ResourceId j : state_.system().resources_for(i)) {
      if (j == left_out) continue;
      if (const double value = worth(i, j, 1); value > end.value) end = {j, value};
    }
    return end;
  }

  /// j_min: where one fewer task hurts least.
  End best_removal(TaskType i, ResourceId left_out) const noexcept {
    End end;
    for (const ResourceId j : state_.system().resources_for(i)) {
      if (j == left_out || state_.at(i, j) == 0) continue;
      if (const double value = worth(i, j, -1); value > end.value) end = {j, value};
    }
    return end;
  }

  /// Keeps the move of one task if the throughput rises.
  bool try_move(TaskType i, const End& from, const End& to) {
    if (from.value == kNever || to.value == kNever) return false;
    Exchange move{i, from.resource, to.resource, 1, {}, 0};
    const double change = state_.cost_change(move);
    if (!(change < -state_.tolerance())) return false;
    if (several_) move.n = amount(move, change);
    state_.apply(move);
    return true;
  }

  /// How many tasks a move that helps one should take, as in SharedClimb: as many as fill the free servers,
  /// or twice as many as last time, if that gains more.
  Count amount(const Exchange& one, double change) {
    const bool again = one.a == last_.a && one.b == last_.b && one.i == last_.i;
    const Count here = state_.at(one.i, one.a);
    Count n = std::min(here, state_.room(one.i, one.b));
    if (again) n = std::max(n, std::min(here, 2 * last_.n));
    last_ = one;
    if (n > 1) {
      Exchange more = one;
      more.n = n;
      if (state_.cost_change(more) < change) last_ = more;
    }
    return last_.n;
  }

  SearchState& state_;
  Sensitivity sensitivity_;
  bool several_;
  Exchange last_;
};

}  // namespace

void climb(SearchState& state, Sensitivity sensitivity, MapMoves moves, StopPoll& poll) {
  const System& system = state.system();
  const bool pairs_matter = system.has_floors() || system.has_depths() || system.has_needs();
  Climb climb(state, sensitivity, moves);
  const std::uint64_t rating = steps_per_rating(system);
  const auto pay = [&](TaskType i) {
    const std::size_t places = system.resources_for(i).size();
    if (rating > 0) poll.spend(rating * places * (places - 1) / 2);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const TaskType i : system.types()) {
      if (poll.should_stop()) return;
      if (system.count(i) == 0) continue;
      if (pairs_matter) {
        changed |= climb.move_best_pair(i, false);
        pay(i);
        continue;
      }
      const std::optional<ResourceId> home = system.home(i);
      if (!home || system.resource(*home).kind != Kind::kSpecialized) continue;
      while (climb.optimise_accelerator(i, *home) && !poll.should_stop()) changed = true;
    }
    if (!pairs_matter) {
      for (const TaskType i : system.types()) {
        if (poll.should_stop()) return;
        while (system.count(i) > 0 && climb.optimise_processors(i) && !poll.should_stop()) changed = true;
      }
    }
    if (changed || moves == MapMoves::kSingle) continue;
    for (const TaskType i : system.types()) {
      if (poll.should_stop()) return;
      changed |= climb.move_best_pair(i, true);
      pay(i);
    }
  }
}

void exchange(SearchState& state, StopPoll& poll) {
  const System& system = state.system();
  if (!chains_matter(system)) return;
  Chains chains;
  chains.look(state, poll);
  std::size_t at = 0;
  for (std::size_t unchanged = 0; unchanged < system.type_count() && !poll.should_stop(); ++unchanged) {
    if (chains.improve(state, task_type(at), poll)) {
      climb(state, Sensitivity::kExact, MapMoves::kBulk, poll);
      chains.look(state, poll);
      unchanged = 0;
    }
    at = at + 1 < system.type_count() ? at + 1 : 0;
  }
}

bool has_fcfs(const System& system) noexcept {
  for (const Resource& resource : system.resources()) {
    if (resource.discipline == Discipline::kFcfs) return true;
  }
  return false;
}

bool shares_evenly(const System& system) noexcept {
  return !system.has_floors() && !system.has_depths() && !system.has_needs() && !has_fcfs(system);
}

}  // namespace allot::detail
