// A line of waiting tasks: the most urgent first, and among equals the earliest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "allot/dispatch/plan.hpp"

namespace allot {

/// A task while a host holds it. Hosts derive from it to add their own members. A line is a linked list of
/// the tasks themselves, so waiting needs no allocation; a task is in one line at a time.
struct WaitingTask {
  Ticket ticket;                ///< its type, and its resource while it is bound to one
  int urgency = 0;              ///< higher first, within its line
  std::uint64_t arrival = 0;    ///< among equals the earliest first; 0: it has never waited
  bool unbound = false;         ///< it waits, or waited, without being bound to a resource
  bool in_order = false;        ///< taken by the order of service, to which its end must be reported
  WaitingTask* next = nullptr;  ///< in its line; free for the host's use while it is in none
  WaitingTask* previous = nullptr;
};

/// One chain per urgency. O(1), except for an urgency that no task here has; no allocation once there have
/// been as many urgencies before. Not thread-safe.
class Line {
 public:
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }

  /// Behind tasks that came before it; a task that has waited before may go into the middle.
  void put(WaitingTask& task);
  /// Takes out a task that is here.
  void remove(WaitingTask& task) noexcept;

  /// Null when there is none.
  WaitingTask* first() const noexcept { return chains_.empty() ? nullptr : chains_.back().first; }
  /// The first task that is accepted; null if none is.
  template <typename Accepts>
  WaitingTask* first(const Accepts& accepts) const {
    for (auto chain = chains_.rbegin(); chain != chains_.rend(); ++chain) {
      for (WaitingTask* task = chain->first; task != nullptr; task = task->next) {
        if (accepts(*task)) return task;
      }
    }
    return nullptr;
  }
  /// Of the least urgent tasks, the latest; null if there is none.
  WaitingTask* last() const noexcept { return chains_.empty() ? nullptr : chains_.front().last; }
  /// In no particular order; `visit` must not change the line.
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

  std::vector<Chain> chains_;  ///< by increasing urgency, none of them empty
  std::size_t size_ = 0;
};

/// Reuses tasks, so that in the long run a task needs no allocation. Not thread-safe.
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
  /// The task must be in no line.
  void release(Task& task) noexcept {
    task = Task();
    task.next = free_;
    free_ = &task;
  }

 private:
  std::deque<Task> tasks_;  // a deque never moves them
  Task* free_ = nullptr;
};

}  // namespace allot
