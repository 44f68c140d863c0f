// The environment of a run's loop: time, sleep, and planning. The real one is in runner.cpp; tests use one
// whose time is a number.
#pragma once

#include "allot/base/stop.hpp"
#include "allot/dispatch/dispatcher.hpp"

namespace allot {

class World {
 public:
  virtual ~World() = default;
  virtual Clock::time_point now() = 0;
  virtual double unix_now() = 0;
  /// Returns when something has happened, or at `until`.
  virtual void wait(Clock::time_point until) = 0;
  /// How plans are made: see `plan`.
  virtual Planning planning() const { return Planning::kBackground; }
  /// Called on every turn of the loop, for worlds in which plans are not made in the background.
  virtual void plan(Dispatcher&) {}
};

}  // namespace allot
