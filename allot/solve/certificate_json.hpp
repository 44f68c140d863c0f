// Certificates: the proof of an answer as a file that `allot check` verifies.
#pragma once

#include <string>

#include "allot/solve/solution.hpp"

namespace allot {

/// One JSON document: the part of the system that the proof is about, the claim, and the proof. The solution
/// must hold a proof (SolveOptions::keep_proof). docs/reference/certificate.md lists the fields.
std::string certificate_json(const System& system, const Solution& solution);

}  // namespace allot
