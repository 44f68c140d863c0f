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
  kBackground,  ///< a thread of the dispatcher's own
  kDeferred,    ///< the host calls `solve` when it suits
};

struct DispatcherOptions {
  std::string policy = "map";  ///< one of `builtin_policies()`
  /// Its `solve.flag` stops the first plan, and is not looked at once the constructor has returned.
  PolicyOptions policy_options;
  Planning planning = Planning::kBackground;
  /// For one plan; the best found so far is taken then.
  std::chrono::milliseconds solve_limit{200};
  /// The background planner looks this often while tasks end, and every 100 ms while none do.
  std::chrono::milliseconds look_every{5};
  RateEstimatorOptions estimator;
  /// What the needs of types draw on besides servers. Plans count it; nothing is held back live: what does
  /// not fit is for the host to let wait. Where tasks share some of it, rates are learnt at full speed: what
  /// is seen is put down to the task and to those beside it as the model says.
  std::vector<Capacity> capacities;
  /// Plans are for the tasks that are in flight, whatever counts were declared: the count of a type is what
  /// is planned for until tasks of it have been seen. Many more, by over a quarter and over one task, are
  /// planned for at the next look, many fewer when eight looks in a row saw no more, and a smaller difference
  /// when it has lasted for 64 looks. False: plans are for the counts, which the host keeps true.
  bool follow_counts = true;
  /// Whether the next task may be of any type, whatever has ended: tasks arrive from outside, come in bursts,
  /// or come from threads that take any type. With `follow_counts` plans are then for an open load
  /// (`Load::kOpen`) until the numbers in flight have been calm for 256 looks, and again when they are not.
  bool may_be_open = false;
  /// Part of a resource's time that may go into trying again what the plan does not use; 0: never try again.
  /// Pairs never tried are tried in any case.
  double exploration = 0.02;
  /// Room for types and resources that are added later.
  std::size_t more_types = 16;
  std::size_t more_resources = 16;
  std::uint64_t seed = 1;  ///< of policies that draw
};

/// Hosts a policy, the same object that the simulator runs, for tasks that really run somewhere.
///
/// `place` and `complete` may be called from any number of threads: no lock, no allocation (but at a thread's
/// first call), no solver, and a clock is read only where no time is passed in. All other methods are
/// thread-safe too, take a lock, and do not hold up the first two.
///
/// Estimates and plans are made by the planner, from the completions since it last looked. Until a new plan
/// is out, tasks are placed by the one before; what concerns safety (drained, lost, disabled) counts at once.
///
/// A policy that looks at sizes (`load-balance`) is shown the *expected* remaining work, count times mean
/// time, since no live scheduler knows sizes.
///
/// A pair with an unknown rate gets an optimistic try: now and then a task of the type goes there, one at a
/// time, until the rate is known. Pairs that the plan does not use are tried again rarely, within
/// `exploration`.
class Dispatcher {
 public:
  /// The count of a type: tasks in flight at once that are expected, N_i. `priors` is row-major, one
  /// per pair. Makes the first plan before it returns. Throws InvalidModel when
  /// the policy is unknown or the system cannot be.
  Dispatcher(std::vector<Resource> resources, std::vector<TaskClass> types, std::vector<RatePrior> priors,
             DispatcherOptions options = {}, Clock::time_point now = Clock::now());
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // ---- for every task. Times that are passed in are all of one clock, which for kBackground is `Clock`.

