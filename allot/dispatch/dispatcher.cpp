#include "allot/dispatch/dispatcher.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/base/random.hpp"
#include "allot/dispatch/detail/board.hpp"
#include "allot/dispatch/detail/knowledge.hpp"
#include "allot/dispatch/detail/live.hpp"
#include "allot/dispatch/detail/published.hpp"

namespace allot {
namespace {

using detail::Access;
using detail::Board;
using detail::Knowledge;
using detail::Live;
using detail::Published;
using detail::Tally;

/// How often a decision is taken again because another thread was quicker.
constexpr int kRetries = 16;
/// Pairs whose counts are copied to the stack.
constexpr std::size_t kOnStack = 1024;
constexpr std::chrono::milliseconds kIdleLook{100};
/// A plan is looked at more closely where none was made for this long; else quickly.
constexpr std::chrono::seconds kRest{1};
/// A target that is better by less is the same plan.
constexpr double kSamePlan = 0.01;
/// How far a rate without an interval may be off, when plans are doubted.
constexpr double kUnknownFactor = 2;

const PolicyInfo& policy_named(const std::string& name) {
  const PolicyInfo* const policy = find_policy(name);
  if (policy == nullptr) throw InvalidModel("policy", "there is no policy '" + name + "'");
  return *policy;
}

/// Room for what a decision looks at: counts, totals and work for each resource, and the policy's memory.
struct Scratch {
  std::span<Count> counts;
  std::span<Count> totals;
  std::span<double> work;
  std::span<std::uint32_t> memory;
};

/// A counter that is read, changed by the policy on a copy, and put back if nobody else has changed it.
bool put_back(std::vector<std::atomic<std::uint32_t>>& memory, std::span<const std::uint32_t> before,
              std::span<const std::uint32_t> after) noexcept {
  for (std::size_t at = 0; at < memory.size(); ++at) {
    if (before[at] == after[at]) continue;
    std::uint32_t expected = before[at];
    if (!memory[at].compare_exchange_strong(expected, after[at], std::memory_order_relaxed)) return false;
  }
  return true;
}

}  // namespace

class Dispatcher::State {
 public:
  State(std::vector<Resource> resources, std::vector<TaskClass> types, std::vector<RatePrior> priors,
        DispatcherOptions options, Clock::time_point now)
      : options_(std::move(options)),
        policy_(policy_named(options_.policy)),
        made_(now),
        planned_(now),
        board_(types.size() + options_.more_types, resources.size() + options_.more_resources),
        knowledge_(board_, std::move(resources), std::move(types), std::move(priors), options_.estimator,
                   options_.exploration),
        live_(first_plan()) {
    if (options_.planning == Planning::kBackground) planner_ = std::thread([this] { plan_in_background(); });
  }

  ~State() {
    stop_solving_.store(true, std::memory_order_relaxed);
    {
      const std::lock_guard lock(wake_);
      stopping_ = true;
    }
    awake_.notify_all();
    if (planner_.joinable()) planner_.join();
  }

  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // ---- the callers' path

  std::optional<Ticket> place(TaskType i, Clock::time_point now) noexcept {
    if (index(i) >= board_.types.load(std::memory_order_acquire)) return std::nullopt;
    Tally& tally = board_.tally();
    Ticket ticket{i, {}, false, since_made(now)};
    if (const std::optional<ResourceId> wish = board_.take_wish(i)) {
      ticket.resource = *wish;
      ticket.explores = true;
      board_.count(i, *wish).fetch_add(1, std::memory_order_relaxed);
      tally.explored.fetch_add(1, std::memory_order_relaxed);
    } else if (const std::optional<ResourceId> chosen = choose(i, tally)) {
      ticket.resource = *chosen;
    } else {
      return std::nullopt;
    }
    tally.starts.fetch_add(ticket.start_ns, std::memory_order_relaxed);
    tally.placed.fetch_add(1, std::memory_order_relaxed);
    return ticket;
  }

  Ticket place_at(TaskType i, ResourceId j, Clock::time_point now) noexcept {
    Tally& tally = board_.tally();
    const Ticket ticket{i, j, false, since_made(now)};
    board_.count(i, j).fetch_add(1, std::memory_order_relaxed);
    tally.starts.fetch_add(ticket.start_ns, std::memory_order_relaxed);
    tally.placed.fetch_add(1, std::memory_order_relaxed);
    return ticket;
  }

