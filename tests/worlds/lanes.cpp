#include "tests/worlds/lanes.hpp"

#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "allot/base/error.hpp"
#include "allot/run/holdings.hpp"

namespace allot::worlds {
namespace {

constexpr double kSlowness = 30;
const Clock::duration kMoment = std::chrono::milliseconds(5);

Clock::duration seconds(double value) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(value, 1e7)));
}

std::string value_of(const TaskRequest& request, const std::string& name) {
  for (const std::string& entry : request.environment) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return "";
}

}  // namespace

SimulatedLane::SimulatedLane(Town& town, const std::vector<std::string>& launch) : town_(town) {
  std::size_t resource = 0;
  if (launch.empty()) {
    while (!town.scene.job.resources[resource].launch.empty()) ++resource;
    capacity_ = 0;
    for (std::size_t j = 0; j < town.scene.job.resources.size(); ++j)
      capacity_ += town.scene.job.resources[j].launch.empty()
                       ? static_cast<std::size_t>(places(town.scene.job, resource_id(j)))
                       : 0;
  } else {
    is_far_ = true;
    resource = static_cast<std::size_t>(std::atoi(launch.back().c_str()));
  }
  manner_ = town.scene.lanes[resource];
  const Clock::time_point then = town.now + seconds(manner_.opens_after * town.random.uniform());
  if (manner_.not_found || town.failures_to_open[resource]-- > 0) {
    fails_ = then;
  } else if (!manner_.never_opens) {
    opens_ = then;
    lost_ = then + seconds(-manner_.lives_for * std::log(town.random.uniform()));
  }
  town_.lanes.insert(this);
}

SimulatedLane::~SimulatedLane() { town_.lanes.erase(this); }

SimulatedLane::Task SimulatedLane::make_task(const TaskRequest& request) {
  const Scene& scene = town_.scene;
  const std::size_t number = town_.numbers.at(value_of(request, "ALLOT_TASK"));
  const int attempt = std::atoi(value_of(request, "ALLOT_ATTEMPT").c_str());
  const std::string where = value_of(request, "ALLOT_RESOURCE");
  const std::size_t resources = scene.job.resources.size();
  const std::size_t j = static_cast<std::size_t>(std::atoi(where.c_str() + 1));
  const std::size_t i = static_cast<std::size_t>(std::atoi(value_of(request, "ALLOT_TASK").c_str() + 1));
  const std::size_t pair = i * resources + j;

  Task task;
  task.manner = scene.manners[number];
  task.number = number;
  TaskRecord& record = task.record;
  record.id = request.id;
  record.status = TaskStatus::kOk;
  std::vector<std::string> slots;
  for (std::size_t r = 0; r < resources; ++r)
    slots.push_back(value_of(request, r == j ? "ALLOT_SLOTS" : "SLOTS_OF_" + std::to_string(r)));
  const auto [holding, problem] = town_.ledger.begins(task_type(i), resource_id(j), slots, town_.now);
  task.holding = holding;
  if (!problem.empty()) town_.overdrawn(problem);
  record.exit = 0;
  if (scene.not_found[pair]) {
    record.status = TaskStatus::kFailed;
    record.exit.reset();
    record.not_found = true;
    record.error = "no such command";
    task.ends = town_.now + kMoment;
    return task;
  }
  town_.executed(number);
  double takes =
      scene.seconds[pair] * (1 - scene.variation - scene.variation * std::log(town_.random.uniform()));
  if (scene.drift && scene.drift->resource == j && town_.now >= town_.begin + seconds(scene.drift->at))
    takes *= scene.drift->factor;
  if (task.manner == Manner::kSlow) takes *= kSlowness;
  const bool fails = task.manner == Manner::kFails ||
                     (task.manner == Manner::kFailsAtFirst && attempt <= 1 + static_cast<int>(number % 2)) ||
                     town_.random.uniform() < scene.fails[pair];
  if (fails) {
    record.status = TaskStatus::kFailed;
    record.exit = 1;
  }
  if (task.manner == Manner::kClaimsKilled) record.status = TaskStatus::kKilled;
  const bool waits =
      task.manner == Manner::kHangs || task.manner == Manner::kStubborn || task.manner == Manner::kUnkillable;
  task.ends = waits ? kNever : town_.now + seconds(takes);
  if (request.timeout_s > 0 && task.ends > town_.now + seconds(request.timeout_s) &&
      task.manner != Manner::kUnkillable) {
    record.status = TaskStatus::kTimeout;
    record.exit.reset();
    takes = request.timeout_s + (task.manner == Manner::kStubborn ? request.grace_s : 0);
    task.ends = town_.now + seconds(takes) + kMoment;
  }
  record.wall_s = takes;
  if (manner_.deaf) task.ends = kNever;
  return task;
}

