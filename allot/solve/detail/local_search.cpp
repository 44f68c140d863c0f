#include "allot/solve/detail/local_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "allot/solve/detail/open_sets.hpp"

namespace allot::detail {
namespace {

/// The search for chains ends after kMostChains rated moves plus kChainsPerPair per pair: practically never
/// on a small machine; on one with hundreds of resources, after about a few rounds of other moves.
constexpr std::uint64_t kMostChains = 1'000'000;
constexpr std::uint64_t kChainsPerPair = 20;

/// Up to this many tasks, moving half of them and single ones is fast enough.
constexpr Count kMany = 64;
/// After this many moves of a descent, checks whether they have really helped.
constexpr std::uint64_t kMovesBetweenChecks = 256;

/// How many of `all` tasks a move may take: the fewest, half, what fills the free servers, all; of many tasks
/// also a quarter, an eighth and so on, so that millions take no longer than hundreds. Calls `rate` with
/// each.
template <typename Rate>
void for_each_portion(Count fewest, Count all, Count free, Rate&& rate) {
  rate(fewest);
  if (free > fewest && free < all) rate(free);
  for (Count part = all / 2; part > fewest; part /= 2) {
    rate(part);
    if (all <= kMany) break;
  }
  if (all > fewest) rate(all);
}

}  // namespace

std::uint32_t poll_stride(const System& system, Objective objective) noexcept {
  const std::size_t cost = !is_linear(objective) || system.has_floors() || system.has_needs()
                               ? system.type_count() * system.resource_count()
                               : system.resource_count();
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(4096 / std::max<std::size_t>(1, cost), 1, 256));
}

std::uint64_t steps_per_rating(const System& system) noexcept {
  constexpr std::size_t kFilledInAStep = 400;  // pairs times capacities, measured
  if (!system.has_needs()) return 0;
  return system.type_count() * system.resource_count() * system.capacity_count() / kFilledInAStep;
}

void LocalSearch::pay() {
  poll_.spend((evaluations_ - evaluations_paid_) * steps_per_rating_);
  evaluations_paid_ = evaluations_;
}

void LocalSearch::apply(SearchState& state, const Exchange& exchange) {
  state.apply(exchange);
  if (visitor_) visitor_(state);
}

bool LocalSearch::improve_by_moves(SearchState& state, TaskType i) {
  const auto allowed = state.system().resources_for(i);
  Exchange best;
  double best_change = -state.tolerance();
  for (const ResourceId a : allowed) {
    const Count all = state.at(i, a);
    if (all == 0) continue;
    for (const ResourceId b : allowed) {
      if (a == b) continue;
      const Count fewest = state.smallest_move(i, a, b);
      if (fewest == 0) continue;
      const Count free = state.room(i, b);
      for_each_portion(fewest, all, free, [&](Count n) {
        const Exchange move{i, a, b, n, {}, 0};
        if (!state.keeps_depths(move)) return;
        ++evaluations_;
        const double change = state.cost_change(move);
        if (change < best_change) {
          best_change = change;
          best = move;
        }
      });
    }
    if (should_stop()) break;
  }
  if (best.n == 0) return false;
  apply(state, best);
  return true;
}

/// Moves all tasks of a type, wherever they are, to one resource. Kept if the end of the chain is better than
/// its start, even if a step on the way was not.
bool LocalSearch::improve_by_gathering(SearchState& state, TaskType i) {
  const auto allowed = state.system().resources_for(i);
  std::size_t places = 0;
  for (const ResourceId j : allowed) places += state.at(i, j) > 0 ? 1 : 0;
  if (places < 2 || state.system().has_depths()) return false;  // one place: improve_by_moves covers it
  for (const ResourceId b : allowed) {
    std::vector<Exchange>& chain = chain_;
    chain.clear();
    const double before = state.cost();
    for (const ResourceId a : allowed) {
      if (a == b || state.at(i, a) == 0) continue;
      chain.push_back({i, a, b, state.at(i, a), {}, 0});
      ++evaluations_;
      state.apply(chain.back());
    }
    if (state.cost() < before - state.tolerance()) {
      if (visitor_) visitor_(state);
      return true;
    }
    for (auto step = chain.rbegin(); step != chain.rend(); ++step) {
      state.apply({step->i, step->b, step->a, step->n, {}, 0});
    }
    if (should_stop()) return false;
  }
  return false;
}

