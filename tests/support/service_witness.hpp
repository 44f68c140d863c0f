// Scenarios for planned service, and its linear program written down anew: slow, in long double, and
// independent of the library's.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/model/scenario.hpp"
#include "tests/support/dense_simplex.hpp"
#include "tests/support/random_needs.hpp"
#include "tests/support/random_systems.hpp"

namespace allot::testing {

/// Everything that planned service knows, small.
inline Scenario random_scenario(std::uint64_t seed) {
  SystemShape shape{.max_types = 4, .max_resources = 4, .max_count = 6, .floors = true, .worths = true};
  shape.priorities = seed % 2 == 0;
  System base = random_system(seed, shape);
  RandomStream random(seed, 0x9a7);
  std::vector<TaskClass> tasks = base.tasks();
  std::vector<Resource> resources = base.resources();
  for (Resource& resource : resources) {
    resource.power = random.uniform(1, 100);
    resource.idle_power = random.uniform(0, 20);
  }
  Scenario scenario{"", base, {}, {}, {}, {}, {}};
  double idle = 0;
  for (const Resource& resource : resources)
    idle += resource.idle_power * static_cast<double>(resource.servers);
  if (random.below(3) == 0) scenario.power_cap = idle * random.uniform(0.9, 4);
  const bool staged = random.below(4) == 0;
  for (const TaskType i : base.types()) {
    TaskClass& task = tasks[index(i)];
    if (random.below(3) == 0) task.floor.reset();
    if (!staged && task.count > 0 && random.below(4) == 0)
      task.max_response = static_cast<double>(task.count) / random.uniform(0.1, 5);
    for (const ResourceId j : base.resources_for(i)) {
      if (random.below(4) == 0) task.power.push_back({j, random.uniform(1, 200)});
    }
    if (staged) {
      task.count = 0;
      task.worth = 1;
    }
  }
  const std::size_t groups = staged ? 1 + random.below(2) : 0;
  for (std::size_t k = 0; k < groups; ++k) {
    ThreadGroup group{1 + static_cast<Count>(random.below(6)), {}};
    for (std::size_t at = 0; at <= random.below(3); ++at) {
      const TaskType i = task_type(random.below(base.type_count()));
      if (!base.resources_for(i).empty()) group.sequence.push_back(i);
    }
    group.worth = random.uniform(0.1, 5);
    if (random.below(3) == 0) group.max_response = random.uniform(0.2, 5);
    if (!group.sequence.empty()) scenario.threads.push_back(group);
  }
  if (random.below(5) == 0) {
    const TaskType i = task_type(random.below(base.type_count()));
    if (!base.resources_for(i).empty() && !tasks[index(i)].max_response)
      scenario.arrivals.push_back({i, random.uniform(0.1, 4)});
  }
  scenario.system = base.with_resources(std::move(resources)).with_tasks(std::move(tasks));
  RandomStream needs(seed, 0x9a8);
  if (needs.below(2) == 0) scenario.system = with_random_needs(scenario.system, needs);
  return scenario;
}

/// What a task takes of a capacity, read from what was written down: one server of its own unless said
/// otherwise.
inline long double need_of(const System& system, std::size_t type, std::size_t resource, CapacityId r) {
  for (const Need& need : system.tasks()[type].needs) {
    if (index(need.resource) == resource && need.capacity == r) return need.amount;
  }
  return index(r) == resource ? 1 : 0;
}

/// The program of planned service for the value, written down anew: limits may be missed, at a price.
struct Witness {
  std::optional<double> value;  ///< nothing: the limits cannot be met
};

inline Witness witness_of(const Scenario& scenario) {
  const System& system = scenario.system;
  struct Variable {
    std::size_t type, resource;
    int work;  // -1: threads of the type, k: group, 1000 + stream
  };
  std::vector<Variable> x;
  const auto serve = [&](std::size_t i, int work) {
    for (const ResourceId j : system.resources_for(task_type(i))) x.push_back({i, index(j), work});
  };
  for (std::size_t i = 0; i < system.type_count(); ++i) {
    if (system.tasks()[i].count > 0) serve(i, -1);
  }
  for (std::size_t k = 0; k < scenario.threads.size(); ++k) {
    std::vector<TaskType> visited = scenario.threads[k].sequence;
    std::sort(visited.begin(), visited.end());
    visited.erase(std::unique(visited.begin(), visited.end()), visited.end());
    for (const TaskType i : visited) serve(index(i), static_cast<int>(k));
  }
  for (std::size_t s = 0; s < scenario.arrivals.size(); ++s)
    serve(index(scenario.arrivals[s].task), 1000 + static_cast<int>(s));
  struct Floor {
    std::vector<long double> row;
    long double least;
  };
  const std::size_t rounds_at = x.size();
  std::size_t size = x.size() + scenario.threads.size();
  std::vector<Floor> floors;
  const auto rate = [&](const Variable& v) {
    return static_cast<long double>(system.rate(task_type(v.type), resource_id(v.resource)));
  };
  const auto completions = [&](std::size_t i, auto&& counts) {
    std::vector<long double> row(size, 0);
    for (std::size_t v = 0; v < x.size(); ++v) {
      if (x[v].type == i && counts(x[v])) row[v] = rate(x[v]);
    }
    return row;
  };
  for (std::size_t i = 0; i < system.type_count(); ++i) {
    const TaskClass& task = system.tasks()[i];
    if (task.floor.value_or(0) > 0)
      floors.push_back({completions(i, [](const Variable&) { return true; }), *task.floor});
    if (task.max_response && task.count > 0) {
      floors.push_back({completions(i, [](const Variable& v) { return v.work == -1; }),
                        static_cast<long double>(task.count) / *task.max_response});
    }
  }
  for (std::size_t k = 0; k < scenario.threads.size(); ++k) {
    if (!scenario.threads[k].max_response) continue;
    std::vector<long double> row(size, 0);
    row[rounds_at + k] = 1;
    floors.push_back(
        {row, static_cast<long double>(scenario.threads[k].count) / *scenario.threads[k].max_response});
  }
  for (std::size_t s = 0; s < scenario.arrivals.size(); ++s) {
    const int work = 1000 + static_cast<int>(s);
    floors.push_back(
        {completions(index(scenario.arrivals[s].task), [&](const Variable& v) { return v.work == work; }),
         scenario.arrivals[s].rate});
  }
  // No more is done than arrives.
  std::vector<Floor> streams(floors.end() - static_cast<std::ptrdiff_t>(scenario.arrivals.size()),
                             floors.end());
  // One more variable per floor: how much of it is met. Met floors come before any value.
  const std::size_t met_at = size;
  size += floors.size();
  long double most = 1;
  for (const Variable& v : x)
    most += rate(v) * static_cast<long double>(system.worth(task_type(v.type))) *
            static_cast<long double>(system.resources()[v.resource].servers) /
            need_of(system, v.type, v.resource, capacity_id(v.resource));
  for (std::size_t k = 0; k < scenario.threads.size(); ++k) most += 1000 * scenario.threads[k].worth;
  std::vector<long double> objective(size, 0);
  for (std::size_t v = 0; v < x.size(); ++v) {
    if (x[v].work == -1)
      objective[v] = rate(x[v]) * static_cast<long double>(system.worth(task_type(x[v].type)));
  }
  for (std::size_t k = 0; k < scenario.threads.size(); ++k)
    objective[rounds_at + k] = scenario.threads[k].worth;
  for (std::size_t f = 0; f < floors.size(); ++f) objective[met_at + f] = 1e4L * most / floors[f].least;
  DenseSimplex program(objective);
  for (std::size_t f = 0; f < floors.size(); ++f) {
    std::vector<long double> row(size, 0);
    for (std::size_t v = 0; v < floors[f].row.size(); ++v) row[v] = -floors[f].row[v];
    row[met_at + f] = 1;
    program.at_most(row, 0);
    std::vector<long double> limit(size, 0);
    limit[met_at + f] = 1;
    program.at_most(limit, floors[f].least);
  }
  for (Floor& stream : streams) {
    stream.row.resize(size, 0);
    program.at_most(stream.row, stream.least);
  }
  for (const CapacityId r : system.capacity_ids()) {
    std::vector<long double> row(size, 0);
    for (std::size_t v = 0; v < x.size(); ++v) row[v] = need_of(system, x[v].type, x[v].resource, r);
    const std::size_t width = system.resource_count();
    program.at_most(row, index(r) < width ? static_cast<long double>(system.resources()[index(r)].servers)
                                          : system.capacities()[index(r) - width].amount);
  }
  for (std::size_t i = 0; i < system.type_count(); ++i) {
    std::vector<long double> row(size, 0);
    for (std::size_t v = 0; v < x.size(); ++v) row[v] = x[v].type == i && x[v].work == -1 ? 1 : 0;
    program.at_most(row, static_cast<long double>(system.tasks()[i].count));
  }
  for (std::size_t k = 0; k < scenario.threads.size(); ++k) {
    std::vector<long double> row(size, 0);
    for (std::size_t v = 0; v < x.size(); ++v) row[v] = x[v].work == static_cast<int>(k) ? 1 : 0;
    program.at_most(row, static_cast<long double>(scenario.threads[k].count));
    for (std::size_t i = 0; i < system.type_count(); ++i) {
      const auto visits =
          std::count(scenario.threads[k].sequence.begin(), scenario.threads[k].sequence.end(), task_type(i));
      if (visits == 0) continue;
      std::vector<long double> flow =
          completions(i, [&](const Variable& v) { return v.work == static_cast<int>(k); });
      flow.resize(size, 0);
      flow[rounds_at + k] = -static_cast<long double>(visits);
      program.zero(flow);
    }
  }
  long double idle = 0;
  for (const Resource& resource : system.resources())
    idle += resource.idle_power * static_cast<long double>(resource.servers);
  if (scenario.power_cap) {
    std::vector<long double> row(size, 0);
    for (std::size_t v = 0; v < x.size(); ++v) {
      const TaskClass& task = system.tasks()[x[v].type];
      long double watts = system.resources()[x[v].resource].power;
      for (const ResourceNumber& own : task.power) {
        if (index(own.resource) == x[v].resource) watts = own.value;
      }
      row[v] = (watts - static_cast<long double>(system.resources()[x[v].resource].idle_power)) *
               need_of(system, x[v].type, x[v].resource, capacity_id(x[v].resource));
    }
    if (static_cast<long double>(*scenario.power_cap) < idle) return {};
    program.at_most(row, static_cast<long double>(*scenario.power_cap) - idle);
  }
  std::vector<long double> solution;
  const auto best = program.solve(&solution);
  long double value = *best;
  for (std::size_t f = 0; f < floors.size(); ++f) {
    if (solution[met_at + f] < floors[f].least * (1 - 1e-9L)) return {};
    value -= objective[met_at + f] * solution[met_at + f];
  }
  for (const Arrivals& stream : scenario.arrivals)
    value += static_cast<long double>(system.worth(stream.task)) * stream.rate;
  return {static_cast<double>(value)};
}

}  // namespace allot::testing
