#include "allot/solve/detail/chains.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace allot::detail {

bool chains_matter(const System& system) noexcept {
  if (system.has_needs()) return true;
  for (const Resource& resource : system.resources()) {
    if (resource.servers > 1 || resource.discipline == Discipline::kFcfs) return true;
  }
  return false;
}

void Chains::look(const SearchState& state, StopPoll& poll) {
  const System& system = state.system();
  exits_.clear();
  for (const TaskType k : system.types()) {
    for (const ResourceId b : system.resources_for(k)) {
      const Count n = state.at(k, b);
      if (n == 0) continue;
      Exit exit{k, b, b};
      double least = 0;
      for (const ResourceId d : system.resources_for(k)) {
        if (d == b) continue;
        ++rated_;
        const double change = state.cost_change(Exchange{k, b, d, n, {}, 0});
        if (exit.to == b || change < least) {
          exit.to = d;
          least = change;
        }
      }
      if (exit.to != b) exits_.push_back(exit);
      if (poll.should_stop()) return;
    }
  }
}

bool Chains::improve(SearchState& state, TaskType i, StopPoll& poll) {
  best_ = {};
  best_change_ = -state.tolerance();
  for (const Exit& exit : exits_) {
    if (exit.type == i || !state.system().can_run(i, exit.from)) continue;
    rate(state, i, exit);
    if (poll.should_stop()) return false;
  }
  if (best_.n == 0) return false;
  state.apply(best_);
  return true;
}

/// Rates the chains that bring type i to where the other type leaves: all of both, equal numbers of both, one
/// of each, and mixed.
void Chains::rate(const SearchState& state, TaskType i, const Exit& exit) {
  const System& system = state.system();
  const ResourceId b = exit.from;
  const Count there = state.at(exit.type, b);
  if (there == 0) return;  // it has left since
  for (const ResourceId a : system.resources_for(i)) {
    const Count here = state.at(i, a);
    // While servers stay free, the two moves are independent.
    if (a == b || here == 0 || here <= state.room(i, b)) continue;
    const Count fewer = std::min(here, there);
    const std::array<std::pair<Count, Count>, 5> amounts = {
        {{here, there}, {fewer, fewer}, {1, 1}, {here, 1}, {1, there}}};
    for (const ResourceId d : {exit.to, a}) {
      if (!system.can_run(exit.type, d)) continue;
      for (const auto& [n, out] : amounts) {
        const Chain chain{i, a, b, n, exit.type, d, out};
        if (!state.keeps_depths(chain)) continue;
        ++rated_;
        const double change = state.cost_change(chain);
        if (change < best_change_) {
          best_change_ = change;
          best_ = chain;
        }
      }
      if (exit.to == a) break;
    }
  }
}

}  // namespace allot::detail