bool LocalSearch::improve_by_swaps(SearchState& state) {
  const System& system = state.system();
  std::vector<Spot>& spots = spots_;
  spots.clear();
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      if (state.at(i, j) > 0) spots.push_back({i, j});
    }
  }
  for (std::size_t x = 0; x < spots.size(); ++x) {
    Exchange best;
    double best_change = -state.tolerance();
    for (std::size_t y = x + 1; y < spots.size(); ++y) {
      const Spot& s = spots[x];
      const Spot& t = spots[y];
      if (s.i == t.i || s.j == t.j || !system.can_run(s.i, t.j) || !system.can_run(t.i, s.j)) continue;
      const Count s_all = state.at(s.i, s.j);
      const Count t_all = state.at(t.i, t.j);
      if (s_all == 0 || t_all == 0) continue;
      const std::array<Exchange, 4> swaps = {
          Exchange{s.i, s.j, t.j, 1, t.i, 1}, Exchange{s.i, s.j, t.j, s_all, t.i, t_all},
          Exchange{s.i, s.j, t.j, s_all, t.i, 1}, Exchange{s.i, s.j, t.j, 1, t.i, t_all}};
      for (const Exchange& swap : swaps) {
        if (!state.keeps_depths(swap)) continue;
        ++evaluations_;
        const double change = state.cost_change(swap);
        if (change < best_change) {
          best_change = change;
          best = swap;
        }
      }
      if (should_stop()) return false;
    }
    if (best.n != 0) {
      apply(state, best);
      return true;
    }
  }
  return false;
}

/// Whether a series of moves that each seemed to help did help. If rates are many orders of magnitude apart,
/// running sums may approve every move of a cycle; recomputed sums do not.
bool LocalSearch::advances(SearchState& state) {
  if (++moves_ % kMovesBetweenChecks != 0) return true;
  state.refresh();
  return state.cost() < std::exchange(cost_checked_, state.cost());
}

void LocalSearch::descend(SearchState& state) {
  cost_checked_ = std::numeric_limits<double>::infinity();
  const System& system = state.system();
  steps_per_rating_ = steps_per_rating(system);
  const bool chains = is_linear(state.objective()) && chains_matter(system);
  for (bool going = true; going && !poll_.stopped();) {
    for (bool moved = true; moved && !poll_.stopped();) {
      moved = false;
      for (const TaskType i : system.types()) {
        if (poll_.stopped()) break;
        while (system.count(i) > 0 && improve_by_moves(state, i) && !should_stop()) {
          if (!advances(state)) return;
          moved = true;
        }
      }
    }
    going = improve_by_swaps(state);
    for (const TaskType i : system.types()) {
      if (!going && system.count(i) > 0 && !should_stop()) going = improve_by_gathering(state, i);
    }
    if (!going && chains) going = improve_by_chains(state);
    if (going && !advances(state)) return;
  }
}

bool LocalSearch::improve_by_chains(SearchState& state) {
  const std::size_t types = state.system().type_count();
  const std::uint64_t before = chains_.rated();
  if (before > kMostChains + kChainsPerPair * types * state.system().resource_count()) return false;
  chains_.look(state, poll_);
  bool improved = false;
  // Begins where it ended last time.
  for (std::size_t left = types; left > 0 && !improved && !should_stop(); --left) {
    next_chain_ = next_chain_ + 1 < types ? next_chain_ + 1 : 0;
    improved = chains_.improve(state, task_type(next_chain_), poll_);
  }
  evaluations_ += chains_.rated() - before;
  if (improved && visitor_) visitor_(state);
  return improved;
}

