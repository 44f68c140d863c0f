// How running tasks are ended when their results are not needed.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>

#include "allot/base/stop.hpp"

namespace allot::detail {

/// First TERM, and a little later KILL.
class StopOrder {
 public:
  /// The signal to send now; 0: none.
  int due(Clock::time_point now) {
    if (!term_at_) {
      term_at_ = now;
      return SIGTERM;
    }
    if (killed_ || now < *term_at_ + std::chrono::seconds(2)) return 0;
    killed_ = true;
    return SIGKILL;
  }

 private:
  std::optional<Clock::time_point> term_at_;
  bool killed_ = false;
};

}  // namespace allot::detail
