// Where does the next task go? One interface for the simulator, the exact chain and live dispatchers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/base/stop.hpp"
#include "allot/model/objective.hpp"
#include "allot/model/scenario.hpp"
#include "allot/model/system.hpp"
#include "allot/solve/options.hpp"

namespace allot {

/// What a policy may look at when it places a task. The task itself is not counted yet, and the task that it
/// replaces has already left. Views only: valid during the call.
struct Situation {
  const System* system = nullptr;
  std::span<const Count> counts;  ///< n_ij, row-major: type by resource
  std::span<const Count> totals;  ///< n_j
  /// Seconds of work left at each resource if it had it to itself: sum of remaining size / mu over its tasks,
  /// not divided by its servers. Empty unless the policy `looks_at_sizes()`, or there are no `counts`: then
  /// it is by mean times (`Looks::kWork`).
  std::span<const double> remaining;
  /// Late binding only: tasks of each type that are ready and bound to no resource, and the time in seconds.
  /// `counts` then has the tasks in service.
  std::span<const Count> waiting;
  double now = 0;
  /// Late binding with needs: `waiting` then has only the tasks that could start at the asking resource.
  /// `ready` has all ready tasks, and `free` what is free of each capacity; held ones are counted by whole
  /// tasks.
  std::span<const Count> ready;
  std::span<const double> free;

