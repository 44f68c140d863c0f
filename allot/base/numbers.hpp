// Numbers in text: read whole or not at all, written so that they read back as the same.
#pragma once

#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace allot {

/// The number that the whole text represents; empty if it represents none.
template <typename Number>
std::optional<Number> number_in(std::string_view text) noexcept {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && at == end ? std::optional(value) : std::nullopt;
}

/// The shortest text that reads back as the same number.
template <typename Number>
std::string exact_text(Number value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

/// This many significant digits, at most 16, in the format of printf's %g.
inline std::string rounded_text(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

}  // namespace allot
