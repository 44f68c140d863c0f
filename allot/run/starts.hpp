// Which free slot starts which task now: by the plan, by the schedule of the last tasks, and always something
// if nothing runs.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/jobs/job.hpp"
#include "allot/run/attempts.hpp"
#include "allot/run/backlog.hpp"
#include "allot/run/crew.hpp"
#include "allot/run/holdings.hpp"
#include "allot/run/packed_endgame.hpp"
#include "allot/run/pairs.hpp"
#include "allot/run/placer.hpp"

namespace allot {

/// Considers all waiting tasks and all free slots. Not thread-safe; holds references to its parts.
class Starts {
 public:
  /// Expected time of a task if nothing is known about it.
  static constexpr double kUnknownSeconds = 5;

  Starts(const Job& job, Backlog& backlog, Placer& placer, const Attempts& attempts, const Pairs& pairs,
         const Crew& crew, Holdings& holdings)
      : job_(job),
        backlog_(backlog),
        placer_(placer),
        attempts_(attempts),
        pairs_(pairs),
        crew_(crew),
        holdings_(holdings),
        hung_(job.resources.size()),
        short_since_(job.tasks.size()) {}

  /// At the end of a batch, an untried or failing pair counts as slower than the slowest known one by this
  /// factor.
  static constexpr double kDoubtfulFactor = 5;

  /// Starts a task, given by its number, on a slot. Afterwards the slot is busy or the task has ended.
  using Start = std::function<void(std::size_t slot, std::uint64_t task, const Placed& placed, bool alone)>;

  /// Starts all tasks that should start now.
  void make(Clock::time_point now, const Start& start);

  /// Whether the slot may be given a task: it is idle, and no task that must run alone is on its worker.
  bool free(const Slot& slot, Clock::time_point now) const;
  /// By type: tasks that have not started and that a plan should include.
  std::vector<Count> left() const;
  /// Whether a task that failed at j should now be tried elsewhere: another resource takes its type and does
  /// not hang.
  bool can_run_elsewhere(TaskType i, ResourceId j) const;

 private:
  bool may_run(TaskType i, ResourceId j, std::optional<ResourceId> avoid) const;
  const RunningAttempt* alone_beside(const Slot& slot, Clock::time_point now) const;
  /// By so many times its expected time, and a little.
  bool late_by(double factor, const RunningAttempt& attempt, Clock::time_point now) const;
  bool late_by_far(const RunningAttempt& attempt, Clock::time_point now) const;
  void look_for_hung(Clock::time_point now);
  void take_from_hung(ResourceId j, Clock::time_point now);
  void start_alone(Clock::time_point now, const Start& start);
  void start_by_plan(Clock::time_point now, const Start& start);
  bool start_last_ones(Clock::time_point now, const Start& start);
  bool start_anything(Clock::time_point now, const Start& start);
  bool has_task(TaskType i, ResourceId j) const;
  std::optional<PerPair<double>> expected_seconds(std::span<const Backlog::Group> groups,
                                                  double unknown_factor = kDoubtfulFactor) const;
  // For tasks with needs: starts_with_needs.cpp
  bool most_hang(ResourceId j, Clock::time_point now) const;
  std::optional<Placed> take_stray(ResourceId j, Clock::time_point now);
  bool start_last_with_needs(Count all, bool few, Clock::time_point now, const Start& start);
  bool start_at(TaskType i, ResourceId j, Clock::time_point now, const Start& start);
  void start_kept(Clock::time_point now, const Start& start);
  void look_for_short(Clock::time_point now, std::span<const Count> before);
  double free_in(const Slot& slot, Clock::time_point now) const;
  std::vector<Count> counts_within_limits(std::span<const Backlog::Group> groups,
                                          const PerPair<double>& seconds, Clock::time_point now) const;
  bool below_limit(TaskType i) const;

  const Job& job_;
  Backlog& backlog_;
  Placer& placer_;
  const Attempts& attempts_;
  const Pairs& pairs_;
  const Crew& crew_;
  Holdings& holdings_;
  PackedEndgame endgame_;
  std::vector<bool> hung_;  // by resource, at the latest check
  /// By type: since when it should start but has no room.
  std::vector<std::optional<Clock::time_point>> short_since_;
};

}  // namespace allot
