// How soon a batch can be done at all: the linear program of weighted service, or with needs that of
// planned service, with shares proportional to what remains.
#pragma once

#include <optional>
#include <span>

#include "allot/model/system.hpp"

namespace allot {

/// No schedule finishes `left` tasks of each type sooner, in expectation, than these seconds: B / X, where X
/// is the largest throughput in the proportions of what is left. The system gives resources and rates; its
/// counts and priorities do not matter. 0 when nothing is left; nothing when a type that has tasks left can
/// run nowhere. O(a linear program of types x resources). With `packings`, where tasks have needs, it is
/// that of whole tasks as far as one is found, which takes some more programs: at the prices of the
/// capacities each task is worth what it takes, and no more than a packing is worth at most is done in a
/// second.
std::optional<double> batch_bound(const System& system, std::span<const Count> left, bool packings = false);

}  // namespace allot