  Count count(TaskType i, ResourceId j) const noexcept { return PairSpan(counts, totals.size())(i, j); }
  Count total(ResourceId j) const noexcept { return totals[index(j)]; }
};

/// The answer of a policy that looks at the counts of the task's own type (`Looks::kOwnCounts`) and needs
/// more: ask it again with everything.
inline constexpr ResourceId kLookFurther = resource_id(0xffff'fffe);

/// What a policy remembers between decisions, such as round-robin's pointers. The host keeps it, so that a
/// policy object is immutable while it decides and can serve several hosts or threads, and so that the exact
/// chain can make it part of the state.
using PolicyMemory = std::span<std::uint32_t>;

/// One possible decision of a randomised policy and what it remembers afterwards.
struct Choice {
  ResourceId resource{};
  double probability = 1;
  std::vector<std::uint32_t> memory;
};

/// Late binding: ready tasks wait in one line for each type, bound to no resource, and a free server asks
/// which of them to take. A binding remembers the service given, so each host has its own. Not thread-safe.
class LateBinding {
 public:
  virtual ~LateBinding() = default;

  /// The type of the task that a free server of the resource takes now: one that can run there and has a task
  /// waiting. None: the server stays idle until something changes, or `idle_until`. Does not throw.
  virtual std::optional<TaskType> next(ResourceId j, const Situation& situation,
                                       RandomStream& random) noexcept = 0;
  /// When a resource that idles although tasks wait should ask again; absent: when something changes.
  virtual std::optional<double> idle_until(ResourceId j) const noexcept {
    (void)j;
    return std::nullopt;
  }
  /// Whether `next` also gives a server tasks that the plan has elsewhere, where that pays. What it leaves is
  /// better off waiting.
  virtual bool helps_out() const noexcept { return false; }
  /// Whether each party has its own line. Tasks of a type may belong to different parties: 0 for the type's
  /// own threads and for arrivals, k + 1 for the k-th group of threads.
  virtual bool knows_parties() const noexcept { return false; }
  /// The party whose task is taken, once its type is chosen: one that it `serves` and that waits. `waiting`
  /// has a count for each party.
  virtual std::size_t party(TaskType i, std::span<const Count> waiting) noexcept {
    (void)i, (void)waiting;
    return 0;
  }
  /// Whether tasks of the type will ever be taken for the party. Those that will not are not in
  /// `Situation::waiting`.
  virtual bool serves(TaskType i, std::size_t party) const noexcept {
    (void)i, (void)party;
    return true;
  }
  /// A task has ended after this many seconds at a resource.
  virtual void served(TaskType i, ResourceId j, double seconds) noexcept { (void)i, (void)j, (void)seconds; }
  /// A task chosen by `next` could not be started, as if it had not been chosen.
  virtual void given_back(TaskType i, ResourceId j) noexcept { (void)i, (void)j; }
  /// The population of the policy has changed.
  virtual void renew() {}
  /// For live hosts with a sequence of plans: takes over the service given so far from the binding of the
  /// previous policy, of the same kind, which must not be used afterwards. There may be more types and
  /// resources now.
  virtual void succeed(LateBinding& before) { (void)before; }
};

/// Thread safety: `place` and `choices` are const and may be called from several threads, each with its own
/// memory and stream; nothing else may be called during `set_population`.
class Policy {
 public:
  virtual ~Policy() = default;

  /// Called before the first decision and whenever the numbers of threads N_i change. May take long (a solver
  /// may run), but only once for each population.
  virtual void set_population(std::span<const Count> threads_by_type);

  /// Whether `Situation::remaining` is needed: then the policy knows task sizes, which no real scheduler
  /// does.
  virtual bool looks_at_sizes() const noexcept { return false; }

  /// The number of values that it remembers; all are 0 at first.
  virtual std::size_t memory_size() const noexcept { return 0; }

  /// The resource for a task of type i: one that can run it. O(R) or better, no allocation, does not throw.
  virtual ResourceId place(TaskType i, const Situation& situation, PolicyMemory memory,
                           RandomStream& random) const noexcept = 0;

  /// All decisions that `place` might take, with their probabilities. The default is for policies that draw
  /// no random numbers: it calls `place` with a copy of the memory.
  virtual void choices(TaskType i, const Situation& situation, std::span<const std::uint32_t> memory,
                       std::vector<Choice>& out) const;

  /// For a policy that binds late: the object that says which task a free server takes. The policy must
  /// outlive it. Null for all others, whose tasks are placed as soon as they are ready.
  virtual std::unique_ptr<LateBinding> bind_late() const { return nullptr; }

  /// The assignment that the policy holds, if any; and for weighted service the time shares by which
  /// resources should divide their time (row-major; empty: even sharing).
  virtual const Assignment* target() const noexcept { return nullptr; }
  virtual std::span<const double> time_shares() const noexcept { return {}; }

  /// For a policy that binds late by a plan: the mean number of tasks of each type in service at each
  /// resource, x_ij row-major. Empty for all others.
  virtual std::span<const double> planned_service() const noexcept { return {}; }

  /// What a user should know about the present target, such as a missed floor or a search that was cut short;
  /// usually empty. Valid until the next `set_population`.
  virtual std::string_view note() const noexcept { return {}; }
};

/// How the tasks in the system relate to the counts given to a policy.
enum class Load : std::uint8_t {
  kDeclared,  ///< they match exactly: a task that ends is followed by one of its type
  /// Live hosts: they match roughly. If more than one task of a type is missing or surplus, keeps a target's
  /// proportions instead of filling the largest shortfall.
  kFollowed,
  /// Live hosts, if the type of the next task does not depend on what has ended: it comes from outside, or
  /// from threads that take any type. Counts and shares then mean nothing. A policy that holds a target sends
  /// a task home, or to a free server that ends it sooner; `planned` plans for what arrives.
  kOpen,
};

/// Options for making a policy.
struct PolicyOptions {
  std::optional<Assignment> assignment;          ///< of `fixed`
  ShareReading shares = ShareReading::kExact;    ///< of `weighted`
  std::vector<double> placement_probabilities;   ///< of `random`, row-major: by type; empty: uniform
  Objective objective = Objective::kThroughput;  ///< of `planned`
  /// `planned`: the work besides the counts of the system. Used only while the policy is made; may be null.
  const Scenario* scenario = nullptr;
  /// Limits on each solve of `optimal` and `weighted`. About ten seconds by default, but counted in steps, so
  /// that a target depends on the population alone; a deadline or a flag, which also apply to `map` and
  /// `mis`, are for results that are no longer wanted.
  StopLimits solve{.steps = 20'000'000};
  /// For live hosts with a sequence of targets: `optimal` also starts its search from it. Absent in
  /// simulations, where a target must depend on the system alone.
  std::optional<Assignment> start;
  /// The same for `planned`, which stores its own basis here.
  std::shared_ptr<PlanBasis> plan_basis;
  std::optional<double> power_cap;  ///< of `planned`: mean watts, in addition to the scenario's limit
  Load load = Load::kDeclared;
  /// For `planned` under an open load: the most completions per second of each type that the arrivals allow.
  std::vector<double> ceilings;
  /// Likewise the arrivals of each type per second, if as many tasks are completed in all. The plan is then
  /// for the largest multiple of them, since more of one type would not last. Otherwise empty.
  std::vector<double> arrivals;
  /// For live hosts that have milliseconds to spare: `map` also asks the short portfolio, and holds its
  /// answer if that is better.
  bool look_further = false;
};

/// Which counts of a `Situation` a policy looks at when it places a task: a live host need not collect the
/// others.
enum class Looks : std::uint8_t {
  kAll,
  kNothing,
  kTotals,     ///< `totals` alone
  kWork,       ///< `remaining` alone, if there are no `counts`
  kOwnCounts,  ///< usually `counts` of the task's own type alone: see `kLookFurther`
};

/// A policy: a name, a one-line summary, and a function that makes one for a system. It throws InvalidModel
/// if the system lacks what the policy needs (priorities, an assignment).
struct PolicyInfo {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Policy> (*make)(const System&, const PolicyOptions&);
  bool can_look_further = false;     ///< see `PolicyOptions::look_further`
  bool needs_shares = false;         ///< the types must have priorities
  bool holds_time_shares = false;    ///< see `Policy::time_shares`
  bool needs_assignment = false;     ///< see `PolicyOptions::assignment`
  bool takes_probabilities = false;  ///< of `PolicyOptions::placement_probabilities`
  bool binds_late = false;           ///< see `Policy::bind_late`; and takes `PolicyOptions::objective`
  Looks looks_at = Looks::kAll;      ///< the same for every system
  bool remembers_by_type = false;    ///< one number per type, used only to place that type
  /// A summary for runtime systems; if it is set, StarPU also has the policy; null: it does not.
  const char* runtime_summary = nullptr;
};

/// All built-in policies, in the order of the source list in CMakeLists.txt.
std::span<const PolicyInfo* const> builtin_policies() noexcept;
/// Null if there is no policy of that name.
const PolicyInfo* find_policy(std::string_view name) noexcept;
/// The built-in policies that can be made for a system: some need priorities, one needs an assignment.
std::vector<const PolicyInfo*> suitable_policies(const System& system, const PolicyOptions& options = {});

/// Any policy, built in or not: its name in results, and a function that makes one, as in PolicyInfo.
/// `make` may be called more than once, and from several threads unless the host is told to use one.
struct NamedPolicy {
  std::string name;
  std::function<std::unique_ptr<Policy>(const System&, const PolicyOptions&)> make;
};

}  // namespace allot