  /// Where the next task of a type goes. None when it can go nowhere now: everything that could run it is
  /// drained, lost or disabled.
  std::optional<Ticket> place(TaskType i, Clock::time_point now = Clock::now()) noexcept;
  /// A ticket to learn a rate, if one of the type is asked for: for hosts that bind late, which ask
  /// `place_at` else.
  std::optional<Ticket> place_trial(TaskType i, Clock::time_point now = Clock::now()) noexcept;
  /// A ticket for a place that the host has chosen itself, as at the end of a batch: it counts like any
  /// other. Whether the pair is open is for the host to ask: see `allows`.
  Ticket place_at(TaskType i, ResourceId j, Clock::time_point now = Clock::now()) noexcept;
  /// The task has ended. `busy_seconds` is the time for which it had a unit of the resource to itself,
  /// waiting not included, as a clock shows it; of a ticket for several tasks, of all of them together.
  void complete(const Ticket& ticket, double busy_seconds, bool ok,
                Clock::time_point now = Clock::now()) noexcept;
  /// The ticket is for so many tasks from now on, at least one.
  void resize(Ticket& ticket, std::uint32_t tasks) noexcept;
  /// The task goes to another resource before it has run there: the ticket to use from now on. As `place_at`
  /// else; the time since it was placed first counts on.
  Ticket move(const Ticket& ticket, ResourceId to) noexcept;
  /// The task has left without having run: as if it had never been placed. If it was to learn a rate, the
  /// planner asks for another one; the next task goes where the policy says.
  void cancel(const Ticket& ticket) noexcept;

  /// Tasks of the type that are ready and wait for no resource in particular: hosts that bind late say it
  /// whenever it changes (`LateDispatch` does), since what has no ticket yet is in flight, too. Lock-free.
  void set_waiting(TaskType i, Count tasks) noexcept;

  // ---- what changes

  /// N_i, expected from now on; the plan follows.
  void set_count(TaskType i, Count count);
  void set_counts(std::span<const Count> counts);
  void set_priorities(std::span<const double> priorities);
  /// What tasks of the type take from now on, of servers and of `DispatcherOptions::capacities`.
  void set_needs(TaskType i, std::vector<Need> needs);
  /// Ids are never used again. Throw InvalidModel when there is no room left, or the name is taken.
  TaskType add_type(const TaskClass& type, std::span<const RatePrior> by_resource);
  ResourceId add_resource(const Resource& resource, std::span<const RatePrior> by_type);
  void remove_type(TaskType i);
  /// How many identical units the resource has from now on. Throws InvalidModel for less than one (`drain`
  /// it), and for fewer than some task needs (`disable` the pair first).
  void set_servers(ResourceId j, Count servers);
  /// Nothing new goes there. What is there goes on, and counts in the rates.
  void drain(ResourceId j);
  /// As `drain`, and what is there counts in no rate any more. Its tickets are to be given back all the same.
  void lose(ResourceId j);
  void restore(ResourceId j);
  /// The pair does not work (the command is not there). For good.
  void disable(TaskType i, ResourceId j);
  /// How long each of the attempts of a pair that run now has been busy; replaces what was said before. Tasks
  /// that take longer than the mean make the pair look slower before they end.
  void report_running(TaskType i, ResourceId j, std::span<const double> busy_seconds);

  // ---- what is known

  /// Whether tasks of the type may be sent there now: not drained, lost or disabled, breaker not open.
  bool allows(TaskType i, ResourceId j) const noexcept;
  std::shared_ptr<const Plan> plan() const;
  /// Of the present plan: who asks often sees whether there is another one. Lock-free.
  std::uint64_t plan_number() const noexcept;
  const DispatcherOptions& options() const noexcept;
  RateEstimate estimate(TaskType i, ResourceId j) const;
  /// The estimate's mean time alone, which costs next to nothing; nothing where it is a guess.
  std::optional<double> mean_seconds(TaskType i, ResourceId j) const;
  DispatchStatistics statistics(Clock::time_point now = Clock::now()) const;
  /// Tries some draws of the rates from their intervals. Solves: takes up to `solve_limit` for each draw.
  PlanDoubt doubt(std::size_t draws = 8) const;

  // ---- planning

  /// The planner looks at once, and not when its time has come. Does not wait for it.
  void hurry();
  /// Takes in what has completed, without planning: for hosts that end, and want to know all.
  void learn(Clock::time_point now = Clock::now());
  /// Takes in what has completed; plans anew if rates have moved by more than their uncertainty, or anything
  /// else has changed, or if told to by `always`. Returns whether there is a new plan, which is the one
  /// before and marked `stale` where none could be made. For hosts that defer, but allowed for all.
  bool solve(Clock::time_point now = Clock::now(), bool always = false);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace allot
