#include "allot/execute/task_feed.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"

namespace allot {
namespace {

/// Attempts to take the lock before a thread sleeps.
constexpr int kLockAttempts = 200;
/// How soon a new plan or a rate to learn is noticed if nothing else happens.
constexpr std::chrono::milliseconds kLook{2};
/// Maximum tasks that wait bound to a resource, per server.
constexpr Count kBoundPerServer = 4;
/// Weight of the latest turn in the mean.
constexpr double kMeanPart = 0.25;

std::vector<RatePrior> priors_of(const System& system) {
  std::vector<RatePrior> priors;
  for (const double rate : system.rates().values())
    priors.push_back(rate > 0 ? RatePrior::measured(rate) : RatePrior::cannot_run());
  return priors;
}

FeedOptions with_capacities(FeedOptions options, const System& system) {
  options.dispatcher.capacities = system.capacities();
  return options;
}

ServiceOrder::WhenAhead when_ahead(const PolicyInfo& policy, const PolicyOptions& options) {
  const bool exact = policy.holds_time_shares && options.shares == ShareReading::kExact;
  return exact ? ServiceOrder::WhenAhead::kIdle : ServiceOrder::WhenAhead::kServe;
}

/// Lets the processor pause briefly in a spin loop.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

TaskFeed::Lock::Lock(const TaskFeed& feed) : mutex_(feed.mutex_) {
  for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
    if (mutex_.try_lock()) return;
    pause();
  }
  mutex_.lock();
}

TaskFeed::TaskFeed(const System& system, FeedOptions options, Clock::time_point now)
    : TaskFeed(system.resources(), system.tasks(), priors_of(system),
               with_capacities(std::move(options), system), now) {}

TaskFeed::TaskFeed(std::vector<Resource> resources, std::vector<TaskClass> kinds,
                   std::vector<RatePrior> priors, FeedOptions options, Clock::time_point now)
    : options_(std::move(options)),
      resources_(std::move(resources)),
      made_(now),
      dispatcher_(resources_, kinds, priors, options_.dispatcher, now),
      kinds_(std::move(kinds)),
      lines_(
          {when_ahead(*find_policy(options_.dispatcher.policy), options_.dispatcher.policy_options), true}),
      pairs_(kinds_.size(), resources_.size()),
      mean_seconds_(kinds_.size(), resources_.size(), 0.0) {
  for (const TaskType i : pairs_.type_ids()) {
    for (const ResourceId j : pairs_.resource_ids())
      pairs_(i, j).is_possible = priors[index(i) * resources_.size() + index(j)].can_run;
  }
  if (find_policy(options_.dispatcher.policy)->binds_late && !options_.rule)
    late_.emplace(dispatcher_, now, std::chrono::duration_cast<Clock::duration>(options_.moment));
  for (const TaskClass& kind : kinds_) refuse_held(kind);
  lines_.resize(kinds_.size(), resources_.size());
  free_.resize(resources_.size());
  for (std::size_t j = 0; j < resources_.size(); ++j) {
    for (Count k = resources_[j].servers; k > 0; --k) free_[j].push_back(static_cast<std::uint32_t>(k - 1));
    free_servers_ += resources_[j].servers;
    if (resources_[j].discipline == Discipline::kFcfs)
      lines_.set_order(resource_id(j), Lines::Order::kArrival);
  }
  servers_ = free_servers_;
  present_.resize(kinds_.size());
  weights_.resize(kinds_.size());
  slices_.reserve(options_.trace_tasks);
}

TaskFeed::~TaskFeed() = default;

// ---- kinds and tasks

/// A policy that places tasks cannot let them wait for held capacities.
void TaskFeed::refuse_held(const TaskClass& kind) const {
  const auto is_held = [this](const Need& need) {
    const std::size_t at = index(need.capacity) - resources_.size();  // servers: beyond all others
    const std::vector<Capacity>& others = options_.dispatcher.capacities;
    return at >= others.size() || !others[at].shared;
  };
  if (late_ || std::none_of(kind.needs.begin(), kind.needs.end(), is_held)) return;
  throw InvalidModel("policy", "tasks with needs take a policy that binds late, such as 'planned', not " +
                                   quote::name(options_.rule ? "rule" : options_.dispatcher.policy));
}

TaskType TaskFeed::add_kind(const TaskClass& kind, std::vector<RatePrior> by_resource) {
  const Lock lock(*this);
  refuse_held(kind);
  const TaskType i = dispatcher_.add_type(kind, by_resource);
  kinds_.push_back(kind);
  pairs_.grow(kinds_.size(), resources_.size());
  for (const ResourceId j : pairs_.resource_ids()) pairs_(i, j).is_possible = by_resource[index(j)].can_run;
  mean_seconds_.grow(kinds_.size(), resources_.size());
  lines_.resize(kinds_.size(), resources_.size());
  present_.resize(kinds_.size());
  weights_.resize(kinds_.size());
  plan_.reset();
  return i;
}

void TaskFeed::put(FeedTask& task, TaskType kind) noexcept {
  task.ticket = {.type = kind};
  task.arrival = 0;
  FeedTask* before = inbox_.load(std::memory_order_relaxed);
  do {
    task.next = before;
  } while (
      !inbox_.compare_exchange_weak(before, &task, std::memory_order_seq_cst, std::memory_order_relaxed));
}

/// Moves the tasks from the inbox to the lines.
void TaskFeed::collect() {
  if (!has_news()) return;
  WaitingTask* latest = inbox_.exchange(nullptr, std::memory_order_acquire);
  WaitingTask* earliest = nullptr;
  while (latest != nullptr) {
    WaitingTask* const before = latest->next;
    latest->next = earliest;
    earliest = latest;
    latest = before;
  }
  while (earliest != nullptr) {
    auto& task = static_cast<FeedTask&>(*earliest);
    earliest = task.next;
    task.state = FeedTask::State::kWaiting;
    lines_.put_unbound(task);
  }
  tell_waiting();
}

void TaskFeed::tell_waiting() {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const TaskType kind = task_type(i);
    const auto waiting = static_cast<Count>(lines_.unbound(kind).size());
    if (!late_) {
      dispatcher_.set_waiting(kind, waiting);
    } else if (late_->waiting(kind) != waiting) {
      late_->set_waiting(kind, waiting);
    }
  }
}

