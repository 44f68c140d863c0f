// Random boxes: machines as people have them, with a pool of cores, GPUs and engines. For tests and
// bench/boxes.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/model/system.hpp"

namespace allot::testing {

/// What a box may contain besides resources that share their time evenly.
struct BoxShape {
  bool fcfs = false;        ///< GPUs and engines may be fcfs, with any number of servers
  bool depths = false;      ///< GPUs may ask for 2 to 4 tasks
  bool priorities = false;  ///< every type has one
  std::size_t max_types = 8;
  Count max_count = 16;
};

/// A pool of 4 to 32 cores, 1 to 3 GPUs of 1 to 4 servers each, and up to two engines, each for one type; 3
/// to 8 types of 2 to 16 threads, with rates over two decades. A core runs nearly every type, a GPU four in
/// five. The same seed and shape always give the same box.
inline System random_box(std::uint64_t seed, const BoxShape& shape = {}) {
  RandomStream random(seed, 0xb0c5);
  const auto between = [&](Count low, Count high) {
    return low + static_cast<Count>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  };
  const auto rate = [&] { return std::pow(10.0, random.uniform(0, 2)); };
  const auto types = static_cast<std::size_t>(between(3, static_cast<Count>(shape.max_types)));
  const auto gpus = static_cast<std::size_t>(between(1, 3));
  const std::size_t engines = random.below(3);
  std::vector<Resource> machine;
  machine.push_back({.name = "cpu", .servers = between(4, 32)});
  for (std::size_t g = 0; g < gpus; ++g) {
    machine.push_back({.name = "gpu" + std::to_string(g + 1), .servers = between(1, 4)});
  }
  for (std::size_t e = 0; e < engines; ++e) {
    machine.push_back(
        {.name = "engine" + std::to_string(e + 1), .kind = Kind::kSpecialized, .servers = between(1, 3)});
  }
  for (std::size_t j = 1; j < machine.size(); ++j) {
    if (shape.fcfs && random.below(2) == 0) machine[j].discipline = Discipline::kFcfs;
    if (shape.depths && j <= gpus && random.below(2) == 0) machine[j].min_depth = between(2, 4);
  }
  std::vector<TaskClass> tasks(types);
  std::vector<double> rates(types * machine.size(), 0.0);
  for (std::size_t i = 0; i < types; ++i) {
    tasks[i].name = "t" + std::to_string(i + 1);
    tasks[i].count = between(2, shape.max_count);
    if (shape.priorities) tasks[i].priority = random.uniform(0.05, 1);
    double* const row = &rates[i * machine.size()];
    for (std::size_t j = 1; j <= gpus; ++j) {
      if (random.below(5) != 0) row[j] = rate();
    }
    const bool needs_core = row[1] == 0;
    if (needs_core || random.below(20) != 0) row[0] = rate();
  }
  for (std::size_t e = 0; e < engines; ++e) {
    rates[random.below(types) * machine.size() + 1 + gpus + e] = rate();
  }
  const std::size_t width = machine.size();
  return System(std::move(machine), std::move(tasks), Rates(types, width, std::move(rates)));
}

}  // namespace allot::testing
