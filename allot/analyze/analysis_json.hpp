// The exact chain of a policy, as JSON. docs/reference/command.md lists the fields.
#pragma once

#include <string>
#include <string_view>

#include "allot/analyze/analyze.hpp"

namespace allot {

std::string analysis_json(const System& system, std::string_view policy, const Analysis& analysis);

}  // namespace allot
