// What a scenario file holds: a system, and for simulation how its work varies over time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allot/model/system.hpp"

namespace allot {

/// Threads whose task types change: each runs `sequence` over and over, one task after the other.
struct ThreadGroup {
  Count count = 1;
  std::vector<TaskType> sequence;
  double worth = 1.0;                  ///< value of one round
  std::optional<double> max_response;  ///< most seconds of one round, on average
  std::string name;                    ///< may be empty
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

/// How a rate of the system was measured, where it was: rates are of one server while all of them are busy.
struct MeasuredRate {
  TaskType task{};
  ResourceId resource{};
  double low = 0;  ///< 95% interval of the rate
  double high = 0;
  Count runs = 0;               ///< that it rests on
  std::optional<double> alone;  ///< the rate while nothing else runs
  std::optional<double> mixed;  ///< the rate while all resources run a mix
  bool converged = true;        ///< to the precision asked for
  friend bool operator==(const MeasuredRate&, const MeasuredRate&) = default;
};

/// What a scenario is made of, before anybody knows whether it can be.
struct ScenarioParts {
  std::string name;
  std::optional<double> power_cap;
  std::vector<Resource> resources;
  std::vector<TaskClass> tasks;
  PerPair<double> rates;
  std::vector<Capacity> capacities;
  std::vector<ThreadGroup> threads;
  std::vector<PopulationChange> population;
  std::vector<Arrivals> arrivals;
  std::vector<MeasuredRate> measured;
};

struct Scenario {
  std::string name;
  System system;
  std::vector<ThreadGroup> threads;
  std::vector<PopulationChange> population;
  std::vector<Arrivals> arrivals;
  std::vector<MeasuredRate> measured;
  std::optional<double> power_cap;  ///< most watts of the whole machine, on average

  /// Whether the counts alone describe the work, as solvers need it.
  bool is_static() const noexcept { return threads.empty() && population.empty() && arrivals.empty(); }
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

}  // namespace allot
