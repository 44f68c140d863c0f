#include "allot/execute/executor.hpp"

#include <algorithm>
#include <stdexcept>

#include "allot/execute/detail/executor_state.hpp"

namespace allot {

// ---- construction

namespace {

FeedOptions feed_options(const ExecutorOptions& options, std::vector<Capacity> capacities) {
  FeedOptions out;
  out.dispatcher = options.dispatcher;
  out.dispatcher.policy = options.policy;
  out.dispatcher.policy_options.objective = options.objective;
  out.dispatcher.capacities = std::move(capacities);
  out.trace_tasks = options.trace_tasks;
  out.moment = options.moment;
  out.rule = options.rule;
  return out;
}

}  // namespace

Executor::State::State(const ExecutorSetup& setup, const ExecutorOptions& given)
    : options(given), kinds(setup.kinds_) {
  std::vector<Resource> resources;
  Count count = 0;
  for (const auto& one : setup.resources_) {
    resources.push_back(one.resource);
    first_server.push_back(static_cast<std::size_t>(count));
    count += one.resource.servers;
  }
  const bool has_counts =
      std::any_of(kinds.begin(), kinds.end(), [](const auto& kind) { return kind.type.count > 0; });
  std::vector<TaskClass> types;
  std::vector<RatePrior> priors(kinds.size() * resources.size(), RatePrior::cannot_run());
  for (const auto& kind : kinds) {
    for (const auto& [j, rate] : kind.rates) priors[types.size() * resources.size() + index(j)] = rate;
    types.push_back(kind.type);
    if (!has_counts) types.back().count = 1;
    for (const auto& need : kind.capacity_needs)
      types.back().needs.push_back(
          {need.resource, capacity_id(resources.size() + need.capacity), need.amount});
  }
  feed = std::make_unique<TaskFeed>(std::move(resources), std::move(types), std::move(priors),
                                    feed_options(options, setup.capacities_));
  for (const auto& one : setup.resources_) {
    for (Count k = 0; k < one.resource.servers; ++k) {
      Server& server = servers.emplace_back();
      if (!one.cores.empty()) server.core = one.cores[static_cast<std::size_t>(k) % one.cores.size()];
    }
  }
  try {
    std::size_t at = 0;
    for (const auto& one : setup.resources_) {
      for (Count k = 0; k < one.resource.servers; ++k, ++at)
        servers[at].thread = std::thread([this, at, make = one.make] { serve(at, make); });
    }
    timekeeper = std::thread([this] { keep_time(); });
    std::unique_lock lock(start_mutex);
    start_changed.wait(lock, [this] { return started == servers.size(); });
    if (start_error) std::rethrow_exception(start_error);
  } catch (...) {
    stop();
    throw;
  }
}

void Executor::State::stop() noexcept {
  for (Server& server : servers) {
    server.phase.store(kStop);
    server.phase.notify_one();
  }
  {
    const std::lock_guard lock(time_mutex);
    stopping = true;
  }
  time_changed.notify_all();
  for (Server& server : servers) {
    if (server.thread.joinable()) server.thread.join();
  }
  if (timekeeper.joinable()) timekeeper.join();
}

// ---- tasks

Executor::Task& Executor::State::make_task() {
  for (;;) {
    const std::size_t before = pending.fetch_add(1);
    if (closed.load()) {
      ended(1);
      throw ExecutorClosed();
    }
    if (options.backlog == 0 || before < options.backlog || is_mine()) break;
    ended(1);
    std::unique_lock lock(end_mutex);
    wait_for_room.fetch_add(1);
    has_room.wait(lock, [this] { return pending.load() <= room() || closed.load(); });
    wait_for_room.fetch_sub(1);
  }
  const std::lock_guard lock(store_mutex);
  if (free_tasks == nullptr) free_tasks = returned.exchange(nullptr, std::memory_order_acquire);
  if (free_tasks == nullptr) return store.emplace_back();
  Task& task = *free_tasks;
  free_tasks = static_cast<Task*>(task.next);
  return task;
}

/// Recycles a chain of finished tasks.
void Executor::State::recycle(Task* first, Task* last, std::size_t tasks) noexcept {
  Task* before = returned.load(std::memory_order_relaxed);
  do {
    last->next = before;
  } while (
      !returned.compare_exchange_weak(before, first, std::memory_order_release, std::memory_order_relaxed));
  ended(tasks);
}

void Executor::State::start(Task& task, TaskType kind) noexcept {
  feed->put(task, kind);
  if (!has_lookout.load() && feed->free_servers() > 0) feed_servers();
}

std::size_t Executor::State::cancel_waiting(std::optional<TaskType> kind) {
  const Mine mine(*this);
  WaitingTask* task = feed->cancel_waiting(kind);
  std::size_t cancelled = 0;
  while (task != nullptr) {
    auto& one = static_cast<Task&>(static_cast<FeedTask&>(*task));
    task = task->next;
    one.step(one, Step::kCancel, {}, nullptr);
    recycle(&one, &one, 1);
    ++cancelled;
  }
  return cancelled;
}

// ---- ends

void Executor::State::ended(std::size_t tasks) noexcept {
  const std::size_t left = pending.fetch_sub(tasks) - tasks;
  const bool ends = left == 0 && wait_for_end.load() > 0;
  const bool makes_room = left <= room() && wait_for_room.load() > 0;
  if (!ends && !makes_room) return;
  const std::lock_guard lock(end_mutex);
  if (ends) is_over.notify_all();
  if (makes_room) has_room.notify_all();
}

void Executor::State::close() noexcept {
  const std::lock_guard lock(end_mutex);
  closed.store(true);
  has_room.notify_all();
}

bool Executor::State::wait_until(std::optional<Clock::time_point> end) {
  if (is_mine()) throw std::logic_error("a task cannot wait for all tasks, itself among them");
  std::unique_lock lock(end_mutex);
  wait_for_end.fetch_add(1);
  const auto none_left = [this] { return pending.load() == 0; };
  bool over = true;
  if (end) {
    over = is_over.wait_until(lock, *end, none_left);
  } else {
    is_over.wait(lock, none_left);
  }
  wait_for_end.fetch_sub(1);
  return over;
}

// ---- the executor

Executor::Executor(const ExecutorSetup& setup, const ExecutorOptions& options)
    : state_(std::make_unique<State>(setup, options)) {}

Executor::~Executor() {
  shutdown();
  if (!state_->is_mine()) return;
  std::thread([state = std::move(state_)] { state->wait_until(std::nullopt); }).detach();
}

Executor::Task& Executor::make_task() { return state_->make_task(); }
void Executor::drop_task(Task& task) noexcept { state_->recycle(&task, &task, 1); }
void Executor::start_task(Task& task, TaskType kind) noexcept { state_->start(task, kind); }

void Executor::wait() { state_->wait_until(std::nullopt); }
bool Executor::wait_for(std::chrono::nanoseconds time) {
  return state_->wait_until(Clock::now() + std::chrono::duration_cast<Clock::duration>(time));
}

std::size_t Executor::cancel_waiting(std::optional<TaskType> kind) { return state_->cancel_waiting(kind); }

void Executor::shutdown() {
  state_->close();
  if (!state_->is_mine()) state_->wait_until(std::nullopt);
}

void Executor::shutdown_now() {
  state_->close();
  state_->cancel_waiting(std::nullopt);
  if (!state_->is_mine()) state_->wait_until(std::nullopt);
}

std::size_t Executor::pending() const noexcept { return state_->pending.load(); }
const TaskFeed& Executor::feed() const noexcept { return *state_->feed; }
Dispatcher& Executor::dispatcher() noexcept { return state_->feed->dispatcher(); }

}  // namespace allot
