// Workloads, and placements of their tasks drawn at random.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "allot/model/assignment.hpp"
#include "bench/real_machine/machine.hpp"

namespace real_machine {

/// Tasks in flight by type, and the shares that are asked for where a policy cares.
struct Workload {
  std::string name;
  std::vector<allot::Count> counts;
  std::vector<double> priorities;
};

inline std::string as_text(const allot::Assignment& placement) {
  std::string out;
  for (const allot::Count n : placement.values()) out += (out.empty() ? "" : " ") + std::to_string(n);
  return out;
}

/// Every task of a workload somewhere where it can run. Each type leans towards some stations, so that all
/// kinds of placement occur: one type in one place, and everything everywhere.
inline allot::Assignment random_placement(const Machine& machine, const Workload& workload,
                                          std::mt19937_64& random) {
  allot::Assignment placement(machine.types.size(), machine.stations.size());
  std::uniform_real_distribution<double> uniform;
  for (std::size_t i = 0; i < machine.types.size(); ++i) {
    std::vector<double> lean;
    for (std::size_t j = 0; j < machine.stations.size(); ++j) {
      lean.push_back(machine.can_run(i, j) ? std::pow(uniform(random), 3) + 1e-6 : 0);
    }
    std::discrete_distribution<std::size_t> choose(lean.begin(), lean.end());
    for (allot::Count n = 0; n < workload.counts[i]; ++n)
      ++placement(allot::task_type(i), allot::resource_id(choose(random)));
  }
  return placement;
}

/// Each type in one place, but for one task: the kind that solvers find, and that random ones rarely are.
inline allot::Assignment concentrated_placement(const Machine& machine, const Workload& workload,
                                                std::mt19937_64& random) {
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  allot::Assignment placement(machine.types.size(), machine.stations.size());
  const std::size_t stray = below(machine.types.size());
  for (std::size_t i = 0; i < machine.types.size(); ++i) {
    std::vector<allot::ResourceId> places;
    for (std::size_t j = 0; j < machine.stations.size(); ++j) {
      if (machine.can_run(i, j)) places.push_back(allot::resource_id(j));
    }
    const std::size_t home = below(places.size());
    placement(allot::task_type(i), places[home]) = workload.counts[i];
    if (i != stray || places.size() < 2) continue;
    --placement(allot::task_type(i), places[home]);
    ++placement(allot::task_type(i), places[(home + 1 + below(places.size() - 1)) % places.size()]);
  }
  return placement;
}

}  // namespace real_machine
