#include "allot/dispatch/detail/known_system.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "allot/base/error.hpp"

namespace allot::detail {
namespace {

/// A rate that moved by less than this is the same.
constexpr double kLeastMove = 0.03;
/// A pair is tried until so many completions are behind its rate.
constexpr double kLearnt = 1.9;  // two, one of them faded a little
/// And on to so many while its few samples differ so much that their interval is this wide: one that a busy
/// moment has made long would turn the plan round, and nothing would put it right again.
constexpr double kLearntAtLast = 5;
constexpr double kWideInterval = 2;
/// A pair so many times slower than the type's fastest is left to the budget for exploration; when only its
/// first completion is known, which often is slow, so many times, and when one more is.
constexpr double kHopeless = 10;
constexpr double kHopelessFirst = 300;
constexpr double kHopelessSecond = 30;
/// Seconds within which the next task of a type comes after one has ended.
constexpr double kMoment = 50e-6;
/// A rate is fresh for so many completions of all pairs.
constexpr std::uint64_t kFresh = 100;
/// A rate that has just changed, so that the pair may not be used any more, is tried again after so many
/// completions of all pairs, then after twice as many, and so on for so many times: the machine may have been
/// busy for a moment.
constexpr std::uint64_t kSoon = 16;
constexpr std::uint64_t kDoubts = 6;
/// Completions of all pairs within which a pair is in use, and will notice a change of its resource itself.
constexpr std::uint64_t kInUse = 32;

bool hopeless(const RateEstimator& estimator, double fastest) noexcept {
  constexpr double kFactors[] = {kHopelessFirst, kHopelessSecond, kHopeless};
  const std::uint64_t completions = estimator.completions();
  if (completions == 0) return false;
  return estimator.seconds() > kFactors[std::min<std::uint64_t>(completions, 3) - 1] * fastest;
}

bool learnt(const RateEstimator& estimator) {
  if (estimator.weight() < kLearnt) return false;
  if (estimator.weight() >= kLearntAtLast) return true;
  const RateEstimate known = estimator.estimate();
  return known.seconds_high <= kWideInterval * known.seconds_low;
}

}  // namespace

KnownSystem::KnownSystem(SharedCounts& shared, std::vector<Resource> given_resources,
                         std::vector<TaskClass> given_types, const std::vector<RatePrior>& priors,
                         const DispatcherOptions& options)
    : counts(shared),
      estimator_options(options.estimator),
      exploration(options.exploration),
      follow_counts(options.follow_counts),
      may_be_open(options.may_be_open && options.follow_counts),
      resources(std::move(given_resources)),
      capacities(options.capacities),
      presence(resources.size(), Presence::kHere),
      types(std::move(given_types)),
      removed(types.size(), false),
      pairs(shared.type_room(), shared.resource_room()),
      shares_(std::any_of(capacities.begin(), capacities.end(),
                          [](const Capacity& capacity) { return capacity.shared; })) {
  if (priors.size() != types.size() * resources.size()) {
    throw InvalidModel("priors", "needs one for each pair of a type and a resource");
  }
  const PairSpan prior(priors, resources.size());
  populations.resize(types.size());
  for (const TaskType i : type_ids()) {
    expect(i, types[index(i)].count);
    for (const ResourceId j : resource_ids()) make_pair(i, j, prior(i, j));
  }
  check_all();
  for (const ResourceId j : resource_ids()) {
    counts.servers(j).store(resources[index(j)].servers, std::memory_order_relaxed);
  }
  counts.types.store(types.size(), std::memory_order_release);
  counts.resources.store(resources.size(), std::memory_order_release);
}

System KnownSystem::made(std::vector<TaskClass> tasks, PerPair<double> rates) const {
  if (!capacities.empty() ||
      std::any_of(tasks.begin(), tasks.end(), [](const TaskClass& task) { return !task.needs.empty(); })) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {  // what cannot run there now needs nothing there
      std::erase_if(tasks[i].needs, [&](const Need& need) {
        return index(need.resource) < rates.resources() && !(rates(task_type(i), need.resource) > 0);
      });
    }
  }
  return System(resources, std::move(tasks), Rates(std::move(rates)), capacities);
}