  void complete(const Ticket& ticket, double busy_seconds, bool ok, Clock::time_point now) noexcept {
    Tally& tally = board_.tally();
    const std::uint64_t end = since_made(now);
    board_.count(ticket.type, ticket.resource).fetch_sub(1, std::memory_order_relaxed);
    auto& ended =
        ok ? board_.completions(ticket.type, ticket.resource) : board_.failures(ticket.type, ticket.resource);
    ended.fetch_add(1, std::memory_order_relaxed);
    tally.ended_starts.fetch_add(ticket.start_ns, std::memory_order_relaxed);
    tally.ends.fetch_add(end, std::memory_order_relaxed);
    tally.ended.fetch_add(1, std::memory_order_relaxed);
    if (board_.lost(ticket.resource).load(std::memory_order_relaxed)) return;
    if (!(busy_seconds >= 0) || !std::isfinite(busy_seconds)) return;
    if (!tally.samples.put({ticket.type, ticket.resource, busy_seconds, end, ok, ticket.explores})) {
      tally.unseen.fetch_add(1, std::memory_order_relaxed);
    }
  }

  Ticket move(const Ticket& ticket, ResourceId to) noexcept {
    board_.count(ticket.type, ticket.resource).fetch_sub(1, std::memory_order_relaxed);
    board_.count(ticket.type, to).fetch_add(1, std::memory_order_relaxed);
    return {ticket.type, to, ticket.explores && ticket.resource == to, ticket.start_ns};
  }

  void cancel(const Ticket& ticket) noexcept {
    Tally& tally = board_.tally();
    board_.count(ticket.type, ticket.resource).fetch_sub(1, std::memory_order_relaxed);
    tally.starts.fetch_sub(ticket.start_ns, std::memory_order_relaxed);
    tally.placed.fetch_sub(1, std::memory_order_relaxed);
    if (ticket.explores) tally.explored.fetch_sub(1, std::memory_order_relaxed);
  }

  bool allows(TaskType i, ResourceId j) const noexcept {
    if (index(i) >= board_.types.load(std::memory_order_acquire)) return false;
    if (index(j) >= board_.resources.load(std::memory_order_acquire)) return false;
    return board_.access(i, j) == Access::kOpen;
  }

  // ---- everything else

  /// Runs `change` on what the planner knows and wakes it.
  template <typename Change>
  auto change(Change&& change) {
    const Waker waker(*this);
    const std::lock_guard lock(mutex_);
    return change(knowledge_);
  }

  template <typename Read>
  auto read(Read&& read) const {
    const std::lock_guard lock(mutex_);
    return read(knowledge_);
  }

  std::shared_ptr<const Plan> plan() const {
    const std::lock_guard lock(mutex_);
    return live_.current().plan;
  }

  void learn(Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    look(now);
  }

  bool solve(Clock::time_point now, bool always) {
    const std::lock_guard solving(solve_mutex_);
    std::optional<System> system;
    bool further = false;
    bool only_better = false;
    {
      const std::lock_guard lock(mutex_);
      live_.reclaim();
      look(now);
      // After a rest there is time for more than a quick plan: for a new one, and for the one made in haste.
      const bool rested = policy_.can_look_further && now - planned_ >= kRest;
      const bool outdated = always || knowledge_.outdated();
      if (!outdated && !(rested && hasty_)) return false;
      system.emplace(knowledge_.system());
      further = rested;
      only_better = !outdated;
    }
    // Only this thread replaces what is live, so it may be read without the lock.
    std::unique_ptr<Live> next;
    try {
      PolicyOptions options = solve_options();
      options.look_further = further;
      next = detail::make_live(policy_, *system, options, plans_ + 1, &live_.current());
      planned_ = now;
      hasty_ = policy_.can_look_further && !further;
      if (only_better && next->plan->target == live_.current().plan->target) return false;
      ++plans_;
    } catch (const InvalidModel& error) {
      ++plans_;
      next = stale(error.what());
    }
    const std::lock_guard lock(mutex_);
    live_.replace(std::move(next));
    return true;
  }

  DispatchStatistics statistics(Clock::time_point now) const;
  PlanDoubt doubt(std::size_t draws) const;

