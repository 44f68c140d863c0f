// How a run is brought to its end before all is done: step by step, each with its time.
#pragma once

#include "allot/base/stop.hpp"
#include "allot/run/view.hpp"

namespace allot {

/// Running, draining, terminating (TERM), killing (KILL), abandoning: phases only go forward, and time alone
/// moves from TERM to KILL and from KILL to giving up on what cannot be killed. So a run that was told to end
/// ends. Not thread-safe.
class Halting {
 public:
  Halting(Clock::duration grace, Clock::duration kill_patience) noexcept
      : grace_(grace), kill_patience_(kill_patience) {}

  RunPhase phase() const noexcept { return phase_; }

  /// Each returns whether this is news.
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

  /// When time alone asks for the next phase.
  Clock::time_point next() const noexcept { return next_; }
  /// Time during which nothing could happen.
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
