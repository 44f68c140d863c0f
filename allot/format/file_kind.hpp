// Which kind of file a document is: a job file in place of a scenario is reported as that, not as forty
// unknown keys.
#pragma once

#include <string>

#include "allot/format/document.hpp"

namespace allot::format {

enum class FileKind { kScenario, kJob, kSweep };

/// The message for a document that should be of one kind and is clearly of another; empty if it is not.
std::string mistaken_for(FileKind wanted, const Node& root);

}  // namespace allot::format
