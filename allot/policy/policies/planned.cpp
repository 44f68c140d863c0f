// Planned service, carried out by late binding: a free server takes the type that has received the smallest
// part of its planned service there, and stays idle rather than run a type that is far ahead of the plan.
#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"
#include "allot/model/throughput.hpp"
#include "allot/policy/detail/by_population.hpp"
#include "allot/policy/detail/other_problems.hpp"
#include "allot/policy/policy.hpp"
#include "allot/policy/service_order.hpp"
#include "allot/solve/solver.hpp"

namespace allot::policies {
namespace {

/// Arriving work may be served faster than it comes on average by this factor, if the machine can, so that a
/// backlog can shrink.
constexpr double kRoom = 1.05;
/// The part of the largest load that is planned for, so that rounding does not make it too much.
constexpr double kCarried = 1 - 1e-6;
/// Parts of a resource up to this are rounding, not a plan.
constexpr double kNothing = 1e-9;
/// Others may be ahead of a type that waits for room by this many turns of the plan; then what it needs is
/// kept for it.
constexpr double kPassedBy = 4;
/// The part of a task that is rounding, if a plan has a whole number of tasks in service.
constexpr double kWhole = 1e-6;
/// The part of a type's completions that is rounding, after those of groups are subtracted.
constexpr double kRounding = 1e-7;

/// Whether population changes of the scenario may bring threads of the type.
bool may_come(TaskType i, const PolicyOptions& options) {
  if (options.scenario == nullptr) return true;  // the host counts the threads
  const auto& changes = options.scenario->population;
  return std::any_of(changes.begin(), changes.end(),
                     [&](const PopulationChange& change) { return change.task == i; });
}

struct PlannedPair {
  TaskType type{};
  ResourceId resource{};
};

/// The plan for one population.
struct HeldPlan {
  PerPair<double> shares;  ///< mean number of tasks of the type in service at the resource
  /// Whole tasks that are always in service, by pair; empty if tasks take turns.
  std::vector<double> tasks;
  std::vector<double> completions;
  /// What each party (LateBinding::party) completes of each type: rows of types.
  std::vector<std::vector<double>> by_party;
  std::string note;
};

class PlannedPolicy final : public Policy {
 public:
  PlannedPolicy(const System& system, const PolicyOptions& options)
      : problem_{system, options.objective},
        options_{
            .stop = options.solve, .bound_packings = system.has_needs(), .plan_basis = options.plan_basis},
        plans_(system) {
    if (options.scenario != nullptr) problem_ = planned_problem(*options.scenario, options.objective);
    if (options.power_cap) problem_.power_cap = options.power_cap;
    problem_.ceilings = options.ceilings;
    if (options.objective == Objective::kThroughput)
      problem_ = detail::in_proportion(std::move(problem_), options.arrivals);
    for (const TaskType i : system.types())
      has_own_threads_.push_back(!is_open() && (system.count(i) > 0 || may_come(i, options)));
    arrives_.assign(system.type_count(), false);
    for (const ThreadGroup& group : problem_.threads) {
      for (const TaskType i : group.sequence) has_own_threads_[index(i)] = false;
    }
    for (const Arrivals& stream : problem_.arrivals) arrives_[index(stream.task)] = stream.rate > 0;
    // Stages of the same jobs cannot run ahead of one another for long, and work that is alone has nothing to
    // be ahead of.
    const bool is_alone = problem_.threads.size() == 1 && problem_.arrivals.empty() && !problem_.power_cap &&
                          std::none_of(has_own_threads_.begin(), has_own_threads_.end(), std::identity());
    idling_helps_ = (!is_alone && options.load != Load::kOpen) || options.objective == Objective::kEnergy;
    Count servers = 0;
    for (const Resource& resource : system.resources()) servers += resource.servers;
    // Under an open load, counts are only an upper limit: a task has one server at a time.
    for (const TaskType i : system.types())
      counts_.push_back(is_open() ? std::min(servers, kMaxCount) : system.count(i));
    plan();
  }

  /// Groups of threads and arrivals are planned for as a whole, regardless of which of their tasks are
  /// present.
  void set_population(std::span<const Count> threads_by_type) override {
    for (const TaskType i : problem_.system.types()) {
      if (has_own_threads_[index(i)] && !arrives_[index(i)]) counts_[index(i)] = threads_by_type[index(i)];
    }
    plan();
  }

