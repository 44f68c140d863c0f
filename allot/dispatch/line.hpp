// A line of tasks that wait: the most urgent first, and among equals the one that came first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "allot/dispatch/plan.hpp"

namespace allot {

/// A task while a host holds it. Hosts derive from it what they need to know themselves. A line is a chain of
/// the tasks themselves, so that waiting needs no allocation; a task is in one line at a time.
struct WaitingTask {
  Ticket ticket;                ///< its type, and its resource while it is bound to one
  int urgency = 0;              ///< higher first, within its line
  std::uint64_t arrival = 0;    ///< among equals the earliest first; 0: it has never waited
  bool unbound = false;         ///< it waits, or waited, for no resource in particular
  bool in_order = false;        ///< taken by the order of service, which is to hear of its end
  WaitingTask* next = nullptr;  ///< in its line; the host's to use while it is in none
  WaitingTask* previous = nullptr;
};

/// A chain for each urgency: O(1) but for an urgency that no task here has, and no allocation once there have
/// been as many of them. Not thread-safe.
class Line {
 public:
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }

  /// Behind those that came before it, which for one that waited already may be in the middle.
  void put(WaitingTask& task);
  /// Takes out a task that is here.
  void remove(WaitingTask& task) noexcept;

  /// Null when there is none.
  WaitingTask* first() const noexcept { return chains_.empty() ? nullptr : chains_.back().first; }
  /// The first one that is accepted; null when none is.
  template <typename Accepts>
  WaitingTask* first(const Accepts& accepts) const {
    for (auto chain = chains_.rbegin(); chain != chains_.rend(); ++chain) {
      for (WaitingTask* task = chain->first; task != nullptr; task = task->next) {
        if (accepts(*task)) return task;
      }
    }
    return nullptr;
  }
  /// The least urgent one that came last. Null when there is none.
  WaitingTask* last() const noexcept { return chains_.empty() ? nullptr : chains_.front().last; }
  /// In no particular order; `visit` leaves the line as it is.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const Chain& chain : chains_) {
      for (WaitingTask* task = chain.first; task != nullptr; task = task->next) visit(*task);
    }
  }

 private:
  struct Chain {
    int urgency = 0;
    WaitingTask* first = nullptr;
    WaitingTask* last = nullptr;
  };
  std::vector<Chain>::iterator chain_for(int urgency) noexcept;

  std::vector<Chain> chains_;  ///< by rising urgency, none of them empty
  std::size_t size_ = 0;
};

/// Tasks are used again, so that in the long run a task needs no allocation. Not thread-safe.
template <typename Task>
class TaskPool {
 public:
  Task& make() {
    if (free_ == nullptr) return tasks_.emplace_back();
    Task& task = *free_;
    free_ = static_cast<Task*>(task.next);
    task.next = nullptr;
    return task;
  }
  /// Of a task that is in no line.
  void release(Task& task) noexcept {
    task = Task();
    task.next = free_;
    free_ = &task;
  }

 private:
  std::deque<Task> tasks_;  // which never moves them
  Task* free_ = nullptr;
};

}  // namespace allot
