// Which resources capacities join: what happens at one of them changes speeds only at those.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "allot/model/filling.hpp"
#include "allot/model/system.hpp"

namespace allot::detail {

/// A pair that draws on a capacity.
struct Drawer {
  std::size_t pair = 0;  ///< row after row
  std::size_t at = 0;    ///< in the group's pairs
  double amount = 0;
};

/// Resources that are joined, with all that can run and be drawn on there.
struct Group {
  std::vector<ResourceId> resources;
  std::vector<std::size_t> pairs;
  std::vector<CapacityId> capacities;        ///< rising
  std::vector<std::vector<Drawer>> drawers;  ///< of each capacity
  bool is_touched = false;
  bool has_lines = false;  ///< somebody waited at the head of a line when it was last looked at

  std::span<const Drawer> drawers_of(CapacityId r) const noexcept;
  std::vector<PairId> pair_ids(const System& system) const;
};

/// All resources, in groups.
std::vector<Group> joined_groups(const System& system);

}  // namespace allot::detail