/// Notes whether tasks wait although a server is free. If many more of a kind wait than the plan was made
/// for, asks for a new plan.
void TaskFeed::leave_waiting() {
  const bool waits = lines_.waiting() > 0 && free_servers() > 0;
  if (waits_for_time_.load(std::memory_order_relaxed) != waits)
    waits_for_time_.store(waits, std::memory_order_seq_cst);
  if (!waits || !late_ || hurried_ == late_->plan().number) return;
  const System& system = late_->plan().system;
  for (const TaskType i : pairs_.type_ids()) {
    const Count planned = index(i) < system.type_count() ? system.count(i) : 0;
    if (lines_.waiting(i) <= planned + planned / 4) continue;
    hurried_ = late_->plan().number;
    dispatcher_.hurry();
  }
}

void TaskFeed::leave_line(FeedTask& task) {
  lines_.remove(task);
  if (!task.unbound) {
    dispatcher_.cancel(task.ticket);
    --bound_;
  }
  task.state = FeedTask::State::kOut;
}

bool TaskFeed::cancel(FeedTask& task) {
  const Lock lock(*this);
  collect();
  if (task.state != FeedTask::State::kWaiting) return false;
  leave_line(task);
  tell_waiting();
  return true;
}

FeedTask* TaskFeed::cancel_waiting(std::optional<TaskType> kind) {
  const Lock lock(*this);
  collect();
  FeedTask* chain = nullptr;
  const auto empty = [&](const Line& line) {
    while (WaitingTask* const last = line.last()) {
      auto& task = static_cast<FeedTask&>(*last);
      leave_line(task);
      task.next = chain;
      chain = &task;
    }
  };
  for (const TaskType i : pairs_.type_ids()) {
    if (kind && *kind != i) continue;
    empty(lines_.unbound(i));
    for (const ResourceId j : pairs_.resource_ids()) empty(lines_.line(i, j));
  }
  tell_waiting();
  return chain;
}

// ---- servers

FeedTask& TaskFeed::pop(TaskType i) {
  auto& task = static_cast<FeedTask&>(*lines_.unbound(i).first());
  lines_.remove(task);
  task.state = FeedTask::State::kTaken;
  return task;
}

std::optional<TaskFeed::Turn> TaskFeed::next_turn(ResourceId j, Clock::time_point now, Count most) {
  if (free_[index(j)].empty()) return std::nullopt;
  collect();
  if (lines_.waiting() == 0) return std::nullopt;
  Turn turn;
  if (!(late_           ? take_late(turn, j, now, most)
        : options_.rule ? take_by_rule(turn, j, now)
                        : take_bound(turn, j, now)))
    return std::nullopt;
  turn.server = free_[index(j)].back();
  turn.number = ++turns_;
  turn.began = now;
  free_[index(j)].pop_back();
  free_servers_.fetch_sub(1, std::memory_order_seq_cst);
  pairs_(turn.kind(), j).running += turn.tasks();
  return turn;
}

