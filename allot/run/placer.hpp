// Where the tasks of a run go: a dispatcher, and the lines in which tasks wait for a slot, bound to it or
// not.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/dispatch/dispatcher.hpp"
#include "allot/dispatch/late_dispatch.hpp"
#include "allot/dispatch/lines.hpp"
#include "allot/jobs/job.hpp"
#include "allot/model/system.hpp"
#include "allot/run/objective.hpp"

namespace allot {

struct PlacerOptions {
  RunObjective objective = RunObjective::kFinish;
  std::string policy;  ///< empty: the policy of the objective, with or without needs
  ShareReading shares = ShareReading::kFloor;
  std::vector<RatePrior> priors;  ///< type by resource; empty: as the job says
  std::uint64_t seed = 1;
  Planning planning = Planning::kBackground;
  std::chrono::milliseconds solve_limit{200};      ///< for one plan
  std::uint64_t solve_steps = StopLimits{}.steps;  ///< the same
};

/// The tasks to place now.
struct Demand {
  std::span<const Count> ready;    ///< by type: could start now
  std::span<const Count> left;     ///< by type: not started yet, including those that wait for a retry
  std::span<const Count> running;  ///< by type
};

/// A running task's ticket.
using Placed = LateDispatch::Start;

/// Turns the dispatcher's decisions into "this slot starts a task of that type now". Tasks are placed as soon
/// as they are in flight. They wait at their resource as tickets and are taken in the order of service; a new
/// plan places the waiting ones again. Under a policy that binds late they wait without a ticket, and a free
/// slot takes the next task of the plan. Not thread-safe, except for the dispatcher inside.
class Placer {
 public:
  /// Throws InvalidModel if the policy is unknown or lacks something.
  Placer(const Job& job, const PlacerOptions& options, Clock::time_point now);

  /// Adapts the tickets to the ready tasks, and the plan to the tasks left.
  void update(const Demand& demand, Clock::time_point now);

  /// The type of the task that a free slot of the resource should start now; the ticket counts as running
  /// from here on. `available(type)`: whether there is a task for this resource.
  template <typename Available>
  std::optional<Placed> next(ResourceId j, Clock::time_point now, const Available& available) {
    if (late_) return late_->next(j, now, available);
    WaitingTask* const task = lines_.take(j, seconds(now), available, idling_helps_);
    if (task == nullptr) return std::nullopt;
    const Placed placed{task->ticket, task->in_order};
    tasks_.release(*task);
    return placed;
  }

  /// A ticket for a pair that the end of the batch, or a retry, chooses.
  Placed take_at(TaskType i, ResourceId j, Clock::time_point now);
  /// Tickets of the type wait at j, but no task may run there: moves one to another resource.
  void send_elsewhere(TaskType i, ResourceId j, Clock::time_point now);
  /// Moves a waiting ticket of the type from `from` to `to`. False: there is none.
  bool move_waiting(TaskType i, ResourceId from, ResourceId to, Clock::time_point now);
  /// Takes back all waiting tickets; those that wait to learn a rate only if `with_trials`.
  void clear_waiting(bool with_trials = true);

  /// A running ticket has ended by itself, after `busy_s` seconds of work.
  void ended(const Placed& placed, double busy_s, bool ok, Clock::time_point now);
  /// A running ticket has ended, but its time does not count for the rate.
  void dropped(const Placed& placed, double busy_s);

  /// Disables the pair permanently: its command does not work.
  void disable(TaskType i, ResourceId j);
  /// The resource has no worker: nothing waits for it until it is restored.
  void lose(ResourceId j);
  void restore(ResourceId j) { dispatcher_->restore(j); }
  bool allows(TaskType i, ResourceId j) const { return dispatcher_->allows(i, j); }

  bool binds_late() const noexcept { return late_ != nullptr; }
  /// Whether the plan lets a task of the type start there at some time: one waits there, or the type has a
  /// part.
  bool wants(TaskType i, ResourceId j) const;

  /// When `next` may have another answer even if nothing happens: time shares that leave a slot idle.
  std::optional<Clock::time_point> next_look(Clock::time_point now) const;

  /// Tickets that wait at resources, type by resource.
  std::vector<Count> waiting() const;

  bool finishes() const noexcept { return finishes_; }
  Dispatcher& dispatcher() noexcept { return *dispatcher_; }
  const Dispatcher& dispatcher() const noexcept { return *dispatcher_; }
  std::span<const Count> limits() const noexcept { return limits_; }

 private:
  void follow_plan();
  double seconds(Clock::time_point now) const { return std::chrono::duration<double>(now - start_).count(); }
  bool place_waiting(TaskType i, Clock::time_point now);
  void put(const Ticket& ticket);
  void withdraw(WaitingTask& task);
  void withdraw(TaskType i, ResourceId j);
  void trim(TaskType i, Count wanted);
  void set_priorities(std::span<const Count> left);

  std::size_t types_;
  std::size_t resources_;
  Clock::time_point start_;
  bool finishes_;
  bool weighted_;
  std::vector<Count> limits_;  // N_i of the job
  std::vector<Discipline> disciplines_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<LateDispatch> late_;  // null: tasks are bound as soon as they are in flight
  std::shared_ptr<const Plan> plan_;
  Lines lines_;
  TaskPool<WaitingTask> tasks_;
  std::vector<Count> counts_;       // as last passed to the dispatcher
  std::vector<double> priorities_;  // the same
  std::vector<bool> has_share_;
  bool idling_helps_ = true;
};

/// Number of tasks of each type in flight at once: from the job, otherwise enough to keep every slot busy
/// that can run the type.
std::vector<Count> in_flight_limits(const Job& job);

}  // namespace allot
