#include "allot/run/starts.hpp"

#include <algorithm>
#include <limits>

#include "allot/run/endgame.hpp"

namespace allot {
namespace {

/// The end of the batch begins when at most this many tasks per slot are left.
constexpr Count kEndgameTasks = 2;
/// At the end, a pair that hangs counts as slower than the slowest known one by this factor.
constexpr double kHungFactor = 1000;
/// A task is far too late after this many times its expected time, and at least this many seconds.
constexpr double kLateFactor = 4;
constexpr double kLateSeconds = 1;

}  // namespace

std::vector<Count> Starts::left() const {
  std::vector<Count> left;
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
    // For most tasks per second now, tasks that are not ready yet do not matter.
    left.push_back(placer_.finishes() ? backlog_.foreseen(task_type(i)) : backlog_.queued(task_type(i)));
  }
  return left;
}

bool Starts::can_run_elsewhere(TaskType i, ResourceId j) const {
  for (std::size_t other = 0; other < job_.resources.size(); ++other) {
    const ResourceId r = resource_id(other);
    if (r != j && pairs_.usable(i, r) && placer_.allows(i, r) && !hung_[other]) return true;
  }
  return false;
}

bool Starts::may_run(TaskType i, ResourceId j, std::optional<ResourceId> avoid) const {
  return pairs_.usable(i, j) && (avoid != j || !can_run_elsewhere(i, j));
}

bool Starts::below_limit(TaskType i) const {
  return attempts_.by_type()[index(i)] < placer_.limits()[index(i)];
}

bool Starts::free(const Slot& slot, Clock::time_point now) const {
  return slot.state == Slot::State::kIdle && holdings_.is_free(slot.resource, slot.number) &&
         alone_beside(slot, now) == nullptr;
}

/// The task that must be alone on the worker of an idle slot; null: there is none.
const RunningAttempt* Starts::alone_beside(const Slot& slot, Clock::time_point now) const {
  if (crew_.busy_on(slot.lane) != 1) return nullptr;
  for (const Slot& other : crew_.slots()) {
    if (other.lane != slot.lane || other.state != Slot::State::kBusy) continue;
    const RunningAttempt* const attempt = attempts_.find(other.task);
    return attempt != nullptr && attempt->alone_until > now ? attempt : nullptr;
  }
  return nullptr;
}

bool Starts::late_by(double factor, const RunningAttempt& attempt, Clock::time_point now) const {
  const double expected = attempt.expected_s > 0 ? attempt.expected_s : kUnknownSeconds;
  return to_seconds(now - attempt.began) > factor * expected + kLateSeconds;
}

bool Starts::late_by_far(const RunningAttempt& attempt, Clock::time_point now) const {
  return late_by(kLateFactor, attempt, now);
}

/// A resource hangs if all its tasks are far too late and nothing can start beside them: they may never end.
/// A task that must be alone also keeps the idle slots of its worker, so it counts there once it is late.
void Starts::look_for_hung(Clock::time_point now) {
  std::vector<bool> busy(hung_.size(), false);
  std::vector<bool> works(hung_.size(), false);
  for (const Slot& slot : crew_.slots()) {
    const std::size_t j = index(slot.resource);
    if (free(slot, now)) works[j] = true;
    if (slot.state == Slot::State::kIdle) {
      const RunningAttempt* const alone = alone_beside(slot, now);
      if (alone == nullptr) continue;
      busy[j] = true;
      if (!late_by(1, *alone, now)) works[j] = true;
    }
    if (slot.state != Slot::State::kBusy) continue;
    busy[j] = true;
    const RunningAttempt* const attempt = attempts_.find(slot.task);
    if (attempt != nullptr && !late_by_far(*attempt, now)) works[j] = true;
  }
  for (std::size_t j = 0; j < hung_.size(); ++j) hung_[j] = busy[j] && !works[j];
}

/// Moves tasks that wait for a resource that hangs to a free slot of j.
void Starts::take_from_hung(ResourceId j, Clock::time_point now) {
  for (std::size_t k = 0; k < hung_.size(); ++k) {
    if (!hung_[k]) continue;
    for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
      const TaskType type = task_type(i);
      if (!pairs_.usable(type, j) || !backlog_.has(type, j, !can_run_elsewhere(type, j))) continue;
      if (placer_.move_waiting(type, resource_id(k), j, now)) return;
    }
  }
}

