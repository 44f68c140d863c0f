// The near end's own check of time limits: it does not wait for a worker that fails to enforce one.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "allot/base/stop.hpp"

namespace allot {

/// For each attempt with a time limit: when it must be over. After that this end kills it, and some time
/// later gives it up. Not thread-safe.
class Overdue {
 public:
  explicit Overdue(Clock::duration kill_patience) noexcept : kill_patience_(kill_patience) {}

  /// `limit`: when the worker should have ended the attempt, including the grace period.
  void watch(std::uint64_t id, Clock::time_point limit) { put(id, {limit, false}); }
  void forget(std::uint64_t id) {
    const auto at = by_id_.find(id);
    if (at == by_id_.end()) return;
    by_time_.erase({at->second.limit, id});
    by_id_.erase(at);
  }

  struct Due {
    std::uint64_t id = 0;
    bool give_up = false;  ///< it was killed but still runs; otherwise: kill it
    friend bool operator==(const Due&, const Due&) = default;
  };
  /// The actions that are due now. An attempt that is given up is forgotten.
  std::vector<Due> due(Clock::time_point now) {
    std::vector<Due> all;
    while (!by_time_.empty() && by_time_.begin()->first <= now) {
      const std::uint64_t id = by_time_.begin()->second;
      const bool killed = by_id_.at(id).killed;
      forget(id);
      if (!killed) put(id, {now + kill_patience_, true});
      all.push_back({id, killed});
    }
    return all;
  }
  /// When `due` has its next action.
  Clock::time_point next() const noexcept {
    return by_time_.empty() ? Clock::time_point::max() : by_time_.begin()->first;
  }
  /// Time during which this process could not act.
  void slept(Clock::duration time) {
    by_time_.clear();
    for (auto& [id, watch] : by_id_) {
      watch.limit += time;
      by_time_.emplace(watch.limit, id);
    }
  }

 private:
  struct Watch {
    Clock::time_point limit;
    bool killed = false;
  };
  void put(std::uint64_t id, Watch watch) {
    by_id_[id] = watch;
    by_time_.emplace(watch.limit, id);
  }

  Clock::duration kill_patience_;
  std::map<std::uint64_t, Watch> by_id_;
  std::set<std::pair<Clock::time_point, std::uint64_t>> by_time_;
};

}  // namespace allot
