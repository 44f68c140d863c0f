// Files that are installed with the program.
#pragma once

#include <string>

namespace allot::app {

/// The path of a file below `share`, such as "allot/scenario.schema.json": beside the program, even if it was
/// moved, otherwise where the build would install it. The file need not exist.
std::string installed(const std::string& file);

/// The JSON Schema of a kind of file: "scenario", "jobs", "sweep".
inline std::string schema_of(const std::string& kind) { return installed("allot/" + kind + ".schema.json"); }

}  // namespace allot::app
