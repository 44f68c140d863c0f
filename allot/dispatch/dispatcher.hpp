// Live scheduling: places tasks as they come, learns the rates from their completions, plans in the
// background.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/dispatch/plan.hpp"
#include "allot/dispatch/rate_estimator.hpp"
#include "allot/policy/policy.hpp"

namespace allot {

/// Who makes the plans.
enum class Planning {
  kBackground,  ///< a thread of the dispatcher
  kDeferred,    ///< the host calls `solve`
};

struct DispatcherOptions {
  std::string policy = "map";  ///< one of `builtin_policies()`
  /// Its `solve.flag` stops the first plan, and is not used after the constructor.
  PolicyOptions policy_options;
  Planning planning = Planning::kBackground;
  /// Time limit for one plan; then the best so far is used.
  std::chrono::milliseconds solve_limit{200};
  /// The background planner looks this often while tasks end, and every 100 ms while none do.
  std::chrono::milliseconds look_every{5};
  RateEstimatorOptions estimator;
  /// What types need besides servers. Plans count it, but tasks are not held back live: the host must let a
  /// task wait that does not fit. If tasks share a capacity, rates at full speed are learned: the model says
  /// how much of the measured time is due to other tasks.
  std::vector<Capacity> capacities;
  /// Plans are for the tasks in flight, whatever counts were declared; the count of a type is used until
  /// tasks of it have been seen. More tasks, by over a quarter and over one, count at the next look (with the
  /// background planner: at the second, unless there are more than twice as many); fewer when eight looks in
  /// a row saw no more; a smaller difference when it has lasted for 64 looks. False: plans are for the
  /// counts, which the host keeps up to date.
  bool follow_counts = true;
  /// Whether the next task may be of any type, whatever has ended: tasks arrive from outside, come in bursts,
  /// or come from threads that take any type. With `follow_counts` plans are then for an open load
  /// (`Load::kOpen`) until the numbers in flight have been calm for 256 looks, and again when they are not.
  bool may_be_open = false;
  /// Fraction of a resource's time, and of that of a type's tasks, for trying pairs that the plan does not
  /// use; 0: never. The time for which a task waits for the server that it tries counts in that of its type.
  /// Pairs that were never tried are tried in any case.
  double exploration = 0.01;
  /// Room for types and resources that are added later.
  std::size_t more_types = 16;
  std::size_t more_resources = 16;
  std::uint64_t seed = 1;  ///< for policies that draw random numbers
};

/// Uses a policy, the same object as in the simulator, for tasks that really run.
///
/// `place` and `complete` may be called from any number of threads: no lock, no allocation (except at a
/// thread's first call), no solver, and the clock is read only if no time is passed in. All other methods are
/// also thread-safe; they take a lock, but do not delay the first two.
///
/// The planner makes estimates and plans from the completions since its last look. Until there is a new plan,
/// tasks are placed by the previous one; `drain`, `lose` and `disable` take effect at once.
///
/// A policy that looks at sizes (`load-balance`) gets the *expected* remaining work, count times mean time,
/// since no live scheduler knows sizes.
///
/// Pairs with unknown rates are tried: now and then a task of the type goes there, one at a time, until the
/// rate is known. Pairs that the plan does not use are tried again rarely, within
/// `exploration`.
class Dispatcher {
 public:
  /// The count of a type is the expected number of tasks in flight, N_i. `priors` is row-major, one per pair.
  /// Makes the first plan before it returns. Throws InvalidModel if the policy is unknown or the system is
  /// invalid.
  Dispatcher(std::vector<Resource> resources, std::vector<TaskClass> types, std::vector<RatePrior> priors,
             DispatcherOptions options = {}, Clock::time_point now = Clock::now());
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // ---- for every task. All times passed in must be from one clock, which is `Clock` for kBackground.

