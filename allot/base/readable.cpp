#include "allot/base/readable.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace allot::readable {
namespace {

constexpr double kSmallest = 1e-5;  // below this, and from kLargest on, a power of ten is easier to read
constexpr double kLargest = 1e12;

std::string written(double value, std::chars_format format, int precision) {
  std::array<char, 512> text{};  // the largest double has 309 digits
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value, format, precision);
  return error == std::errc{} ? std::string(text.data(), end) : "";
}
std::string fixed(double value, int decimals) { return written(value, std::chars_format::fixed, decimals); }
std::string general(double value, int digits) { return written(value, std::chars_format::general, digits); }

/// 1234567.5 -> 1,234,567.5
std::string with_separators(std::string text) {
  const std::size_t begin = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const std::size_t point = std::min(text.find('.'), text.size());
  if (point - begin <= 4) return text;  // 1234 needs none
  for (std::size_t at = point; at > begin + 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

/// Decimals that leave `digits` significant digits.
int decimals(double value, int digits) {
  const int magnitude = value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value))));
  return std::max(0, digits - 1 - magnitude);
}

bool is_extreme(double value) {
  return value != 0 && (std::abs(value) < kSmallest || std::abs(value) >= kLargest);
}

std::string trimmed(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

std::string number(double value, int digits) {
  if (is_extreme(value)) return general(value, digits);
  return with_separators(trimmed(fixed(value, decimals(value, digits))));
}

std::string number_above(double value, int digits) {
  if (is_extreme(value)) return number(value, digits);
  const double scale = std::pow(10.0, decimals(value, digits));
  const double scaled = value * scale;
  // A value that is already short, up to rounding in the last bits, stays as it is.
  const double up = std::abs(scaled - std::round(scaled)) <= 1e-9 * std::abs(scaled) ? std::round(scaled)
                                                                                     : std::ceil(scaled);
  return number(up / scale, digits + 1);
}

std::string whole(Count value) { return with_separators(std::to_string(value)); }

std::string percent(double fraction) {
  const double value = fraction * 100;
  const double size = std::abs(value);
  if (size == 0) return "0%";
  if (size < 1e-6) return value < 0 ? "-0.000001%" : "under 0.000001%";
  if (size < 1) return trimmed(fixed(value, decimals(value, 2))) + "%";
  if (size < 9.95 || (size > 99 && size < 100)) return trimmed(fixed(value, 1)) + "%";
  return with_separators(fixed(value, 0)) + "%";
}

std::string duration(double seconds) {
  if (seconds == 0) return "0 s";
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits = {{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  for (const Unit& unit : kUnits) {
    if (std::abs(seconds) >= unit.seconds * 0.9995 || unit.seconds == 1e-9) {
      const double value = seconds / unit.seconds;
      return (is_extreme(value) ? number(value, 3) : with_separators(fixed(value, decimals(value, 3)))) +
             " " + unit.name;
    }
  }
  return {};
}

std::string change(double value) {
  // Rounding in the sums of a state is not a change.
  if (std::abs(value) < 1e-12) return "0";
  return (value > 0 ? "+" : "") + number(value, 3);
}

std::string error_number(double error) { return error < 1e-12 ? "0" : number(error, 3); }

std::string counted(Count count, std::string_view noun) {
  return whole(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

ColumnFormat::ColumnFormat(std::span<const double> values, int digits) noexcept {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  scientific_ = is_extreme(largest);
  decimals_ = largest == 0 ? 0 : decimals(largest, digits);
}

std::string ColumnFormat::operator()(double value) const {
  if (scientific_) return general(value, 3);
  return with_separators(fixed(value, decimals_));
}

}  // namespace allot::readable