  /// For hosts that bind early: in proportion to the planned service; at home if the plan gives the type
  /// nothing.
  ResourceId place(TaskType i, const Situation& situation, PolicyMemory,
                   RandomStream&) const noexcept override {
    const System& system = *situation.system;
    ResourceId best = *system.home(i);
    double most = 0;
    for (const ResourceId j : system.resources_for(i)) {
      const double part = share(i, j) / static_cast<double>(situation.count(i, j) + 1);
      if (part > most) {
        most = part;
        best = j;
      }
    }
    return best;
  }

  std::unique_ptr<LateBinding> bind_late() const override;
  std::span<const double> planned_service() const noexcept override { return held_->shares.values(); }
  std::string_view note() const noexcept override { return held_->note; }

  std::size_t resources() const noexcept { return problem_.system.resource_count(); }
  std::size_t types() const noexcept { return problem_.system.type_count(); }
  double share(TaskType i, ResourceId j) const noexcept { return held_->shares(i, j); }
  /// Whether the plan keeps fixed numbers of tasks in service, and these numbers.
  bool holds_tasks() const noexcept { return !held_->tasks.empty(); }
  double tasks(TaskType i, ResourceId j) const noexcept {
    return held_->tasks[index(i) * resources() + index(j)];
  }
  /// On one server; 0 if the type cannot run there.
  double seconds_per_task(TaskType i, ResourceId j) const noexcept {
    return problem_.system.can_run(i, j) ? problem_.system.seconds_per_task(i, j) : 0.0;
  }
  /// Planned completions of the type per second.
  double completions(TaskType i) const noexcept { return held_->completions[index(i)]; }
  double completions(TaskType i, std::size_t party) const noexcept {
    return held_->by_party[index(i)][party];
  }
  std::size_t parties() const noexcept { return 1 + problem_.threads.size(); }
  /// Grows with every new plan.
  std::uint64_t plan_number() const noexcept { return plan_number_; }
  /// Whether it can help to leave a server idle instead of running what is ahead of the plan.
  bool idling_helps() const noexcept { return idling_helps_; }
  /// Whether work comes from outside: a task may then do better to wait for a faster server.
  bool is_open() const noexcept { return !problem_.ceilings.empty(); }
  double servers(ResourceId j) const noexcept {
    return static_cast<double>(problem_.system.resource(j).servers);
  }

 private:
  /// Finds or remembers the plan for the counts.
  void plan() {
    const HeldPlan* known = plans_.find(counts_);
    if (known == nullptr) {
      problem_.system = problem_.system.with_counts(counts_);
      known = plans_.remember(counts_, held_plan(find()));
    } else if (known == held_) {
      return;
    }
    held_ = known;
    ++plan_number_;
  }

  Solution find() const {
    const SolverInfo& planner = *find_solver("planned");
    const auto [problem, note] = detail::without_absent_shares(problem_);
    Solution plan = solve(planner, problem, options_);
    if (!note.empty()) plan.reason = note + (plan.reason.empty() ? "" : "; ") + plan.reason;
    if (plan.outcome != Outcome::kInfeasible) return of_whole_tasks(std::move(plan));
    Problem less = detail::without_limits(problem);
    for (Arrivals& stream : less.arrivals)
      stream.rate *= std::min(1.0, plan.plan.headroom.value_or(1)) * kCarried;
    Solution without = solve(planner, less, options_);
    if (without.outcome == Outcome::kInfeasible)
      throw InvalidModel("policy", "'planned' has no plan: " + plan.reason);
    without.reason =
        plan.reason + "; planned without limits" +
        (plan.plan.headroom.value_or(1) < 1 ? ", and for as much of the arrivals as can be carried" : "");
    return of_whole_tasks(std::move(without));
  }

  /// The plan for whole tasks, if it differs and is known.
  Solution of_whole_tasks(Solution plan) const {
    const System& system = problem_.system;
    if (plan.plan.packing_shares.empty() || !problem_.threads.empty()) return plan;
    plan.time_shares = plan.plan.packing_shares;
    plan.performance = evaluate_time_shares(system, plan.time_shares);
    plan.plan.unserved.clear();
    for (const TaskType i : system.types()) {
      if (system.count(i) > 0 && !(plan.performance.throughput_by_task[index(i)] > 0))
        plan.plan.unserved.push_back(system.task(i).name);
    }
    return plan;
  }

