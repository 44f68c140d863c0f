// The exact chain of a policy: the table of its fields, and all of it as JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "allot/analyze/analyze.hpp"
#include "allot/format/result_field.hpp"

namespace allot {

/// In the order of the JSON.
std::span<const ResultField<Analysis>> analysis_fields() noexcept;

/// docs/reference/command.md lists the fields.
std::string analysis_json(const System& system, std::string_view policy, const Analysis& analysis);

}  // namespace allot
