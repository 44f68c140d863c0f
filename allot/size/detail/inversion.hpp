// A distribution by inversion: one uniform number in, one size out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "allot/size/distribution.hpp"

namespace allot::detail {

/// Takes exactly one number of the stream for each sample, so the k-th sample depends on the stream and k
/// alone.
class ByInversion : public Distribution {
 public:
  void sample(RandomStream& random, std::span<double> out) const noexcept final {
    // Chunks that stay in the first-level cache between drawing and transforming.
    constexpr std::size_t kChunk = 512;
    while (!out.empty()) {
      const std::span<double> chunk = out.first(std::min(kChunk, out.size()));
      for (double& value : chunk) value = random.uniform();
      to_sizes(chunk);
      out = out.subspan(chunk.size());
    }
  }

  /// Replaces uniform numbers of the open interval (0, 1) by sizes, each on its own.
  virtual void to_sizes(std::span<double> uniform) const noexcept = 0;
};

}  // namespace allot::detail
