// The tasks that wait to start: by type, in order; failed ones wait for another try.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <vector>

#include "allot/base/ids.hpp"
#include "allot/base/stop.hpp"

namespace allot {

/// Tasks are identified by their number. Not thread-safe.
class Backlog {
 public:
  explicit Backlog(std::size_t types) : types_(types) {}

  /// How a task is tried again.
  struct Retry {
    std::uint64_t task = 0;
    std::optional<ResourceId> avoid;  ///< preferably not there, where it failed
    bool alone = false;               ///< with nothing else on its worker
  };

  /// At the end of its type's queue.
  void add(TaskType type, std::uint64_t task) { types_[index(type)].fresh.push_back(task); }

  /// Another try, not before `ready`. It comes before tasks that were never tried, so that permanent failures
  /// are known early.
  void retry(TaskType type, const Retry& retry, Clock::time_point ready);

  /// Makes retries available whose time has come.
  void wake(Clock::time_point now);
  /// When the next `wake` has something to do.
  std::optional<Clock::time_point> next_wake() const;

  /// A task of the type for this resource; absent if there is none now. A task that failed there is taken
  /// only if it is the `only_place`: no other resource can run the type. Tasks that run alone are not taken.
  std::optional<std::uint64_t> take(TaskType type, ResourceId resource, bool only_place);
  /// Whether `take` would find one.
  bool has(TaskType type, ResourceId resource, bool only_place) const;
  /// The same among the tasks that run alone.
  std::optional<std::uint64_t> take_alone(TaskType type, ResourceId resource, bool only_place);
  bool has_alone(TaskType type, ResourceId resource, bool only_place) const;

  /// The tasks that `take` finds now, at any resource.
  Count ready(TaskType type) const noexcept {
    const Queue& queue = types_[index(type)];
    return static_cast<Count>(queue.fresh.size() + queue.retries.size());
  }
  /// The same, including tasks that run alone or wait for their time.
  Count queued(TaskType type) const noexcept {
    return ready(type) + static_cast<Count>(types_[index(type)].alone.size()) + types_[index(type)].sleeping;
  }
  /// All tasks, including those that wait for others to end and are not in the queues yet.
  Count left(TaskType type) const noexcept { return queued(type) + types_[index(type)].blocked; }
  Count left() const noexcept;
  /// All tasks except those that wait for a whole type to end: the tasks to plan for.
  Count foreseen(TaskType type) const noexcept { return queued(type) + types_[index(type)].streaming; }
  /// How many of the type wait for others to end, and how many of these only for single tasks.
  void set_blocked(TaskType type, Count blocked, Count streaming) noexcept {
    types_[index(type)].blocked = blocked;
    types_[index(type)].streaming = streaming;
  }

  /// The ready tasks, grouped by where they may run.
  struct Group {
    TaskType type{};
    std::optional<ResourceId> avoid;
    Count count = 0;
  };
  std::vector<Group> groups() const;

  /// Removes every task of the type, because nothing can run it.
  std::vector<std::uint64_t> give_up(TaskType type);

 private:
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
    std::deque<Retry> alone;
    std::deque<std::uint64_t> fresh;
    Count sleeping = 0;
    Count blocked = 0;
    Count streaming = 0;
  };

  std::vector<Queue> types_;
  std::priority_queue<Sleeper, std::vector<Sleeper>, std::greater<>> sleepers_;
};

}  // namespace allot
