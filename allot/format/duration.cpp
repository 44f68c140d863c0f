#include "allot/format/duration.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace allot {

std::optional<double> parse_duration(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || !(value > 0) || !std::isfinite(value)) return std::nullopt;
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  constexpr std::array<std::pair<std::string_view, double>, 6> kUnits = {
      {{"", 1}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
  for (const auto& [name, seconds] : kUnits) {
    if (unit == name) return value * seconds;
  }
  return std::nullopt;
}

std::optional<double> parse_quotient(std::string_view text) {
  const char* const end = text.data() + text.size();
  const auto skip = [&](const char* at) {
    while (at != end && *at == ' ') ++at;
    return at;
  };
  double above = 0;
  double below = 0;
  const auto first = std::from_chars(skip(text.data()), end, above);
  const char* const stroke = skip(first.ptr);
  if (first.ec != std::errc() || stroke == end || *stroke != '/') return std::nullopt;
  const auto second = std::from_chars(skip(stroke + 1), end, below);
  if (second.ec != std::errc() || skip(second.ptr) != end) return std::nullopt;
  const double quotient = above / below;
  return above > 0 && below > 0 && std::isfinite(quotient) ? std::optional(quotient) : std::nullopt;
}

}  // namespace allot
