// Certificates that commands write: `--proof FILE`.
#pragma once

#include <string>

#include "allot/ask/option.hpp"
#include "allot/solve/solution.hpp"

namespace allot::app {

/// The option --proof. Empty: none is asked for.
Option proof_option(std::string& path);

/// Writes the certificate of the solution, whole or not at all; nothing when the path is empty. Throws
/// Failure where the solution proves nothing or the file cannot be written.
void write_proof(const std::string& path, const Scenario& scenario, const Solution& solution);

}  // namespace allot::app
