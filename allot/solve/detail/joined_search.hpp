// The best even-sharing state, and a bound, where capacities join resources: the value is then no sum over
// resources, and neither pricing nor branching on what one of them holds gets anywhere.
#pragma once

#include <cstdint>

#include "allot/solve/options.hpp"
#include "allot/solve/solution.hpp"

namespace allot::detail {

/// Why nothing is proven about the answer, although the bound is met.
inline constexpr const char* kFluidLevels =
    "nothing is proven about whole tasks: some held needs do not fill their capacity, so what is in service "
    "there, and the bound, are those of fluid levels";

/// Whether some state has no exact formula for another reason than held needs: tasks of different rates wait
/// for several fcfs servers.
bool has_inexact_queues(const System& system);

/// Whether the value of every state is a sum over resources that have few enough contents to be looked at, in
/// so many steps.
bool is_sum_of_columns(const System& system, std::uint64_t steps);

/// Local search; the bound is that of planned service, which no even sharing exceeds. Where the states are
/// few and that leaves a gap, all of them are looked at.
Solution search_joined(const Problem& problem, const SolveOptions& options);

/// The bound of planned service, where it is the lower one.
void take_planned_bound(const Problem& problem, const SolveOptions& options, Solution& best);

}  // namespace allot::detail