void Starts::make(Clock::time_point now, const Start& start) {
  look_for_hung(now);
  const std::vector<Count> before = holdings_.any() ? attempts_.by_type() : std::vector<Count>();
  start_kept(now, start);
  start_alone(now, start);
  const std::vector<Count> left = this->left();
  Count all = 0;
  for (const Count n : left) all += n;
  const bool few = all > 0 && all <= kEndgameTasks * static_cast<Count>(crew_.slots().size());
  const bool last_ones = placer_.finishes() && (holdings_.any() ? start_last_with_needs(all, few, now, start)
                                                                : few && start_last_ones(now, start));
  if (!last_ones) start_by_plan(now, start);
  while (attempts_.empty() && start_anything(now, start)) {
  }
  holdings_.keep(std::nullopt);
  if (!last_ones && holdings_.any()) look_for_short(now, before);
}

/// Whether a task of the type can be taken for the resource, and there is room for it.
bool Starts::has_task(TaskType i, ResourceId j) const {
  return holdings_.fits(i, j) && backlog_.has(i, j, !can_run_elsewhere(i, j));
}

/// Tasks that must be alone go first if a worker has nothing to do. The run does not wait for that: as other
/// tasks end, some worker becomes idle.
void Starts::start_alone(Clock::time_point now, const Start& start) {
  for (std::size_t s = 0; s < crew_.slots().size(); ++s) {
    const Slot& slot = crew_.slots()[s];
    if (!free(slot, now) || crew_.busy_on(slot.lane) > 0) continue;
    for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
      const TaskType type = task_type(i);
      if (!pairs_.usable(type, slot.resource) || !below_limit(type)) continue;
      if (!holdings_.fits(type, slot.resource)) continue;
      const auto task = backlog_.take_alone(type, slot.resource, !can_run_elsewhere(type, slot.resource));
      if (!task) continue;
      start(s, *task, placer_.take_at(type, slot.resource, now), true);
      break;
    }
  }
}

void Starts::start_by_plan(Clock::time_point now, const Start& start) {
  const std::vector<Count> left = this->left();
  std::vector<Count> ready;
  for (std::size_t i = 0; i < left.size(); ++i) ready.push_back(backlog_.ready(task_type(i)));
  placer_.update({ready, left, attempts_.by_type()}, now);
  const bool late = placer_.binds_late();
  std::vector<bool> is_done(job_.resources.size(), false);  // late binding: it has nothing to take now
  for (std::size_t s = 0; s < crew_.slots().size(); ++s) {
    const Slot& slot = crew_.slots()[s];
    if (is_done[index(slot.resource)] || !free(slot, now)) continue;
    const ResourceId j = slot.resource;
    for (std::size_t i = 0; i < left.size() && !late; ++i) {
      // Only tasks that failed here are left: their tickets must wait where they may run.
      const TaskType type = task_type(i);
      if (backlog_.ready(type) > 0 && can_run_elsewhere(type, j) && !backlog_.has(type, j, false)) {
        placer_.send_elsewhere(type, j, now);
      }
    }
    const auto here = [&](TaskType type) { return has_task(type, j); };
    auto placed = placer_.next(j, now, here);
    if (!placed && late) placed = take_stray(j, now);
    if (!placed && !late) {
      take_from_hung(j, now);
      placed = placer_.next(j, now, here);
    }
    if (!placed) {
      is_done[index(j)] = late;
      continue;
    }
    const TaskType type = placed->ticket.type;
    if (const auto task = backlog_.take(type, j, !can_run_elsewhere(type, j))) {
      start(s, *task, *placed, false);
    }
  }
}

/// In how many seconds a slot is expected to be free.
double Starts::free_in(const Slot& slot, Clock::time_point now) const {
  const RunningAttempt* const attempt = attempts_.find(slot.task);
  if (attempt == nullptr) return 0;
  const double expected = attempt->expected_s;
  const double elapsed = to_seconds(now - attempt->began);
  // A task that is far too late may never end, as on a machine that has died: nothing should wait for it.
  return std::max({expected - elapsed, 0.05 * expected, elapsed - 2 * expected, 1e-6});
}

/// How many tasks of each group may start now within the limit of their type: tasks over the limit must not
/// take the place of others, and groups with a free slot come before groups that would have to wait for one.
/// `seconds`: group by resource; 0: it may not run there.
std::vector<Count> Starts::counts_within_limits(std::span<const Backlog::Group> groups,
                                                const PerPair<double>& seconds, Clock::time_point now) const {
  const std::size_t resources = job_.resources.size();
  std::vector<bool> is_free(resources, false);
  for (const Slot& slot : crew_.slots())
    is_free[index(slot.resource)] = is_free[index(slot.resource)] || free(slot, now);
  std::vector<Count> room(placer_.limits().begin(), placer_.limits().end());
  for (std::size_t i = 0; i < room.size(); ++i) room[i] -= attempts_.by_type()[i];
  std::vector<Count> counts(groups.size(), 0);
  for (const bool can_start : {true, false}) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      bool has_slot = false;
      for (std::size_t j = 0; j < resources; ++j)
        has_slot |= is_free[j] && seconds(task_type(g), resource_id(j)) > 0;
      if (has_slot != can_start) continue;
      Count& left = room[index(groups[g].type)];
      counts[g] = std::clamp<Count>(left, 0, groups[g].count);
      left -= counts[g];
    }
  }
  return counts;
}

