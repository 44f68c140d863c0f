#include "bench/real_machine/emulation.hpp"

#include <algorithm>
#include <chrono>

namespace real_machine {
namespace {

using allot::Clock;
using Seconds = std::chrono::duration<double>;

/// Whose rest is shorter is done: no clock wakes anybody more exactly.
constexpr double kDone = 2e-6;

}  // namespace

Dormitory::Dormitory(const allot::System& system)
    : shared_(system, allot::Filling::Of::kShared),
      tasks_(system.type_count() * system.resource_count(), 0.0),
      speeds_(tasks_.size(), 1.0),
      now_(Clock::now()) {}

void Dormitory::advance(Clock::time_point now) {
  const double passed = Seconds(now - now_).count();
  for (Sleeper& sleeper : sleepers_) sleeper.left -= passed * speeds_[sleeper.pair];
  now_ = now;
}

/// Wakes those who are to sleep for less long than they think.
void Dormitory::set_speeds(Clock::time_point now) {
  const std::span<const double> levels = shared_.levels(tasks_);
  std::copy(levels.begin(), levels.end(), speeds_.begin());
  for (Sleeper& sleeper : sleepers_) {
    const auto wake = now + std::chrono::duration_cast<Clock::duration>(
                                Seconds(std::max(0.0, sleeper.left) / speeds_[sleeper.pair]));
    const bool is_sooner = wake < sleeper.wake;
    sleeper.wake = wake;
    if (is_sooner) sleeper.changed.notify_one();
  }
}

void Dormitory::sleep(std::size_t pair, double seconds) {
  std::unique_lock lock(mutex_);
  advance(Clock::now());
  Sleeper& self = sleepers_.emplace_back();
  const auto place = std::prev(sleepers_.end());
  self.pair = pair;
  self.left = seconds;
  tasks_[pair] += 1;
  set_speeds(now_);
  while (self.left > kDone) {
    self.changed.wait_until(lock, self.wake);
    advance(Clock::now());
    // Who was woken for nothing, or slept through a slower time, sleeps for the rest.
    self.wake =
        now_ + std::chrono::duration_cast<Clock::duration>(Seconds(std::max(0.0, self.left) / speeds_[pair]));
  }
  sleepers_.erase(place);
  tasks_[pair] -= 1;
  set_speeds(now_);
}

}  // namespace real_machine