System KnownSystem::shape() const {
  std::vector<TaskClass> tasks;
  PerPair<double> rates(types.size(), resources.size());
  for (const TaskType i : type_ids()) {
    tasks.push_back(types[index(i)]);
    bool runs = false;
    for (const ResourceId j : resource_ids()) {
      rates(i, j) = pair(i, j).exists ? 1.0 : 0.0;
      runs |= pair(i, j).exists;
    }
    if (runs) continue;
    tasks.back().count = 0;  // all its pairs may have been disabled since
    tasks.back().home.reset();
  }
  return made(std::move(tasks), std::move(rates));
}

void KnownSystem::make_pair(TaskType i, ResourceId j, const RatePrior& prior) {
  if (prior.rate && !(*prior.rate > 0 && *prior.rate <= kMaxNumber)) {
    throw InvalidModel("priors[" + std::to_string(index(i)) + "][" + std::to_string(index(j)) + "].rate",
                       "must be a number above 0 and at most 1e100");
  }
  Pair& made = pair(i, j);
  made = Pair();
  made.exists = prior.can_run;
  made.estimator = RateEstimator(prior, estimator_options);
  counts.set_access(i, j, prior.can_run ? Access::kOpen : Access::kClosed);
}

void KnownSystem::check(TaskType i) const {
  if (index(i) >= types.size()) throw InvalidModel("type", "there is no such type");
}

void KnownSystem::check(ResourceId j) const {
  if (index(j) >= resources.size()) throw InvalidModel("resource", "there is no such resource");
}

// ---- looking

bool KnownSystem::present(TaskType i, ResourceId j) const noexcept {
  return pair(i, j).exists && !removed[index(i)] && presence[index(j)] == Presence::kHere;
}

void KnownSystem::expect(TaskType i, Count count) {
  types[index(i)].count = count;
  populations[index(i)] = {.planned = count};
  changed = true;
}

std::size_t KnownSystem::look(double now) {
  const std::uint64_t before = completions;
  if (shares_) look_at_speeds(now);
  Sample sample;
  for (Tally& tally : counts.tallies()) {
    while (tally.samples.take(sample)) take(sample, now);
  }
  if (follow_counts) look_at_counts(now);
  open_and_close(now);
  ask_for_trials();
  return static_cast<std::size_t>(completions - before);
}

/// A pair without a task has the speed that one more would have.
void KnownSystem::look_at_speeds(double now) {
  constexpr double kOneMore = 1e-9;
  if (!sharing) sharing.emplace(shape());
  present_.clear();
  for (const TaskType i : type_ids()) {
    for (const ResourceId j : resource_ids()) {
      const Count tasks = counts.count(i, j).load(std::memory_order_relaxed);
      present_.push_back(pair(i, j).exists ? std::max(kOneMore, static_cast<double>(tasks)) : 0.0);
    }
  }
  const EvenSharing::Service service = (*sharing)(present_);
  for (std::size_t at = 0; at < present_.size(); ++at) {
    const double in_service = service.in_service[at];
    present_[at] = in_service > 0 ? service.at_full_speed[at] / in_service : 1.0;
  }
  speeds_.record(now, present_);
}

