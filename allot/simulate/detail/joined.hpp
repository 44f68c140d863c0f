// Which resources are joined by capacities: events at a resource change speeds only within its group.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "allot/model/filling.hpp"
#include "allot/model/system.hpp"

namespace allot::detail {

/// A pair that draws on a capacity.
struct Drawer {
  std::size_t pair = 0;  ///< row-major index
  std::size_t at = 0;    ///< in the group's pairs
  double amount = 0;
};

/// Joined resources, with all pairs that can run there and all capacities that these draw on.
struct Group {
  std::vector<ResourceId> resources;
  std::vector<std::size_t> pairs;
  std::vector<CapacityId> capacities;        ///< in increasing order
  std::vector<std::vector<Drawer>> drawers;  ///< of each capacity
  bool is_touched = false;
  bool has_lines = false;  ///< a task waited at the head of a line at the last check

  std::span<const Drawer> drawers_of(CapacityId r) const noexcept;
  std::vector<PairId> pair_ids(const System& system) const;
};

/// All resources, in groups.
std::vector<Group> joined_groups(const System& system);

}  // namespace allot::detail
