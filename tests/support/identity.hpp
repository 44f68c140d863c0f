// Identities of tasks, read back from their texts: that this can be done is why no two share one.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allot/jobs/identity.hpp"

namespace allot {

struct TaskIdentity {
  std::string type;
  std::vector<std::string> values;  ///< of all columns of the input
  std::size_t occurrence = 1;       ///< 1 for the first task of this type with these values
  friend bool operator==(const TaskIdentity&, const TaskIdentity&) = default;
};

inline std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    unsigned byte = 0;
    const char* const first = text.data() + at + 1;
    if (at + 2 >= text.size() || std::from_chars(first, first + 2, byte, 16).ptr != first + 2) {
      return std::nullopt;
    }
    out += static_cast<char>(byte);
    at += 2;
  }
  return out;
}

inline std::string to_string(const TaskIdentity& identity) {
  return identity_text(identity.type, identity.values, identity.occurrence);
}

/// The identity that to_string makes this text of; nothing when there is none.
inline std::optional<TaskIdentity> parse_identity(std::string_view text) {
  TaskIdentity identity;
  std::string_view rest = text;
  if (const std::size_t hash = rest.find('#'); hash != std::string_view::npos) {
    const char* const end = rest.data() + rest.size();
    const auto [stop, error] = std::from_chars(rest.data() + hash + 1, end, identity.occurrence);
    if (error != std::errc() || stop != end) return std::nullopt;
    rest = rest.substr(0, hash);
  }
  const std::size_t colon = rest.find(':');
  const auto type = unescaped(rest.substr(0, colon));
  if (!type) return std::nullopt;
  identity.type = *type;
  while (colon != std::string_view::npos) {
    const std::size_t start = identity.values.empty() ? colon + 1 : 0;
    rest.remove_prefix(start);
    const std::size_t comma = rest.find(',');
    const auto value = unescaped(rest.substr(0, comma));
    if (!value) return std::nullopt;
    identity.values.push_back(*value);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  // Only what to_string writes is an identity: one text each.
  if (to_string(identity) != text) return std::nullopt;
  return identity;
}

}  // namespace allot
