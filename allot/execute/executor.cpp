#include "allot/execute/executor.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

namespace allot {
namespace {

/// Tasks that a server is given at once, at most.
constexpr Count kMostTogether = 64;
/// How long a server without work looks out for some before it falls asleep: about as long as it takes to
/// wake it up.
constexpr int kLooks = 64;
constexpr int kMostPauses = 8;
/// How often it is looked whether a server is held up, and whether it is time for what waits.
constexpr std::chrono::milliseconds kTick{2};

inline void take_it_easy(int times) noexcept {
  for (int k = 0; k < times; ++k) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
  }
}

void stay_on([[maybe_unused]] int core) {
#if defined(__linux__)
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<std::size_t>(core), &cores);
  sched_setaffinity(0, sizeof cores, &cores);  // where it is not allowed, the thread runs anywhere
#endif
}

/// The executor whose server this thread is.
thread_local const void* t_executor = nullptr;

}  // namespace

struct Executor::State {
  /// What a server is at. Whoever hands it a turn changes it under the lock of the feed.
  enum Phase : std::uint32_t {
    kAwake,   ///< it works, or looks out for work
    kAsleep,  ///< it is to be woken
    kHanded,  ///< a turn is there
    kStop,
  };

  /// A thread, and the turn it has.
  struct alignas(64) Server {
    std::atomic<std::uint32_t> phase{kAwake};
    /// Those of `tasks` that have not begun: from (high half) to (low half). The server takes the first, and
    /// who finds it held up takes all.
    std::atomic<std::uint32_t> range{0};
    std::atomic<std::uint64_t> turn_number{0};
    TaskFeed::Turn turn;  ///< changed under the lock of the feed
    std::array<Task*, kMostTogether> tasks{};
    Server* wake_next = nullptr;
    std::uint64_t seen_turn = 0;  ///< the timekeeper's
    int core = -1;
    std::thread thread;
  };

  State(const ExecutorSetup& setup, const ExecutorOptions& options);
  ~State() { stop(); }

  // ---- tasks
  Task& make_task();
  void recycle(Task* first, Task* last, std::size_t tasks) noexcept;
  void start(Task& task, TaskType kind) noexcept;
  std::size_t cancel_waiting(std::optional<TaskType> kind);
  bool is_mine() const noexcept { return t_executor == this; }

  // ---- servers
  void serve(std::size_t at, const ExecutorSetup::MakeState& make) noexcept;
  bool await_turn(Server& me) noexcept;
  void run_turn(Server& me, void* state) noexcept;
  void feed_servers() noexcept;
  void hand(const TaskFeed::Turn& turn, Server*& to_wake) noexcept;
  static void wake(Server* chain) noexcept;
  static Task* take_first(Server& me) noexcept;
  static FeedTask* take_all(Server& held_up) noexcept;

  // ---- time
  void keep_time() noexcept;
  void need_time() noexcept;
  bool needs_time() const noexcept;
  void relieve_held_up() noexcept;

  // ---- ends
  void ended(std::size_t tasks) noexcept;
  bool wait_until(std::optional<Clock::time_point> end);
  /// Those who waited for room go on once there is some of it.
  std::size_t room() const noexcept {
    return options.backlog - std::min(options.backlog, std::max<std::size_t>(1, options.backlog / 4));
  }
  void close() noexcept;
  void stop() noexcept;

  const ExecutorOptions options;
  const std::vector<ExecutorSetup::OneKind> kinds;  ///< whose functions tasks look at
  std::unique_ptr<TaskFeed> feed;
  std::vector<std::size_t> first_server;  ///< by resource
  std::deque<Server> servers;

  alignas(64) std::atomic<std::size_t> pending{0};
  std::atomic<bool> closed{false};
  alignas(64) std::atomic<bool> has_lookout{false};  ///< a server without work looks out for some
  alignas(64) std::atomic<Task*> returned{nullptr};
  alignas(64) std::mutex store_mutex;  ///< over what follows
  Task* free_tasks = nullptr;
  std::deque<Task> store;  ///< which never moves them

  std::mutex end_mutex;
  std::condition_variable is_over;
  std::condition_variable has_room;
  std::atomic<int> wait_for_end{0};
  std::atomic<int> wait_for_room{0};

