// Any bytes: decoding reads nothing but them, and what it takes for a message is that message's only
// encoding.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "allot/worker/protocol.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace allot::protocol;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto start = after_magic(bytes, kFarMagic)) bytes.remove_prefix(*start);
  for (;;) {
    const Decoded decoded = decode(bytes);
    if (decoded.kind != Decoded::Kind::kMessage) break;
    if (decoded.size == 0 || decoded.size > bytes.size()) std::abort();
    if (encode(decoded.message) != bytes.substr(0, decoded.size)) std::abort();
    // A frame that is cut off is incomplete, never something else.
    if (decode(bytes.substr(0, decoded.size - 1)).kind != Decoded::Kind::kIncomplete) std::abort();
    bytes.remove_prefix(decoded.size);
  }
  return 0;
}
