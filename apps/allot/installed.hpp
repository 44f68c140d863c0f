// Files that were installed with the program.
#pragma once

#include <string>

namespace allot::app {

/// Where a file below `share` is, such as "allot/scenario.schema.json": beside the program, wherever that was
/// moved, or where the build would install it, whether it is there or not.
std::string installed(const std::string& file);

/// The JSON Schema of a kind of file: "scenario", "jobs", "sweep".
inline std::string schema_of(const std::string& kind) { return installed("allot/" + kind + ".schema.json"); }

}  // namespace allot::app
