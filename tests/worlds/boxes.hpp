// Random machines whose tasks hold several things, run in simulated time: how well `allot run` does there.
#pragma once

#include <cstdint>

#include "tests/worlds/scene.hpp"

namespace allot::worlds {

/// A batch in which nothing goes wrong, and tasks hold servers and capacities. `known`: its rates are given.
Scene draw_batch(std::uint64_t seed, bool known);

/// How far `allot run` is from what can be reached.
struct BoxResult {
  bool is_sound = false;  ///< nothing was overdrawn, and all ended
  /// Of a batch: its time against the larger of the bound of whole tasks and the longest task. Of planned
  /// service: value per second against what whole tasks can reach.
  double ratio = 0;
};

BoxResult run_batch(const Scene& scene);
/// The same machine under policy `planned`, with more tasks than it can do in a while, and with worths.
BoxResult run_planned(std::uint64_t seed);

}  // namespace allot::worlds
