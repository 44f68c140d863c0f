// SHA-256 (FIPS 180-4): nobody can construct other content with the same digest.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace allot {

using Sha256 = std::array<std::uint8_t, 32>;
Sha256 sha256(std::string_view text) noexcept;

/// 64 hexadecimal digits.
std::string sha256_hex(std::string_view text);
/// As content security policies write it: 44 characters of base64.
std::string sha256_base64(std::string_view text);

}  // namespace allot
