// Control characters: what no name may hold, since terminals act on them.
#pragma once

#include <cstddef>
#include <string_view>

namespace allot {

/// Whether the text holds a control character: below U+0020, U+007F, or U+0080 to U+009F in UTF-8.
inline bool has_control_character(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte == 0x7f) return true;
    const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0U;
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) return true;
  }
  return false;
}

}  // namespace allot