bool TaskFeed::take_late(Turn& turn, ResourceId j, Clock::time_point now, Count most) {
  std::optional<LateDispatch::Start> start = late_->next(j, now);
  if (!start) {
    const std::optional<TaskType> other = rejected(j);
    if (!other) return false;
    start = late_->take_at(*other, j, now);
  }
  turn.start = *start;
  turn.first = &pop(turn.kind());
  const Count tasks = tasks_together(turn, most);
  if (tasks > 1) late_->resize(turn.start, tasks);
  FeedTask* last = turn.first;
  for (Count k = 1; k < tasks; ++k) {
    last->next = &pop(turn.kind());
    last = static_cast<FeedTask*>(last->next);
  }
  last->next = nullptr;
  return true;
}

/// As many as are short enough together, but only a part of the waiting tasks: other servers need some, too.
Count TaskFeed::tasks_together(const Turn& turn, Count most) const noexcept {
  const double mean = mean_seconds_(turn.kind(), turn.resource());
  if (most <= 1 || options_.trace_tasks > 0 || turn.start.ticket.explores || !(mean > 0)) return 1;
  const double short_enough = std::chrono::duration<double>(options_.together).count() / mean;
  const Count part = 1 + late_->spare(turn.kind()) / (2 * servers_);
  most = std::min({most, part, 1 + late_->spare(turn.kind())});
  return short_enough < static_cast<double>(most) ? std::max<Count>(1, static_cast<Count>(short_enough))
                                                  : most;
}

/// A kind that waits and whose tasks fail wherever they can run: letting it wait longer gains nothing.
std::optional<TaskType> TaskFeed::rejected(ResourceId j) const {
  for (const TaskType i : pairs_.type_ids()) {
    if (!lines_.unbound(i).empty() && is_rejected(i, j)) return i;
  }
  return std::nullopt;
}

bool TaskFeed::is_rejected(TaskType i, ResourceId j) const {
  if (!pairs_(i, j).is_possible) return false;
  for (const ResourceId other : pairs_.resource_ids()) {
    if (dispatcher_.allows(i, other)) return false;
  }
  return dispatcher_.estimate(i, j).breaker != Breaker::kClosed;
}

bool TaskFeed::take_by_rule(Turn& turn, ResourceId j, Clock::time_point now) {
  arrivals_.assign(kinds_.size(), 0);
  for (const TaskType i : pairs_.type_ids()) {
    const WaitingTask* const first = lines_.unbound(i).first();
    if (first != nullptr && (dispatcher_.allows(i, j) || is_rejected(i, j)))
      arrivals_[index(i)] = first->arrival;
  }
  present_.clear();
  for (const auto& servers : free_) present_.push_back(static_cast<Count>(servers.size()));
  const std::optional<TaskType> i = options_.rule(j, {arrivals_, present_});
  if (!i || index(*i) >= arrivals_.size() || arrivals_[index(*i)] == 0) return false;
  turn.start = {dispatcher_.place_at(*i, j, now), false, 1};
  turn.first = &pop(*i);
  turn.first->next = nullptr;
  dispatcher_.set_waiting(*i, static_cast<Count>(lines_.unbound(*i).size()));
  return true;
}

// ---- policies that place tasks

/// Binds tasks in order of arrival until the servers have enough.
void TaskFeed::bind(Clock::time_point now) {
  std::fill(present_.begin(), present_.end(), Count{0});  // 1: the kind can go nowhere now
  while (bound_ < kBoundPerServer * servers_) {
    WaitingTask* first = nullptr;
    for (const TaskType i : pairs_.type_ids()) {
      WaitingTask* const task = lines_.unbound(i).first();
      if (task != nullptr && present_[index(i)] == 0 && (first == nullptr || task->arrival < first->arrival))
        first = task;
    }
    if (first == nullptr) break;
    const TaskType i = first->ticket.type;
    std::optional<Ticket> ticket = dispatcher_.place(i, now);
    for (std::size_t j = 0; !ticket && j < resources_.size(); ++j) {
      if (is_rejected(i, resource_id(j))) ticket = dispatcher_.place_at(i, resource_id(j), now);
    }
    if (!ticket) {
      present_[index(i)] = 1;
      continue;
    }
    lines_.rebind(*first, *ticket);
    ++bound_;
  }
  tell_waiting();
}

/// Takes over the weights of the plan. If its target is different, waiting tasks are placed anew: otherwise
/// they might wait long at a resource that their kind no longer uses.
void TaskFeed::follow_plan() {
  if (plan_ != nullptr && plan_->number == dispatcher_.plan_number()) return;
  std::shared_ptr<const Plan> plan = dispatcher_.plan();
  const bool moved = plan_ != nullptr && plan->target != plan_->target;
  plan_ = std::move(plan);
  for (const ResourceId j : pairs_.resource_ids()) {
    if (!plan_->target && plan_->time_shares.empty()) break;
    for (std::size_t i = 0; i < weights_.size(); ++i)
      weights_[i] = i < plan_->system.type_count() ? plan_->part(task_type(i), j).value_or(0) : 0;
    lines_.set_weights(j, weights_);
  }
  if (moved) unbind_all();
}

