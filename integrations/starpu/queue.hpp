// The tasks of one type that wait at one resource, the most urgent first.
#pragma once

#include <cstddef>
#include <vector>

#include "integrations/starpu/job.hpp"

namespace allot::starpu {

/// By priority; among equals the one that came first. A heap: O(log n), no allocation once it has been as
/// long before. Not thread-safe.
class Queue {
 public:
  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }

  void put(Job& job);
  /// The most urgent one that `accepts`; null when none is. O(1) when the first is accepted, else O(n).
  template <typename Accepts>
  Job* first(const Accepts& accepts) const {
    if (heap_.empty()) return nullptr;
    if (accepts(*heap_.front())) return heap_.front();
    Job* best = nullptr;
    for (Job* job : heap_) {
      if ((best == nullptr || before(*job, *best)) && accepts(*job)) best = job;
    }
    return best;
  }
  /// The one that is easiest to take out, of the less urgent.
  Job& last() const noexcept { return *heap_.back(); }
  /// Takes out a job that is here.
  void remove(Job& job) noexcept;

 private:
  static bool before(const Job& a, const Job& b) noexcept {
    return a.priority != b.priority ? a.priority > b.priority : a.arrival < b.arrival;
  }
  static bool later(const Job* a, const Job* b) noexcept { return before(*b, *a); }

  std::vector<Job*> heap_;
};

}  // namespace allot::starpu