 private:
  /// Wakes the planner once the lock is free again.
  class Waker {
   public:
    explicit Waker(State& state) noexcept : state_(state) {}
    ~Waker() { state_.wake(); }
    Waker(const Waker&) = delete;
    Waker& operator=(const Waker&) = delete;

   private:
    State& state_;
  };

  std::uint64_t since_made(Clock::time_point now) const noexcept {
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now - made_).count();
    return ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
  }

  /// With the lock held.
  void look(Clock::time_point now) {
    tasks_ended_ = knowledge_.look(1e-9 * static_cast<double>(since_made(now))) > 0;
  }

  PolicyOptions solve_options() const {
    PolicyOptions options = options_.policy_options;
    options.solve.deadline = Clock::now() + options_.solve_limit;
    options.solve.flag = &stop_solving_;
    return options;
  }

  std::unique_ptr<Live> first_plan() {
    knowledge_.look(0);
    PolicyOptions options = solve_options();
    // Nobody can destroy what is not made yet, but its maker may have changed his mind.
    if (const StopFlag* const flag = options_.policy_options.solve.flag) options.solve.flag = flag;
    options.look_further = policy_.can_look_further;
    return detail::make_live(policy_, knowledge_.system(), options, ++plans_, nullptr);
  }

  /// The present plan again, with a note that it could not be renewed. Its policy is made for the system it
  /// had, which made a plan before.
  std::unique_ptr<Live> stale(const std::string& why) {
    const Plan& before = *live_.current().plan;
    std::unique_ptr<Live> again =
        detail::make_live(policy_, before.system, solve_options(), plans_, &live_.current());
    Plan plan = *again->plan;
    plan.stale = true;
    plan.note = "the plan could not be renewed: " + why;
    again->plan = std::make_shared<const Plan>(std::move(plan));
    return again;
  }

  std::optional<ResourceId> choose(TaskType i, Tally& tally) noexcept;
  std::optional<ResourceId> choose(TaskType i, Live& live, const Scratch& scratch, Tally& tally) noexcept;
  std::optional<ResourceId> shortest_open(TaskType i) noexcept;

  void wake() {
    {
      const std::lock_guard lock(wake_);
      woken_ = true;
    }
    awake_.notify_all();
  }

  void plan_in_background() {
    std::unique_lock lock(wake_);
    while (!stopping_) {
      awake_.wait_for(lock, tasks_ended_ ? options_.look_every : kIdleLook,
                      [this] { return stopping_ || woken_; });
      if (stopping_) return;
      woken_ = false;
      lock.unlock();
      try {
        solve(Clock::now(), false);
      } catch (const std::exception&) {
        // No memory: the present plan stays, and the next look may have more.
      }
      lock.lock();
    }
  }

  DispatcherOptions options_;
  const PolicyInfo& policy_;
  Clock::time_point made_;
  StopFlag stop_solving_{false};
  std::uint64_t plans_ = 0;
  Clock::time_point planned_;  ///< when the present plan was made
  bool hasty_ = false;         ///< it was made quickly, and there may be a better one

  mutable Board board_;       // reading an atomic needs no const
  mutable std::mutex mutex_;  ///< over what follows: never held while solving
  Knowledge knowledge_;
  mutable Published<Live> live_;

  std::mutex solve_mutex_;  ///< one solve at a time
  std::mutex wake_;         ///< over what follows
  std::condition_variable awake_;
  bool woken_ = false;
  bool stopping_ = false;
  std::atomic<bool> tasks_ended_{false};  ///< since the look before
  std::thread planner_;
};

