// A lower bound on the time of a batch: the linear program of weighted service (with needs: of planned
// service), with shares proportional to the tasks left.
#pragma once

#include <optional>
#include <span>

#include "allot/model/system.hpp"

namespace allot {

/// No schedule finishes `left` tasks of each type sooner, in expectation, than these seconds: B / X, where X
/// is the largest throughput in the proportions of `left`. The system gives resources and rates; its counts
/// and priorities do not matter. 0 if nothing is left; absent if a type with tasks left cannot run anywhere.
/// O(a linear program of types x resources). `packings`: if tasks have needs, the bound is for whole tasks if
/// one is found, which takes some more programs: at the prices of the capacities each task is worth what it
/// takes, and a second cannot do more than the maximum worth of a packing.
std::optional<double> batch_bound(const System& system, std::span<const Count> left, bool packings = false);

}  // namespace allot
