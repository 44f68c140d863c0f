// When to stop: a deadline, a flag that somebody else sets, or both; and a cheap way to ask often.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace allot {

using Clock = std::chrono::steady_clock;

/// Set it to true to ask a running solver to return its best so far. A plain lock-free flag rather than a
/// std::stop_token, because a signal handler may set it.
using StopFlag = std::atomic<bool>;

enum class StopReason { kNone, kTimeLimit, kInterrupted };

/// The limits a caller sets. Default: none.
struct StopLimits {
  std::optional<Clock::time_point> deadline;
  const StopFlag* flag = nullptr;  ///< not owned; may be null
};

/// Answers "must I stop?" for the price of a counter most of the time. Ask it once per small step of work
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

  /// Asks at once; for steps that each take about a millisecond or more.
  bool should_stop_now() noexcept {
    poll_now();
    return reason_ != StopReason::kNone;
  }

  bool stopped() const noexcept { return reason_ != StopReason::kNone; }
  StopReason reason() const noexcept { return reason_; }

 private:
  void poll_now() noexcept {
    left_ = stride_;
    if (reason_ != StopReason::kNone) return;
    if (limits_.flag != nullptr && limits_.flag->load(std::memory_order_relaxed)) {
      reason_ = StopReason::kInterrupted;
    } else if (limits_.deadline && Clock::now() >= *limits_.deadline) {
      reason_ = StopReason::kTimeLimit;
    }
  }

  StopLimits limits_;
  std::uint32_t stride_;
  std::uint32_t left_ = 1;
  StopReason reason_ = StopReason::kNone;
};

}  // namespace allot
