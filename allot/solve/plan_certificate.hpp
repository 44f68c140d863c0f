// Certificates of planned service: the proof of a plan as a file that `allot check` verifies.
#pragma once

#include <string>

#include "allot/solve/solution.hpp"

namespace allot {

/// One JSON document, as `certificate_json` writes for even sharing. The solution must hold a `plan_proof`
/// (SolveOptions::keep_proof). docs/reference/certificate.md lists the fields.
std::string plan_certificate_json(const Problem& problem, const Solution& solution);

}  // namespace allot
