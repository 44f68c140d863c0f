// Chooses which resources with a minimum depth are used at all.
//
// A resource with a minimum depth d holds no task or at least d, so a search that moves a few tasks at a time
// never opens or closes it. Once it is decided which ones are open, the rest is a flow problem: each must get
// its depth from types that can run there.
#pragma once

#include <vector>

#include "allot/model/system.hpp"

namespace allot::detail {

/// Brings tasks to the resources that are not closed until each holds its minimum depth (1: none needed),
/// along the shortest chains of moves. Closed ones must be empty. False only if no assignment with these
/// resources closed keeps all depths; the assignment is then unchanged.
bool deepen(const System& system, const std::vector<bool>& closed, Assignment& assignment);

/// Opens a resource with a minimum depth if it is empty, otherwise empties it. False, without any change, if
/// the other depths do not allow that.
bool turn_resource(const System& system, Assignment& assignment, ResourceId j);

/// Good placements that differ in which resources with a minimum depth are open: every set for up to four
/// such resources, otherwise each alone closed, each alone open, all and none. The `most` with the largest
/// throughput, best first. Empty if none of these sets has a placement; for up to four such resources, this
/// proves that there is none.
std::vector<Assignment> starts_by_open_set(const System& system, std::size_t most);

}  // namespace allot::detail
