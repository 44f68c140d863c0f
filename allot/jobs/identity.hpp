// What identifies a task from one run to the next: its type, its input, and its number among equal inputs.
// Its place in the job and its command do not matter: they may change.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace allot {

/// `decode:images/a.jpg`, `decode:images/a.jpg#2`, `resize:a.png,640,480`. Different identities give
/// different texts: what could be mistaken (`%`, `:` in the type, `,` and `#` in either) and what is not
/// printable UTF-8 is written as `%` and two hexadecimal digits.
/// `values` are those of all columns of the input; `occurrence` is 1 for the first task of this type with
/// these values.
std::string identity_text(std::string_view type, std::span<const std::string> values, std::size_t occurrence);

}  // namespace allot