/// Expected time of the tasks of each group at each resource; 0: they may not run there. Absent if too little
/// is known about the rates.
std::optional<PerPair<double>> Starts::expected_seconds(std::span<const Backlog::Group> groups,
                                                        double unknown_factor) const {
  const std::size_t resources = job_.resources.size();
  PerPair<double> seconds(groups.size(), resources);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const TaskType type = groups[g].type;
    const std::span<double> row = seconds.row(task_type(g));
    std::vector<std::pair<std::size_t, double>> doubtful;
    double slowest = 0;
    for (std::size_t j = 0; j < resources; ++j) {
      const ResourceId r = resource_id(j);
      if (!may_run(type, r, groups[g].avoid)) continue;
      const std::optional<double> mean = placer_.dispatcher().mean_seconds(type, r);
      if (mean && placer_.allows(type, r) && !hung_[j]) {
        row[j] = *mean;
      } else {
        const bool is_unknown = !mean && placer_.allows(type, r) && attempts_.by_pair()(type, r) == 0;
        doubtful.emplace_back(j, hung_[j] ? kHungFactor : is_unknown ? unknown_factor : kDoubtfulFactor);
      }
      slowest = std::max(slowest, mean.value_or(0));
    }
    if (!(slowest > 0)) return std::nullopt;
    // At the end, pairs that are unknown or have failed recently are avoided, but they are used if all others
    // hang.
    for (const auto& [j, factor] : doubtful) row[j] = factor * slowest;
  }
  return seconds;
}

/// The last tasks: each free slot starts what the schedule of all ready tasks says. Tasks that may run at
/// different places count as different types. False if too little is known about the rates.
bool Starts::start_last_ones(Clock::time_point now, const Start& start) {
  const std::size_t resources = job_.resources.size();
  const std::vector<Backlog::Group> groups = backlog_.groups();
  const std::optional<PerPair<double>> known = expected_seconds(groups);
  if (!known) return false;
  const PerPair<double>& seconds = *known;
  const std::vector<Count> counts = counts_within_limits(groups, seconds, now);
  placer_.clear_waiting();
  std::vector<EndgameSlot> slots;
  std::vector<std::size_t> which;
  for (std::size_t s = 0; s < crew_.slots().size(); ++s) {
    const Slot& slot = crew_.slots()[s];
    if (slot.state != Slot::State::kBusy && !free(slot, now)) continue;
    slots.push_back({slot.resource, slot.state == Slot::State::kBusy ? free_in(slot, now) : 0});
    which.push_back(s);
  }
  const EndgamePlan plan = plan_endgame(seconds.values(), counts, slots, resources);
  for (std::size_t at = 0; at < slots.size(); ++at) {
    if (!plan.start[at]) continue;
    const TaskType type = groups[index(*plan.start[at])].type;
    const ResourceId j = slots[at].resource;
    if (!below_limit(type) || !free(crew_.slots()[which[at]], now)) continue;
    if (const auto task = backlog_.take(type, j, !can_run_elsewhere(type, j))) {
      start(which[at], *task, placer_.take_at(type, j, now), false);
    }
  }
  return true;
}

/// Nothing runs although something may: no plan wants that. Starts the fastest pair among the known ones.
/// False: there is none.
bool Starts::start_anything(Clock::time_point now, const Start& start) {
  std::size_t best_slot = crew_.slots().size();
  TaskType best_type{};
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < crew_.slots().size(); ++s) {
    const Slot& slot = crew_.slots()[s];
    if (!free(slot, now)) continue;
    for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
      const TaskType type = task_type(i);
      if (!pairs_.usable(type, slot.resource) || !holdings_.is_room_for(type, slot.resource) ||
          !backlog_.has(type, slot.resource, !can_run_elsewhere(type, slot.resource))) {
        continue;
      }
      const double seconds =
          placer_.dispatcher().mean_seconds(type, slot.resource).value_or(std::numeric_limits<double>::max());
      if (seconds >= best) continue;
      best = seconds;
      best_slot = s;
      best_type = type;
    }
  }
  if (best_slot == crew_.slots().size()) return false;
  placer_.clear_waiting();
  const ResourceId j = crew_.slots()[best_slot].resource;
  if (const auto task = backlog_.take(best_type, j, !can_run_elsewhere(best_type, j))) {
    start(best_slot, *task, placer_.take_at(best_type, j, now), false);
  }
  return true;
}

}  // namespace allot
