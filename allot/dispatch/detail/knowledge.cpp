#include "allot/dispatch/detail/knowledge.hpp"

#include <algorithm>
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
/// A pair so many times slower than the type's fastest is left to the budget for exploration; when only its
/// first completion is known, which often is slow, so many times.
constexpr double kHopeless = 10;
constexpr double kHopelessFirst = 300;
/// A rate is fresh for so many completions of all pairs.
constexpr std::uint64_t kFresh = 100;
/// Completions of all pairs within which a pair is in use, and will notice a change of its resource itself.
constexpr std::uint64_t kInUse = 32;

double in_range(double rate) noexcept { return std::clamp(rate, 1 / kMaxNumber, kMaxNumber); }

bool hopeless(const RateEstimator& estimator, double fastest) noexcept {
  if (estimator.completions() == 0) return false;
  return estimator.seconds() > (estimator.completions() == 1 ? kHopelessFirst : kHopeless) * fastest;
}

}  // namespace

Knowledge::Knowledge(Board& board, std::vector<Resource> resources, std::vector<TaskClass> types,
                     std::vector<RatePrior> priors, const RateEstimatorOptions& estimator, double exploration)
    : board_(board),
      estimator_options_(estimator),
      exploration_(exploration),
      resources_(std::move(resources)),
      presence_(resources_.size(), Presence::kHere),
      types_(std::move(types)),
      removed_(types_.size(), false),
      pairs_(board.type_room(), board.resource_room()) {
  if (priors.size() != types_.size() * resources_.size()) {
    throw InvalidModel("priors", "needs one for each pair of a type and a resource");
  }
  const PairSpan prior(std::as_const(priors), resources_.size());
  for (const TaskType i : type_ids()) {
    for (const ResourceId j : resource_ids()) make_pair(i, j, prior(i, j));
  }
  check_all();
  for (const ResourceId j : resource_ids()) {
    board_.servers(j).store(resources_[index(j)].servers, std::memory_order_relaxed);
  }
  board_.types.store(types_.size(), std::memory_order_release);
  board_.resources.store(resources_.size(), std::memory_order_release);
}

/// Throws if the resources and types that are there make no system.
void Knowledge::check_all() const {
  std::vector<TaskClass> tasks;
  PerPair<double> rates(types_.size(), resources_.size());
  for (const TaskType i : type_ids()) {
    tasks.push_back(types_[index(i)]);
    bool runs = false;
    for (const ResourceId j : resource_ids()) {
      rates(i, j) = pair(i, j).exists ? 1.0 : 0.0;
      runs |= pair(i, j).exists;
    }
    if (runs) continue;
    tasks.back().count = 0;  // all its pairs may have been disabled since
    tasks.back().home.reset();
  }
  System(resources_, std::move(tasks), Rates(std::move(rates)));
}

void Knowledge::make_pair(TaskType i, ResourceId j, const RatePrior& prior) {
  if (prior.rate && !(*prior.rate > 0 && *prior.rate <= kMaxNumber)) {
    throw InvalidModel("priors[" + std::to_string(index(i)) + "][" + std::to_string(index(j)) + "].rate",
                       "must be a number above 0 and at most 1e100");
  }
  Pair& made = pair(i, j);
  made = Pair();
  made.exists = prior.can_run;
  made.estimator = RateEstimator(prior, estimator_options_);
  board_.set_access(i, j, prior.can_run ? Access::kOpen : Access::kClosed);
}

void Knowledge::check(TaskType i) const {
  if (index(i) >= types_.size()) throw InvalidModel("type", "there is no such type");
}

void Knowledge::check(ResourceId j) const {
  if (index(j) >= resources_.size()) throw InvalidModel("resource", "there is no such resource");
}

// ---- changes

void Knowledge::set_count(TaskType i, Count count) {
  check(i);
  if (count < 0 || count > kMaxCount) throw InvalidModel("count", "must be from 0 to 1e9");
  changed_ |= types_[index(i)].count != count;
  types_[index(i)].count = count;
}

void Knowledge::set_priorities(std::span<const double> priorities) {
  if (priorities.size() != types_.size()) throw InvalidModel("priorities", "needs one for each type");
  const std::vector<TaskClass> before = types_;
  for (const TaskType i : type_ids()) types_[index(i)].priority = priorities[index(i)];
  try {
    check_all();
  } catch (...) {
    types_ = before;
    throw;
  }
  changed_ = true;
}

TaskType Knowledge::add_type(const TaskClass& type, std::span<const RatePrior> by_resource) {
  if (types_.size() == board_.type_room()) throw InvalidModel("types", "no room: see more_types");
  if (by_resource.size() != resources_.size()) throw InvalidModel("priors", "needs one for each resource");
  const TaskType i = task_type(types_.size());
  types_.push_back(type);
  removed_.push_back(false);
  try {
    for (const ResourceId j : resource_ids()) make_pair(i, j, by_resource[index(j)]);
    check_all();
  } catch (...) {
    for (const ResourceId j : resource_ids()) board_.set_access(i, j, Access::kClosed);
    types_.pop_back();
    removed_.pop_back();
    throw;
  }
  for (const ResourceId j : resource_ids()) {
    if (!present(i, j)) board_.set_access(i, j, Access::kClosed);
  }
  board_.types.store(types_.size(), std::memory_order_release);
  changed_ = true;
  return i;
}

