// Times and fractions as people write them.
#pragma once

#include <optional>
#include <string_view>

namespace allot {

/// Seconds of `30s`, `1.5h`, `500ms`, `2m`, `1d` or a bare number; empty if it is none of these or not > 0.
std::optional<double> parse_duration(std::string_view text);

/// 20 for `1/0.05`; empty unless the text is two positive numbers with a slash between them.
std::optional<double> parse_quotient(std::string_view text);

}  // namespace allot
