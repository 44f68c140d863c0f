// The tasks that wait to be started: by type, in order, with those that failed waiting for another try.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/model/ids.hpp"

namespace allot {

/// Tasks are known by their number. Not thread-safe.
class Backlog {
 public:
  explicit Backlog(std::size_t types) : types_(types) {}

  /// At the end of its type's queue.
  void add(TaskType type, std::uint64_t task) { types_[index(type)].fresh.push_back(task); }

  /// Another try, not before `ready`, and rather not at the resource where it failed. It goes ahead of tasks
  /// that were never tried, so that bad news come early.
  void retry(TaskType type, std::uint64_t task, std::optional<ResourceId> avoid, Clock::time_point ready);

  /// Lets tries whose time has come be taken.
  void wake(Clock::time_point now);
  /// When the next `wake` has something to do.
  std::optional<Clock::time_point> next_wake() const;

  /// A task of the type for this resource; nothing when there is none now. One that failed there is taken
  /// only if `alone`: no other resource can run the type.
  std::optional<std::uint64_t> take(TaskType type, ResourceId resource, bool alone);
  /// Whether `take` would find one.
  bool has(TaskType type, ResourceId resource, bool alone) const;

  /// Those that can be taken now, at one resource or another.
  Count ready(TaskType type) const noexcept {
    const Queue& queue = types_[index(type)];
    return static_cast<Count>(queue.fresh.size() + queue.retries.size());
  }
  /// All, with those that wait for their time.
  Count left(TaskType type) const noexcept { return ready(type) + types_[index(type)].sleeping; }
  Count left() const noexcept;

  /// Takes out every task of the type: nobody can run it.
  std::vector<std::uint64_t> give_up(TaskType type);

 private:
  struct Retry {
    std::uint64_t task = 0;
    std::optional<ResourceId> avoid;
  };
  struct Sleeper {
    Clock::time_point ready;
    TaskType type{};
    Retry retry;
    bool operator>(const Sleeper& other) const noexcept {
      return ready != other.ready ? ready > other.ready : retry.task > other.retry.task;
    }
  };
  struct Queue {
    std::deque<Retry> retries;
    std::deque<std::uint64_t> fresh;
    Count sleeping = 0;
  };

  std::vector<Queue> types_;
  std::priority_queue<Sleeper, std::vector<Sleeper>, std::greater<>> sleepers_;
};

}  // namespace allot