void KnownSystem::take(const Sample& sample, double now) {
  ++completions;
  busy_seconds += sample.busy_seconds;
  Pair& seen = pair(sample.type, sample.resource);
  seen.latest_sample = completions;
  seen.questioned = false;
  seen.busy_seconds += sample.busy_seconds;
  if (sample.explores) seen.explored_seconds += sample.busy_seconds;
  const double end = 1e-9 * static_cast<double>(sample.end_ns);
  populations[index(sample.type)].ended = true;
  ++populations[index(sample.type)].completed;
  populations[index(sample.type)].ended_now += 1;
  populations[index(sample.type)].just_ended |= now - end < kMoment;
  // Rates are those at full speed: others that draw on the same capacity do not make a pair slower than it
  // is.
  const double seconds =
      shares_ ? speeds_.at_full_speed(index(sample.type) * resources.size() + index(sample.resource), end,
                                      sample.busy_seconds)
              : sample.busy_seconds;
  if (!sample.ok) {
    seen.estimator.failed(seconds, end);
    return;
  }
  seen.estimator.completed(seconds);
  const std::optional<double> factor = seen.estimator.latest_reset();
  if (!factor) return;
  // What changed is more often a resource than a type: those that are not used there now are looked at again.
  for (const TaskType l : type_ids()) {
    Pair& other = pair(l, sample.resource);
    if (l == sample.type || completions - other.latest_sample <= kInUse || other.questioned) continue;
    other.estimator.question(*factor);
    other.questioned = true;
  }
}

/// A type whose pairs all fail keeps them: its tasks have to go somewhere, and their failures are for the
/// host to see.
void KnownSystem::open_and_close(double now) {
  for (const TaskType i : type_ids()) {
    bool any_works = false;
    for (const ResourceId j : resource_ids()) {
      if (present(i, j)) any_works |= pair(i, j).estimator.retry_breaker(now) == Breaker::kClosed;
    }
    for (const ResourceId j : resource_ids()) {
      if (!present(i, j)) continue;
      const bool works = !any_works || pair(i, j).estimator.breaker() == Breaker::kClosed;
      const Access access = works ? Access::kOpen : Access::kTryOnly;
      if (counts.access(i, j) == access) continue;
      counts.set_access(i, j, access);
      changed = true;
    }
  }
}

void KnownSystem::ask_for_trials() {
  double servers = 0;
  for (const ResourceId j : resource_ids()) {
    if (presence[index(j)] == Presence::kHere) servers += static_cast<double>(resources[index(j)].servers);
  }
  // Each resource has its part of the budget, by its servers: else a pair that is slow on the one device that
  // others are fast on would take the time of all the rest from there. Those that the plan does not use share
  // it.
  budgets.assign(resources.size(), 0);
  for (const ResourceId j : resource_ids()) {
    double idle_pairs = 0;
    for (const TaskType i : type_ids()) {
      idle_pairs += present(i, j) && completions - pair(i, j).latest_sample > kInUse ? 1 : 0;
    }
    const double part = static_cast<double>(resources[index(j)].servers) / std::max(1.0, servers);
    budgets[index(j)] = exploration * busy_seconds * part / std::max(1.0, idle_pairs);
  }
  for (const TaskType i : type_ids()) {
    if (populations[index(i)].planned == 0) continue;
    double fastest = std::numeric_limits<double>::infinity();
    for (const ResourceId j : resource_ids()) {
      if (!present(i, j)) continue;
      const RateEstimator& known = pair(i, j).estimator;
      if (known.seconds() > 0 && known.breaker() == Breaker::kClosed)
        fastest = std::min(fastest, known.seconds());
    }
    for (const ResourceId j : resource_ids()) {
      if (!present(i, j) || counts.trial_asked_for(i, j)) continue;
      if (counts.count(i, j).load(std::memory_order_relaxed) != 0) continue;  // one at a time
      if (worth_trying(i, j, fastest)) counts.ask_for_trial(i, j);
    }
  }
}

bool KnownSystem::worth_trying(TaskType i, ResourceId j, double fastest) const {
  const Pair& candidate = pair(i, j);
  const RateEstimator& known = candidate.estimator;
  if (known.breaker() != Breaker::kClosed) return known.breaker() == Breaker::kHalfOpen;
  if (!hopeless(known, fastest)) {
    if (!learnt(known)) return true;
    const std::uint64_t doubts = known.since_reset();
    if (known.doubtful() && doubts < kDoubts && completions - candidate.latest_sample >= kSoon << doubts)
      return true;
  }
  if (completions - candidate.latest_sample < kFresh) return false;
  if ((candidate.explored_seconds + known.seconds()) * servers_kept_busy(i, j) > budgets[index(j)])
    return false;
  // Where servers have time to spare, few tasks of the type may have none: they would be fast elsewhere.
  double explored = known.seconds();
  double busy = 0;
  for (const ResourceId k : resource_ids()) {
    explored += pair(i, k).explored_seconds;
    busy += pair(i, k).busy_seconds;
  }
  return explored <= exploration * busy;
}

