// A machine without a machine: tasks that sleep, and slow each other down as a scenario says.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/model/filling.hpp"
#include "bench/real_machine/kernel.hpp"

namespace real_machine {

/// Everybody who sleeps on one machine. Thread-safe.
class Dormitory {
 public:
  explicit Dormitory(const allot::System& system);

  /// Sleeps for as long as a task of the pair takes that needs so many seconds at full speed.
  void sleep(std::size_t pair, double seconds);

 private:
  struct Sleeper {
    std::size_t pair;
    double left;  // seconds at full speed
    allot::Clock::time_point wake;
    std::condition_variable changed;
  };
  void advance(allot::Clock::time_point now);
  void set_speeds(allot::Clock::time_point now);

  std::mutex mutex_;
  allot::Filling shared_;
  std::vector<double> tasks_;  // by pair
  std::vector<double> speeds_;
  std::list<Sleeper> sleepers_;
  allot::Clock::time_point now_;
};

/// A task that sleeps, give or take a fifth.
class Sleep : public Kernel {
 public:
  static constexpr std::size_t kInputs = 5;

  Sleep(std::shared_ptr<Dormitory> dormitory, std::size_t pair, double seconds)
      : dormitory_(std::move(dormitory)), pair_(pair), seconds_(seconds) {}
  void run(std::size_t input) override {
    dormitory_->sleep(pair_, (0.8 + 0.1 * static_cast<double>(input % kInputs)) * seconds_);
  }

 private:
  std::shared_ptr<Dormitory> dormitory_;
  std::size_t pair_;
  double seconds_;
};

}  // namespace real_machine