std::optional<ResourceId> Dispatcher::State::choose(TaskType i, Tally& tally) noexcept {
  const Published<Live>::Reader live(live_);
  const System& system = live->plan->system;
  // A type that came later than the plan, or that could go nowhere then.
  if (index(i) >= system.type_count() || system.resources_for(i).empty()) return shortest_open(i);

  const std::size_t types = system.type_count();
  const std::size_t resources = system.resource_count();
  const std::size_t pairs = types * resources;
  const std::size_t memory = 2 * live->memory.size();
  if (pairs <= kOnStack && resources <= kOnStack / 4 && memory <= kOnStack / 4) {
    // Left uninitialised: most of it is not needed.
    std::array<Count, kOnStack> counts;
    std::array<Count, kOnStack / 4> totals;
    std::array<double, kOnStack / 4> work;
    std::array<std::uint32_t, kOnStack / 4> remembered;
    return choose(i, *live,
                  {std::span(counts).first(pairs), std::span(totals).first(resources),
                   std::span(work).first(resources), std::span(remembered).first(memory)},
                  tally);
  }
  thread_local std::vector<Count> counts;
  thread_local std::vector<Count> totals;
  thread_local std::vector<double> work;
  thread_local std::vector<std::uint32_t> remembered;
  counts.resize(std::max(counts.size(), pairs));
  totals.resize(std::max(totals.size(), resources));
  work.resize(std::max(work.size(), resources));
  remembered.resize(std::max(remembered.size(), memory));
  return choose(i, *live,
                {std::span(counts).first(pairs), std::span(totals).first(resources),
                 std::span(work).first(resources), std::span(remembered).first(memory)},
                tally);
}

/// Looks, asks the policy, and takes the place if nobody has changed it meanwhile, so that threads that
/// decide at the same time do not overshoot a target together. After some tries the place is taken as it is.
std::optional<ResourceId> Dispatcher::State::choose(TaskType i, Live& live, const Scratch& scratch,
                                                    Tally& tally) noexcept {
  const System& system = live.plan->system;
  const std::size_t resources = system.resource_count();
  const std::size_t remembered = live.memory.size();
  const std::span<std::uint32_t> before = scratch.memory.first(remembered);
  const std::span<std::uint32_t> after = scratch.memory.subspan(remembered);
  const bool shows_work = live.policy->looks_at_sizes();
  RandomStream random(options_.seed, detail::this_stripe(),
                      tally.draws.fetch_add(1, std::memory_order_relaxed));

  for (int attempt = 0;; ++attempt) {
    std::fill(scratch.totals.begin(), scratch.totals.end(), Count{0});
    Count* to = scratch.counts.data();
    for (const TaskType l : system.types()) {
      const std::atomic<Count>* const row = &board_.count(l, resource_id(0));
      for (std::size_t j = 0; j < resources; ++j) {
        const Count n = row[j].load(std::memory_order_relaxed);
        *to++ = n;
        scratch.totals[j] += n;
      }
    }
    Situation situation{&system, scratch.counts, scratch.totals, {}};
    if (shows_work) {
      for (const ResourceId j : system.resource_ids()) {
        double seconds = 0;
        for (const TaskType l : system.types()) {
          seconds += static_cast<double>(situation.count(l, j)) * system.seconds_per_task(l, j);
        }
        scratch.work[index(j)] = seconds;
      }
      situation.remaining = scratch.work;
    }
    for (std::size_t at = 0; at < remembered; ++at) {
      before[at] = after[at] = live.memory[at].load(std::memory_order_relaxed);
    }
    const ResourceId j = live.policy->place(i, situation, after, random);
    const bool last = attempt == kRetries;
    if (!put_back(live.memory, before, after) && !last) continue;
    if (board_.access(i, j) != Access::kOpen) return shortest_open(i);  // closed since the plan was made
    Count expected = situation.count(i, j);
    if (last) {
      board_.count(i, j).fetch_add(1, std::memory_order_relaxed);
      return j;
    }
    if (board_.count(i, j).compare_exchange_strong(expected, expected + 1, std::memory_order_relaxed))
      return j;
    if (remembered > 0) {  // its turn is taken
      board_.count(i, j).fetch_add(1, std::memory_order_relaxed);
      return j;
    }
  }
}

/// Where no plan says: the fewest tasks per server, among all that are open to the type.
std::optional<ResourceId> Dispatcher::State::shortest_open(TaskType i) noexcept {
  const std::size_t types = board_.types.load(std::memory_order_acquire);
  const std::size_t resources = board_.resources.load(std::memory_order_acquire);
  std::optional<ResourceId> best;
  double least = 0;
  for (const ResourceId j : IdRange<ResourceId>(resources)) {
    if (board_.access(i, j) != Access::kOpen) continue;
    Count tasks = 0;
    for (const TaskType l : IdRange<TaskType>(types)) {
      tasks += board_.count(l, j).load(std::memory_order_relaxed);
    }
    const double per_server =
        static_cast<double>(tasks) / static_cast<double>(board_.servers(j).load(std::memory_order_relaxed));
    if (best && per_server >= least) continue;
    best = j;
    least = per_server;
  }
  if (best) board_.count(i, *best).fetch_add(1, std::memory_order_relaxed);
  return best;
}

