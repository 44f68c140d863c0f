// The text after a distribution's name: `key=value,key=value`, all of them numbers.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace allot::detail {

/// Numbers by name. Everything throws InvalidModel with a field such as `bounded-pareto.alpha`.
class Parameters {
 public:
  /// Throws for text that is not a list of `key=number`, and for a key that is given twice or not in `keys`.
  Parameters(std::string_view kind, std::string_view text, std::span<const std::string_view> keys);

  /// The given number, or `otherwise` if there is none. Throws unless it is in [least, largest].
  double number(std::string_view key, double otherwise, double least, double largest) const;

 private:
  std::string_view kind_;
  std::map<std::string_view, double> numbers_;
};

/// For a kind that takes no parameters: throws unless the text is empty.
void expect_no_parameters(std::string_view kind, std::string_view text);

/// The number that the whole text represents, in C's decimal format; NaN if it is not one.
double parsed_number(std::string_view text) noexcept;

}  // namespace allot::detail
