// Which free slot starts which task if tasks hold several capacities or are bound late.
#include <algorithm>
#include <limits>

#include "allot/run/packed_endgame.hpp"
#include "allot/run/starts.hpp"

namespace allot {
namespace {

/// Room is kept for a task after others have made it wait for this many times the expected time of the
/// longest running task. A policy that binds late keeps room by its plan, so it gets more time.
constexpr double kPassedByFactor = 2;
constexpr double kPassedByLate = 10;
/// Maximum tasks in a schedule. With more than a few per slot, only if making the schedule takes a small part
/// of the time between two starts. Seconds per tasks squared and resource.
constexpr Count kMostPacked = 256;
constexpr double kPackingSeconds = 2.5e-8;
constexpr double kPackingPart = 0.1;
/// While many tasks are left, a pair that was never seen counts as faster than the slowest known one of its
/// type by this factor: it is tried although it may hold what others could use.
constexpr double kUntriedFactor = 0.5;

}  // namespace

/// Whether more tasks of the resource are late by far than not. They may never end, but still count as in
/// service, so that the plan leaves servers idle which it would give to others.
bool Starts::most_hang(ResourceId j, Clock::time_point now) const {
  Count late = 0;
  for (const auto& [id, attempt] : attempts_.all()) {
    if (attempt.resource() == j) late += late_by_far(attempt, now) ? 1 : -1;
  }
  return late > 0;
}

/// Late binding: takes a task that the plan has only on other resources, where it must not go now because it
/// failed there, or because no task ends there. Tasks of a type without a part in the plan wait for the next
/// plan. In place of a task that hangs, the task is taken that is worth most per second here.
std::optional<Placed> Starts::take_stray(ResourceId j, Clock::time_point now) {
  std::optional<bool> replaces;
  std::optional<TaskType> best;
  double most = 0;
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
    const TaskType type = task_type(i);
    if (backlog_.ready(type) == 0 || !below_limit(type) || !pairs_.usable(type, j) || !has_task(type, j))
      continue;
    if (!replaces) replaces = most_hang(j, now);
    if (*replaces) {
      const double seconds =
          placer_.dispatcher().mean_seconds(type, j).value_or(std::numeric_limits<double>::infinity());
      if (best && job_.tasks[i].worth / seconds <= most) continue;
      most = job_.tasks[i].worth / seconds;
      best = type;
      continue;
    }
    bool has_part = false;
    bool has_place = false;
    for (std::size_t k = 0; k < job_.resources.size(); ++k) {
      const ResourceId r = resource_id(k);
      if (!placer_.wants(type, r)) continue;
      has_part = true;
      has_place |= !hung_[k] && pairs_.usable(type, r) && backlog_.has(type, r, !can_run_elsewhere(type, r));
    }
    if (has_part && !has_place) return placer_.take_at(type, j, now);
  }
  return best ? std::optional(placer_.take_at(*best, j, now)) : std::nullopt;
}

/// Starts a task of the type on a free slot of the resource. False: there is none.
bool Starts::start_at(TaskType i, ResourceId j, Clock::time_point now, const Start& start) {
  if (!below_limit(i)) return false;
  for (std::size_t s = 0; s < crew_.slots().size(); ++s) {
    const Slot& slot = crew_.slots()[s];
    if (slot.resource != j || !free(slot, now)) continue;
    const auto task = backlog_.take(i, j, !can_run_elsewhere(i, j));
    if (!task) return false;
    start(s, *task, placer_.take_at(i, j, now), false);
    return true;
  }
  return false;
}

