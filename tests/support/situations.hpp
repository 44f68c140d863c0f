// Situations for tests of policies: arbitrary ones, and one that follows a policy's decisions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/policy/policy.hpp"

namespace allot::testing {

/// The numbers behind a Situation. The system must outlive it.
class Tasks {
 public:
  explicit Tasks(const System& system)
      : system_(&system),
        counts_(system.type_count() * system.resource_count()),
        totals_(system.resource_count()),
        remaining_(system.resource_count()) {}

  void add(TaskType i, ResourceId j, Count n = 1) {
    counts_[index(i) * totals_.size() + index(j)] += n;
    totals_[index(j)] += n;
  }
  void set_remaining(ResourceId j, double seconds) { remaining_[index(j)] = seconds; }

  Situation situation() const { return {system_, counts_, totals_, remaining_}; }
  Count count(TaskType i, ResourceId j) const { return counts_[index(i) * totals_.size() + index(j)]; }
  const std::vector<Count>& counts() const { return counts_; }

 private:
  const System* system_;
  std::vector<Count> counts_;
  std::vector<Count> totals_;
  std::vector<double> remaining_;
};

/// Up to `most` tasks of each type at each resource that can run it; few, so that there are ties.
inline Tasks random_tasks(const System& system, RandomStream& random, Count most = 3) {
  Tasks tasks(system);
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      tasks.add(i, j, static_cast<Count>(random.below(static_cast<std::uint64_t>(most) + 1)));
    }
  }
  for (const ResourceId j : system.resource_ids()) {
    tasks.set_remaining(j,
                        random.below(2) == 0 ? static_cast<double>(random.below(4)) : random.uniform(0, 4));
  }
  return tasks;
}

inline std::vector<Count> population_of(const System& system) {
  std::vector<Count> counts;
  for (const TaskType i : system.types()) counts.push_back(system.count(i));
  return counts;
}

/// The types of all threads, in a random order.
inline std::vector<TaskType> threads_in_random_order(std::span<const Count> population,
                                                     RandomStream& random) {
  std::vector<TaskType> threads;
  for (std::size_t i = 0; i < population.size(); ++i) {
    threads.insert(threads.end(), static_cast<std::size_t>(population[i]), task_type(i));
  }
  for (std::size_t at = threads.size(); at > 1; --at) std::swap(threads[at - 1], threads[random.below(at)]);
  return threads;
}

}  // namespace allot::testing
