// Where the tasks of a run go: a dispatcher, and the lines in which they wait for a slot, bound to it or not.
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
  std::string policy;  ///< empty: the objective's own, for tasks with or without needs
  ShareReading shares = ShareReading::kFloor;
  std::vector<RatePrior> priors;  ///< type by resource; empty: as the job says
  std::uint64_t seed = 1;
  Planning planning = Planning::kBackground;
  std::chrono::milliseconds solve_limit{200};      ///< for one plan
  std::uint64_t solve_steps = StopLimits{}.steps;  ///< the same
};

/// What is to be placed now.
struct Demand {
  std::span<const Count> ready;    ///< by type: could be started now
  std::span<const Count> left;     ///< by type: not started yet, with those that wait for a retry
  std::span<const Count> running;  ///< by type
};

/// A ticket whose task runs.
using Placed = LateDispatch::Start;

/// Turns the dispatcher's decisions into "this slot starts a task of that type now". Tasks are placed as soon
/// as they are in flight, wait before their resource as tickets, and are taken from there by the order of
/// service; a new plan places those that wait anew. Under a policy that binds late they wait without a
/// ticket, and a free slot takes what the plan has next. Not thread-safe, but for the dispatcher within.
class Placer {
 public:
  /// Throws InvalidModel when the policy is unknown or lacks something.
  Placer(const Job& job, const PlacerOptions& options, Clock::time_point now);

  /// Adapts the tickets to what there is to do, and the plan to what is left.
  void update(const Demand& demand, Clock::time_point now);

  /// A task of which type a free slot of the resource should start now; the ticket is running from here on.
  /// `available(type)`: whether there is a task for this resource.
  template <typename Available>
  std::optional<Placed> next(ResourceId j, Clock::time_point now, const Available& available) {
    if (late_) return late_->next(j, now, available);
    WaitingTask* const task = lines_.take(j, seconds(now), available, idling_helps_);
    if (task == nullptr) return std::nullopt;
    const Placed placed{task->ticket, task->in_order};
    tasks_.release(*task);
    return placed;
  }

  /// A ticket for a pair that the end of the batch, or a retry, asks for.
  Placed take_at(TaskType i, ResourceId j, Clock::time_point now);
  /// Tickets of the type wait at j, but no task that may run there: lets one wait elsewhere.
  void send_elsewhere(TaskType i, ResourceId j, Clock::time_point now);
  /// Lets a ticket of the type that waits at `from` wait at `to`. False: none does.
  bool move_waiting(TaskType i, ResourceId from, ResourceId to, Clock::time_point now);
  /// Takes back all tickets that wait; those that wait to learn a rate only if told to.
  void clear_waiting(bool with_trials = true);

  /// A running ticket has ended by itself, after so many seconds of work.
  void ended(const Placed& placed, double busy_s, bool ok, Clock::time_point now);
  /// A running ticket has ended in a way that says nothing about its rate.
  void dropped(const Placed& placed, double busy_s);

  /// The pair does not work, for good.
  void disable(TaskType i, ResourceId j);
  /// Nobody is there to run anything: nothing waits for the resource any more, until it is back.
  void lose(ResourceId j);
  void restore(ResourceId j) { dispatcher_->restore(j); }
  bool allows(TaskType i, ResourceId j) const { return dispatcher_->allows(i, j); }

  bool binds_late() const noexcept { return late_ != nullptr; }
  /// Whether a task of the type is to start there at some time, by the plan: it waits there, or has a part.
  bool wants(TaskType i, ResourceId j) const;

  /// When `next` may have another answer although nothing happens: time shares that leave a slot idle.
  std::optional<Clock::time_point> next_look(Clock::time_point now) const;

  /// Tickets that wait before the resources, type by resource.
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
  std::vector<Count> limits_;  // N_i as the job has it
  std::vector<Discipline> disciplines_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<LateDispatch> late_;  // null: tasks are bound as soon as they are in flight
  std::shared_ptr<const Plan> plan_;
  Lines lines_;
  TaskPool<WaitingTask> tasks_;
  std::vector<Count> counts_;       // as the dispatcher was told last
  std::vector<double> priorities_;  // the same
  std::vector<bool> has_share_;
  bool idling_helps_ = true;
};

/// How many of each type are in flight at once: as the job says, else enough to keep every slot busy that
/// can run it.
std::vector<Count> in_flight_limits(const Job& job);

}  // namespace allot
