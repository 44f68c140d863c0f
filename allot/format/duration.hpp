// Times and fractions as people write them.
#pragma once

#include <optional>
#include <string_view>

namespace allot {

/// Seconds of `30s`, `1.5h`, `500ms`, `2m`, `1d` or a bare number; nothing where it is none of these or not >
/// 0.
std::optional<double> parse_duration(std::string_view text);

/// 20 of `1/0.05`; nothing where it is not two positive numbers and a stroke.
std::optional<double> parse_quotient(std::string_view text);

}  // namespace allot
