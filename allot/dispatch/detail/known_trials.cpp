// Which pairs are tried, to learn their rates.
#include <algorithm>
#include <limits>

#include "allot/dispatch/detail/known_system.hpp"

namespace allot::detail {
namespace {

/// Trials continue up to kLearntAtLast completions while the interval is wider than kWideInterval: a sample
/// that a busy moment has made long would reverse the plan, and nothing would correct it.
constexpr double kLearntAtLast = 5;
constexpr double kWideInterval = 2;
/// A pair that is slower than the type's fastest by more than kHopeless is left to the exploration budget.
/// After its first completion, which is often slow, the factor is kHopelessFirst; after two, kHopelessSecond.
constexpr double kHopeless = 10;
constexpr double kHopelessFirst = 300;
constexpr double kHopelessSecond = 30;
/// A rate is fresh for this many completions of all pairs.
constexpr std::uint64_t kFresh = 100;
/// A pair that is not in use is tried again after kSoon completions of all pairs, then after twice as many,
/// and so on, up to kRetries times: the machine may have been busy when its rate was measured.
constexpr std::uint64_t kRetries = 4;
/// Unless its rate has just changed, a pair is tried again at most kFewRetries times, and only if it is at
/// most kNear times slower than the type's fastest.
constexpr std::uint64_t kFewRetries = 3;
constexpr double kNear = 3;
/// It also waits until its resource has had kServerTimePerTry times the server time of a trial, then twice as
/// much, and so on: with many fast tasks, kSoon completions take only a moment, and slow trials would take
/// much of the time. It does not wait if the type would have an edge over another type at kTooSlowSeen times
/// its measured speed.
constexpr double kServerTimePerTry = 8;
constexpr double kTooSlowSeen = 8;

bool hopeless(const RateEstimator& estimator, double fastest) noexcept {
  constexpr double kFactors[] = {kHopelessFirst, kHopelessSecond, kHopeless};
  const std::uint64_t completions = estimator.completions();
  if (completions == 0) return false;
  return estimator.seconds() > kFactors[std::min<std::uint64_t>(completions, 3) - 1] * fastest;
}

bool learnt(const RateEstimator& estimator) {
  if (estimator.weight() < KnownSystem::kLearnt) return false;
  if (estimator.weight() >= kLearntAtLast) return true;
  const RateEstimate known = estimator.estimate();
  return known.seconds_high <= kWideInterval * known.seconds_low;
}

}  // namespace

void KnownSystem::ask_for_trials(double now) {
  double servers = 0;
  for (const ResourceId j : resource_ids()) {
    if (presence[index(j)] == Presence::kHere) servers += static_cast<double>(resources[index(j)].servers);
  }
  // Each resource has its part of the budget, by its servers: otherwise a pair that is slow on the only
  // device where others are fast could use the whole budget there. The pairs of a resource that the plan does
  // not use share its part.
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
    const double fastest = least_seconds(i);
    for (const ResourceId j : resource_ids()) {
      if (!present(i, j) || counts.trial_asked_for(i, j)) continue;
      if (counts.count(i, j).load(std::memory_order_relaxed) != 0) continue;  // one at a time
      if (worth_trying(i, j, fastest, now)) counts.ask_for_trial(i, j);
    }
  }
}

double KnownSystem::least_seconds(TaskType i) const noexcept {
  double least = std::numeric_limits<double>::infinity();
  for (const ResourceId j : resource_ids()) {
    if (!present(i, j)) continue;
    const RateEstimator& known = pair(i, j).estimator;
    if (known.seconds() > 0 && known.breaker() == Breaker::kClosed) least = std::min(least, known.seconds());
  }
  return least;
}

bool KnownSystem::is_learning() const {
  for (const TaskType i : type_ids()) {
    if (populations[index(i)].planned == 0) continue;
    const double fastest = least_seconds(i);
    for (const ResourceId j : resource_ids()) {
      if (!present(i, j)) continue;
      const RateEstimator& known = pair(i, j).estimator;
      if (known.breaker() != Breaker::kClosed || hopeless(known, fastest)) continue;
      if (known.weight() < kLearnt) return true;
    }
  }
  return false;
}

bool KnownSystem::worth_trying(TaskType i, ResourceId j, double fastest, double now) const {
  const Pair& candidate = pair(i, j);
  const RateEstimator& known = candidate.estimator;
  if (known.breaker() != Breaker::kClosed) return known.breaker() == Breaker::kHalfOpen;
  const bool is_hopeless = hopeless(known, fastest);
  if (!is_hopeless && !learnt(known)) return true;
  const std::uint64_t rest = completions - candidate.latest_sample;
  const double servers = servers_kept_busy(i, j);
  const bool is_doubtful = known.doubtful();
  if (known.completions() > 0 && candidate.retries < (is_doubtful ? kRetries : kFewRetries) &&
      rest >= kSoon << candidate.retries) {
    const double waited = (now - candidate.latest_end) * static_cast<double>(resources[index(j)].servers);
    const double wanted = kServerTimePerTry * static_cast<double>(1U << candidate.retries) * known.seconds();
    if (is_doubtful || (known.seconds() <= kNear * fastest && (waited >= wanted || may_belong(i, j))))
      return true;
  }
  if (rest < kFresh) return false;
  if ((candidate.explored_seconds + known.seconds()) * servers > budgets[index(j)]) return false;
  // Servers may have time to spare although the few tasks of the type have none: they would be fast
  // elsewhere, and also wait for the server that they try.
  double away = known.seconds();
  double busy = 0;
  for (const ResourceId k : resource_ids()) {
    away += pair(i, k).away_seconds;
    busy += pair(i, k).busy_seconds;
  }
  return away <= exploration * busy;
}

/// Whether the type would have an edge at the resource over one that is in use there, if it were faster than
/// it seems.
bool KnownSystem::may_belong(TaskType i, ResourceId j) const {
  const auto in_use = [&](TaskType k, ResourceId l) {
    return present(k, l) && pair(k, l).estimator.seconds() > 0 &&
           completions - pair(k, l).latest_sample <= kFresh;
  };
  const auto seconds = [&](TaskType k, ResourceId l) { return pair(k, l).estimator.seconds(); };
  bool any = false;
  for (const TaskType k : type_ids()) {
    if (k == i || !in_use(k, j)) continue;
    any = true;
    for (const ResourceId l : resource_ids()) {
      if (l == j || !in_use(i, l)) continue;
      if (!present(k, l) || !(seconds(k, l) > 0)) return true;
      if (seconds(i, j) / kTooSlowSeen / seconds(i, l) < seconds(k, j) / seconds(k, l)) return true;
    }
  }
  return !any;
}

/// A task that holds a part of a capacity may keep that part of the machine from its work.
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

}  // namespace allot::detail
