// Verifies a certificate with exact integer and rational arithmetic.
#pragma once

#include <cstddef>
#include <string>

#include "allot/check/certificate.hpp"
#include "allot/check/plan.hpp"

namespace allot::check {

struct Verdict {
  bool accepted = false;
  std::string reason;     ///< what fails, if not accepted
  bool optimal = false;   ///< accepted, and the claimed values are within 1e-9 of each other
  std::size_t parts = 0;  ///< closed or split
};

/// Accepts only what is proven: the assignment is feasible and completes at least as much as claimed, and
/// every part of the tree is split completely or closed at its prices. Cost: about R Q T log T steps of
/// integer arithmetic for each price vector, usually much less. Thread-safe.
Verdict check(const Certificate& certificate);

/// The same for planned service: the rows of its program are rebuilt from the system, the plan meets them to
/// within 1e-9 of their limits and reaches the claim, and the prices prove by weak duality that nothing
/// reaches more, or that the named limits cannot be met together. Cost: a few rational operations for each
/// type at each resource.
Verdict check(const PlanCertificate& certificate);

}  // namespace allot::check
