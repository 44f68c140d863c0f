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
/// Seconds within which the next task of a type comes after one has ended.
constexpr double kMoment = 50e-6;
/// Of the latest sixteen times eight looks: turns of the number of tasks in flight that show an open load. So
/// many times that it was more than before count like a turn.
constexpr std::uint32_t kRemembered = 0xffff;
constexpr int kRestless = 3;
constexpr int kRisesForTurn = 4;
/// One task of some is no change, since looks fall between its end and its successor; nor is this part of
/// them all.
constexpr Count kSome = 4;
constexpr Count kSmall = 16;
/// Looks without a change, and with few rises among each eight of them, that show a closed load: of no type
/// were there more than before or after, at no time more of one because there were fewer of another.
constexpr std::size_t kCalm = 256;
constexpr int kFewRises = 8;
/// So many times the tasks of a type that were there are a burst; but not a few.
constexpr Count kBurst = 2;
constexpr Count kFew = 8;
/// What is left of what has arrived after one more look; and so many times what arrives is planned for: where
/// more comes the more is completed, that must count as moved.
constexpr double kOfLate = 1 - 1.0 / 128;
constexpr double kRoomToGrow = 1.3;
/// Arrivals that moved by less than this part are the same.
constexpr double kMovedArrivals = 0.2;

/// By how much the number of tasks may differ and be the same.
Count slack(Count tasks) noexcept { return std::max<Count>(tasks >= kSome ? 1 : 0, tasks / kSmall); }

double in_range(double rate) noexcept { return std::clamp(rate, 1 / kMaxNumber, kMaxNumber); }

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

/// While there is nothing at all there is nothing else to plan for.
void KnownSystem::look_at_counts(double now) {
  seen_.assign(types.size(), 0);
  bool any = false;
  for (const TaskType i : type_ids()) {
    Count& tasks = seen_[index(i)];
    tasks = counts.waiting(i).load(std::memory_order_relaxed);
    for (const ResourceId j : resource_ids()) tasks += counts.count(i, j).load(std::memory_order_relaxed);
    any |= tasks > 0;
  }
  const double passed = now - std::exchange(looked_, now);
  watched_ = kOfLate * watched_ + passed;
  for (const TaskType i : type_ids()) {
    Population& population = populations[index(i)];
    const Count before = std::exchange(population.in_flight, seen_[index(i)]);
    population.arrived = kOfLate * population.arrived + std::exchange(population.ended_now, 0.0) +
                         static_cast<double>(population.in_flight - before);
  }
  if (!any) return;
  bool is_burst = false;
  Count all = 0;
  for (const TaskType i : type_ids()) {
    Population& population = populations[index(i)];
    // The next task may come a moment after the last has ended, and the look be in between.
    const Count next = std::exchange(population.just_ended, false) ? 1 : 0;
    const Count least = std::exchange(population.ended, false) ? 1 : 0;
    const Count tasks = std::max(seen_[index(i)] + next, least);
    all += tasks;
    if (population.looks == 0 && tasks == 0) continue;
    population.seen[population.looks++ % Population::kLooks] = tasks;
    const Count most = *std::max_element(population.seen.begin(), population.seen.end());
    if (population.looks % Population::kLooks == 0) look_for_turns(population, most);
    const Count planned = population.planned;
    const Count room = planned == 0 ? 0 : std::max<Count>(1, planned / 4);
    const bool more = most > planned + room;
    const bool fewer = most < planned - room && population.looks >= Population::kLooks;
    population.differs = most == planned ? 0 : population.differs + 1;
    if (!more && !fewer && population.differs < Population::kLong) continue;
    is_burst |= most > kBurst * planned + kFew && population.looks > Population::kLooks;
    population.planned = std::min(most, kMaxCount);
    population.differs = 0;
    changed |= !open;
  }
  most_in_all_ = std::max(most_in_all_, all);
  if (may_be_open) look_whether_open(is_burst);
}

/// Nobody knows whether the tasks of a burst are followed by others before their number has been calm.
void KnownSystem::look_whether_open(bool is_burst) {
  int restless = 0;
  for (const Population& population : populations) {
    restless = std::max({restless, std::popcount(population.turns & kRemembered),
                         std::popcount(population.rises & kRemembered) / kRisesForTurn});
    const double arrivals = watched_ > 0 ? population.arrived / watched_ : 0;
    const double most = std::max(arrivals, population.planned_arrivals);
    changed |= open && std::abs(arrivals - population.planned_arrivals) > kMovedArrivals * most;
  }
  if (open ? is_burst || !have_been_calm() : !is_burst && restless < kRestless) return;
  open = !open;
  changed = true;
}

bool KnownSystem::have_been_calm() {
  if (++looks_for_calm_ % kCalm != 0) return false;
  bool calm = true;
  Count sum = 0;
  for (Population& population : populations) {
    if (population.looks < Population::kLooks) continue;
    sum += population.highest;
    calm &= population.highest - population.lowest <= slack(population.highest) &&
            std::popcount(population.rises) <= kFewRises;
    population.highest = population.lowest = population.most;
  }
  const Count at_once = std::exchange(most_in_all_, 0);
  return calm && sum <= at_once + at_once / kSmall;
}

std::vector<double> KnownSystem::ceilings() {
  std::vector<double> most;
  if (!open) return most;
  if (!(watched_ > 0)) return std::vector(populations.size(), std::numeric_limits<double>::infinity());
  for (Population& population : populations) {
    population.planned_arrivals = population.arrived / watched_;
    most.push_back(std::max(0.0, kRoomToGrow * population.planned_arrivals +
                                     static_cast<double>(population.in_flight) / watched_));
  }
  return most;
}

/// Threads that submit tasks of one type keep their number in flight. Where it goes up and down again and
/// again, or up all the time, what comes next does not depend on what has ended.
void KnownSystem::look_for_turns(Population& population, Count most) {
  const Count before = std::exchange(population.most, most);
  population.turns <<= 1;
  population.rises = population.rises << 1 | (most > before ? 1 : 0);
  population.highest = std::max(population.highest, most);
  population.lowest = std::min(population.lowest, most);
  if (std::abs(most - before) <= slack(before)) return;
  const bool grows = most > before;
  if (grows != std::exchange(population.grew, grows)) population.turns |= 1;
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
  // In a large system what is in use may come as rarely: only tries are sure to come after a rest.
  const bool has_rested = completions - seen.latest_sample >= kSoon;
  const bool is_retry = has_rested && sample.explores;
  if (is_retry) {
    ++seen.retries;
  } else if (!has_rested && !sample.explores) {
    seen.retries = 0;
  }
  seen.latest_sample = completions;
  seen.questioned = false;
  if (sample.explores) seen.explored_seconds += sample.busy_seconds;
  const double end = 1e-9 * static_cast<double>(sample.end_ns);
  populations[index(sample.type)].ended = true;
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
  seen.estimator.completed(seconds, is_retry);
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
