// The tasks of one type that wait at one resource, the most urgent first.
#pragma once

#include <cstddef>
#include <vector>

#include "integrations/starpu/job.hpp"

namespace allot::starpu {

/// By priority; among equals the one that came first. A chain of jobs for each priority, linked by the jobs
/// themselves: O(1) but for a priority that no job here has, and no allocation once there have been as many
/// priorities. Not thread-safe.
class Queue {
 public:
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }

  void put(Job& job);
  /// The most urgent one that `accepts`; null when none is.
  template <typename Accepts>
  Job* first(const Accepts& accepts) const {
    for (auto chain = chains_.rbegin(); chain != chains_.rend(); ++chain) {
      for (Job* job = chain->first; job != nullptr; job = job->next) {
        if (accepts(*job)) return job;
      }
    }
    return nullptr;
  }
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const Chain& chain : chains_) {
      for (Job* job = chain.first; job != nullptr; job = job->next) visit(*job);
    }
  }
  /// The least urgent one. Only when not empty.
  Job& last() const noexcept { return *chains_.front().last; }
  /// Takes out a job that is here.
  void remove(Job& job) noexcept;

 private:
  struct Chain {
    int priority = 0;
    Job* first = nullptr;
    Job* last = nullptr;
  };

  std::vector<Chain> chains_;  ///< by rising priority, none of them empty
  std::size_t size_ = 0;
};

}  // namespace allot::starpu
