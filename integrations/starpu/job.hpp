// A task of StarPU's in the hands of the policy, from push to the end of its execution.
#pragma once

#include <cstdint>
#include <deque>

#include "allot/dispatch/plan.hpp"

struct starpu_task;

namespace allot::starpu {

/// A set of resources, one bit each.
using ResourceSet = std::uint64_t;
inline constexpr std::size_t kMostResources = 64;
constexpr ResourceSet set_of(ResourceId j) noexcept { return ResourceSet{1} << index(j); }
constexpr bool holds(ResourceSet set, ResourceId j) noexcept { return (set & set_of(j)) != 0; }

/// `starpu_task::sched_data` points to it.
struct Job {
  starpu_task* task = nullptr;
  Ticket ticket;
  ResourceSet able = 0;       ///< where it can run
  ResourceId placed{};        ///< where it was put first; its ticket says where it is now
  bool choosy = false;        ///< not on every worker of a resource, perhaps
  bool bound = false;         ///< to a worker by the program: it never waits here
  int priority = 0;           ///< StarPU's: higher first
  std::uint64_t arrival = 0;  ///< among equals the earliest first; 0: it has not been in a line
  double taken = 0;           ///< when a worker took it, in seconds
  Job* next = nullptr;        ///< in a queue, of a worker's, or of the free ones
  Job* previous = nullptr;    ///< in a queue
};

/// Jobs are used again, so that in the long run a task needs no allocation. Not thread-safe.
class JobPool {
 public:
  Job& make() {
    if (free_ == nullptr) return jobs_.emplace_back();
    Job& job = *free_;
    free_ = job.next;
    job = Job();
    return job;
  }
  void release(Job& job) noexcept {
    job.task = nullptr;
    job.next = free_;
    free_ = &job;
  }

 private:
  std::deque<Job> jobs_;  // which never moves them
  Job* free_ = nullptr;
};

}  // namespace allot::starpu
