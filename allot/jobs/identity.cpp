#include "allot/jobs/identity.hpp"

#include "allot/base/quote.hpp"

namespace allot {
namespace {

/// Length of the printable UTF-8 sequence at `at`; 0 if there is none.
std::size_t printable_length(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[at + k]); };
  const std::size_t length = quote::utf8_length(text, at);
  const bool is_control =
      byte(0) < 0x20 || byte(0) == 0x7F || (length == 2 && byte(0) == 0xC2 && byte(1) < 0xA0);
  return is_control ? 0 : length;
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

}  // namespace allot