ResourceId Knowledge::add_resource(const Resource& resource, std::span<const RatePrior> by_type) {
  if (resources_.size() == board_.resource_room()) {
    throw InvalidModel("resources", "no room: see more_resources");
  }
  if (by_type.size() != types_.size()) throw InvalidModel("priors", "needs one for each type");
  const ResourceId j = resource_id(resources_.size());
  resources_.push_back(resource);
  presence_.push_back(Presence::kHere);
  try {
    for (const TaskType i : type_ids()) make_pair(i, j, by_type[index(i)]);
    check_all();
  } catch (...) {
    for (const TaskType i : type_ids()) board_.set_access(i, j, Access::kClosed);
    resources_.pop_back();
    presence_.pop_back();
    throw;
  }
  for (const TaskType i : type_ids()) {
    if (!present(i, j)) board_.set_access(i, j, Access::kClosed);
  }
  board_.servers(j).store(resource.servers, std::memory_order_relaxed);
  board_.resources.store(resources_.size(), std::memory_order_release);
  changed_ = true;
  return j;
}

void Knowledge::remove_type(TaskType i) {
  check(i);
  removed_[index(i)] = true;
  for (const ResourceId j : resource_ids()) {
    board_.set_access(i, j, Access::kClosed);
    board_.unwish(i, j);
  }
  changed_ = true;
}

void Knowledge::set_servers(ResourceId j, Count servers) {
  check(j);
  if (servers < 1 || servers > kMaxCount) throw InvalidModel("servers", "must be from 1 to 1e9");
  changed_ |= resources_[index(j)].servers != servers;
  resources_[index(j)].servers = servers;
  board_.servers(j).store(servers, std::memory_order_relaxed);
}

void Knowledge::drain(ResourceId j) {
  check(j);
  if (presence_[index(j)] == Presence::kHere) presence_[index(j)] = Presence::kDrained;
  for (const TaskType i : type_ids()) {
    board_.set_access(i, j, Access::kClosed);
    board_.unwish(i, j);
  }
  changed_ = true;
}

void Knowledge::lose(ResourceId j) {
  drain(j);
  presence_[index(j)] = Presence::kLost;
  board_.lost(j).store(true, std::memory_order_relaxed);
}

void Knowledge::restore(ResourceId j) {
  check(j);
  presence_[index(j)] = Presence::kHere;
  board_.lost(j).store(false, std::memory_order_relaxed);
  for (const TaskType i : type_ids()) {
    if (present(i, j)) board_.set_access(i, j, Access::kOpen);
  }
  changed_ = true;
}

void Knowledge::disable(TaskType i, ResourceId j) {
  check(i);
  check(j);
  pair(i, j).exists = false;
  board_.set_access(i, j, Access::kClosed);
  board_.unwish(i, j);
  changed_ = true;
}

void Knowledge::report_running(TaskType i, ResourceId j, std::span<const double> busy_seconds) {
  check(i);
  check(j);
  pair(i, j).estimator.set_running(busy_seconds);
}

// ---- looking

bool Knowledge::present(TaskType i, ResourceId j) const noexcept {
  return pair(i, j).exists && !removed_[index(i)] && presence_[index(j)] == Presence::kHere;
}

std::size_t Knowledge::look(double now) {
  const std::uint64_t before = completions_;
  Sample sample;
  for (Tally& tally : board_.tallies()) {
    while (tally.samples.take(sample)) take(sample);
  }
  open_and_close(now);
  make_wishes();
  return static_cast<std::size_t>(completions_ - before);
}

void Knowledge::take(const Sample& sample) {
  ++completions_;
  busy_seconds_ += sample.busy_seconds;
  Pair& seen = pair(sample.type, sample.resource);
  seen.latest_sample = completions_;
  seen.questioned = false;
  if (sample.explores) seen.explored_seconds += sample.busy_seconds;
  if (!sample.ok) {
    seen.estimator.failed(sample.busy_seconds, 1e-9 * static_cast<double>(sample.end_ns));
    return;
  }
  seen.estimator.completed(sample.busy_seconds);
  const std::optional<double> factor = seen.estimator.latest_reset();
  if (!factor) return;
  // What changed is more often a resource than a type: those that are not used there now are looked at again.
  for (const TaskType l : type_ids()) {
    Pair& other = pair(l, sample.resource);
    if (l == sample.type || completions_ - other.latest_sample <= kInUse || other.questioned) continue;
    other.estimator.question(*factor);
    other.questioned = true;
  }
}

/// A type whose pairs all fail keeps them: its tasks have to go somewhere, and their failures are for the
/// host to see.
void Knowledge::open_and_close(double now) {
  for (const TaskType i : type_ids()) {
    bool any_works = false;
    for (const ResourceId j : resource_ids()) {
      if (present(i, j)) any_works |= pair(i, j).estimator.retry_breaker(now) == Breaker::kClosed;
    }
    for (const ResourceId j : resource_ids()) {
      if (!present(i, j)) continue;
      const bool works = !any_works || pair(i, j).estimator.breaker() == Breaker::kClosed;
      const Access access = works ? Access::kOpen : Access::kTryOnly;
      if (board_.access(i, j) == access) continue;
      board_.set_access(i, j, access);
      changed_ = true;
    }
  }
}

