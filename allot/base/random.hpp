// Counter-based random streams (Philox 2x64-10): bit-identical on every platform, with any number of
// independent streams.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace allot {

/// A stream of random numbers, identified by a random seed and a stream id. Streams that differ in either are
/// independent; the same seed and id always give the same numbers. Not thread-safe: one per thread.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed, std::uint64_t stream = 0) noexcept
      : seed_(seed), stream_(stream) {}

  /// Numbers come in blocks of this many; a stream can begin at any block.
  static constexpr std::size_t kBlock = 16;

  /// The stream from its `block`-th block on.
  RandomStream(std::uint64_t seed, std::uint64_t stream, std::uint64_t block) noexcept
      : seed_(seed), stream_(stream), block_(block * (kBlock / 2)) {}

  /// Uniform over all 64-bit values.
  std::uint64_t bits() noexcept {
    if (used_ == buffer_.size()) refill();
    return buffer_[used_++];
  }

  /// Uniform in the open interval (0, 1): multiples of 2^-52 shifted by half a step, so never 0 and never 1.
  double uniform() noexcept { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1.0p-52; }

  /// Uniform in (low, high).
  double uniform(double low, double high) noexcept { return low + (high - low) * uniform(); }

  /// Uniform in 0 .. n-1, without bias. Needs n >= 1.
  std::uint64_t below(std::uint64_t n) noexcept;

 private:
  void refill() noexcept;

  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t block_ = 0;
  std::array<std::uint64_t, kBlock> buffer_{};
  std::size_t used_ = kBlock;
};

}  // namespace allot
