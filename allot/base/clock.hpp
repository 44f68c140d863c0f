// The clock that measures how long things take.
#pragma once

#include <chrono>

namespace allot {

using Clock = std::chrono::steady_clock;

inline double to_seconds(Clock::duration duration) noexcept {
  return std::chrono::duration<double>(duration).count();
}

inline Clock::duration to_duration(double seconds) noexcept {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace allot
