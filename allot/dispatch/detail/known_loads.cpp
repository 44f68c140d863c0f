// The load that a planner sees: how many tasks are in flight, what follows tasks that end, and the resulting
// counts for plans.
#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <utility>

#include "allot/dispatch/detail/known_system.hpp"

namespace allot::detail {
namespace {

/// kRestless turns of the number of tasks in flight, within the latest sixteen times eight looks, show an
/// open load. kRisesForTurn increases count like one turn.
constexpr std::uint32_t kRemembered = 0xffff;
constexpr int kRestless = 3;
constexpr int kRisesForTurn = 4;
/// With at least kSome tasks, a difference of one is not a change, since looks fall between the end of a task
/// and its successor. Nor is a difference of up to 1/kSmall of the tasks.
constexpr Count kSome = 4;
constexpr Count kSmall = 16;
/// A closed load shows as kCalm looks without a change, with at most kFewRises increases over groups of eight
/// looks: no type had more tasks than before or after, and no type had more because another had fewer.
constexpr std::size_t kCalm = 256;
constexpr int kFewRises = 8;
/// In addition, this many tasks must have ended for each one that had no successor or no predecessor: a crowd
/// without successors may shrink so slowly that its number hardly changes.
constexpr Count kFollowedBy = 4;
/// If this many times more tasks have ended than the total number has changed by, there is a pool of threads
/// that submit tasks of any type.
constexpr Count kInPool = 64;
/// More than kBurst times the planned tasks of a type plus kFew are a burst.
constexpr Count kBurst = 2;
constexpr Count kFew = 8;
/// The weight of past arrivals fades by kOfLate with every look. Plans are for kRoomToGrow times the
/// arrivals: if arrivals grow with completions, that must count as a change.
constexpr double kOfLate = 1 - 1.0 / 128;
constexpr double kRoomToGrow = 1.3;
/// Arrivals that changed by less than this part count as unchanged.
constexpr double kMovedArrivals = 0.2;

/// The difference up to which numbers of tasks count as equal.
Count slack(Count tasks) noexcept { return std::max<Count>(tasks >= kSome ? 1 : 0, tasks / kSmall); }

struct Largest {
  Count first = 0;
  Count second = 0;
};

Largest largest_two(std::span<const Count> counts) noexcept {
  Largest largest;
  for (const Count count : counts) {
    largest.second = std::max(largest.second, std::min(largest.first, count));
    largest.first = std::max(largest.first, count);
  }
  return largest;
}

double in_range(double rate) noexcept { return std::clamp(rate, 1 / kMaxNumber, kMaxNumber); }

}  // namespace

/// Without any tasks in flight, the planned counts stay as they are.
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
    // The host may always look between the end of a task and its successor.
    const Count next = std::exchange(population.just_ended, false) && !looks_by_itself ? 1 : 0;
    const Count least = std::exchange(population.ended, false) ? 1 : 0;
    const Count tasks = std::max(seen_[index(i)] + next, least);
    all += tasks;
    if (population.looks == 0 && tasks == 0) continue;
    population.seen[population.looks++ % Population::kLooks] = tasks;
    const Largest largest = largest_two(population.seen);
    const bool is_new = population.looks <= Population::kLooks;
    const bool is_crowd = largest.first > kBurst * population.planned + kFew;
    const Count lasting = std::max(largest.second, std::min<Count>(largest.first, 1));
    const Count most = looks_by_itself && !is_new && !is_crowd ? lasting : largest.first;
    if (population.looks % Population::kLooks == 0) look_for_turns(population, most);
    const Count planned = population.planned;
    const Count room = planned == 0 ? 0 : std::max<Count>(1, planned / 4);
    const bool more = most > planned + room;
    const bool fewer = most < planned - room && population.looks >= Population::kLooks;
    population.differs = most == planned ? 0 : population.differs + 1;
    if (!more && !fewer && population.differs < Population::kLong) continue;
    is_burst |= is_crowd && !is_new;
    population.planned = std::min(most, kMaxCount);
    population.differs = 0;
    changed |= !open;
  }
  most_in_all_ = std::max(most_in_all_, all);
  most_lately_ = std::max(most_lately_, all);
  if (may_be_open) look_whether_open(is_burst);
}

/// Whether the tasks of a burst have successors is unknown until their number has been calm.
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
  if (++looks_for_calm_ % Population::kLooks != 0) return false;
  least_in_all_ = std::min(least_in_all_, std::exchange(most_lately_, 0));
  is_pool_ &= most_in_all_ - least_in_all_ <= slack(most_in_all_);
  if (looks_for_calm_ % kCalm != 0) return false;
  bool calm = true;
  Count sum = 0;
  Count completed = 0;
  for (Population& population : populations) {
    completed += population.completed;
    if (population.looks < Population::kLooks) continue;
    sum += population.highest;
    population.calm = population.highest - population.lowest <= slack(population.highest) &&
                      std::popcount(population.rises) <= kFewRises &&
                      kFollowedBy * std::abs(population.most - population.first) <= population.completed;
    calm &= population.calm;
    population.highest = population.lowest = population.first = population.most;
    population.completed = 0;
  }
  const Count at_once = std::exchange(most_in_all_, 0);
  const Count range = at_once - std::exchange(least_in_all_, kMaxCount);
  const bool is_pool = range <= slack(at_once) && kInPool * range <= completed;
  changed |= is_pool && !std::exchange(is_pool_, is_pool);
  is_pool_ = is_pool;
  return calm && sum <= at_once + at_once / kSmall;
}

std::vector<double> KnownSystem::ceilings() {
  std::vector<double> most;
  if (!open) return most;
  if (!(watched_ > 0)) return std::vector(populations.size(), std::numeric_limits<double>::infinity());
  for (const TaskType i : type_ids()) {
    Population& population = populations[index(i)];
    population.planned_arrivals = population.arrived / watched_;
    const auto in_flight = static_cast<double>(population.in_flight);
    double ceiling = std::max(0.0, kRoomToGrow * population.planned_arrivals + in_flight / watched_);
    // Threads of its own submit another task as soon as one is completed.
    if (population.calm) ceiling = std::max(ceiling, in_flight * fastest_rate(i));
    most.push_back(ceiling);
  }
  return most;
}

double KnownSystem::fastest_rate(TaskType i) const noexcept {
  double fastest = 0;
  for (const ResourceId j : resource_ids()) {
    const double seconds = pair(i, j).planned_seconds;
    if (present(i, j) && seconds > 0) fastest = std::max(fastest, 1 / seconds);
  }
  return fastest;
}

std::vector<double> KnownSystem::arrivals() const {
  std::vector<double> per_second;
  if (!open || !is_pool_) return per_second;
  for (const Population& population : populations)
    per_second.push_back(std::max(0.0, population.planned_arrivals));
  return per_second;
}

/// Threads that submit tasks of one type keep their number in flight. If it goes up and down again and again,
/// or only up, the next tasks do not depend on those that have ended.
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

}  // namespace allot::detail
