// Writes certificates: `--proof FILE`.
#pragma once

#include <string>

#include "allot/ask/option.hpp"
#include "allot/solve/solution.hpp"

namespace allot::app {

/// The option --proof. An empty path: no certificate.
Option proof_option(std::string& path);

/// Writes the certificate of the solution, completely or not at all; does nothing if the path is empty.
/// Throws Failure if the solution proves nothing or the file cannot be written.
void write_proof(const std::string& path, const Scenario& scenario, const Solution& solution);

}  // namespace allot::app