  HeldPlan held_plan(const Solution& solution) const {
    HeldPlan held{{}, {}, solution.performance.throughput_by_task, {}, solution.reason};
    for (const TaskType i : problem_.system.types()) {
      std::vector<double>& parties = held.by_party.emplace_back(1 + problem_.threads.size(), 0.0);
      parties[0] = held.completions[index(i)];
      for (std::size_t k = 0; k < problem_.threads.size(); ++k) {
        const std::vector<TaskType>& sequence = problem_.threads[k].sequence;
        const auto visits = static_cast<double>(std::count(sequence.begin(), sequence.end(), i));
        if (k < solution.plan.rounds.size()) parties[k + 1] = visits * solution.plan.rounds[k];
        parties[0] -= parties[k + 1];
      }
      for (double& completed : parties) {
        if (completed < kRounding * held.completions[index(i)]) completed = 0;
      }
    }
    // Tasks that are bound ahead hold nothing yet, but would count as in service.
    if (!problem_.system.has_depths()) held.tasks = solution.plan.packing_tasks;
    held.shares.assign(types(), resources(), 0.0);
    const PairSpan<const double> planned(solution.time_shares, resources());
    for (const TaskType i : problem_.system.types()) {
      // If tasks hold much, what one gets is taken from others.
      const double most_room =
          problem_.system.has_needs() ? kRoom : std::max(kRoom, solution.plan.headroom.value_or(1));
      const double room = arrives_[index(i)] ? most_room : 1.0;
      for (const ResourceId j : problem_.system.resource_ids()) {
        const double servers = static_cast<double>(problem_.system.resource(j).servers);
        held.shares(i, j) = planned(i, j) > kNothing * servers ? planned(i, j) * room : 0.0;
      }
    }
    std::string unserved;
    for (const std::string& name : solution.plan.unserved)
      unserved += (unserved.empty() ? "" : ", ") + quote::name(name);
    for (std::size_t k = 0; k < solution.plan.rounds.size(); ++k) {
      const ThreadGroup& group = problem_.threads[k];
      if (group.count == 0 || solution.plan.rounds[k] > 0) continue;
      unserved += (unserved.empty() ? "" : ", ") +
                  (group.name.empty() ? "group " + std::to_string(k + 1) : quote::name(group.name));
    }
    if (!unserved.empty())
      held.note +=
          (held.note.empty() ? "" : "; ") +
          ("the plan gives nothing to " + unserved +
           ": a floor, more worth or another objective would change that; response times exclude it");
    return held;
  }

  Problem problem_;
  SolveOptions options_;
  detail::ByPopulation<HeldPlan> plans_;
  std::vector<bool> has_own_threads_;
  std::vector<bool> arrives_;
  bool idling_helps_ = true;
  std::vector<Count> counts_;  // the counts that the plan is for
  const HeldPlan* held_ = nullptr;
  std::uint64_t plan_number_ = 0;
};

class PlannedBinding final : public LateBinding {
 public:
  explicit PlannedBinding(const PlannedPolicy& policy)
      : policy_(policy),
        offer_(policy.types()),
        taken_(policy.types(), std::vector<std::uint64_t>(policy.parties(), 0)) {
    for (std::size_t j = 0; j < policy.resources(); ++j)
      orders_.emplace_back(policy.types(), ServiceOrder::WhenAhead::kIdleFarAhead);
    renew();
  }

  void renew() override {
    if (plan_ == policy_.plan_number()) return;
    plan_ = policy_.plan_number();
    for (std::vector<std::uint64_t>& parties : taken_) std::fill(parties.begin(), parties.end(), 0);
    pairs_.clear();
    std::vector<double> weights(policy_.types());
    std::vector<double> seconds(policy_.types());
    for (std::size_t j = 0; j < orders_.size(); ++j) {
      for (std::size_t i = 0; i < weights.size(); ++i) {
        weights[i] = policy_.share(task_type(i), resource_id(j));
        if (weights[i] > 0) pairs_.push_back({task_type(i), resource_id(j)});
        seconds[i] = policy_.seconds_per_task(task_type(i), resource_id(j));
      }
      orders_[j].set_weights(weights);
      orders_[j].expect(seconds);
    }
    if (policy_.is_open()) find_faster();
  }

  void succeed(LateBinding& before) override {
    auto* const other = dynamic_cast<PlannedBinding*>(&before);
    if (other == nullptr) return;
    // Plans for another kind of load are for tasks that may not come, so they leave no claims.
    const bool settle = other->policy_.is_open() != policy_.is_open();
    for (std::size_t j = 0; j < std::min(orders_.size(), other->orders_.size()); ++j) {
      orders_[j] = std::move(other->orders_[j]);
      if (settle) orders_[j].settle();
    }
    plan_ = 0;
    renew();
  }

