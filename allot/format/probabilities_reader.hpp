// Tables of placement probabilities from a file, for the policy `random`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "allot/format/diagnostic.hpp"
#include "allot/format/document.hpp"
#include "allot/model/system.hpp"

namespace allot {

/// Reads a JSON file (`-`: standard input): the matrix `[[0.5, 0.5], ...]`, one row per task type and one
/// column per resource, or an object with it under `probabilities`, whose `tasks` and `resources`, if
/// present, must name those of the system. Every row must sum to 1 (within 1e-9) and be 0 where the type
/// cannot run. For PolicyOptions::placement_probabilities, row-major.
ReadResult<std::vector<double>> read_probabilities(const std::string& path, const System& system);

/// The same for a given text. Thread-safe.
ReadResult<std::vector<double>> read_probabilities_text(std::string_view text, const System& system,
                                                        std::string source = {});

/// The same for a given document. Thread-safe.
ReadResult<std::vector<double>> read_probabilities(const Document& document, const System& system);

}  // namespace allot
