// Certificates: the proof of an answer as a file that `allot check` verifies.
#pragma once

#include <string>

#include "allot/solve/solution.hpp"

namespace allot {

/// One JSON document: the system as far as the proof is about it, what is claimed, and the proof. The
/// solution must hold one (SolveOptions::keep_proof). docs/reference/certificate.md lists the fields.
std::string certificate_json(const System& system, const Solution& solution);

}  // namespace allot
