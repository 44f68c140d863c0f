// How long the other end has been silent, counted only while this end was awake to hear it.
#pragma once

#include <algorithm>

#include "allot/base/stop.hpp"

namespace allot {

/// A process that was stopped, frozen or suspended has not listened, and so has nothing to say about who was
/// silent meanwhile: after a late look the count starts anew. Times are passed in and never go back.
class Silence {
 public:
  /// `limit`: silence of this length is over the limit. `late`: looks are expected at least this often.
  Silence(Clock::duration limit, Clock::duration late, Clock::time_point now) noexcept
      : limit_(limit), late_(late), heard_(now), looked_(now) {}

  void heard(Clock::time_point now) noexcept { heard_ = looked_ = now; }

  /// Looks at the clock: true when the silence is over the limit.
  bool over(Clock::time_point now) noexcept {
    if (now - looked_ > late_) heard_ = now;
    looked_ = now;
    return now >= until();
  }
  /// When the limit will be reached if nothing is heard.
  Clock::time_point until() const noexcept { return heard_ + limit_; }
  /// When to look next at the latest, so that a late look is known for one.
  Clock::time_point next_look() const noexcept { return std::min(until(), looked_ + late_ / 2); }

 private:
  Clock::duration limit_;
  Clock::duration late_;
  Clock::time_point heard_;
  Clock::time_point looked_;
};

}  // namespace allot