void TaskFeed::unbind_all() {
  for (const TaskType i : pairs_.type_ids()) {
    for (const ResourceId j : pairs_.resource_ids()) {
      const Line& line = lines_.line(i, j);
      while (WaitingTask* const task =
                 line.first([](const WaitingTask& one) { return !one.ticket.explores; })) {
        lines_.remove(*task);
        dispatcher_.cancel(task->ticket);
        lines_.put_unbound(*task);
        --bound_;
      }
    }
  }
}

bool TaskFeed::take_bound(Turn& turn, ResourceId j, Clock::time_point now) {
  follow_plan();
  bind(now);
  if (!plan_->target && plan_->time_shares.empty()) {
    for (const TaskType i : pairs_.type_ids())
      present_[index(i)] = static_cast<Count>(lines_.line(i, j).size()) + pairs_(i, j).running;
    weights_.assign(present_.begin(), present_.end());
    lines_.set_weights(j, weights_);
  }
  auto* const task = static_cast<FeedTask*>(
      lines_.take(j, seconds(now), [&](TaskType i) { return !lines_.line(i, j).empty(); }));
  if (task == nullptr) return false;
  --bound_;
  task->state = FeedTask::State::kTaken;
  task->next = nullptr;
  turn.first = task;
  turn.start = {task->ticket, task->in_order, 1};
  return true;
}

// ---- ends

void TaskFeed::end_turn(const Turn& turn, double busy_seconds, Count failed, Clock::time_point now) {
  const auto [i, j] = std::pair(turn.kind(), turn.resource());
  const auto tasks = static_cast<double>(turn.tasks());
  FeedStatistics::Pair& pair = pairs_(i, j);
  pair.running -= turn.tasks();
  pair.completed += static_cast<std::uint64_t>(turn.tasks() - failed);
  pair.failed += static_cast<std::uint64_t>(failed);
  if (busy_seconds > 0) {
    pair.busy_seconds += busy_seconds;
    double& mean = mean_seconds_(i, j);
    mean += (mean > 0 ? kMeanPart : 1.0) * (busy_seconds / tasks - mean);
  }
  LateDispatch::Start start = turn.start;
  if (failed > 0 && failed < turn.tasks()) {  // some of them
    Ticket failures = start.ticket;
    failures.tasks = static_cast<std::uint32_t>(failed);
    start.ticket.tasks -= failures.tasks;
    dispatcher_.complete(failures, busy_seconds * static_cast<double>(failed) / tasks, false, now);
    busy_seconds *= static_cast<double>(start.ticket.tasks) / tasks;
    failed = 0;
  }
  if (late_) {
    late_->ended(start, busy_seconds, failed == 0, now);
  } else {
    dispatcher_.complete(start.ticket, busy_seconds, failed == 0, now);
    if (start.in_order) lines_.served(i, j, busy_seconds);
  }
  free_[index(j)].push_back(turn.server);
  free_servers_.fetch_add(1, std::memory_order_seq_cst);
  if (options_.trace_tasks == 0) return;
  const Slice slice{i,          j,  turn.server, turn.start.ticket.tasks > start.ticket.tasks || failed > 0,
                    turn.began, now};
  if (slices_.size() < options_.trace_tasks) {
    slices_.push_back(slice);
  } else {
    slices_[traced_ % options_.trace_tasks] = slice;
  }
  ++traced_;
}

void TaskFeed::put_back(Turn& turn, FeedTask* tasks) {
  if (tasks == nullptr) return;
  Count left = turn.tasks();
  while (tasks != nullptr) {
    FeedTask& task = *tasks;
    tasks = static_cast<FeedTask*>(task.next);
    task.state = FeedTask::State::kWaiting;
    lines_.put_unbound(task);
    --left;
  }
  pairs_(turn.kind(), turn.resource()).running -= turn.tasks() - left;
  if (late_) late_->resize(turn.start, left);
}

std::optional<Clock::time_point> TaskFeed::ask_again(Clock::time_point now) const {
  const Lock lock(*this);
  if (lines_.waiting() == 0 || free_servers() == 0) return std::nullopt;
  Clock::time_point when = now + kLook;
  for (const ResourceId j : pairs_.resource_ids()) {
    if (free_[index(j)].empty()) continue;
    if (late_) {
      if (const auto again = late_->ask_again(j)) when = std::min(when, *again);
    } else if (const auto until = lines_.idle_until(j)) {
      when =
          std::min(when, made_ + std::chrono::ceil<Clock::duration>(std::chrono::duration<double>(*until)));
    }
  }
  return when;
}

}  // namespace allot