DispatchStatistics Dispatcher::State::statistics(Clock::time_point now) const {
  DispatchStatistics result;
  const std::size_t types = board_.types.load(std::memory_order_acquire);
  const std::size_t resources = board_.resources.load(std::memory_order_acquire);
  std::uint64_t successes = 0;
  for (const TaskType i : IdRange<TaskType>(types)) {
    for (const ResourceId j : IdRange<ResourceId>(resources)) {
      result.completions.push_back(board_.completions(i, j).load(std::memory_order_relaxed));
      result.failures.push_back(board_.failures(i, j).load(std::memory_order_relaxed));
      result.in_flight.push_back(board_.count(i, j).load(std::memory_order_relaxed));
      successes += result.completions.back();
    }
  }
  std::uint64_t starts = 0;
  std::uint64_t ended_starts = 0;
  std::uint64_t ends = 0;
  for (const Tally& tally : board_.tallies()) {
    // What has ended before what was placed, so that no more seem to have ended.
    result.ended += tally.ended.load(std::memory_order_relaxed);
    ended_starts += tally.ended_starts.load(std::memory_order_relaxed);
    ends += tally.ends.load(std::memory_order_relaxed);
    result.placed += tally.placed.load(std::memory_order_relaxed);
    starts += tally.starts.load(std::memory_order_relaxed);
    result.explored += tally.explored.load(std::memory_order_relaxed);
    result.unseen += tally.unseen.load(std::memory_order_relaxed);
  }
  const std::uint64_t now_ns = since_made(now);
  result.seconds = 1e-9 * static_cast<double>(now_ns);
  if (now_ns == 0) return result;
  // Sum of T over those that ended, and the integral of the number in flight: the same, and the ages of those
  // in flight.
  const std::uint64_t responses = ends - ended_starts;
  const std::uint64_t in_flight = (result.placed - result.ended) * now_ns + ends - starts;
  result.throughput = static_cast<double>(successes) / result.seconds;
  result.departures = static_cast<double>(result.ended) / result.seconds;
  if (result.ended > 0)
    result.mean_response = 1e-9 * static_cast<double>(responses) / static_cast<double>(result.ended);
  result.mean_in_flight = 1e-9 * static_cast<double>(static_cast<std::int64_t>(in_flight)) / result.seconds;
  if (result.mean_in_flight > 0)
    result.little = result.departures * result.mean_response / result.mean_in_flight;
  return result;
}

PlanDoubt Dispatcher::State::doubt(std::size_t draws) const {
  PlanDoubt result;
  const std::shared_ptr<const Plan> plan = this->plan();
  if (!plan->target) return result;
  const System& system = plan->system;
  std::vector<double> low;
  std::vector<double> high;
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resource_ids()) {
      const double rate = system.rate(i, j);
      const RateEstimate estimate =
          read([&](const Knowledge& knowledge) { return knowledge.estimate(i, j); });
      const bool bounded = estimate.rate_low > 0 && std::isfinite(estimate.rate_high);
      low.push_back(bounded ? std::min(rate, estimate.rate_low) : rate / kUnknownFactor);
      high.push_back(bounded ? std::max(rate, estimate.rate_high) : rate * kUnknownFactor);
    }
  }
  for (std::size_t draw = 0; draw < draws; ++draw) {
    RandomStream random(options_.seed, draw, plan->number);
    std::vector<double> rates = system.rates().values();
    for (std::size_t at = 0; at < rates.size(); ++at) {
      if (rates[at] > 0) rates[at] = low[at] * std::pow(high[at] / low[at], random.uniform());
    }
    const System other(system.resources(), system.tasks(),
                       Rates(system.type_count(), system.resource_count(), std::move(rates)));
    const std::unique_ptr<Live> better = detail::make_live(policy_, other, solve_options(), 0, nullptr);
    ++result.draws;
    if (!better->plan->predicted || *better->plan->target == *plan->target) continue;
    const double ours = detail::predict(other, &*plan->target, plan->time_shares)->throughput;
    const double theirs = better->plan->predicted->throughput;
    if (theirs > 0) result.at_stake = std::max(result.at_stake, 1 - ours / theirs);
  }
  result.would_change = result.at_stake > kSamePlan;
  return result;
}