/// Moves some tasks of a random type to another resource.
void LocalSearch::throw_off(SearchState& state, RandomStream& random) {
  const System& system = state.system();
  const TaskType i = task_type(random.below(system.type_count()));
  const auto allowed = system.resources_for(i);
  if (system.count(i) == 0 || allowed.size() < 2) return;
  const ResourceId a = allowed[random.below(allowed.size())];
  const ResourceId b = allowed[random.below(allowed.size())];
  const Count all = state.at(i, a);
  if (a == b || all == 0) return;
  const bool whole = random.below(2) == 0;
  const Count n = whole ? all : 1 + static_cast<Count>(random.below(static_cast<std::uint64_t>(all)));
  const Exchange kick{i, a, b, n, {}, 0};
  if (state.keeps_depths(kick)) state.apply(kick);
}

/// Moves the tasks that slow a random resource down to where each of them does best, so that the overflow
/// goes elsewhere. With needs: the tasks that bring least for what they take, or all but those that bring
/// most.
void LocalSearch::clear_out(SearchState& state, RandomStream& random) {
  const System& system = state.system();
  const ResourceId a = resource_id(random.below(system.resource_count()));
  const auto brings = [&](TaskType i) {
    return system.has_needs() ? system.value_rate(i, a) * system.most_in_service(i, a)
                              : system.value_rate(i, a);
  };
  double mean = 0;
  double most = 0;
  for (const TaskType i : system.types()) {
    if (state.at(i, a) == 0) continue;
    mean += static_cast<double>(state.at(i, a)) * brings(i);
    most = std::max(most, brings(i));
  }
  mean /= static_cast<double>(std::max<Count>(1, state.tasks_at(a)));
  const double enough = system.has_needs() && random.below(2) == 0 ? std::nextafter(most, 0.0) : mean;
  for (const TaskType i : system.types()) {
    if (state.at(i, a) == 0 || brings(i) > enough) continue;
    Exchange best;
    double least = 0;
    for (const ResourceId b : system.resources_for(i)) {
      if (b == a) continue;
      const Exchange kick{i, a, b, state.at(i, a), {}, 0};
      if (!state.keeps_depths(kick)) continue;
      ++evaluations_;
      const double change = state.cost_change(kick);
      if (best.n == 0 || change < least) {
        least = change;
        best = kick;
      }
    }
    if (best.n != 0) state.apply(best);
  }
}

/// Opens or closes a random resource with a minimum depth.
void LocalSearch::turn(SearchState& state, RandomStream& random) {
  const System& system = state.system();
  const ResourceId j = resource_id(random.below(system.resource_count()));
  if (system.resource(j).min_depth <= 1) return;
  state.write(trial_);
  if (turn_resource(system, trial_, j)) state.restart(trial_);
}

void LocalSearch::perturb(SearchState& state, RandomStream& random, std::uint64_t evaluations) {
  const System& system = state.system();
  const std::uint64_t end = evaluations_ + evaluations;
  Assignment best = state.assignment();
  double best_cost = state.cost();
  const Objective objective = state.objective();
  const bool pools = is_linear(objective) && chains_matter(system);
  while (evaluations_ < end && !poll_.stopped()) {
    ++evaluations_;  // so that the loop ends if nothing can be moved
    const std::uint64_t kind = random.below(4);
    if (kind == 0 && pools) {
      clear_out(state, random);
    } else if (kind == 1 && system.has_depths()) {
      turn(state, random);
    } else {
      for (std::uint64_t kicks = 1 + random.below(3); kicks > 0; --kicks) throw_off(state, random);
    }
    descend(state);
    if (state.cost() <= best_cost) {
      best_cost = state.cost();
      state.write(best);
    } else {
      state.restart(best);
    }
  }
  state.restart(best);
}

}  // namespace allot::detail
