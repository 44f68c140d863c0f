// What planned service can reach with whole tasks, by the textbook simplex: the program of planned service,
// and the rows that see that whole tasks do not fill held capacities.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "allot/model/system.hpp"
#include "tests/support/dense_simplex.hpp"

namespace allot::testing {

/// The part of a capacity that a need of part y takes at least, of each `k + 1` ways to count it.
inline double counted_part(double y, int k) {
  const double times = (k + 1) * y;
  if (std::abs(times - std::round(times)) < 1e-9) return y;
  return std::floor(times) / k;
}

/// The most value per second; with `whole_tasks`, an upper bound on what whole tasks reach.
inline double packing_value(const System& system, bool whole_tasks) {
  struct Pair {
    TaskType type;
    ResourceId resource;
  };
  std::vector<Pair> pairs;
  std::vector<long double> values;
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      pairs.push_back({i, j});
      values.push_back(static_cast<long double>(system.value_rate(i, j)));
    }
  }
  const auto draw = [&](const Pair& pair, CapacityId r) {
    for (const Draw& need : system.needs(pair.type, pair.resource)) {
      if (need.capacity == r) return need.amount / system.amount(r);
    }
    return 0.0;
  };
  DenseSimplex program(values);
  for (const TaskType i : system.types()) {
    std::vector<long double> row;
    for (const Pair& pair : pairs) row.push_back(pair.type == i ? 1 : 0);
    program.at_most(std::move(row), static_cast<long double>(system.count(i)));
  }
  for (const CapacityId r : system.capacity_ids()) {
    std::vector<long double> row;
    for (const Pair& pair : pairs) row.push_back(draw(pair, r));
    program.at_most(std::move(row), 1);
    for (int k = 1; k <= 6 && whole_tasks && !system.is_shared(r); ++k) {
      std::vector<long double> counted;
      for (const Pair& pair : pairs) counted.push_back(counted_part(draw(pair, r), k));
      program.at_most(std::move(counted), 1);
    }
  }
  return static_cast<double>(program.solve().value_or(0));
}

}  // namespace allot::testing
