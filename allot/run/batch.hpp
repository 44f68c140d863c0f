// How soon a batch can be done at all: the linear programme of weighted service with shares proportional to
// what remains.
#pragma once

#include <optional>
#include <span>

#include "allot/model/system.hpp"

namespace allot {

/// No schedule finishes `left` tasks of each type sooner, in expectation, than these seconds: B / X, where X
/// is the largest throughput in the proportions of what is left. The system gives resources and rates; its
/// counts and priorities do not matter. 0 when nothing is left; nothing when a type that has tasks left can
/// run nowhere. O(a linear programme of types x resources).
std::optional<double> batch_bound(const System& system, std::span<const Count> left);

}  // namespace allot
