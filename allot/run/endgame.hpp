// The last tasks of a batch: a plan for steady work does not say where the last ones should go.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "allot/base/per.hpp"

namespace allot {

/// One place where a task can run.
struct EndgameSlot {
  ResourceId resource{};
  double free_in = 0;  ///< seconds until it is expected to be free; 0: now
};

struct EndgamePlan {
  /// For each free slot, what it should start: nothing if all remaining tasks finish sooner elsewhere. Busy
  /// slots have nothing.
  std::vector<std::optional<TaskType>> start;
  double finish = 0;  ///< seconds until the last task ends, by the expected times
};

/// Which tasks the free slots should start so that `left` tasks of each type are done soonest. `seconds`: the
/// time of a task, type by resource (0: cannot run there). The best of three list rules (shortest first,
/// longest first, largest loss first), improved by moving single tasks and exchanging pairs. Types that
/// cannot run anywhere are left out. O(tasks (types resources + slots)).
EndgamePlan plan_endgame(std::span<const double> seconds, std::span<const Count> left,
                         std::span<const EndgameSlot> slots, std::size_t resources);

}  // namespace allot
