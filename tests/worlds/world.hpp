// One world, from its seed to its end, with everything that must hold looked at after every turn of the loop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/worlds/disk.hpp"
#include "tests/worlds/scene.hpp"

namespace allot::worlds {

/// What a world came to.
struct Verdict {
  std::vector<std::string> violations;  ///< empty: all is well
  std::uint64_t turns = 0;
  std::uint64_t attempts = 0;
  std::uint64_t runs = 0;
  double seconds = 0;  ///< of its own time
  std::string outcome;
  Disk disk;  ///< as it is at the end
  std::vector<std::string> notes;
  std::vector<std::pair<double, TaskType>> completions;  ///< when, in its own time
};

/// Runs the scene to its end, resuming after every kill. `trace`: prints what happens.
Verdict live_through(const Scene& scene, bool trace = false);

}  // namespace allot::worlds
