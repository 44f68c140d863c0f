// How long the other end has been silent, counted only while this end was running.
#pragma once

#include <algorithm>

#include "allot/base/stop.hpp"

namespace allot {

/// A process that was stopped, frozen or suspended has not listened and cannot judge who was silent in that
/// time: after a late look the count starts again. Times are passed in and never go back.
class Silence {
 public:
  /// `limit`: the silence that is too long. `late`: looks are expected at least this often.
  Silence(Clock::duration limit, Clock::duration late, Clock::time_point now) noexcept
      : limit_(limit), late_(late), heard_(now), looked_(now) {}

  void heard(Clock::time_point now) noexcept { heard_ = looked_ = now; }

  /// Looks at the clock. True if the silence is over the limit.
  bool over(Clock::time_point now) noexcept {
    if (now - looked_ > late_) heard_ = now;
    looked_ = now;
    return now >= until();
  }
  /// When the limit is reached if nothing is heard.
  Clock::time_point until() const noexcept { return heard_ + limit_; }
  /// The latest time for the next look, so that a late look can be recognised.
  Clock::time_point next_look() const noexcept { return std::min(until(), looked_ + late_ / 2); }

 private:
  Clock::duration limit_;
  Clock::duration late_;
  Clock::time_point heard_;
  Clock::time_point looked_;
};

}  // namespace allot
