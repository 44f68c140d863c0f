// Recent completions per second.
#pragma once

#include <chrono>
#include <deque>
#include <vector>

#include "allot/base/ids.hpp"
#include "allot/base/stop.hpp"

namespace allot {

class RecentCompletions {
 public:
  RecentCompletions(std::size_t types, Clock::time_point begin) : types_(types), begin_(begin) {}

  void add(TaskType type, Clock::time_point now) {
    all_.push_back({now, type});
    if (all_.size() > kMost) {
      begin_ = all_.front().at;
      all_.pop_front();
    }
  }

  /// By type; 0 before the first completion.
  std::vector<double> rates(Clock::time_point now) const {
    std::vector<double> rates(types_, 0.0);
    const Clock::time_point from = std::max<Clock::time_point>(begin_, now - kWindow);
    const double seconds = std::chrono::duration<double>(now - from).count();
    if (!(seconds > 0)) return rates;
    for (const Completion& completion : all_) {
      if (completion.at > from) rates[index(completion.type)] += 1 / seconds;
    }
    return rates;
  }

 private:
  struct Completion {
    Clock::time_point at;
    TaskType type{};
  };
  static constexpr std::size_t kMost = 10'000;
  static constexpr std::chrono::seconds kWindow{10};

  std::size_t types_;
  Clock::time_point begin_;  // all completions since then are known
  std::deque<Completion> all_;
};

}  // namespace allot
