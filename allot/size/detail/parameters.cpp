#include "allot/size/detail/parameters.hpp"

#include <algorithm>
#include <limits>
#include <system_error>

#include "allot/base/error.hpp"
#include "allot/base/numbers.hpp"

namespace allot::detail {
namespace {

std::string field_of(std::string_view kind, std::string_view key) {
  std::string field(kind);
  field += '.';
  field += key;
  return field;
}

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string listed(std::span<const std::string_view> names) {
  std::string list;
  for (const std::string_view name : names) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list;
}

}  // namespace

double parsed_number(std::string_view text) noexcept {
  return number_in<double>(text).value_or(std::numeric_limits<double>::quiet_NaN());
}

void expect_no_parameters(std::string_view kind, std::string_view text) {
  if (!text.empty()) throw InvalidModel(std::string(kind), "takes no parameters, but got " + in_quotes(text));
}

Parameters::Parameters(std::string_view kind, std::string_view text, std::span<const std::string_view> keys)
    : kind_(kind) {
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const bool more = comma != std::string_view::npos;
    text = more ? text.substr(comma + 1) : std::string_view{};
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || (more && text.empty())) {
      throw InvalidModel(std::string(kind),
                         "parameters are written key=value,key=value; cannot read " +
                             (more && text.empty() ? "a comma at the end" : in_quotes(item)));
    }
    const std::string_view key = item.substr(0, equals);
    const std::string_view value = item.substr(equals + 1);
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      throw InvalidModel(std::string(kind),
                         "unknown parameter " + in_quotes(key) + "; it takes " + listed(keys));
    }
    const double number = parsed_number(value);
    if (number != number)
      throw InvalidModel(field_of(kind, key), "must be a number, not " + in_quotes(value));
    if (!numbers_.emplace(key, number).second) throw InvalidModel(field_of(kind, key), "is given twice");
  }
}

double Parameters::number(std::string_view key, double otherwise, double least, double largest) const {
  const auto found = numbers_.find(key);
  if (found == numbers_.end()) return otherwise;
  const double value = found->second;
  if (!(value >= least && value <= largest)) {
    throw InvalidModel(field_of(kind_, key), "must be from " + exact_text(least) + " to " +
                                                 exact_text(largest) + ", not " + exact_text(value));
  }
  return value;
}

}  // namespace allot::detail
