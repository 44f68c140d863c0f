// Numbers as people read them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "allot/base/ids.hpp"

namespace allot::readable {

/// 12.5, 0.03142, 1235, 12,350,000: at least this many significant digits, no trailing zeros.
std::string number(double value, int digits = 4);
/// At least as large as the value: for bounds.
std::string number_above(double value, int digits = 4);
/// 12,350,000
std::string whole(Count value);
/// 0.27 -> 27%, 0.0002 -> 0.02%
std::string percent(double fraction);
/// 3.2 ms
std::string duration(double seconds);
/// +0.31 or -0.31: always with a sign, unless it is 0
std::string change(double value);
/// A priority error with three digits; mere rounding counts as 0.
std::string error_number(double error);
/// "1 thread", "2 threads"
std::string counted(Count count, std::string_view noun);
/// Formats a column of numbers with the same number of decimals, so that their decimal points line up. The
/// largest shows this many significant digits.
class ColumnFormat {
 public:
  explicit ColumnFormat(std::span<const double> values, int digits = 4) noexcept;
  std::string operator()(double value) const;

 private:
  int decimals_ = 0;
  bool scientific_ = false;
};

}  // namespace allot::readable
