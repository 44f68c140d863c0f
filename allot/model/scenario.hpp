// What a scenario file holds: a system, and for simulation how its work varies over time.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allot/model/system.hpp"

namespace allot {

/// Threads whose task types change: each repeats `sequence`, one task after another.
struct ThreadGroup {
  Count count = 1;
  std::vector<TaskType> sequence;
  double worth = 1.0;                  ///< value of one round
  std::optional<double> max_response;  ///< maximum mean seconds of one round
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

/// How a rate of the system was measured: it is that of one server while all servers are busy.
struct MeasuredRate {
  TaskType task{};
  ResourceId resource{};
  double low = 0;  ///< 95% interval of the rate
  double high = 0;
  Count runs = 0;               ///< behind this rate
  std::optional<double> alone;  ///< the rate while nothing else runs
  std::optional<double> mixed;  ///< the rate while all resources run a mix
  bool converged = true;        ///< to the requested precision
  friend bool operator==(const MeasuredRate&, const MeasuredRate&) = default;
};

/// The parts of a scenario, before they are validated.
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

/// How threads enter: in random order, or as listed.
inline constexpr std::array<std::string_view, 2> kStartWords = {"random", "listed"};

struct Scenario {
  std::string name;
  System system;
  std::vector<ThreadGroup> threads;
  std::vector<PopulationChange> population;
  std::vector<Arrivals> arrivals;
  std::vector<MeasuredRate> measured;
  std::optional<double> power_cap;  ///< maximum mean watts of the whole machine

  /// Whether the counts alone describe the work, as most solvers require.
  bool is_static() const noexcept { return threads.empty() && population.empty() && arrivals.empty(); }
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

}  // namespace allot
