// Assignments from a file, checked against the system they are for.
#pragma once

#include <string>
#include <string_view>

#include "allot/format/diagnostic.hpp"
#include "allot/format/document.hpp"
#include "allot/model/assignment.hpp"
#include "allot/model/system.hpp"

namespace allot {

/// Reads a JSON file (`-`: standard input): the matrix `[[5, 1], ...]`, one row per task type and one column
/// per resource, or an object with it under `assignment`, as `solve --json` prints it. Other keys are
/// ignored, except that `tasks` and `resources`, if present, must name those of the system. The assignment
/// must place every thread exactly once, only where it can run, and respect minimum depths.
ReadResult<Assignment> read_assignment(const std::string& path, const System& system);

/// The same where counts vary over time: any number of threads may be placed, and minimum depths are not
/// checked.
ReadResult<Assignment> read_pattern(const std::string& path, const System& system);

/// `read_assignment` for a given text. Thread-safe.
ReadResult<Assignment> read_assignment_text(std::string_view text, const System& system,
                                            std::string source = {});

/// Both for a given document. Thread-safe.
ReadResult<Assignment> read_assignment(const Document& document, const System& system);
ReadResult<Assignment> read_pattern(const Document& document, const System& system);

}  // namespace allot
