// Which resources with a minimum depth are used at all: the choice that minimum depths are about.
//
// A resource with a minimum depth d holds no task or at least d, so a search that moves a few tasks at a time
// never opens or closes it. Once it is known which ones are open, what is left is a flow: each must get its
// depth from types that can run there.
#pragma once

#include <vector>

#include "allot/model/system.hpp"

namespace allot::detail {

/// Brings tasks to the resources that are not closed until each holds its minimum depth (1: none needed),
/// along the shortest chains of moves. Closed ones must be empty. False only when no assignment with these
/// closed keeps all depths; the assignment is then unchanged.
bool deepen(const System& system, const std::vector<bool>& closed, Assignment& assignment);

/// Opens a resource with a minimum depth if it is empty, else empties it. False, and nothing changed, when
/// the other depths do not allow that.
bool turn_resource(const System& system, Assignment& assignment, ResourceId j);

/// Good placements that differ in which resources with a minimum depth are open: all sets of up to four such
/// resources, else each alone closed, each alone open, all and none. The `most` with the largest throughput,
/// best first. Empty when none of these sets has a placement; for up to four that proves that there is none.
std::vector<Assignment> starts_by_open_set(const System& system, std::size_t most);

}  // namespace allot::detail
