#include "allot/base/random.hpp"

#include <Random123/philox.h>

namespace allot {

void RandomStream::refill() noexcept {
  constexpr std::size_t kPerCall = 2;  // 64-bit words that one Philox call yields
  r123::Philox2x64 philox;
  const r123::Philox2x64::key_type key = {{seed_}};
  for (std::size_t word = 0; word < buffer_.size(); word += kPerCall) {
    const auto random = philox({{block_++, stream_}}, key);
    buffer_[word] = random[0];
    buffer_[word + 1] = random[1];
  }
  used_ = 0;
}

std::uint64_t RandomStream::below(std::uint64_t n) noexcept {
  const std::uint64_t reject = (0 - n) % n;  // 2^64 mod n: the values that would favour small results
  std::uint64_t value = bits();
  while (value < reject) value = bits();
  return value % n;
}

}  // namespace allot
