// The last tasks of a batch whose tasks hold several capacities: a schedule of all of them.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/model/system.hpp"
#include "allot/run/holdings.hpp"

namespace allot {

/// A task that runs, or that was lost and may still run, and holds what it needs until it ends.
struct PackedRunning {
  TaskType type{};
  ResourceId resource{};
  double free_in = 0;                             ///< seconds
  std::span<const Holding::Server> servers = {};  ///< that it holds; empty: any
};

/// Tasks that may run at the same places.
struct PackedGroup {
  TaskType type{};
  Count count = 0;
};

struct PackedPlan {
  std::vector<std::pair<std::size_t, ResourceId>>
      start;          ///< groups of which a task should start now, and where
  double finish = 0;  ///< seconds until the last task ends, by the expected times
};

/// Puts tasks into the schedule one by one, each where it ends first, also before earlier tasks if there is
/// room. Uses all places, or only those of a plan, because the fastest place may hold what others need. The
/// order is the best of several (by length, by what the tasks hold, evenly mixed like a plan), improved by
/// moving the task that ends last forward. It is kept between calls, so that a good schedule is carried out.
/// Where tasks need parts of slots, the schedule has each slot. Not thread-safe.
class PackedEndgame {
 public:
  /// Which tasks should start now so that all are done soonest. `seconds`: the time of a task, group by
  /// resource (0: cannot run there); the system says what it holds. `planned`: the plan's amount of each type
  /// at each resource; empty: no plan. Groups that cannot run anywhere are left out. O(tasks^2 resources),
  /// some tens of times that at the first call.
  PackedPlan plan(const System& system, std::span<const PackedGroup> groups, const PerPair<double>& seconds,
                  std::span<const PackedRunning> running, std::span<const double> planned = {});

 private:
  std::vector<TaskType> order_;  ///< the best so far, of the tasks that had not started
  bool by_plan_ = false;         ///< whether it uses only the places of the plan
  std::vector<bool> places_;     ///< where tasks could run at the last call
  std::size_t asked_ = 0;
};

}  // namespace allot