// ---- the door

Dispatcher::Dispatcher(std::vector<Resource> resources, std::vector<TaskClass> types,
                       std::vector<RatePrior> priors, DispatcherOptions options, Clock::time_point now)
    : state_(std::make_unique<State>(std::move(resources), std::move(types), std::move(priors),
                                     std::move(options), now)) {}
Dispatcher::~Dispatcher() = default;

std::optional<Ticket> Dispatcher::place(TaskType i, Clock::time_point now) noexcept {
  return state_->place(i, now);
}
Ticket Dispatcher::place_at(TaskType i, ResourceId j, Clock::time_point now) noexcept {
  return state_->place_at(i, j, now);
}
void Dispatcher::complete(const Ticket& ticket, double busy_seconds, bool ok,
                          Clock::time_point now) noexcept {
  state_->complete(ticket, busy_seconds, ok, now);
}
Ticket Dispatcher::move(const Ticket& ticket, ResourceId to) noexcept { return state_->move(ticket, to); }
void Dispatcher::cancel(const Ticket& ticket) noexcept { state_->cancel(ticket); }

void Dispatcher::set_count(TaskType i, Count count) {
  state_->change([&](Knowledge& knowledge) { knowledge.set_count(i, count); });
}
void Dispatcher::set_counts(std::span<const Count> counts) {
  state_->change([&](Knowledge& knowledge) {
    for (std::size_t i = 0; i < counts.size(); ++i) knowledge.set_count(task_type(i), counts[i]);
  });
}
void Dispatcher::set_priorities(std::span<const double> priorities) {
  state_->change([&](Knowledge& knowledge) { knowledge.set_priorities(priorities); });
}
TaskType Dispatcher::add_type(const TaskClass& type, std::span<const RatePrior> by_resource) {
  return state_->change([&](Knowledge& knowledge) { return knowledge.add_type(type, by_resource); });
}
ResourceId Dispatcher::add_resource(const Resource& resource, std::span<const RatePrior> by_type) {
  return state_->change([&](Knowledge& knowledge) { return knowledge.add_resource(resource, by_type); });
}
void Dispatcher::remove_type(TaskType i) {
  state_->change([&](Knowledge& knowledge) { knowledge.remove_type(i); });
}
void Dispatcher::set_servers(ResourceId j, Count servers) {
  state_->change([&](Knowledge& knowledge) { knowledge.set_servers(j, servers); });
}
void Dispatcher::drain(ResourceId j) {
  state_->change([&](Knowledge& knowledge) { knowledge.drain(j); });
}
void Dispatcher::lose(ResourceId j) {
  state_->change([&](Knowledge& knowledge) { knowledge.lose(j); });
}
void Dispatcher::restore(ResourceId j) {
  state_->change([&](Knowledge& knowledge) { knowledge.restore(j); });
}
void Dispatcher::disable(TaskType i, ResourceId j) {
  state_->change([&](Knowledge& knowledge) { knowledge.disable(i, j); });
}
void Dispatcher::report_running(TaskType i, ResourceId j, std::span<const double> busy_seconds) {
  state_->change([&](Knowledge& knowledge) { knowledge.report_running(i, j, busy_seconds); });
}

bool Dispatcher::allows(TaskType i, ResourceId j) const noexcept { return state_->allows(i, j); }
std::shared_ptr<const Plan> Dispatcher::plan() const { return state_->plan(); }
RateEstimate Dispatcher::estimate(TaskType i, ResourceId j) const {
  return state_->read([&](const Knowledge& knowledge) { return knowledge.estimate(i, j); });
}
std::optional<double> Dispatcher::mean_seconds(TaskType i, ResourceId j) const {
  return state_->read([&](const Knowledge& knowledge) { return knowledge.mean_seconds(i, j); });
}
DispatchStatistics Dispatcher::statistics(Clock::time_point now) const { return state_->statistics(now); }
PlanDoubt Dispatcher::doubt(std::size_t draws) const { return state_->doubt(draws); }
void Dispatcher::learn(Clock::time_point now) { state_->learn(now); }

bool Dispatcher::solve(Clock::time_point now, bool always) { return state_->solve(now, always); }

}  // namespace allot
