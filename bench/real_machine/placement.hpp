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

}  // namespace real_machine
