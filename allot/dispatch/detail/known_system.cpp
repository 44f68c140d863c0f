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

/// A rate that changed by less than this counts as unchanged.
constexpr double kLeastMove = 0.03;
/// Seconds within which the successor of a task comes.
constexpr double kMoment = 50e-6;

}  // namespace

KnownSystem::KnownSystem(SharedCounts& shared, std::vector<Resource> given_resources,
                         std::vector<TaskClass> given_types, const std::vector<RatePrior>& priors,
                         const DispatcherOptions& options)
    : counts(shared),
      estimator_options(options.estimator),
      exploration(options.exploration),
      follow_counts(options.follow_counts),
      may_be_open(options.may_be_open && options.follow_counts),
      looks_by_itself(options.planning == Planning::kBackground),
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
    for (std::size_t i = 0; i < tasks.size(); ++i) {  // a type that cannot run there now needs nothing there
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
  ask_for_trials(now);
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
  // In a large system, a pair in use may have samples this rarely, too: only trials are sure to come after a
  // rest.
  const bool has_rested = completions - seen.latest_sample >= kSoon;
  const bool is_retry = has_rested && sample.explores;
  if (is_retry) {
    ++seen.retries;
  } else if (!has_rested && !sample.explores) {
    seen.retries = 0;
  }
  seen.latest_sample = completions;
  seen.questioned = false;
  const double end = 1e-9 * static_cast<double>(sample.end_ns);
  seen.latest_end = end;
  seen.busy_seconds += sample.busy_seconds;
  if (sample.explores) {
    seen.explored_seconds += sample.busy_seconds;
    seen.away_seconds += end - 1e-9 * static_cast<double>(sample.start_ns);
  }
  populations[index(sample.type)].ended = true;
  ++populations[index(sample.type)].completed;
  populations[index(sample.type)].ended_now += 1;
  populations[index(sample.type)].just_ended |= now - end < kMoment;
  // Rates are at full speed, regardless of other tasks that draw on the same capacity.
  const double seconds =
      shares_ ? speeds_.at_full_speed(index(sample.type) * resources.size() + index(sample.resource), end,
                                      sample.busy_seconds)
              : sample.busy_seconds;
  if (!sample.ok) {
    seen.estimator.failed(seconds, end);
    return;
  }
  seen.estimator.completed(seconds, is_retry, end);
  const std::optional<double> factor = seen.estimator.latest_reset();
  if (!factor) return;
  // A change is more often of a resource than of a type, so the pairs that are not in use there are
  // questioned.
  for (const TaskType l : type_ids()) {
    Pair& other = pair(l, sample.resource);
    if (l == sample.type || completions - other.latest_sample <= kInUse || other.questioned) continue;
    other.estimator.question(*factor);
    other.questioned = true;
  }
}

/// A type whose pairs all fail keeps them: its tasks have to go somewhere, and the host has to see their
/// failures.
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
  if (changed || (planned_learning_ && !is_learning())) return true;
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
  // A type without any known rate is assumed to be like the others everywhere; if some of its rates are
  // known, trials find the rest.
  const double guess = known > 0 ? in_range(std::exp(log_sum / known)) : 1.0;
  std::vector<TaskClass> tasks;
  double weight = 0;
  for (const TaskType i : type_ids()) {
    const std::span<double> row = rates.row(i);
    const bool is_known = std::any_of(row.begin(), row.end(), [](double rate) { return rate > 0; });
    bool runs = is_known;
    if (!is_known) {
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
    if (!is_known) {
      task.floor.reset();
      task.max_response.reset();
    }
    weight += task.priority.value_or(0.0);
    tasks.push_back(std::move(task));
  }
  if (weight == 0 && tasks.front().priority) {  // no present type has one
    for (TaskClass& task : tasks) task.priority = 1.0;
  }
  changed = false;
  planned_learning_ = is_learning();
  return made(std::move(tasks), std::move(rates));
}

}  // namespace allot::detail
