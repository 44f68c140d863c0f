// The last tasks of a batch where tasks hold several things: a schedule of all of them.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/model/system.hpp"

namespace allot {

/// A task that runs, or whose end nobody knows, and holds what it needs until then.
struct PackedRunning {
  TaskType type{};
  ResourceId resource{};
  double free_in = 0;  ///< seconds
};

/// Tasks that may go to the same places.
struct PackedGroup {
  TaskType type{};
  Count count = 0;
};

struct PackedPlan {
  std::vector<std::pair<std::size_t, ResourceId>>
      start;          ///< groups of which a task should start now, and where
  double finish = 0;  ///< seconds until the last task ends, by the expected times
};

/// Tasks are put into the schedule one by one, each where it ends first, before others where there is room;
/// anywhere, or only where a plan has them: the fastest place may hold what others need. The order is the
/// best of some (by length, by what they hold, evenly mixed as a plan would), improved by taking earlier what
/// ends last; it is kept from one question to the next, so that a good schedule is carried out. Not
/// thread-safe.
class PackedEndgame {
 public:
  /// Which tasks should start now so that all are done soonest, when one of a group takes `seconds` at each
  /// resource, group by resource (0: cannot run there), and holds what the system says. `planned`: what a
  /// plan has of each type at each resource; empty: there is none. Groups that can run nowhere are left out.
  /// O(tasks^2 resources), some tens of times the first time.
  PackedPlan plan(const System& system, std::span<const PackedGroup> groups, const PerPair<double>& seconds,
                  std::span<const PackedRunning> running, std::span<const double> planned = {});

 private:
  std::vector<TaskType> order_;  ///< the best so far, of the tasks that had not started
  bool by_plan_ = false;         ///< it goes only where the plan has them
  std::vector<bool> places_;     ///< where it was thought that they can run
  std::size_t asked_ = 0;
};

}  // namespace allot
