// Random systems in which tasks need several things: all kinds of needs together, and extreme ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/model/system.hpp"

namespace allot::testing {

struct NeedsShape {
  std::size_t most_types = 4;
  std::size_t most_resources = 4;
  Count most_threads = 5;  ///< of a type
  bool extreme = true;     ///< rates, needs and amounts that are far apart, now and then
  bool held = true;        ///< capacities that are held, besides servers
  bool shared = true;
  bool joined = true;  ///< capacities may be drawn on from several resources
  bool worths = true;
};

/// Under ps, each type with at least one resource.
inline System random_needs(RandomStream& random, const NeedsShape& shape = {}) {
  const std::size_t types = 1 + random.below(shape.most_types);
  const std::size_t width = 1 + random.below(shape.most_resources);
  std::vector<Resource> machine(width);
  for (std::size_t j = 0; j < width; ++j) {
    machine[j].name = "r" + std::to_string(j);
    machine[j].servers = random.below(3) == 0 ? 1 + static_cast<Count>(random.below(8)) : 1;
  }
  const bool is_extreme = shape.extreme && random.below(8) == 0;
  const auto spread = [&](double low, double high) {
    return is_extreme ? std::pow(10.0, random.uniform(-6, 6)) : random.uniform(low, high);
  };
  std::vector<Capacity> capacities;
  for (std::size_t k = random.below(4); k > 0; --k) {
    const bool shared = shape.shared && (!shape.held || random.below(2) == 0);
    if (!shared && !shape.held) continue;
    capacities.push_back({"c" + std::to_string(k), spread(0.5, 4), shared});
  }
  std::vector<double> rates(types * width);
  std::vector<TaskClass> tasks(types);
  std::vector<std::size_t> owner(capacities.size());  // where nothing is joined
  for (std::size_t& j : owner) j = random.below(width);
  for (std::size_t i = 0; i < types; ++i) {
    tasks[i].name = "t" + std::to_string(i);
    tasks[i].count = static_cast<Count>(random.below(static_cast<std::uint64_t>(shape.most_threads) + 1));
    if (shape.worths && random.below(2) == 0)
      tasks[i].worth = random.below(6) == 0 ? 0 : random.uniform(0.1, 5);
    const std::size_t sure = random.below(width);
    for (std::size_t j = 0; j < width; ++j) {
      if (j != sure && random.below(4) == 0) continue;
      rates[i * width + j] = spread(0.5, 40);
      const auto need = [&](CapacityId r, double amount) {
        tasks[i].needs.push_back({resource_id(j), r, amount});
      };
      if (machine[j].servers > 1 && random.below(3) == 0)
        need(servers_of(resource_id(j)),
             1 + static_cast<double>(random.below(static_cast<std::uint64_t>(machine[j].servers))));
      for (std::size_t other = 0; shape.joined && other < width; ++other) {
        if (other != j && random.below(5) == 0)
          need(servers_of(resource_id(other)),
               1 + static_cast<double>(random.below(static_cast<std::uint64_t>(machine[other].servers))));
      }
      for (std::size_t c = 0; c < capacities.size(); ++c) {
        if (random.below(2) == 0 || (!shape.joined && owner[c] != j)) continue;
        double amount = spread(0.1, 1.2);
        if (!capacities[c].shared) {
          amount = std::min(amount, capacities[c].amount);
          if (random.below(3) == 0)
            amount = capacities[c].amount / (1 + static_cast<double>(random.below(4)));
        }
        need(capacity_id(width + c), amount);
      }
    }
  }
  return System(std::move(machine), std::move(tasks), Rates(types, width, std::move(rates)),
                std::move(capacities));
}

/// The system with needs of all kinds on top of what it has.
inline System with_random_needs(const System& system, RandomStream& random, bool may_be_extreme = true) {
  const bool is_extreme = may_be_extreme && random.below(8) == 0;
  const auto spread = [&](double low, double high) {
    return is_extreme ? std::pow(10.0, random.uniform(-4, 4)) : random.uniform(low, high);
  };
  std::vector<Capacity> capacities;
  for (std::size_t k = random.below(4); k > 0; --k)
    capacities.push_back({"c" + std::to_string(k), spread(0.5, 6), random.below(2) == 0});
  std::vector<TaskClass> tasks = system.tasks();
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      const auto need = [&](CapacityId r, double amount) { tasks[index(i)].needs.push_back({j, r, amount}); };
      for (const ResourceId other : system.resource_ids()) {
        if (random.below(other == j ? 3 : 6) != 0) continue;
        const auto servers = static_cast<double>(system.resource(other).servers);
        need(servers_of(other), random.below(3) == 0 ? servers * random.uniform(0.05, 1)
                                                     : 1 + std::floor(random.uniform(0, servers - 1)));
      }
      for (std::size_t c = 0; c < capacities.size(); ++c) {
        if (random.below(2) == 0) continue;
        const double amount = spread(0.1, 2);
        need(capacity_id(system.resource_count() + c),
             capacities[c].shared ? amount : std::min(amount, capacities[c].amount));
      }
    }
  }
  return System(system.resources(), std::move(tasks), system.rates(), std::move(capacities));
}

/// Every thread somewhere where it can run.
inline Assignment random_placement(const System& system, RandomStream& random) {
  Assignment state(system.type_count(), system.resource_count());
  for (const TaskType i : system.types()) {
    const auto allowed = system.resources_for(i);
    for (Count n = 0; n < system.count(i); ++n) ++state(i, allowed[random.below(allowed.size())]);
  }
  return state;
}

}  // namespace allot::testing
