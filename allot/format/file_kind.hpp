// Which of our files a document is: a job given for a scenario should be called that, not forty unknown keys.
#pragma once

#include <string>

#include "allot/format/document.hpp"

namespace allot::format {

enum class FileKind { kScenario, kJob, kSweep };

/// What to say when a document that was given for one kind is clearly of another; empty when it is not.
std::string mistaken_for(FileKind wanted, const Node& root);

}  // namespace allot::format
