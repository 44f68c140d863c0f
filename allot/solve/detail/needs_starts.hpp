// Starts for tasks with needs: every task to where it brings most, given those that are there already.
#pragma once

#include <span>
#include <vector>

#include "allot/model/system.hpp"

namespace allot::detail {

/// Placements to start from, in two ways. Task by task (many tasks in portions): by gain, where the task that
/// adds most value comes next, and by regret, where it is the one that loses most if it must take its second
/// best place. Or by overflow: capacities are filled with what brings most until no task fits any more, and
/// one resource takes all that is left over; of these the `most` with the largest value. Least depths and
/// floors are not considered.
std::vector<Assignment> starts_by_needs(const System& system, std::size_t most);

/// The whole tasks of a plan (time shares, row after row) where it has them in service, and the others where
/// they take least from them.
Assignment start_by_plan(const System& system, std::span<const double> time_shares);

}  // namespace allot::detail
