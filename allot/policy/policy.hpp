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

/// What a policy may look at when it places a task. The task itself is not counted yet, and the task whose
/// place it takes has left already. Views only: valid during the call.
struct Situation {
  const System* system = nullptr;
  std::span<const Count> counts;  ///< n_ij, row-major: type by resource
  std::span<const Count> totals;  ///< n_j
  /// Seconds of work left at each resource if it had it to itself: sum of remaining size / mu over its tasks,
  /// not divided by its servers. Empty unless the policy `looks_at_sizes()`, or there are no `counts`: then
  /// it is by mean times (`Looks::kWork`).
  std::span<const double> remaining;
  /// Late binding alone: tasks of each type that are ready and bound to no resource, and the time in seconds.
  /// What `counts` has is in service.
  std::span<const Count> waiting;
  double now = 0;
  /// Late binding where tasks have needs: then `waiting` has those alone that could start at the resource
  /// which asks, and here are all that are ready, and what is free of each capacity, held ones by whole
  /// tasks.
  std::span<const Count> ready;
  std::span<const double> free;

  Count count(TaskType i, ResourceId j) const noexcept { return PairSpan(counts, totals.size())(i, j); }
  Count total(ResourceId j) const noexcept { return totals[index(j)]; }
};

/// What a policy that looks at the counts of the task's own type (`Looks::kOwnCounts`) may answer when it was
/// shown no totals: it is to be asked again with everything.
inline constexpr ResourceId kLookFurther = resource_id(0xffff'fffe);

/// What a policy remembers between decisions, such as round-robin's pointers. Kept by the host, so that a
/// policy object is immutable while it decides and can serve several hosts or threads; and so that the exact
/// chain can make it part of the state.
using PolicyMemory = std::span<std::uint32_t>;

/// One possible decision of a randomised policy and what it remembers afterwards.
struct Choice {
  ResourceId resource{};
  double probability = 1;
  std::vector<std::uint32_t> memory;
};

/// Late binding: tasks that are ready wait in one line for each type, bound to no resource, and a server that
/// is free asks which of them to take. It remembers what was served, so each host has one of its own. Not
/// thread-safe.
class LateBinding {
 public:
  virtual ~LateBinding() = default;

  /// The type of which a free server of the resource takes a task now: one that can run there and has a task
  /// waiting. None: the server stays idle until something changes, or `idle_until`. Does not throw.
  virtual std::optional<TaskType> next(ResourceId j, const Situation& situation,
                                       RandomStream& random) noexcept = 0;
  /// When a resource that stays idle although tasks wait is to ask again; absent: when something changes.
  virtual std::optional<double> idle_until(ResourceId j) const noexcept {
    (void)j;
    return std::nullopt;
  }
  /// Tasks of a type may belong to different parties: 0 for threads of the type's own and for arrivals, k + 1
  /// for those of the k-th group of threads. Whether they wait in lines of their own.
  virtual bool knows_parties() const noexcept { return false; }
  /// The party whose task is taken, once its type is chosen: one that it `serves` and that waits. There is a
  /// count for each party.
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
  /// A task has ended after so many seconds at a resource.
  virtual void served(TaskType i, ResourceId j, double seconds) noexcept { (void)i, (void)j, (void)seconds; }
  /// A task that `next` had chosen could not be started: as if it had never been.
  virtual void given_back(TaskType i, ResourceId j) noexcept { (void)i, (void)j; }
  /// The policy has been told of another population.
  virtual void renew() {}
  /// For live hosts, whose plans follow one another: takes over what was served from the binding of the
  /// policy before, of the same kind, which is of no use afterwards. There may be more types and resources
  /// now.
  virtual void succeed(LateBinding& before) { (void)before; }
};

/// Thread safety: `place` and `choices` are const and may be called from several threads, each with its own
/// memory and stream; `set_population` needs to be alone.
class Policy {
 public:
  virtual ~Policy() = default;

  /// Called before the first decision and whenever the numbers of threads N_i change. May take long (a solver
  /// may run), once for each population it has not seen.
  virtual void set_population(std::span<const Count> threads_by_type);

  /// Whether `Situation::remaining` is needed: then the policy knows task sizes, which no real scheduler
  /// does.
  virtual bool looks_at_sizes() const noexcept { return false; }

  /// How many numbers it remembers; all start at 0.
  virtual std::size_t memory_size() const noexcept { return 0; }

  /// The resource for a task of type i: one that can run it. O(R) or better, no allocation, does not throw.
  virtual ResourceId place(TaskType i, const Situation& situation, PolicyMemory memory,
                           RandomStream& random) const noexcept = 0;

  /// All decisions that `place` might take, with their probabilities. The default suits policies that draw no
  /// random numbers: it asks `place` on a copy of the memory.
  virtual void choices(TaskType i, const Situation& situation, std::span<const std::uint32_t> memory,
                       std::vector<Choice>& out) const;

  /// For a policy that binds late: what says which task a free server takes. It looks at the policy for as
  /// long as it lives. Null for all others, whose tasks are placed as soon as they are ready.
  virtual std::unique_ptr<LateBinding> bind_late() const { return nullptr; }

  /// The assignment that the policy holds, if it holds one; and for weighted service the time shares it wants
  /// resources to divide by (row-major; empty: even sharing).
  virtual const Assignment* target() const noexcept { return nullptr; }
  virtual std::span<const double> time_shares() const noexcept { return {}; }

  /// For a policy that binds late by a plan: the mean number of tasks of each type in service at each
  /// resource, x_ij row-major. Empty for all others.
  virtual std::span<const double> planned_service() const noexcept { return {}; }

  /// What a user should know about the present target, such as a floor that it misses or a search that was
  /// cut short; mostly empty. Valid until the next `set_population`.
  virtual std::string_view note() const noexcept { return {}; }
};

/// How the tasks that are there relate to the counts that a policy is told.
enum class Load : std::uint8_t {
  kDeclared,  ///< they are those: a task that ends is followed by one of its type
  /// Live, they are about those: where more than one task of a type is missing or too many, a target's
  /// proportions are kept rather than the largest shortfall filled.
  kFollowed,
  /// Live, and the type of the next task does not depend on what has ended: it comes from outside, or from
  /// threads that take any type. The most value per second of what is there now is not the most in the long
  /// run then, and a task goes where it ends first.
  kOpen,
};

/// What a policy may be told when it is made.
struct PolicyOptions {
  std::optional<Assignment> assignment;          ///< of `fixed`
  ShareReading shares = ShareReading::kExact;    ///< of `weighted`
  std::vector<double> placement_probabilities;   ///< of `random`, row-major: by type; empty: uniform
  Objective objective = Objective::kThroughput;  ///< of `planned`
  /// `planned`: the work besides the counts of the system. Looked at while the policy is made; may be null.
  const Scenario* scenario = nullptr;
  /// Limits on each solve of `optimal` and `weighted`. About ten seconds by default, but counted in steps, so
  /// that a target depends on the population alone; a deadline or a flag, which hold for `map` and `mis` too,
  /// is for when the result is no longer wanted.
  StopLimits solve{.steps = 20'000'000};
  /// For live hosts, whose targets follow one another: `optimal` starts its search from it as well. Absent in
  /// simulations, where a target is to depend on the system alone.
  std::optional<Assignment> start;
  /// The same for `planned`, which leaves its own here.
  std::shared_ptr<PlanBasis> plan_basis;
  std::optional<double> power_cap;  ///< of `planned`: mean watts, besides what the scenario says
  Load load = Load::kDeclared;
  /// Of an open load, for `planned`: completions per second of each type that what arrives allows.
  std::vector<double> ceilings;
  /// For live hosts that have milliseconds to spare: `map` asks the short portfolio instead, and holds its
  /// answer where that is better.
  bool look_further = false;
};

/// Which counts of a `Situation` a policy looks at when it places a task: a live host need not collect the
/// others.
enum class Looks : std::uint8_t {
  kAll,
  kNothing,
  kTotals,     ///< `totals` alone
  kWork,       ///< `remaining` alone, if there are no `counts`
  kOwnCounts,  ///< `counts` of the task's own type alone, as a rule: see `kLookFurther`
};

/// A policy: a name, a line about it, and how to make one for a system. Making throws InvalidModel when the
/// system lacks what the policy needs (priorities, an assignment).
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
  bool remembers_by_type = false;    ///< a number for each type, which only placing that type looks at
  /// What it does for a runtime system; with it, StarPU has the policy too. Null: it has not.
  const char* runtime_summary = nullptr;
};

/// All built-in policies, in the order of the source list in CMakeLists.txt.
std::span<const PolicyInfo* const> builtin_policies() noexcept;
/// Null when there is no policy of that name.
const PolicyInfo* find_policy(std::string_view name) noexcept;
/// The built-in policies that can be made for a system: some need priorities, one an assignment.
std::vector<const PolicyInfo*> suitable_policies(const System& system, const PolicyOptions& options = {});

/// A policy that need not be built in: the name that results carry, and how to make one, as in PolicyInfo.
/// `make` may be called more than once, and from several threads unless the host is told to use one.
struct NamedPolicy {
  std::string name;
  std::function<std::unique_ptr<Policy>(const System&, const PolicyOptions&)> make;
};

}  // namespace allot