void Knowledge::make_wishes() {
  double servers = 0;
  for (const ResourceId j : resource_ids()) {
    if (presence_[index(j)] == Presence::kHere) servers += static_cast<double>(resources_[index(j)].servers);
  }
  // Each resource has its part of the budget, by its servers: else a pair that is slow on the one device that
  // others are fast on would take the time of all the rest from there. Those that the plan does not use share
  // it.
  budgets_.assign(resources_.size(), 0);
  for (const ResourceId j : resource_ids()) {
    double idle_pairs = 0;
    for (const TaskType i : type_ids()) {
      idle_pairs += present(i, j) && completions_ - pair(i, j).latest_sample > kInUse ? 1 : 0;
    }
    const double part = static_cast<double>(resources_[index(j)].servers) / std::max(1.0, servers);
    budgets_[index(j)] = exploration_ * busy_seconds_ * part / std::max(1.0, idle_pairs);
  }
  for (const TaskType i : type_ids()) {
    if (types_[index(i)].count == 0) continue;
    double fastest = std::numeric_limits<double>::infinity();
    for (const ResourceId j : resource_ids()) {
      if (!present(i, j)) continue;
      const RateEstimator& known = pair(i, j).estimator;
      if (known.seconds() > 0 && known.breaker() == Breaker::kClosed)
        fastest = std::min(fastest, known.seconds());
    }
    for (const ResourceId j : resource_ids()) {
      if (!present(i, j) || board_.wished(i, j)) continue;
      if (board_.count(i, j).load(std::memory_order_relaxed) != 0) continue;  // one at a time
      if (worth_trying(i, j, fastest)) board_.wish(i, j);
    }
  }
}

bool Knowledge::worth_trying(TaskType i, ResourceId j, double fastest) const {
  const Pair& candidate = pair(i, j);
  const RateEstimator& known = candidate.estimator;
  if (known.breaker() != Breaker::kClosed) return known.breaker() == Breaker::kHalfOpen;
  if (!hopeless(known, fastest) && known.weight() < kLearnt) return true;
  if (completions_ - candidate.latest_sample < kFresh) return false;
  return candidate.explored_seconds + known.seconds() <= budgets_[index(j)];
}

// ---- planning

/// Whether a rate differs from that in the plan by more than half of its interval's half-width.
bool Knowledge::has_moved(const Pair& known) const {
  const double seconds = known.estimator.seconds();
  if (!(seconds > 0)) return false;
  if (known.planned_seconds == 0) return true;
  const double move = std::abs(std::log(seconds / known.planned_seconds));
  if (move <= kLeastMove) return false;
  if (known.estimator.weight() < kLearnt) return true;
  const RateEstimate estimate = known.estimator.estimate();
  return move > 0.25 * std::log(estimate.seconds_high / estimate.seconds_low);
}

bool Knowledge::outdated() const {
  if (changed_) return true;
  for (const TaskType i : type_ids()) {
    for (const ResourceId j : resource_ids()) {
      if (present(i, j) && has_moved(pair(i, j))) return true;
    }
  }
  return false;
}

System Knowledge::system() {
  PerPair<double> rates(types_.size(), resources_.size());
  double log_sum = 0;
  double known = 0;
  for (const TaskType i : type_ids()) {
    for (const ResourceId j : resource_ids()) {
      Pair& known_pair = pair(i, j);
      const double seconds = known_pair.estimator.seconds();
      known_pair.planned_seconds = seconds;
      if (!present(i, j) || board_.access(i, j) != Access::kOpen || !(seconds > 0)) continue;
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
        if (!present(i, j) || board_.access(i, j) != Access::kOpen) continue;
        row[index(j)] = guess;
        runs = true;
      }
    }
    TaskClass task = types_[index(i)];
    if (!runs) task.count = 0;
    if (task.home && !(row[index(*task.home)] > 0)) task.home.reset();
    if (task.priority && removed_[index(i)]) task.priority = 0.0;
    weight += task.priority.value_or(0.0);
    tasks.push_back(std::move(task));
  }
  if (weight == 0 && tasks.front().priority) {  // all that had one are gone
    for (TaskClass& task : tasks) task.priority = 1.0;
  }
  changed_ = false;
  return System(resources_, std::move(tasks), Rates(std::move(rates)));
}

std::optional<double> Knowledge::mean_seconds(TaskType i, ResourceId j) const {
  check(i);
  check(j);
  const RateEstimator& estimator = pair(i, j).estimator;
  if (!(estimator.weight() > 0)) return std::nullopt;
  return estimator.seconds();
}

RateEstimate Knowledge::estimate(TaskType i, ResourceId j) const {
  check(i);
  check(j);
  return pair(i, j).estimator.estimate();
}

}  // namespace allot::detail
