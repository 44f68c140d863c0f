// When to stop: a deadline, a number of steps, or a flag; and a cheap way to check often.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include "allot/base/clock.hpp"

namespace allot {

/// Set it to true to ask a running solver to return its best so far. A plain lock-free flag rather than a
/// std::stop_token, because a signal handler may set it.
using StopFlag = std::atomic<bool>;

enum class StopReason { kNone, kTimeLimit, kBudget, kInterrupted };

/// The limits a caller sets. Default: none.
struct StopLimits {
  std::optional<Clock::time_point> deadline;
  const StopFlag* flag = nullptr;  ///< not owned; may be null
  /// Steps of work, each up to about a microsecond or counted as several. Unlike a deadline, it ends the work
  /// at the same point on every machine, give or take the work between two checks.
  std::uint64_t steps = std::numeric_limits<std::uint64_t>::max();
};

/// Answers "must I stop?"; most calls only decrement a counter. Ask it once per small step of work
/// (up to about a microsecond); it reads the clock every `stride` steps. Once stopped, it stays stopped.
/// Not thread-safe: one per solver call.
class StopPoll {
 public:
  explicit StopPoll(const StopLimits& limits, std::uint32_t stride = 256) noexcept
      : limits_(limits), stride_(stride) {
    poll_now();  // a deadline that has passed, or a flag already set, stops the work at its first step
  }

  bool should_stop() noexcept {
    if (--left_ == 0) poll_now();
    return reason_ != StopReason::kNone;
  }

  /// Checks at once; for steps that each take about a millisecond or more.
  bool should_stop_now() noexcept {
    poll_now();
    return reason_ != StopReason::kNone;
  }

  /// Counts steps that were done elsewhere, such as in another library.
  void spend(std::uint64_t steps) noexcept {
    if (steps < left_) {
      left_ -= static_cast<std::uint32_t>(steps);
      return;
    }
    spent_ += steps;
    poll_now();
  }

  bool stopped() const noexcept { return reason_ != StopReason::kNone; }
  StopReason reason() const noexcept { return reason_; }

 private:
  void poll_now() noexcept {
    spent_ += stride_ - left_;
    left_ = stride_;
    if (reason_ != StopReason::kNone) return;
    if (limits_.flag != nullptr && limits_.flag->load(std::memory_order_relaxed)) {
      reason_ = StopReason::kInterrupted;
    } else if (spent_ >= limits_.steps) {
      reason_ = StopReason::kBudget;
    } else if (limits_.deadline && Clock::now() >= *limits_.deadline) {
      reason_ = StopReason::kTimeLimit;
    }
  }

  StopLimits limits_;
  std::uint32_t stride_;
  std::uint32_t left_ = stride_;
  std::uint64_t spent_ = 0;
  StopReason reason_ = StopReason::kNone;
};

}  // namespace allot
