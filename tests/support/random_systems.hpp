// Random systems for property tests: every feature of the model, small enough to enumerate.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/model/system.hpp"

namespace allot::testing {

/// What a random system may contain.
struct SystemShape {
  std::size_t max_types = 4;
  std::size_t max_resources = 4;
  std::size_t min_types = 1;
  std::size_t min_resources = 1;
  Count max_count = 6;
  Count max_servers = 3;
  bool fcfs = true;           ///< some resources are fcfs
  bool several_fcfs = false;  ///< fcfs resources may have several servers (then nothing is exact)
  bool depths = false;
  bool floors = false;
  bool priorities = false;
  bool zero_priorities = false;  ///< some types are to have no share
  bool extreme_rates = false;    ///< some rates lie anywhere from 1e-18 to 1e18, and floors and shares follow
  bool worths = false;           ///< types are worth from 0 to 1000, some the same
  bool closed = false;           ///< some resources ask for more tasks than there are
};

/// Everything together.
inline constexpr SystemShape kEverything{.max_types = 3,
                                         .max_resources = 3,
                                         .max_count = 4,
                                         .several_fcfs = true,
                                         .depths = true,
                                         .floors = true,
                                         .extreme_rates = true,
                                         .closed = true};

/// The same seed and shape always give the same system: paste the seed to replay.
inline System random_system(std::uint64_t seed, const SystemShape& shape = {}) {
  RandomStream random(seed, 0xa110);
  const std::size_t types = shape.min_types + random.below(shape.max_types - shape.min_types + 1);
  const std::size_t resources =
      shape.min_resources + random.below(shape.max_resources - shape.min_resources + 1);
  std::vector<Resource> machine(resources);
  std::vector<TaskClass> tasks(types);
  std::vector<double> rates(types * resources, 0.0);
  for (std::size_t j = 0; j < resources; ++j) {
    Resource& resource = machine[j];
    resource.name = "r" + std::to_string(j + 1);
    resource.servers = 1 + static_cast<Count>(random.below(static_cast<std::uint64_t>(shape.max_servers)));
    if (shape.fcfs && random.below(2) == 0) {
      resource.discipline = Discipline::kFcfs;
      if (!shape.several_fcfs) resource.servers = 1;
    }
    if (shape.depths && random.below(3) == 0) resource.min_depth = 2 + static_cast<Count>(random.below(2));
    if (shape.closed && random.below(8) == 0) resource.min_depth = 1000;
    if (j > 0 && random.below(4) == 0) resource.kind = Kind::kSpecialized;
  }
  for (std::size_t i = 0; i < types; ++i) {
    TaskClass& task = tasks[i];
    task.name = "t" + std::to_string(i + 1);
    task.count = static_cast<Count>(random.below(static_cast<std::uint64_t>(shape.max_count) + 1));
    for (std::size_t j = 0; j < resources; ++j) {
      if (machine[j].kind == Kind::kSpecialized && j % types != i) continue;
      if (j > 0 && random.below(5) == 0) continue;
      // Sometimes equal or round rates, where ties lurk.
      rates[i * resources + j] =
          random.below(6) == 0 ? 1.0 + static_cast<double>(random.below(3)) : random.uniform(0.1, 10);
      // Not for every system: half of them keep ordinary rates.
      if (shape.extreme_rates && seed % 2 == 1 && random.below(2) == 0) {
        rates[i * resources + j] = std::pow(10.0, random.uniform(-18, 18));
      }
    }
    if (shape.floors && random.below(3) == 0) task.floor = random.uniform(0, 3);
    if (shape.extreme_rates && task.floor && random.below(2) == 0) *task.floor *= rates[i * resources] / 2;
    if (shape.priorities) task.priority = random.uniform(0.05, 1);
    if (shape.zero_priorities && i > 0 && random.below(3) == 0) task.priority = 0.0;
  }
  // From a stream of their own, so that a seed gives the same system without them.
  RandomStream worth(seed, 0x3017);
  for (TaskClass& task : tasks) {
    if (!shape.worths || worth.below(4) == 0) continue;
    task.worth = worth.below(8) == 0 ? 0.0 : std::pow(10.0, worth.uniform(-3, 3));
    if (worth.below(4) == 0) task.worth = 2;
  }
  return System(std::move(machine), std::move(tasks), Rates(types, resources, std::move(rates)));
}

/// Small enough for naive enumeration of all states.
inline constexpr SystemShape kTiny{.max_types = 3, .max_resources = 3, .max_count = 4};

/// The system with its types and resources in another order: new type i is old type types[i], and so on.
inline System relabelled(const System& system, const std::vector<std::size_t>& types,
                         const std::vector<std::size_t>& resources) {
  std::vector<Resource> machine;
  for (const std::size_t j : resources) machine.push_back(system.resources()[j]);
  std::vector<TaskClass> tasks;
  std::vector<double> rates;
  for (const std::size_t i : types) {
    tasks.push_back(system.tasks()[i]);
    if (const auto home = tasks.back().home) {
      const auto at = std::find(resources.begin(), resources.end(), index(*home));
      tasks.back().home = resource_id(static_cast<std::size_t>(at - resources.begin()));
    }
    for (const std::size_t j : resources) rates.push_back(system.rate(task_type(i), resource_id(j)));
  }
  return System(std::move(machine), std::move(tasks),
                Rates(types.size(), resources.size(), std::move(rates)));
}

/// A random order of 0 .. size-1.
inline std::vector<std::size_t> random_order(std::size_t size, RandomStream& random) {
  std::vector<std::size_t> order(size);
  for (std::size_t at = 0; at < size; ++at) order[at] = at;
  for (std::size_t at = size; at > 1; --at) std::swap(order[at - 1], order[random.below(at)]);
  return order;
}

/// All rates, and floors, multiplied.
inline System scaled(const System& system, double factor) {
  std::vector<double> rates = system.rates().values();
  for (double& rate : rates) rate *= factor;
  std::vector<TaskClass> tasks = system.tasks();
  for (TaskClass& task : tasks) {
    if (task.floor) *task.floor *= factor;
  }
  return system.with_tasks(std::move(tasks))
      .with_rates(Rates(system.type_count(), system.resource_count(), std::move(rates)));
}

}  // namespace allot::testing
