// Live late binding: which task a free server takes next, by the plan of a dispatcher.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/base/random.hpp"
#include "allot/dispatch/dispatcher.hpp"
#include "allot/model/filling.hpp"
#include "allot/policy/policy.hpp"

namespace allot {

/// For hosts of a policy that binds late, such as `planned`. Ready tasks wait in one line for each type,
/// which the host keeps in any form (`Line`); this class only knows their numbers. A free server asks `next`
/// which type to take:
///
///     late.set_waiting(type, ready[type]);                      // at every change
///     if (const auto start = late.next(j, now)) {               // a server of j is free
///       run(pop(start->ticket.type), ...);                      // your code; the task no longer counts as
///       waiting late.ended(*start, busy_seconds, ok, now);              // exactly once for each start
///     } else {
///       sleep_until(late.ask_again(j));                         // or until something has changed
///     }
///
/// It uses the policy's own `LateBinding`, the same as in the simulator, and follows the dispatcher's plans.
/// Held capacities are respected: a type whose needs do not fit now is not offered. Shared capacities slow
/// tasks down, which counts as less service. If the dispatcher wants to learn a rate, the next task of the
/// type goes there. Under the objective `priority`, types that are ahead of their share wait for the others.
/// If the types planned for a resource have no tasks in flight, it takes other work until there is a new
/// plan.
///
/// Not thread-safe: use it under a lock or from one thread. The dispatcher's planner may run concurrently. A
/// decision costs O(pairs) if tasks have needs, otherwise O(types); it allocates only when there is a new
/// plan.
class LateDispatch {
 public:
  /// The dispatcher must outlive it. `moment` is for hosts whose tasks may be very short or wait for one
  /// another. A server idles on purpose for longer than a moment or not at all. A type without a place in the
  /// plan takes a free server once it has waited as long as its task takes there, and at least a moment. 0:
  /// neither rule applies. Throws InvalidModel unless the dispatcher's policy binds late.
  explicit LateDispatch(Dispatcher& dispatcher, Clock::time_point now = Clock::now(),
                        Clock::duration moment = {});

  /// A task that a server has taken.
  struct Start {
    Ticket ticket;          ///< its type and resource
    bool in_order = false;  ///< taken by the plan, and not to learn a rate or by the host's own choice
    double speed = 1;       ///< part of full speed at which it began
  };

  /// Ready tasks of the type that no server has taken. `next` and `take_at` reduce the number.
  void set_waiting(TaskType i, Count tasks);
  Count waiting(TaskType i) const noexcept { return index(i) < waiting_.size() ? waiting_[index(i)] : 0; }
  /// Tickets that wait to learn a rate.
  Count trials(TaskType i, ResourceId j) const noexcept {
    return index(i) < trials_.types() && index(j) < trials_.resources() && trials_(i, j).ticket.explores ? 1
                                                                                                         : 0;
  }

  /// What a free server of the resource takes now; none: it stays idle until something changes, or until
  /// `ask_again`. While tasks wait, ask now and then in any case: a task may have been reserved for a trial
  /// there. `available(type)`: whether one of the waiting tasks of the type can start there, for reasons that
  /// the host knows; it is called only if everything else allows a start. A host that keeps tasks queued on a
  /// device asks as if it had that many servers.
  template <typename Available>
  std::optional<Start> next(ResourceId j, Clock::time_point now, const Available& available) {
    if (!find_offers(j, now)) return std::nullopt;
    for (std::size_t i = 0; i < offer_.size(); ++i) {
      if (offer_[i] == 0 || available(task_type(i))) continue;
      offer_[i] = 0;
      refuse_trial(task_type(i), j);
    }
    return choose(j, now);
  }
  std::optional<Start> next(ResourceId j, Clock::time_point now) {
    return next(j, now, [](TaskType) { return true; });
  }
  /// A start that the host chooses itself, for example at the end of a batch. It counts like any other.
  Start take_at(TaskType i, ResourceId j, Clock::time_point now);

