// What a dispatcher knows and plans: the planner, and queries.
#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/base/random.hpp"
#include "allot/base/words.hpp"
#include "allot/dispatch/detail/dispatcher_state.hpp"

namespace allot {
namespace {

using detail::ActivePlan;
using detail::Tally;

constexpr std::chrono::milliseconds kIdleLook{100};
/// A plan is made with more effort if none has been made for this long; otherwise quickly.
constexpr std::chrono::seconds kRest{1};
/// A target that is better by less than this counts as the same plan.
constexpr double kSamePlan = 0.01;
/// The assumed uncertainty factor of a rate without an interval, for `doubt`.
constexpr double kUnknownFactor = 2;

const PolicyInfo& policy_named(const std::string& name) {
  const PolicyInfo* const policy = find_policy(name);
  if (policy != nullptr) return *policy;
  std::vector<std::string_view> names;
  for (const PolicyInfo* known : builtin_policies()) names.push_back(known->name);
  throw InvalidModel("policy", "there is no policy '" + name + "'." + did_you_mean(name, names));
}

/// What a policy says about limits and shares may be wrong as long as rates are guesses.
void drop_note(ActivePlan& active) {
  if (active.plan->note.empty()) return;
  Plan plan = *active.plan;
  plan.note.clear();
  active.plan = std::make_shared<const Plan>(std::move(plan));
}

}  // namespace

Dispatcher::State::State(std::vector<Resource> resources, std::vector<TaskClass> types,
                         const std::vector<RatePrior>& priors, DispatcherOptions given_options,
                         Clock::time_point now)
    : options(std::move(given_options)),
      policy(policy_named(options.policy)),
      made(now),
      planned(now),
      counts(types.size() + options.more_types, resources.size() + options.more_resources, options.seed),
      known(counts, std::move(resources), std::move(types), priors, options),
      active(first_plan()) {
  if (options.planning == Planning::kBackground) planner = std::thread([this] { plan_in_background(); });
}

Dispatcher::State::~State() {
  stop_solving.store(true, std::memory_order_relaxed);
  {
    const std::lock_guard lock(wake_mutex);
    stopping = true;
  }
  awake.notify_all();
  if (planner.joinable()) planner.join();
}

Dispatcher::Dispatcher(std::vector<Resource> resources, std::vector<TaskClass> types,
                       std::vector<RatePrior> priors, DispatcherOptions options, Clock::time_point now)
    : state_(
          std::make_unique<State>(std::move(resources), std::move(types), priors, std::move(options), now)) {}
Dispatcher::~Dispatcher() = default;

// ---- planning

void Dispatcher::State::look(Clock::time_point now) {
  tasks_ended = known.look(1e-9 * static_cast<double>(since_made(now))) > 0;
}

PolicyOptions Dispatcher::State::solve_options() const {
  PolicyOptions solving = options.policy_options;
  solving.solve.deadline = Clock::now() + options.solve_limit;
  solving.solve.flag = &stop_solving;
  solving.plan_basis = plan_basis;
  solving.load = options.follow_counts ? Load::kFollowed : Load::kDeclared;
  return solving;
}

std::unique_ptr<ActivePlan> Dispatcher::State::first_plan() {
  known.look(0);
  PolicyOptions solving = solve_options();
  // The constructor cannot be stopped by the destructor, but the caller may want to stop it.
  if (const StopFlag* const flag = options.policy_options.solve.flag) solving.solve.flag = flag;
  solving.look_further = policy.can_look_further;
  solving.ceilings = known.ceilings();
  solving.arrivals = known.arrivals();
  if (!solving.ceilings.empty()) solving.load = Load::kOpen;
  const System system = known.system();
  std::unique_ptr<ActivePlan> first = detail::make_active_plan(policy, system, solving, ++plans, nullptr);
  if (known.is_learning()) drop_note(*first);
  return first;
}

/// The present plan again, with a note that it could not be renewed. Its policy is made for the old system,
/// for which planning succeeded before.
std::unique_ptr<ActivePlan> Dispatcher::State::stale(const std::string& why) {
  const Plan& before = *active.current().plan;
  std::unique_ptr<ActivePlan> again =
      detail::make_active_plan(policy, before.system, solve_options(), plans, &active.current());
  Plan plan = *again->plan;
  plan.stale = true;
  plan.note = "the plan could not be renewed: " + why;
  again->plan = std::make_shared<const Plan>(std::move(plan));
  return again;
}

bool Dispatcher::State::solve(Clock::time_point now, bool always) {
  const std::lock_guard alone(solve_mutex);
  std::optional<System> system;
  bool further = false;
  bool only_better = false;
  bool learning = false;
  std::vector<double> ceilings;
  std::vector<double> arrivals;
  {
    const std::lock_guard lock(mutex);
    active.reclaim();
    look(now);
    // After a rest, there is time for more than a quick plan: for a new plan, or to replace a hasty one.
    const bool rested = policy.can_look_further && now - planned >= kRest;
    const bool outdated = always || known.outdated();
    if (!outdated && !(rested && hasty)) return false;
    system.emplace(known.system());
    learning = known.is_learning();
    further = rested;
    only_better = !outdated;
    ceilings = known.ceilings();
    arrivals = known.arrivals();
  }
  // Only this thread replaces the active plan, so it may read it without the lock.
  std::unique_ptr<ActivePlan> next;
  try {
    PolicyOptions solving = solve_options();
    solving.look_further = further;
    if (!ceilings.empty()) solving.load = Load::kOpen;
    solving.ceilings = std::move(ceilings);
    solving.arrivals = std::move(arrivals);
    next = detail::make_active_plan(policy, *system, solving, plans + 1, &active.current());
    if (learning) drop_note(*next);
    planned = now;
    hasty = policy.can_look_further && !further;
    if (only_better && next->plan->target == active.current().plan->target) return false;
    ++plans;
  } catch (const InvalidModel& error) {
    ++plans;
    next = stale(error.what());
  }
  const std::lock_guard lock(mutex);
  const std::uint64_t number = next->plan->number;
  active.replace(std::move(next));
  published.store(number, std::memory_order_release);
  return true;
}

void Dispatcher::State::wake() {
  {
    const std::lock_guard lock(wake_mutex);
    woken = true;
  }
  awake.notify_all();
}

void Dispatcher::State::plan_in_background() {
  std::unique_lock lock(wake_mutex);
  while (!stopping) {
    awake.wait_for(lock, tasks_ended ? options.look_every : kIdleLook, [this] { return stopping || woken; });
    if (stopping) return;
    woken = false;
    lock.unlock();
    try {
      solve(Clock::now(), false);
    } catch (const std::exception&) {
      // Out of memory: the present plan stays, and the next attempt may have more.
    }
    lock.lock();
  }
}

// ---- what is known

std::shared_ptr<const Plan> Dispatcher::plan() const {
  const std::lock_guard lock(state_->mutex);
  return state_->active.current().plan;
}

std::uint64_t Dispatcher::plan_number() const noexcept {
  return state_->published.load(std::memory_order_acquire);
}

const DispatcherOptions& Dispatcher::options() const noexcept { return state_->options; }

RateEstimate Dispatcher::estimate(TaskType i, ResourceId j) const {
  const std::lock_guard lock(state_->mutex);
  state_->known.check(i);
  state_->known.check(j);
  return state_->known.pair(i, j).estimator.estimate();
}

std::optional<double> Dispatcher::mean_seconds(TaskType i, ResourceId j) const {
  const std::lock_guard lock(state_->mutex);
  state_->known.check(i);
  state_->known.check(j);
  const RateEstimator& estimator = state_->known.pair(i, j).estimator;
  if (!(estimator.weight() > 0)) return std::nullopt;
  return estimator.seconds();
}

void Dispatcher::hurry() { state_->wake(); }

void Dispatcher::learn(Clock::time_point now) {
  const std::lock_guard lock(state_->mutex);
  state_->look(now);
}

bool Dispatcher::solve(Clock::time_point now, bool always) { return state_->solve(now, always); }

DispatchStatistics Dispatcher::statistics(Clock::time_point now) const {
  DispatchStatistics result;
  const std::size_t types = state_->counts.types.load(std::memory_order_acquire);
  const std::size_t resources = state_->counts.resources.load(std::memory_order_acquire);
  std::uint64_t successes = 0;
  // Reads ended tasks before placed ones, so that never more seem to have ended than were placed.
  for (const TaskType i : IdRange<TaskType>(types)) {
    for (const ResourceId j : IdRange<ResourceId>(resources)) {
      std::uint64_t completed = 0;
      for (const Tally& tally : state_->counts.tallies())
        completed += tally.pairs(i, j).completions.load(std::memory_order_relaxed);
      result.completions.push_back(completed);
      result.failures.push_back(state_->counts.failures(i, j).load(std::memory_order_relaxed));
      result.in_flight.push_back(state_->counts.count(i, j).load(std::memory_order_relaxed));
      successes += completed;
      result.ended += completed + result.failures.back();
    }
  }
  std::uint64_t responses = 0;
  std::uint64_t open_starts = 0;
  for (const Tally& tally : state_->counts.tallies()) {
    responses += tally.responses.load(std::memory_order_relaxed);
    open_starts += tally.open_starts.load(std::memory_order_relaxed);
    result.placed += tally.placed.load(std::memory_order_relaxed);
    result.explored += tally.explored.load(std::memory_order_relaxed);
    result.unseen += tally.unseen.load(std::memory_order_relaxed);
  }
  const std::uint64_t now_ns = state_->since_made(now);
  result.seconds = 1e-9 * static_cast<double>(now_ns);
  if (now_ns == 0) return result;
  // The integral of the number in flight: the response times of those that ended, and the ages of the others.
  const std::uint64_t in_flight = (result.placed - result.ended) * now_ns + responses - open_starts;
  result.throughput = static_cast<double>(successes) / result.seconds;
  result.departures = static_cast<double>(result.ended) / result.seconds;
  if (result.ended > 0)
    result.mean_response = 1e-9 * static_cast<double>(responses) / static_cast<double>(result.ended);
  result.mean_in_flight = 1e-9 * static_cast<double>(static_cast<std::int64_t>(in_flight)) / result.seconds;
  if (result.mean_in_flight > 0)
    result.little = result.departures * result.mean_response / result.mean_in_flight;
  return result;
}

PlanDoubt Dispatcher::doubt(std::size_t draws) const {
  PlanDoubt result;
  const std::shared_ptr<const Plan> plan = this->plan();
  if (!plan->target) return result;
  const System& system = plan->system;
  std::vector<double> low;
  std::vector<double> high;
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resource_ids()) {
      const double rate = system.rate(i, j);
      const RateEstimate estimate = this->estimate(i, j);
      const bool bounded = estimate.rate_low > 0 && std::isfinite(estimate.rate_high);
      low.push_back(bounded ? std::min(rate, estimate.rate_low) : rate / kUnknownFactor);
      high.push_back(bounded ? std::max(rate, estimate.rate_high) : rate * kUnknownFactor);
    }
  }
  for (std::size_t draw = 0; draw < draws; ++draw) {
    RandomStream random(state_->options.seed, draw, plan->number);
    std::vector<double> rates = system.rates().values();
    for (std::size_t at = 0; at < rates.size(); ++at) {
      if (rates[at] > 0) rates[at] = low[at] * std::pow(high[at] / low[at], random.uniform());
    }
    const System other =
        system.with_rates(Rates(system.type_count(), system.resource_count(), std::move(rates)));
    PolicyOptions solving = state_->solve_options();
    solving.plan_basis.reset();  // the planner's
    const std::unique_ptr<ActivePlan> better =
        detail::make_active_plan(state_->policy, other, solving, 0, nullptr);
    ++result.draws;
    if (!better->plan->predicted || *better->plan->target == *plan->target) continue;
    const double ours = detail::predict(other, &*plan->target, plan->time_shares)->throughput;
    const double theirs = better->plan->predicted->throughput;
    if (theirs > 0) result.at_stake = std::max(result.at_stake, 1 - ours / theirs);
  }
  result.would_change = result.at_stake > kSamePlan;
  return result;
}

}  // namespace allot