  /// Where the next task of a type goes. None if it can go nowhere now: all resources that could run it are
  /// drained, lost or disabled.
  std::optional<Ticket> place(TaskType i, Clock::time_point now = Clock::now()) noexcept;
  /// A ticket for a trial, if the planner wants one of the type: for hosts that bind late and otherwise use
  /// `place_at`.
  std::optional<Ticket> place_trial(TaskType i, Clock::time_point now = Clock::now()) noexcept;
  /// A ticket for a resource that the host chooses itself, for example at the end of a batch. It counts like
  /// any other. The host must check that the pair is open: see `allows`.
  Ticket place_at(TaskType i, ResourceId j, Clock::time_point now = Clock::now()) noexcept;
  /// The task has ended. `busy_seconds` is the time for which it had a server to itself, without waiting, by
  /// the clock; for a ticket for several tasks, the total.
  void complete(const Ticket& ticket, double busy_seconds, bool ok,
                Clock::time_point now = Clock::now()) noexcept;
  /// The ticket is for this many tasks from now on, at least one.
  void resize(Ticket& ticket, std::uint32_t tasks) noexcept;
  /// The task goes to another resource before it has run. Use the returned ticket from then on. Otherwise
  /// like `place_at`; the response time still counts from the first placement.
  Ticket move(const Ticket& ticket, ResourceId to) noexcept;
  /// The task has left without running, as if it had never been placed. If it was a trial, the planner asks
  /// for another one; the next task goes where the policy says.
  void cancel(const Ticket& ticket) noexcept;

  /// Tasks of the type that are ready and wait for no resource in particular. Hosts that bind late set it
  /// whenever it changes (`LateDispatch` does), since tasks without a ticket are also in flight. Lock-free.
  void set_waiting(TaskType i, Count tasks) noexcept;

  // ---- what changes

  /// N_i, expected from now on; the plan follows.
  void set_count(TaskType i, Count count);
  void set_counts(std::span<const Count> counts);
  void set_priorities(std::span<const double> priorities);
  /// What tasks of the type need from now on, of servers and of `DispatcherOptions::capacities`.
  void set_needs(TaskType i, std::vector<Need> needs);
  /// These never reuse ids. They throw InvalidModel if there is no room left or the name is taken.
  TaskType add_type(const TaskClass& type, std::span<const RatePrior> by_resource);
  ResourceId add_resource(const Resource& resource, std::span<const RatePrior> by_type);
  void remove_type(TaskType i);
  /// How many servers the resource has from now on. Throws InvalidModel for less than one (use `drain`), and
  /// for fewer than some task needs (`disable` the pair first).
  void set_servers(ResourceId j, Count servers);
  /// The resource gets no new tasks. Its present tasks continue and count in the rates.
  void drain(ResourceId j);
  /// Like `drain`, but its present tasks count in no rate. Their tickets must still be given back.
  void lose(ResourceId j);
  void restore(ResourceId j);
  /// The pair does not work, for example because a command is missing. It stays disabled.
  void disable(TaskType i, ResourceId j);
  /// How long each running attempt of a pair has been busy; replaces the previous report. Tasks that take
  /// longer than the mean make the pair look slower before they end.
  void report_running(TaskType i, ResourceId j, std::span<const double> busy_seconds);

  // ---- what is known

  /// Whether tasks of the type may be sent there now: not drained, lost or disabled, breaker not open.
  bool allows(TaskType i, ResourceId j) const noexcept;
  std::shared_ptr<const Plan> plan() const;
  /// The number of the present plan, a cheap check for a new one. Lock-free.
  std::uint64_t plan_number() const noexcept;
  const DispatcherOptions& options() const noexcept;
  RateEstimate estimate(TaskType i, ResourceId j) const;
  /// Only the mean time of the estimate, which costs next to nothing; empty if it is a guess.
  std::optional<double> mean_seconds(TaskType i, ResourceId j) const;
  DispatchStatistics statistics(Clock::time_point now = Clock::now()) const;
  /// Draws rates from their intervals and solves; takes up to `solve_limit` for each draw.
  PlanDoubt doubt(std::size_t draws = 8) const;

  // ---- planning

  /// Makes the planner look now instead of at its next time. Does not wait for it.
  void hurry();
  /// Processes completions without planning, for hosts that end and want final figures.
  void learn(Clock::time_point now = Clock::now());
  /// Processes completions and makes a new plan if rates have moved by more than their uncertainty, if
  /// anything else has changed, or if `always`. Returns whether there is a new plan; if none could be made,
  /// it is the previous one, marked `stale`. For hosts that defer, but allowed for all.
  bool solve(Clock::time_point now = Clock::now(), bool always = false);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace allot
