// Checks that a plan keeps every row of planned service and is as good as claimed.
#pragma once

#include <string>

#include "allot/check/plan.hpp"

namespace allot::check::detail {

/// Rows count as kept within this part of their limit: 1 / 10^9.
inline constexpr long kRowTolerance = 1'000'000'000;

/// What is wrong with the plan of the claim, which must have one; empty if nothing is wrong. Computed in
/// rational numbers.
std::string problem_of_plan(const PlanCertificate& certificate);

}  // namespace allot::check::detail
