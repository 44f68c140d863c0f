#include "allot/jobs/identity.hpp"

#include <charconv>

namespace allot {
namespace {

/// Length of the printable UTF-8 sequence at `at`; 0 where there is none.
std::size_t printable_length(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t k) -> unsigned {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U;
  };
  const auto follows = [&](std::size_t k) { return (byte(at + k) & 0xC0U) == 0x80U; };
  const unsigned first = byte(at);
  if (first < 0x20 || first == 0x7F) return 0;
  if (first < 0x80) return 1;
  if (first == 0xC2 && byte(at + 1) < 0xA0) return 0;  // control characters beyond ASCII
  if (first >= 0xC2 && first < 0xE0) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    const unsigned second = byte(at + 1);
    const bool is_short = first == 0xE0 && second < 0xA0;
    const bool is_surrogate = first == 0xED && second >= 0xA0;
    return follows(1) && follows(2) && !is_short && !is_surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    const unsigned second = byte(at + 1);
    const bool is_out = (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
    return follows(1) && follows(2) && follows(3) && !is_out ? 4 : 0;
  }
  return 0;
}

void append_escaped(std::string& out, std::string_view text, bool is_type) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool is_special = c == '%' || c == ',' || c == '#' || (is_type && c == ':');
    const std::size_t length = is_special ? 0 : printable_length(text, at);
    if (length > 0) {
      out += text.substr(at, length);
      at += length;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0xFU];
    ++at;
  }
}

std::optional<std::string> unescaped(std::string_view text) {
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

}  // namespace

std::string identity_text(std::string_view type, std::span<const std::string> values,
                          std::size_t occurrence) {
  std::string out;
  append_escaped(out, type, true);
  for (std::size_t at = 0; at < values.size(); ++at) {
    out += at == 0 ? ':' : ',';
    append_escaped(out, values[at], false);
  }
  if (occurrence > 1) out += "#" + std::to_string(occurrence);
  return out;
}

std::string to_string(const TaskIdentity& identity) {
  return identity_text(identity.type, identity.values, identity.occurrence);
}

std::optional<TaskIdentity> parse_identity(std::string_view text) {
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
