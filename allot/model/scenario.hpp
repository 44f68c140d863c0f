// What a scenario file holds: a system, and for simulation how its work varies over time.
#pragma once

#include <string>
#include <vector>

#include "allot/model/system.hpp"

namespace allot {

/// Threads whose task types change: each runs `sequence` over and over, one task after the other.
struct ThreadGroup {
  Count count = 1;
  std::vector<TaskType> sequence;
  friend bool operator==(const ThreadGroup&, const ThreadGroup&) = default;
};

/// At time `at` (seconds), `change` more (or, when negative, fewer) threads run tasks of `task`.
struct PopulationChange {
  double at = 0;
  TaskType task{};
  Count change = 0;
  friend bool operator==(const PopulationChange&, const PopulationChange&) = default;
};

/// An open class: tasks arrive in a Poisson stream of `rate` per second, and each leaves when done.
struct Arrivals {
  TaskType task{};
  double rate = 0;
  friend bool operator==(const Arrivals&, const Arrivals&) = default;
};

struct Scenario {
  std::string name;
  System system;
  std::vector<ThreadGroup> threads;
  std::vector<PopulationChange> population;
  std::vector<Arrivals> arrivals;

  /// Whether the counts alone describe the work, as solvers need it.
  bool is_static() const noexcept { return threads.empty() && population.empty() && arrivals.empty(); }
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

}  // namespace allot
