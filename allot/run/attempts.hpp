// The running attempts.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/base/stop.hpp"
#include "allot/jobs/attempt.hpp"
#include "allot/run/holdings.hpp"
#include "allot/run/placer.hpp"
#include "allot/worker/task.hpp"

namespace allot {

struct RunningAttempt {
  std::size_t task = 0;
  std::size_t slot = 0;
  Placed placed;
  Holding holding;
  AttemptStart start;
  TaskRequest request;
  Clock::time_point began{};
  double expected_s = 0;            ///< estimate at the start; 0: unknown
  Clock::time_point alone_until{};  ///< nothing else may run on its worker until then
  bool signalled = false;           ///< by this end
  bool overdue = false;             ///< its time limit was over
  bool disturbed = false;           ///< this process slept during the attempt: its time does not count for
                                    ///< the rate
  TaskType type() const noexcept { return placed.ticket.type; }
  ResourceId resource() const noexcept { return placed.ticket.resource; }
};

/// Running attempts by the id of their requests, with counts. Not thread-safe.
class Attempts {
 public:
  Attempts(std::size_t types, std::size_t resources) : by_type_(types), by_pair_(types, resources) {}

  RunningAttempt& add(std::uint64_t id, RunningAttempt attempt) {
    ++by_type_[index(attempt.type())];
    ++by_pair_(attempt.type(), attempt.resource());
    return all_.emplace(id, std::move(attempt)).first->second;
  }
  /// Null if there is none.
  RunningAttempt* find(std::uint64_t id) {
    const auto at = all_.find(id);
    return at == all_.end() ? nullptr : &at->second;
  }
  const RunningAttempt* find(std::uint64_t id) const {
    const auto at = all_.find(id);
    return at == all_.end() ? nullptr : &at->second;
  }
  RunningAttempt take(std::uint64_t id) {
    const auto at = all_.find(id);
    RunningAttempt attempt = std::move(at->second);
    all_.erase(at);
    --by_type_[index(attempt.type())];
    --by_pair_(attempt.type(), attempt.resource());
    return attempt;
  }
  /// This process could not act for this time.
  void slept(Clock::duration time, bool disturbs) {
    for (auto& [id, attempt] : all_) {
      attempt.began += time;
      attempt.alone_until += time;
      attempt.disturbed |= disturbs;
    }
  }

  bool empty() const noexcept { return all_.empty(); }
  std::size_t size() const noexcept { return all_.size(); }
  const std::unordered_map<std::uint64_t, RunningAttempt>& all() const noexcept { return all_; }
  const std::vector<Count>& by_type() const noexcept { return by_type_; }
  const PerPair<Count>& by_pair() const noexcept { return by_pair_; }

 private:
  std::unordered_map<std::uint64_t, RunningAttempt> all_;
  std::vector<Count> by_type_;
  PerPair<Count> by_pair_;
};

}  // namespace allot
