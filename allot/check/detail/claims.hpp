// Checks that the answer of a claim is as good as claimed.
#pragma once

#include <string>

#include "allot/check/certificate.hpp"

namespace allot::check::detail {

/// Floors count as met within this part of themselves: 1 / 10^9.
inline constexpr long kFloorTolerance = 1'000'000'000;

/// What is wrong with the assignment, or its throughput, or its time shares; empty if nothing is wrong.
/// Exact.
std::string problem_of_answer(const Certificate& certificate);

}  // namespace allot::check::detail
