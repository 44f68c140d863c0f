// Starting points for tasks with needs: every task goes to where it brings most, given the tasks already
// placed.
#pragma once

#include <span>
#include <vector>

#include "allot/model/system.hpp"

namespace allot::detail {

/// Placements to start from, in two ways. Task by task (many tasks in portions): by gain, where the next task
/// is the one that adds most value, and by regret, where it is the one that loses most in its second best
/// place. Or by overflow: capacities are filled with what brings most until no more tasks fit, and one
/// resource takes all the rest. Of these, returns the `most` with the largest value. Minimum depths and
/// floors are ignored.
std::vector<Assignment> starts_by_needs(const System& system, std::size_t most);

/// Places the whole tasks of a plan (time shares, row-major) where the plan has them in service, and the
/// others where they take least from these.
Assignment start_by_plan(const System& system, std::span<const double> time_shares);

}  // namespace allot::detail
