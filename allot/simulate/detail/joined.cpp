#include "allot/simulate/detail/joined.hpp"

#include <algorithm>
#include <numeric>

namespace allot::detail {
namespace {

std::size_t root_of(std::vector<std::size_t>& parent, std::size_t at) {
  while (parent[at] != at) at = parent[at] = parent[parent[at]];
  return at;
}

void add_pairs(const System& system, Group& group) {
  for (const TaskType i : system.types()) {
    for (const ResourceId j : group.resources) {
      if (!system.can_run(i, j)) continue;
      group.pairs.push_back(index(i) * system.resource_count() + index(j));
      for (const Draw& draw : system.needs(i, j)) group.capacities.push_back(draw.capacity);
    }
  }
  for (const ResourceId j : group.resources) group.capacities.push_back(servers_of(j));
  std::sort(group.capacities.begin(), group.capacities.end());
  group.capacities.erase(std::unique(group.capacities.begin(), group.capacities.end()),
                         group.capacities.end());
  group.drawers.resize(group.capacities.size());
  for (std::size_t at = 0; at < group.pairs.size(); ++at) {
    const std::size_t pair = group.pairs[at];
    const TaskType i = task_type(pair / system.resource_count());
    for (const Draw& draw : system.needs(i, resource_id(pair % system.resource_count()))) {
      const auto r = std::lower_bound(group.capacities.begin(), group.capacities.end(), draw.capacity);
      group.drawers[static_cast<std::size_t>(r - group.capacities.begin())].push_back(
          {pair, at, draw.amount});
    }
  }
}

}  // namespace

std::span<const Drawer> Group::drawers_of(CapacityId r) const noexcept {
  const auto at = std::lower_bound(capacities.begin(), capacities.end(), r);
  return drawers[static_cast<std::size_t>(at - capacities.begin())];
}

std::vector<PairId> Group::pair_ids(const System& system) const {
  std::vector<PairId> ids;
  for (const std::size_t pair : pairs)
    ids.push_back({task_type(pair / system.resource_count()), resource_id(pair % system.resource_count())});
  return ids;
}

std::vector<Group> joined_groups(const System& system) {
  std::vector<std::size_t> parent(system.capacity_count());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      for (const Draw& draw : system.needs(i, j))
        parent[root_of(parent, index(draw.capacity))] = root_of(parent, index(servers_of(j)));
    }
  }
  std::vector<Group> groups;
  std::vector<std::size_t> group_of(system.capacity_count(), system.capacity_count());
  for (const ResourceId j : system.resource_ids()) {
    std::size_t& number = group_of[root_of(parent, index(servers_of(j)))];
    if (number == system.capacity_count()) {
      number = groups.size();
      groups.emplace_back();
    }
    groups[number].resources.push_back(j);
  }
  for (Group& group : groups) add_pairs(system, group);
  return groups;
}

}  // namespace allot::detail
