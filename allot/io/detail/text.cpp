#include "allot/io/detail/text.hpp"

#include <algorithm>

#include "allot/base/quote.hpp"
#include "allot/base/words.hpp"

namespace allot::detail {
std::size_t utf8_length(std::string_view text, std::size_t at) { return quote::utf8_length(text, at); }

std::string printable(std::string_view text, std::size_t limit) { return quote::terminal(text, limit); }

std::string in_quotes(std::string_view text) { return quote::name(text); }

std::string shortest(double value) { return quote::number(value); }

bool is_bare_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string listed(std::span<const std::string_view> names, bool with_quotes) {
  return with_quotes ? quote::names(names) : quote::list(names);
}

std::string suggestion(std::string_view name, std::span<const std::string_view> names) {
  const std::string_view meant = nearest(name, names);
  return meant.empty() ? "" : "; did you mean " + in_quotes(meant) + "?";
}

}  // namespace allot::detail
