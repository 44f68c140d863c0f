// Words for messages: quoting, numbers and lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace allot::detail {

/// One printable line: control characters and bytes that are not UTF-8 as escapes, cut after `limit` bytes.
std::string printable(std::string_view text, std::size_t limit = 200);
/// 'text', printable and short.
std::string in_quotes(std::string_view text);
/// The shortest decimal that reads back as the same double; always with a point or an exponent.
std::string shortest(double value);
/// The length of the UTF-8 sequence that begins at `at`; 0 when it is not valid.
std::size_t utf8_length(std::string_view text, std::size_t at);
/// Whether a key can stand without quotes in TOML, and in the path of a diagnostic.
bool is_bare_key(std::string_view key);

/// "a, b, c", quoted or not, cut after ten.
std::string listed(std::span<const std::string_view> names, bool with_quotes = false);
/// "; did you mean 'x'?", or nothing.
std::string suggestion(std::string_view name, std::span<const std::string_view> names);

}  // namespace allot::detail
