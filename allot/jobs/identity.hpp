// What identifies a task from one run to the next: its type, its input, and its number among equal inputs.
// Its place in the job and its command do not matter: they may change.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

struct TaskIdentity {
  std::string type;
  std::vector<std::string> values;  ///< of all columns of the input
  std::size_t occurrence = 1;       ///< 1 for the first task of this type with these values
  friend bool operator==(const TaskIdentity&, const TaskIdentity&) = default;
};

/// `decode:images/a.jpg`, `decode:images/a.jpg#2`, `resize:a.png,640,480`. Different identities give
/// different texts: what could be mistaken (`%`, `:` in the type, `,` and `#` in either) and what is not
/// printable UTF-8 is written as `%` and two hexadecimal digits.
std::string to_string(const TaskIdentity& identity);

/// The same without a TaskIdentity at hand.
std::string identity_text(std::string_view type, std::span<const std::string> values, std::size_t occurrence);

/// The identity that to_string makes this text of; nothing when there is none.
std::optional<TaskIdentity> parse_identity(std::string_view text);

}  // namespace allot
