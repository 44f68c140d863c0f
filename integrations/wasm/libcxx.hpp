// Parts of C++20 that the standard library of emscripten 3.1.6 lacks. Included before every file of the wasm
// build; remove it with the first emscripten that has them.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

namespace std {

#ifndef __cpp_lib_bit_cast
template <typename To, typename From>
To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
#endif

#ifndef __cpp_lib_to_chars
/// The shortest decimals that read back as the same finite value, with or without an exponent, whichever is
/// shorter.
inline to_chars_result to_chars(char* first, char* last, double value) {
  char scientific[32];
  for (int digits = 0; digits <= 16; ++digits) {
    std::snprintf(scientific, sizeof scientific, "%.*e", digits, value);
    if (std::strtod(scientific, nullptr) == value) break;
  }
  const std::string text = scientific;
  const std::size_t e = text.find('e');
  std::string result = text;
  if (e != std::string::npos) {
    const int exponent = std::atoi(text.c_str() + e + 1);
    const int decimals =
        static_cast<int>(e) - (value < 0 || text[0] == '-' ? 1 : 0) - 2;  // after the point, if any
    const int fixed_decimals = std::max(0, (decimals > 0 ? decimals : 0) - exponent);
    char fixed[400];
    std::snprintf(fixed, sizeof fixed, "%.*f", fixed_decimals, value);
    if (std::strlen(fixed) <= text.size()) result = fixed;
  }
  if (static_cast<std::size_t>(last - first) < result.size()) return {last, errc::value_too_large};
  std::memcpy(first, result.data(), result.size());
  return {first + result.size(), errc{}};
}

/// With `precision` decimals or significant digits.
inline to_chars_result to_chars(char* first, char* last, double value, chars_format format, int precision) {
  char text[512];
  const int size =
      std::snprintf(text, sizeof text, format == chars_format::fixed ? "%.*f" : "%.*g", precision, value);
  if (size < 0 || size >= static_cast<int>(sizeof text) || last - first < size)
    return {last, errc::value_too_large};
  std::memcpy(first, text, static_cast<std::size_t>(size));
  return {first + size, errc{}};
}

inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const std::string text(first, last);
  // strtod accepts more than from_chars: leading space, a plus sign, hexadecimal digits.
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  const bool starts = text.size() > sign &&
                      (text[sign] == '.' || (text[sign] >= '0' && text[sign] <= '9') || text[sign] == 'i' ||
                       text[sign] == 'n' || text[sign] == 'I' || text[sign] == 'N');
  if (!starts || text.find_first_of("xX") != std::string::npos) return {first, errc::invalid_argument};
  char* end = nullptr;
  const double parsed = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return {first, errc::invalid_argument};
  value = parsed;
  return {first + (end - text.c_str()), errc{}};
}
#endif

}  // namespace std
