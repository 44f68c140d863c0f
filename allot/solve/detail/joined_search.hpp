// The best even-sharing state, and a bound, for resources that are joined by capacities. The value is then
// not a sum over resources, so neither pricing nor branching on the content of one resource helps.
#pragma once

#include <cstdint>

#include "allot/solve/options.hpp"
#include "allot/solve/solution.hpp"

namespace allot::detail {

/// Why nothing is proven about the answer, although the bound is met: what is in service, and the bound, are
/// those of fluid levels. Begins with kCountsFractions.
inline constexpr const char* kFluidLevels =
    "this counts fractions of tasks; whole tasks may get less, so nothing is proven about them";

/// Whether some state has no exact formula for a reason other than held needs: tasks of different rates wait
/// for several fcfs servers.
bool has_inexact_queues(const System& system);

/// Whether the value of every state is a sum over resources, and those that need a table have few enough
/// contents to enumerate in `steps` steps.
bool is_sum_of_columns(const System& system, std::uint64_t steps);

/// Local search; the bound is that of planned service, which no even sharing exceeds. If that leaves a gap
/// and there are few states, all of them are enumerated.
Solution search_joined(const Problem& problem, const SolveOptions& options);

/// Takes the bound of planned service if it is lower.
void take_planned_bound(const Problem& problem, const SolveOptions& options, Solution& best);

}  // namespace allot::detail