/// A task that holds a part of something keeps up to that part of the machine from its work.
double KnownSystem::servers_kept_busy(TaskType i, ResourceId j) const {
  double servers = 0;
  for (const Resource& resource : resources) servers += static_cast<double>(resource.servers);
  double part = 0;
  for (const Need& need : types[index(i)].needs) {
    if (need.resource != j) continue;
    const std::size_t r = index(need.capacity);
    const bool is_servers = r < resources.size();
    if (!is_servers && capacities[r - resources.size()].shared) continue;
    part = std::max(part, need.amount / (is_servers ? static_cast<double>(resources[r].servers)
                                                    : capacities[r - resources.size()].amount));
  }
  return std::max(1.0, part * servers);
}

// ---- planning

/// Whether a rate differs from that in the plan by more than half of its interval's half-width.
bool KnownSystem::has_moved(const Pair& known) const {
  const double seconds = known.estimator.seconds();
  if (!(seconds > 0)) return false;
  if (known.planned_seconds == 0) return true;
  const double move = std::abs(std::log(seconds / known.planned_seconds));
  if (move <= kLeastMove) return false;
  if (known.estimator.weight() < kLearnt) return true;
  const RateEstimate estimate = known.estimator.estimate();
  return move > 0.25 * std::log(estimate.seconds_high / estimate.seconds_low);
}

bool KnownSystem::outdated() const {
  if (changed) return true;
  for (const TaskType i : type_ids()) {
    for (const ResourceId j : resource_ids()) {
      if (present(i, j) && has_moved(pair(i, j))) return true;
    }
  }
  return false;
}

System KnownSystem::system() {
  PerPair<double> rates(types.size(), resources.size());
  double log_sum = 0;
  double known = 0;
  for (const TaskType i : type_ids()) {
    for (const ResourceId j : resource_ids()) {
      Pair& known_pair = pair(i, j);
      const double seconds = known_pair.estimator.seconds();
      known_pair.planned_seconds = seconds;
      if (!present(i, j) || counts.access(i, j) != Access::kOpen || !(seconds > 0)) continue;
      const double rate = in_range(1 / seconds);
      rates(i, j) = rate;
      log_sum += std::log(rate);
      known += 1;
    }
  }
  // A type of which nothing is known is thought to be like the others, everywhere; of one of which something
  // is known, what is not known yet is left to the tries.
  const double guess = known > 0 ? in_range(std::exp(log_sum / known)) : 1.0;
  std::vector<TaskClass> tasks;
  double weight = 0;
  for (const TaskType i : type_ids()) {
    const std::span<double> row = rates.row(i);
    bool runs = std::any_of(row.begin(), row.end(), [](double rate) { return rate > 0; });
    if (!runs) {
      for (const ResourceId j : resource_ids()) {
        if (!present(i, j) || counts.access(i, j) != Access::kOpen) continue;
        row[index(j)] = guess;
        runs = true;
      }
    }
    TaskClass task = types[index(i)];
    task.count = runs ? populations[index(i)].planned : 0;
    if (task.home && !(row[index(*task.home)] > 0)) task.home.reset();
    if (task.priority && removed[index(i)]) task.priority = 0.0;
    weight += task.priority.value_or(0.0);
    tasks.push_back(std::move(task));
  }
  if (weight == 0 && tasks.front().priority) {  // all that had one are gone
    for (TaskClass& task : tasks) task.priority = 1.0;
  }
  changed = false;
  return made(std::move(tasks), std::move(rates));
}

}  // namespace allot::detail
