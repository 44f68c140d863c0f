// How a run ends before all tasks are done: step by step, each with a time limit.
#pragma once

#include "allot/base/stop.hpp"
#include "allot/run/view.hpp"

namespace allot {

/// Running, draining, terminating (TERM), killing (KILL), abandoning: phases only go forward. Time alone
/// moves from TERM to KILL, and from KILL to abandoning tasks that cannot be killed. So a run that was asked
/// to end does end. Not thread-safe.
class Halting {
 public:
  Halting(Clock::duration grace, Clock::duration kill_patience) noexcept
      : grace_(grace), kill_patience_(kill_patience) {}

  RunPhase phase() const noexcept { return phase_; }

  /// Each returns whether the phase has changed.
  bool drain() noexcept { return enter(RunPhase::kDraining); }
  bool terminate(Clock::time_point now) noexcept {
    if (!enter(RunPhase::kTerminating)) return false;
    next_ = now + grace_;
    return true;
  }
  bool kill(Clock::time_point now) noexcept {
    if (!enter(RunPhase::kKilling)) return false;
    next_ = now + kill_patience_;
    return true;
  }
  bool abandon() noexcept {
    if (!enter(RunPhase::kAbandoning)) return false;
    next_ = Clock::time_point::max();
    return true;
  }

  /// When the next phase begins by time alone.
  Clock::time_point next() const noexcept { return next_; }
  /// Time during which this process could not act.
  void slept(Clock::duration time) noexcept {
    if (next_ != Clock::time_point::max()) next_ += time;
  }

 private:
  bool enter(RunPhase phase) noexcept {
    if (phase <= phase_) return false;
    phase_ = phase;
    return true;
  }

  Clock::duration grace_;
  Clock::duration kill_patience_;
  RunPhase phase_ = RunPhase::kRunning;
  Clock::time_point next_ = Clock::time_point::max();
};

}  // namespace allot
