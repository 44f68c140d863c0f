// Starts for tasks with needs: every task to where it brings most, given those that are there already.
#pragma once

#include <vector>

#include "allot/model/system.hpp"

namespace allot::detail {

/// Two placements, made task by task (many tasks in portions): by gain, where the task that adds most value
/// comes next, and by regret, where it is the one that loses most if it must take its second best place.
/// Least depths and floors are not considered.
std::vector<Assignment> starts_by_needs(const System& system);

}  // namespace allot::detail
