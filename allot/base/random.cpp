#include "allot/base/random.hpp"

#include <Random123/philox.h>

namespace allot {

void RandomStream::refill() noexcept {
  constexpr std::size_t kPerBlock = 2;  // 64-bit words that one Philox call yields
  r123::Philox4x32 philox;
  const r123::Philox4x32::key_type key = {
      {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)}};
  for (std::size_t word = 0; word < buffer_.size(); word += kPerBlock) {
    const r123::Philox4x32::ctr_type counter = {
        {static_cast<std::uint32_t>(block_), static_cast<std::uint32_t>(block_ >> 32),
         static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)}};
    const auto random = philox(counter, key);
    buffer_[word] = (std::uint64_t{random[1]} << 32) | random[0];
    buffer_[word + 1] = (std::uint64_t{random[3]} << 32) | random[2];
    ++block_;
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
