// Which mixes of tasks to measure, to find out what tasks share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/model/system.hpp"

namespace allot {

struct SharingDesign {
  std::size_t pair_mixes = 24;    ///< of two pairs, at most: drawn from all if there are more
  std::size_t random_mixes = 36;  ///< of all pairs
  std::uint64_t seed = 1;
};

/// Mixes that distinguish needs, as tasks in service of each pair, never more at a resource than it has
/// servers: every pair alone with one, half and all of its servers busy; two pairs at a time, which share the
/// servers of a resource or fill two of them; and all resources with types drawn at random, some of them not
/// full. In this order; shuffle them before measuring, so that changes over time affect all mixes alike.
std::vector<PerPair<Count>> design_mixes(const System& system, const SharingDesign& design = {});

}  // namespace allot
