// The tree of parts: every split covers its part, and every part that is not split is closed at its prices.
#pragma once

#include <string>

#include "allot/check/certificate.hpp"

namespace allot::check::detail {

/// What is wrong with the tree; empty if it proves the claim.
std::string problem_of_tree(const Certificate& certificate);

}  // namespace allot::check::detail
