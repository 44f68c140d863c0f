// Coordinates in SVG.
#pragma once

#include <array>
#include <cstdio>
#include <string>

namespace allot::detail {

/// One decimal: exact to a twentieth of a unit.
inline std::string coordinate(double value) {
  std::array<char, 340> text{};  // enough for any number
  std::snprintf(text.data(), text.size(), "%.1f", value == 0 ? 0.0 : value);
  std::string out = text.data();
  if (out.ends_with(".0")) out.resize(out.size() - 2);
  return out == "-0" ? "0" : out;
}

}  // namespace allot::detail