  std::mutex start_mutex;
  std::condition_variable start_changed;
  std::size_t started = 0;
  std::exception_ptr start_error;

  std::mutex time_mutex;
  std::condition_variable time_changed;
  std::atomic<bool> keeps_time{false};  ///< the timekeeper looks by itself
  std::atomic<bool> hands_several{false};
  bool stopping = false;
  std::thread timekeeper;
};

// ---- made

namespace {

FeedOptions feed_options(const ExecutorOptions& options, std::vector<Capacity> capacities) {
  FeedOptions out;
  out.dispatcher = options.dispatcher;
  out.dispatcher.policy = options.policy;
  out.dispatcher.policy_options.objective = options.objective;
  out.dispatcher.capacities = std::move(capacities);
  out.trace_tasks = options.trace_tasks;
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
  std::vector<TaskClass> types;
  std::vector<RatePrior> priors(kinds.size() * resources.size(), RatePrior::cannot_run());
  for (const auto& kind : kinds) {
    for (const auto& [j, rate] : kind.rates) priors[types.size() * resources.size() + index(j)] = rate;
    types.push_back(kind.type);
    if (types.back().count == 0) types.back().count = count;
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

/// A chain of tasks that are done with.
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

// ---- servers

void Executor::State::serve(std::size_t at, const ExecutorSetup::MakeState& make) noexcept {
  Server& me = servers[at];
  t_executor = this;
  if (me.core >= 0) stay_on(me.core);
  std::shared_ptr<void> state;
  std::exception_ptr error;
  try {
    const auto resource = std::upper_bound(first_server.begin(), first_server.end(), at) - 1;
    if (make) state = make(at - *resource);
  } catch (...) {
    error = std::current_exception();
  }
  {
    const std::lock_guard lock(start_mutex);
    ++started;
    if (error && !start_error) start_error = error;
  }
  start_changed.notify_all();
  while (await_turn(me)) run_turn(me, state.get());
}

/// Waits for a turn: a little while awake, where no other server does so, since the next task is often near.
bool Executor::State::await_turn(Server& me) noexcept {
  bool looks_out = me.phase.load(std::memory_order_relaxed) != kHanded && !has_lookout.exchange(true);
  for (int look = 0;;) {
    const std::uint32_t phase = me.phase.load(std::memory_order_acquire);
    if (phase == kHanded || phase == kStop) break;
    if (looks_out && look < kLooks) {
      if (feed->has_news()) {
        feed_servers();
        look = 0;
      } else {
        take_it_easy(std::min(1 << std::min(look, 10), kMostPauses));
        ++look;
      }
      continue;
    }
    std::uint32_t awake = kAwake;
    if (!me.phase.compare_exchange_strong(awake, kAsleep)) continue;
    if (looks_out) {
      looks_out = false;
      has_lookout.store(false);
      if (feed->has_news()) feed_servers();  // of those who relied on this lookout
    }
    me.phase.wait(kAsleep);
  }
  if (looks_out) {
    has_lookout.store(false);
    if (feed->has_news() && feed->free_servers() > 0) feed_servers();
  }
  std::uint32_t handed = kHanded;
  return me.phase.compare_exchange_strong(handed, kAwake);
}

Executor::Task* Executor::State::take_first(Server& me) noexcept {
  std::uint32_t range = me.range.load(std::memory_order_relaxed);
  do {
    if (range >> 16 == (range & 0xffff)) return nullptr;
  } while (!me.range.compare_exchange_weak(range, range + 0x10000, std::memory_order_acquire,
                                           std::memory_order_relaxed));
  return me.tasks[range >> 16];
}

/// All but the first of the turn, which its server begins in any case.
FeedTask* Executor::State::take_all(Server& held_up) noexcept {
  std::uint32_t range = held_up.range.load(std::memory_order_relaxed);
  std::uint32_t left = 0;
  do {
    left = std::max<std::uint32_t>(range >> 16, 1);
    if (left >= (range & 0xffff)) return nullptr;
  } while (!held_up.range.compare_exchange_weak(range, (range & 0xffff0000) | left, std::memory_order_acquire,
                                                std::memory_order_relaxed));
  FeedTask* chain = nullptr;
  for (std::size_t at = range & 0xffff; at > left; --at) {
    held_up.tasks[at - 1]->next = chain;
    chain = held_up.tasks[at - 1];
  }
  return chain;
}

void Executor::State::run_turn(Server& me, void* state) noexcept {
  const ResourceId j = me.turn.resource();
  const Clock::time_point begin = Clock::now();
  Count failed = 0;
  std::size_t tasks = 0;
  Task* done = nullptr;
  Task* last = nullptr;
  while (Task* const task = take_first(me)) {
    if (!task->step(*task, Step::kRun, j, state)) ++failed;
    task->next = done;
    done = task;
    if (last == nullptr) last = task;
    ++tasks;
  }
  const Clock::time_point end = Clock::now();
  Server* to_wake = nullptr;
  feed->ended(me.turn, to_seconds(end - begin), failed, end, kMostTogether,
              [&](const TaskFeed::Turn& turn) { hand(turn, to_wake); });
  wake(to_wake);
  recycle(done, last, tasks);
  need_time();
}

void Executor::State::feed_servers() noexcept {
  Server* to_wake = nullptr;
  feed->feed_servers(Clock::now(), kMostTogether, [&](const TaskFeed::Turn& turn) { hand(turn, to_wake); });
  wake(to_wake);
  need_time();
}

/// Under the lock of the feed.
void Executor::State::hand(const TaskFeed::Turn& turn, Server*& to_wake) noexcept {
  Server& server = servers[first_server[index(turn.resource())] + turn.server];
  server.turn = turn;
  std::uint32_t tasks = 0;
  for (WaitingTask* task = turn.first; task != nullptr; task = task->next)
    server.tasks[tasks++] = static_cast<Task*>(static_cast<FeedTask*>(task));
  server.turn_number.store(turn.number, std::memory_order_relaxed);
  server.range.store(tasks, std::memory_order_release);
  if (tasks > 1 && !hands_several.load(std::memory_order_relaxed)) hands_several.store(true);
  if (server.phase.exchange(kHanded) != kAsleep) return;
  server.wake_next = to_wake;
  to_wake = &server;
}

void Executor::State::wake(Server* chain) noexcept {
  while (chain != nullptr) {
    Server& server = *chain;
    chain = server.wake_next;  // once awake, it may be handed to again
    server.phase.notify_one();
  }
}

// ---- time

bool Executor::State::needs_time() const noexcept { return feed->waits_for_time() || hands_several.load(); }

/// Something waits that no task's end may ever start.
void Executor::State::need_time() noexcept {
  if (!needs_time() || keeps_time.load()) return;
  {
    const std::lock_guard lock(time_mutex);
    keeps_time.store(true);
  }
  time_changed.notify_one();
}

void Executor::State::keep_time() noexcept {
  std::unique_lock lock(time_mutex);
  while (!stopping) {
    if (!needs_time()) {
      keeps_time.store(false);
      if (!needs_time()) time_changed.wait(lock, [this] { return stopping || keeps_time.load(); });
      keeps_time.store(true);
      continue;
    }
    const Clock::time_point tick = Clock::now() + kTick;
    time_changed.wait_until(lock, std::min(tick, feed->ask_again().value_or(tick)),
                            [this] { return stopping; });
    lock.unlock();
    relieve_held_up();
    feed_servers();
    lock.lock();
  }
}

/// A server that is at the same turn as a tick ago keeps the task it is at, and no others.
void Executor::State::relieve_held_up() noexcept {
  bool several = false;
  for (Server& server : servers) {
    const std::uint32_t range = server.range.load();
    if ((range & 0xffff) <= std::max<std::uint32_t>(range >> 16, 1)) continue;
    several = true;
    const std::uint64_t number = server.turn_number.load();
    if (std::exchange(server.seen_turn, number) != number) continue;
    feed->give_back(server.turn, [&](const TaskFeed::Turn& turn) {
      return turn.number == number ? take_all(server) : nullptr;
    });
  }
  if (!several) hands_several.store(false);
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

Executor::~Executor() { shutdown(); }

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
