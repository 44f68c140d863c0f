// Short names for long content: equal for equal content, and different for different content, except under
// deliberate attack.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace allot {

/// FNV-1a over two starting points, 128 bits together. Parts are kept apart: "ab" + "c" is not "a" + "bc".
class Digest {
 public:
  Digest& add(std::string_view part) noexcept {
    for (const char byte : part) mix(static_cast<unsigned char>(byte));
    for (std::size_t rest = part.size(), at = 0; at < 8; ++at, rest >>= 8)
      mix(static_cast<unsigned char>(rest));
    return *this;
  }
  Digest& add(std::uint64_t number) { return add(std::to_string(number)); }

  /// 32 hexadecimal digits.
  std::string text() const {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out;
    for (const std::uint64_t half : halves_) {
      for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[half >> shift & 15];
    }
    return out;
  }

 private:
  void mix(unsigned char byte) noexcept {
    halves_[0] = (halves_[0] ^ byte) * 0x100000001b3u;
    halves_[1] = (halves_[1] ^ byte ^ 0x5c) * 0x100000001b3u;
  }

  std::array<std::uint64_t, 2> halves_ = {0xcbf29ce484222325u, 0x84222325cbf29ce4u};
};

}  // namespace allot