  std::optional<TaskType> next(ResourceId j, const Situation& situation, RandomStream&) noexcept override {
    for (std::size_t i = 0; i < offer_.size(); ++i) {
      offer_[i] = policy_.share(task_type(i), j) > 0 ? situation.waiting[i] : 0;
      if (offer_[i] > 0 && policy_.is_open() && !(gain_here(task_type(i), j, situation) > 1)) offer_[i] = 0;
    }
    const bool holds_tasks = policy_.holds_tasks();
    if (holds_tasks) {
      offer_missing(j, situation);
    } else if (!situation.free.empty()) {
      give_way(j, situation);
    }
    if (const auto planned =
            orders_[index(j)].next(offer_, situation.now, policy_.idling_helps() && !holds_tasks))
      return planned;
    return policy_.idling_helps() ? std::nullopt : help_out(j, situation);
  }

  std::optional<double> idle_until(ResourceId j) const noexcept override {
    return orders_[index(j)].idle_until();
  }
  bool helps_out() const noexcept override { return policy_.is_open(); }
  bool knows_parties() const noexcept override { return policy_.parties() > 1; }
  bool serves(TaskType i, std::size_t party) const noexcept override {
    return policy_.completions(i, party) > 0;
  }
  /// The party that has received the smallest part of its plan.
  std::size_t party(TaskType i, std::span<const Count> waiting) noexcept override {
    std::size_t best = 0;
    double least = 0;
    bool found = false;
    for (std::size_t p = 0; p < waiting.size(); ++p) {
      if (waiting[p] == 0 || !serves(i, p)) continue;
      const double had = static_cast<double>(taken_[index(i)][p]) / policy_.completions(i, p);
      if (found && had >= least) continue;
      found = true;
      best = p;
      least = had;
    }
    ++taken_[index(i)][best];
    return best;
  }
  void served(TaskType i, ResourceId j, double seconds) noexcept override {
    orders_[index(j)].served(i, seconds);
  }
  void given_back(TaskType i, ResourceId j) noexcept override { orders_[index(j)].given_back(i); }

 private:
  /// Offers types of which fewer tasks are in service than the fixed numbers.
  [[gnu::noinline]] void offer_missing(ResourceId j, const Situation& situation) noexcept {
    for (std::size_t i = 0; i < offer_.size(); ++i) {
      if (!(static_cast<double>(situation.count(task_type(i), j)) < policy_.tasks(task_type(i), j)))
        offer_[i] = 0;
    }
  }

  [[gnu::noinline]] void give_way(ResourceId j, const Situation& situation) noexcept {
    for (std::size_t i = 0; i < offer_.size(); ++i) {
      if (offer_[i] > 0 &&
          (adds_nothing(task_type(i), j, situation) || gives_way(task_type(i), j, situation)))
        offer_[i] = 0;
    }
  }

  /// Whether one more task would only slow the others down and hold capacities: a shared capacity that it
  /// draws on is used up, and the plan has no more of these tasks in service.
  bool adds_nothing(TaskType i, ResourceId j, const Situation& situation) const noexcept {
    if (static_cast<double>(situation.count(i, j)) + kWhole < policy_.share(i, j)) return false;
    const System& system = *situation.system;
    const auto needs = system.needs(i, j);
    return std::any_of(needs.begin(), needs.end(), [&](const Draw& draw) {
      return system.is_shared(draw.capacity) &&
             wanted_of(draw.capacity, situation) >= system.amount(draw.capacity);
    });
  }
  /// The use of a shared capacity at full speed.
  double wanted_of(CapacityId r, const Situation& situation) const noexcept {
    double wanted = 0;
    for (const PlannedPair& pair : pairs_) {
      for (const Draw& draw : situation.system->needs(pair.type, pair.resource)) {
        if (draw.capacity == r)
          wanted += draw.amount * static_cast<double>(situation.count(pair.type, pair.resource));
      }
    }
    return wanted;
  }