  /// The start is for this many tasks of its type from now on, at least one, which its server runs one after
  /// another; the difference is taken from or given back to the waiting tasks. A trial always has one task.
  void resize(Start& start, Count tasks);
  /// Waiting tasks of the type that are not reserved for trials.
  Count spare(TaskType i) const noexcept {
    return index(i) < waiting_.size() ? std::max<Count>(0, waiting_[index(i)] - trials_of_[index(i)]) : 0;
  }

  /// The task has ended: see `Dispatcher::complete`. NaN seconds: its time is unknown.
  void ended(const Start& start, double busy_seconds, bool ok, Clock::time_point now);
  /// The task has ended in a way that says nothing about its rate.
  void dropped(const Start& start, double busy_seconds);
  /// The task could not be started, as if it had never been taken.
  void put_back(const Start& start);

  /// When a resource that `next` left idle on purpose should ask again; absent: when something has changed.
  std::optional<Clock::time_point> ask_again(ResourceId j) const;

  /// Follows the dispatcher's latest plan; `next` does so, too. True if the plan is new: resources that found
  /// nothing to do should then ask again.
  bool follow_plan();
  const Plan& plan() const noexcept { return *plan_; }

 private:
  struct Trial {
    Ticket ticket;         ///< it `explores`; otherwise there is none
    Count passed_by = 0;   ///< other tasks that have started since
    bool refused = false;  ///< the host says that none of the tasks can run there
  };

  double seconds(Clock::time_point now) const { return std::chrono::duration<double>(now - made_).count(); }
  void make_room(std::size_t types, std::size_t resources);
  void tell_waiting(TaskType i);
  Count in_flight(TaskType i) const noexcept;

  void ask_for_trials(Clock::time_point now);
  void end_trial(TaskType i, ResourceId j);
  void refuse_trial(TaskType i, ResourceId j);
  void drop_closed_trials();
  template <typename Visit>
  void for_trials(const Visit& visit);
  bool is_kept_for_trials(TaskType i, ResourceId j);

  void find_free();
  bool fits(TaskType i, ResourceId j) const noexcept;
  bool find_offers(ResourceId j, Clock::time_point now);
  std::optional<Start> choose(ResourceId j, Clock::time_point now);
  std::optional<TaskType> unplanned(ResourceId j) const noexcept;
  std::optional<TaskType> unserved(ResourceId j, double now) noexcept;
  Start begun(const Ticket& ticket, bool in_order);
  double speed(TaskType i, ResourceId j);
  void leave(const Start& start, std::optional<double> busy_seconds);

  double least_done() const noexcept;
  bool is_ahead(TaskType i) const noexcept;
  void catch_up(TaskType i);

  Dispatcher& dispatcher_;
  Clock::time_point made_;
  double moment_;
  RandomStream random_;
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<LateBinding> binding_;  ///< of the plan's policy
  std::vector<Count> waiting_;            ///< by type
  PerPair<Count> in_service_;
  PerPair<Trial> trials_;
  std::vector<Count> trials_of_;                       ///< by type
  std::vector<std::optional<double>> unserved_since_;  ///< by type; absent: it is served, or not seen yet
  PerPair<std::vector<Draw>> needs_;                   ///< of tasks of the pair, even if it is closed now
  bool has_needs_ = false;                             ///< some of them need more than a server
  std::optional<Filling> sharing_;                     ///< if tasks share a capacity
  bool has_shares_ = false;                            ///< types that are ahead of their share wait
  std::vector<double> done_;                           ///< completions by type
  std::vector<Count> offer_;                           ///< scratch: tasks of each type that could start
  std::vector<Count> totals_;                          ///< scratch: tasks in service by resource
  std::vector<double> free_;                           ///< scratch: what is free of each capacity
  std::vector<double> tasks_;                          ///< scratch of `speed`
};

}  // namespace allot