void SimulatedLane::send(const TaskRequest& request) {
  const std::size_t number = town_.numbers.at(value_of(request, "ALLOT_TASK"));
  if (town_.scene.manners[number] == Manner::kTooLarge) throw InvalidModel("argv", "too large");
  if (tasks_.size() >= capacity_) town_.overbooked();
  Task task = make_task(request);
  if (task.manner == Manner::kKillsWorker && !task.record.not_found && task.ends != kNever) {
    lost_ = std::min(lost_, task.ends);
    task.ends = kNever;
  }
  tasks_.emplace(request.id, std::move(task));
}

void SimulatedLane::kill(std::uint64_t id, int signal) {
  const auto at = tasks_.find(id);
  if (at == tasks_.end() || manner_.deaf) return;
  Task& task = at->second;
  if (task.manner == Manner::kUnkillable || (task.manner == Manner::kStubborn && signal != SIGKILL)) return;
  if (task.ends <= town_.now + kMoment) return;
  if (task.record.status != TaskStatus::kTimeout || task.ends > town_.now + kMoment)
    task.record.status = TaskStatus::kKilled;
  task.record.exit.reset();
  task.ends = town_.now + kMoment;
}

void SimulatedLane::pause() {
  if (!paused_) paused_ = town_.now;
}

void SimulatedLane::resume() {
  if (!paused_) return;
  const Clock::duration away = town_.now - *paused_;
  paused_.reset();
  for (auto& [id, task] : tasks_) {
    if (task.ends == kNever) continue;
    task.ends += away;
    task.record.was_stopped = true;
  }
}

void SimulatedLane::finish() {
  finishing_ = true;
  lost_ = std::min(lost_, town_.now + kMoment);
}

void SimulatedLane::shift(Clock::duration time) {
  for (Clock::time_point* const at : {&opens_, &fails_, &lost_, &process_ends_}) {
    if (*at != kNever && *at > town_.now - time) *at += time;
  }
  if (paused_) return;
  for (auto& [id, task] : tasks_) {
    if (task.ends != kNever) task.ends += time;
  }
}

Clock::time_point SimulatedLane::next() const {
  if (phase_ == Phase::kOver) return process_ends_ > town_.now ? process_ends_ : kNever;
  if (phase_ == Phase::kOpening) return std::min(opens_, fails_);
  Clock::time_point next = lost_;
  for (const auto& [id, task] : tasks_) {
    if (!task.told) return town_.now;
    if (!paused_) next = std::min(next, task.ends);
  }
  return next;
}

void SimulatedLane::lose(const std::string& why, bool not_found, std::vector<LaneEvent>& events) {
  phase_ = Phase::kOver;
  process_ends_ = town_.now + seconds(town_.random.uniform() < 0.1 ? 20 * town_.random.uniform() : 0);
  std::vector<std::uint64_t> ids;
  for (auto& [id, task] : tasks_) {
    ids.push_back(id);
    // Behind a launcher nobody knows what becomes of a task: it may go on until its worker notices.
    const bool goes_on = is_far_ && town_.fates.uniform() < 0.3;
    const double for_s = goes_on ? LaneOptions{}.silence.count() * town_.fates.uniform() : 0;
    town_.ledger.ends_at(task.holding, town_.now + seconds(for_s));
    LaneEvent& event = events.emplace_back();
    event.kind = LaneEvent::Kind::kRecord;
    event.record.id = id;
    event.record.error = why;
  }
  town_.lost(ids);
  tasks_.clear();
  LaneEvent& event = events.emplace_back();
  event.kind = finishing_ ? LaneEvent::Kind::kEnded : LaneEvent::Kind::kLost;
  event.why = why;
  event.not_found = not_found;
}

void SimulatedLane::pump(Clock::time_point now, std::vector<LaneEvent>& events) {
  if (phase_ == Phase::kOpening) {
    if (now >= fails_) return lose("it did not open", manner_.not_found, events);
    if (now < opens_) return;
    phase_ = Phase::kReady;
    events.emplace_back().kind = LaneEvent::Kind::kReady;
  }
  if (phase_ != Phase::kReady) return;
  for (auto& [id, task] : tasks_) {
    if (std::exchange(task.told, true)) continue;
    LaneEvent& event = events.emplace_back();
    event.kind = LaneEvent::Kind::kStarted;
    event.record.id = id;
    event.process = static_cast<std::int64_t>(1000 + id);
  }
  std::vector<std::pair<Clock::time_point, std::uint64_t>> ended;
  for (const auto& [id, task] : tasks_) {
    if (!paused_ && task.ends <= std::min(now, lost_)) ended.emplace_back(task.ends, id);
  }
  std::sort(ended.begin(), ended.end());
  for (const auto& [at, id] : ended) {
    LaneEvent& event = events.emplace_back();
    event.kind = LaneEvent::Kind::kRecord;
    event.record = std::move(tasks_.at(id).record);
    town_.ledger.ends_at(tasks_.at(id).holding, at);
    if (event.record.status == TaskStatus::kOk) town_.made(tasks_.at(id).number);
    tasks_.erase(id);
  }
  if (now >= lost_) lose("its worker ended", false, events);
}

}  // namespace allot::worlds
