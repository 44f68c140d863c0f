#include "allot/solve/detail/chains.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace allot::detail {

bool chains_matter(const System& system) noexcept {
  for (const Resource& resource : system.resources()) {
    if (resource.servers > 1 || resource.discipline == Discipline::kFcfs) return true;
  }
  return false;
}

namespace {

/// Where tasks of type k that leave b do best; b itself where they can go nowhere.
ResourceId best_exit(const SearchState& state, TaskType k, ResourceId b, Count n, std::uint64_t& rated) {
  ResourceId best = b;
  double least = 0;
  for (const ResourceId d : state.system().resources_for(k)) {
    if (d == b) continue;
    ++rated;
    const double change = state.cost_change(Exchange{k, b, d, n, {}, 0});
    if (best == b || change < least) {
      best = d;
      least = change;
    }
  }
  return best;
}

}  // namespace

bool improve_by_chain(SearchState& state, TaskType i, StopPoll& poll, std::uint64_t& rated) {
  const System& system = state.system();
  const auto allowed = system.resources_for(i);
  Chain best;
  double best_change = -state.tolerance();
  for (const ResourceId b : allowed) {
    for (const TaskType k : system.types()) {
      const Count there = k == i ? 0 : state.at(k, b);
      if (there == 0) continue;
      const ResourceId exit = best_exit(state, k, b, there, rated);
      if (exit == b) continue;
      for (const ResourceId a : allowed) {
        const Count here = state.at(i, a);
        if (a == b || here == 0) continue;
        // While servers stay free, the two moves have nothing to do with each other.
        if (state.tasks_at(b) + here <= system.resource(b).servers) continue;
        const Count fewer = std::min(here, there);
        const std::array<std::pair<Count, Count>, 5> amounts = {
            {{here, there}, {fewer, fewer}, {1, 1}, {here, 1}, {1, there}}};
        for (const ResourceId d : {exit, a}) {
          if (!system.can_run(k, d)) continue;
          for (const auto& [n, out] : amounts) {
            const Chain chain{i, a, b, n, k, d, out};
            if (!state.keeps_depths(chain)) continue;
            ++rated;
            const double change = state.cost_change(chain);
            if (change < best_change) {
              best_change = change;
              best = chain;
            }
          }
          if (exit == a) break;
        }
      }
      if (poll.should_stop()) return false;
    }
  }
  if (best.n == 0) return false;
  state.apply(best);
  return true;
}

}  // namespace allot::detail
