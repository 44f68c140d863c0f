// Words for messages: lists, and suggestions for mistyped names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace allot {

/// "a", "a or b", "a, b or c"
std::string alternatives(std::span<const std::string> names);

/// The name that a mistyped word most likely meant, by edit distance; a swap of neighbours is one edit, and
/// so is a missing end after at least three letters. Empty if none is close enough.
std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

/// " Did you mean 'x'?", or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> names);

}  // namespace allot
