// Numbers of a certificate as exact rational numbers.
#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace allot::check::detail {

inline mpq_class exact(double value) { return mpq_class(value); }
inline mpq_class exact(std::int64_t value) { return mpq_class(static_cast<long>(value)); }

inline std::string shown(const mpq_class& value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.15g", value.get_d());
  return text;
}

inline std::string quoted(const std::string& name) { return "'" + name + "'"; }

}  // namespace allot::check::detail