/// Like `start_last_ones`; `all` tasks are left; `few`: only a few per slot.
bool Starts::start_last_with_needs(Count all, bool few, Clock::time_point now, const Start& start) {
  if (all == 0 || all > kMostPacked) return false;
  const std::vector<Backlog::Group> groups = backlog_.groups();
  std::optional<PerPair<double>> seconds = expected_seconds(groups, few ? kDoubtfulFactor : kUntriedFactor);
  if (!seconds) return false;
  double work = 0;
  for (const TaskType g : seconds->type_ids()) {
    const std::span<const double> row = seconds->row(g);
    double least = std::numeric_limits<double>::infinity();
    for (const double takes : row) least = takes > 0 ? std::min(least, takes) : least;
    work += least * static_cast<double>(groups[index(g)].count);
  }
  const auto tasks = static_cast<double>(all);
  const double between = work / tasks / static_cast<double>(crew_.slots().size());
  const double cost = kPackingSeconds * tasks * tasks * static_cast<double>(job_.resources.size());
  if (!few && cost > kPackingPart * between) return false;
  // A resource without a worker is not part of the schedule.
  std::vector<bool> is_open(job_.resources.size(), false);
  for (const Slot& slot : crew_.slots())
    is_open[index(slot.resource)] =
        is_open[index(slot.resource)] || slot.state == Slot::State::kBusy || slot.state == Slot::State::kIdle;
  for (const TaskType g : seconds->type_ids()) {
    for (const ResourceId j : seconds->resource_ids())
      if (!is_open[index(j)]) (*seconds)(g, j) = 0;
  }
  const std::vector<Count> counts = counts_within_limits(groups, *seconds, now);
  std::vector<PackedGroup> packed;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    // Without a limit by the user, only what tasks hold limits them.
    const bool is_limited = job_.tasks[index(groups[g].type)].count > 0;
    packed.push_back({groups[g].type, is_limited ? counts[g] : groups[g].count});
  }
  std::vector<PackedRunning> running;
  for (const Slot& slot : crew_.slots()) {
    if (const RunningAttempt* const attempt = attempts_.find(slot.task);
        attempt != nullptr && slot.state == Slot::State::kBusy)
      running.push_back({attempt->type(), attempt->resource(), free_in(slot, now), attempt->holding.servers});
  }
  for (const auto& [when, holding] : holdings_.lingering())
    running.push_back(
        {holding.type, holding.resource, std::max(1e-6, to_seconds(when - now)), holding.servers});
  for (const auto& [slot, holding] : holdings_.stuck())
    running.push_back(
        {holding.type, holding.resource, std::numeric_limits<double>::infinity(), holding.servers});
  const std::vector<Count> left = this->left();
  placer_.update({std::vector<Count>(left.size(), 0), left, attempts_.by_type()}, now);  // plans follow
  const std::shared_ptr<const Plan> plan = placer_.dispatcher().plan();
  const PackedPlan schedule = endgame_.plan(*holdings_.shape(), packed, *seconds, running, plan->service);
  bool tries = false;
  for (const auto& [g, j] : schedule.start) {
    const TaskType type = groups[g].type;
    // One task tries a pair; the others are scheduled again.
    const bool is_known = placer_.dispatcher().mean_seconds(type, j).has_value();
    if (!is_known && attempts_.by_pair()(type, j) > 0) continue;
    if (holdings_.is_room_for(type, j)) tries |= start_at(type, j, now, start) && !is_known;
  }
  return tries ? start_last_with_needs(std::max<Count>(all - 1, 1), few, now, start) : true;
}

/// A task that was passed over for long starts as soon as there is room.
void Starts::start_kept(Clock::time_point now, const Start& start) {
  if (!holdings_.kept_for()) return;
  const auto [i, j] = *holdings_.kept_for();
  if (holdings_.is_room_for(i, j) && backlog_.has(i, j, !can_run_elsewhere(i, j)) &&
      start_at(i, j, now, start)) {
    holdings_.keep(std::nullopt);
    short_since_[index(i)].reset();
  }
}

/// Finds tasks that wait because others have smaller needs: after a while, room is kept for the first of
/// them. `before`: running tasks by type before the latest starts.
void Starts::look_for_short(Clock::time_point now, std::span<const Count> before) {
  const double patience = placer_.binds_late() ? kPassedByLate : kPassedByFactor;
  double longest = 0;
  for (const auto& [id, attempt] : attempts_.all())
    longest = std::max(longest, attempt.expected_s > 0 ? attempt.expected_s : kUnknownSeconds);
  std::optional<Clock::time_point> first;
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
    const TaskType type = task_type(i);
    std::optional<ResourceId> where;
    bool has_room = false;
    for (std::size_t j = 0; j < job_.resources.size(); ++j) {
      const ResourceId r = resource_id(j);
      if (backlog_.ready(type) == 0 || !below_limit(type) || !pairs_.usable(type, r) || hung_[j] ||
          !placer_.wants(type, r) || !backlog_.has(type, r, !can_run_elsewhere(type, r))) {
        continue;
      }
      has_room |= holdings_.is_room_for(type, r);
      if (!where && holdings_.will_fit(type, r)) where = r;
    }
    std::optional<Clock::time_point>& since = short_since_[i];
    if (!where || has_room) {
      since.reset();
      continue;
    }
    if (attempts_.by_type()[i] > before[i]) since.reset();
    if (!since) since = now;
    if (to_seconds(now - *since) <= patience * longest || (first && *since >= *first)) continue;
    first = since;
    holdings_.keep({{type, *where}});
  }
}

}  // namespace allot
