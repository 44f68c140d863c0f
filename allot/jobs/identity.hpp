// The identity of a task across runs: its type, its input, and its number among equal inputs. Its position in
// the job and its command may change.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace allot {

/// Examples: `decode:images/a.jpg`, `decode:images/a.jpg#2`, `resize:a.png,640,480`. Different identities
/// have different texts: ambiguous characters (`%`, `:` in the type, `,` and `#` in either) and everything
/// that is not printable UTF-8 are written as `%` and two hexadecimal digits.
/// `values` are the values of all columns of the input; `occurrence` is 1 for the first task of this type
/// with these values.
std::string identity_text(std::string_view type, std::span<const std::string> values, std::size_t occurrence);

}  // namespace allot