  /// Whether a task must not start, although there is room for it, because others with held needs have
  /// received less of the plan: one elsewhere that could start now but not afterwards, or one that has been
  /// passed by for so long that what it waits for is kept for it.
  bool gives_way(TaskType i, ResourceId j, const Situation& situation) const noexcept {
    const double reached = orders_[index(j)].reached(i);
    return std::any_of(pairs_.begin(), pairs_.end(), [&](const PlannedPair& other) {
      if (other.type == i || situation.ready[index(other.type)] == 0) return false;
      const ServiceOrder& order = orders_[index(other.resource)];
      const double behind = reached - order.reached(other.type);
      if (!(behind > 0) || !order.may_start(other.type, situation.now)) return false;
      if (!takes_from(i, j, other, situation)) return false;
      return fits(other, situation) ||
             behind > kPassedBy * std::max(order.turn(other.type), orders_[index(j)].turn(i));
    });
  }
  static bool fits(const PlannedPair& pair, const Situation& situation) noexcept {
    const auto needs = situation.system->needs(pair.type, pair.resource);
    return std::all_of(needs.begin(), needs.end(),
                       [&](const Draw& draw) { return is_enough(draw, 0, situation); });
  }
  /// Whether a task of i at j would take what the other pair needs.
  static bool takes_from(TaskType i, ResourceId j, const PlannedPair& other,
                         const Situation& situation) noexcept {
    const auto theirs = situation.system->needs(other.type, other.resource);
    for (const Draw& mine : situation.system->needs(i, j)) {
      for (const Draw& draw : theirs) {
        if (draw.capacity == mine.capacity && !is_enough(draw, mine.amount, situation)) return true;
      }
    }
    return false;
  }
  static bool is_enough(const Draw& draw, double taken, const Situation& situation) noexcept {
    const System& system = *situation.system;
    return system.is_shared(draw.capacity) ||
           draw.amount + taken <=
               situation.free[index(draw.capacity)] + kNothing * system.amount(draw.capacity);
  }

  /// A server without its own work takes a task that would wait longer elsewhere than it takes here.
  std::optional<TaskType> help_out(ResourceId j, const Situation& situation) const noexcept {
    std::optional<TaskType> best;
    double most = 1;
    for (const TaskType i : situation.system->types()) {
      if (situation.waiting[index(i)] == 0 || !situation.system->can_run(i, j)) continue;
      const double gain = gain_here(i, j, situation);
      if (gain > most) {
        most = gain;
        best = i;
      }
    }
    return best;
  }

  /// Seconds until a task of the type would end elsewhere, divided by those that it takes here.
  double gain_here(TaskType i, ResourceId j, const Situation& situation) const noexcept {
    const auto waiting = static_cast<double>(situation.waiting[index(i)]);
    const double here = situation.system->seconds_per_task(i, j);
    if (!policy_.is_open()) return policy_.completions(i) > 0 ? waiting / policy_.completions(i) / here : 0;
    const Faster& faster = faster_(i, j);
    if (faster.rate > 0) return (waiting / faster.rate + faster.seconds) / here;
    if (policy_.share(i, j) > 0) return std::numeric_limits<double>::infinity();
    const ResourceId home = *situation.system->home(i);
    const double at_home = situation.system->seconds_per_task(i, home);
    if (at_home < here) return (waiting / policy_.servers(home) + 1) * at_home / here;
    return std::numeric_limits<double>::infinity();
  }

  /// Resources where the plan has the type and it is faster than here: their joint completion rate by their
  /// parts of the plan, and the seconds of the fastest.
  struct Faster {
    double rate = 0;
    double seconds = 0;
  };
  void find_faster() {
    faster_.assign(policy_.types(), policy_.resources(), {});
    std::vector<double> parts(policy_.resources(), 0.0);
    for (const PlannedPair& pair : pairs_)
      parts[index(pair.resource)] += policy_.share(pair.type, pair.resource);
    for (const PlannedPair& pair : pairs_) {
      const auto [i, k] = pair;
      const double seconds = policy_.seconds_per_task(i, k);
      const double rate = policy_.share(i, k) / parts[index(k)] * policy_.servers(k) / seconds;
      for (const ResourceId j : faster_.resource_ids()) {
        if (!(seconds < policy_.seconds_per_task(i, j))) continue;
        Faster& faster = faster_(i, j);
        faster.seconds = faster.rate == 0 ? seconds : std::min(faster.seconds, seconds);
        faster.rate += rate;
      }
    }
  }

  const PlannedPolicy& policy_;
  PerPair<Faster> faster_;                         // under an open load
  std::vector<ServiceOrder> orders_;               // one per resource
  std::vector<PlannedPair> pairs_;                 // the pairs with a part in the plan
  std::vector<Count> offer_;                       // scratch of `next`
  std::vector<std::vector<std::uint64_t>> taken_;  // tasks by type and party
  std::uint64_t plan_ = 0;                         // the number of the plan that the orders follow
};

std::unique_ptr<LateBinding> PlannedPolicy::bind_late() const {
  return std::make_unique<PlannedBinding>(*this);
}

std::unique_ptr<Policy> make(const System& system, const PolicyOptions& options) {
  return std::make_unique<PlannedPolicy>(system, options);
}

}  // namespace

extern const PolicyInfo planned;
const PolicyInfo planned{.name = "planned",
                         .summary = "planned service: each free server takes the next task of the best plan",
                         .make = make,
                         .binds_late = true,
                         .runtime_summary = "the most value: workers take what the plan has next"};

}  // namespace allot::policies
