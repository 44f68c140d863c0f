// The servers of an executor: how they wait, what they run, and how servers that are held up are relieved.
#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <utility>

#include "allot/execute/detail/executor_state.hpp"

namespace allot {
namespace {

/// How long a server without work polls before it falls asleep: about as long as waking it up takes.
constexpr int kLooks = 64;
constexpr int kMostPauses = 8;
/// How often the timekeeper checks for servers that are held up and for tasks that wait for time.
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

void stay_on([[maybe_unused]] std::size_t core) {
#if defined(__linux__)
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (core < CPU_SETSIZE) CPU_SET(core, &cores);
  sched_setaffinity(0, sizeof cores, &cores);  // where it is not allowed, the thread runs anywhere
#endif
}

/// The executor to which this thread belongs as a server.
thread_local const void* t_executor = nullptr;

}  // namespace

bool Executor::State::is_mine() const noexcept { return t_executor == this; }

Executor::State::Mine::Mine(const State& state) noexcept : before_(std::exchange(t_executor, &state)) {}
Executor::State::Mine::~Mine() { t_executor = before_; }

// ---- servers

void Executor::State::serve(std::size_t at, const ExecutorSetup::MakeState& make) noexcept {
  Server& me = servers[at];
  const Mine mine(*this);
  if (me.core >= 0) stay_on(static_cast<std::size_t>(me.core));
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

/// Waits for a turn. Polls for a short time if no other server does, because the next task often comes soon.
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
      if (feed->has_news()) feed_servers();  // for tasks put by threads that relied on this server's polling
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

/// All tasks of the turn except the first, which its server begins in any case.
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
  Task* again = nullptr;  // the latest task, if it is submitted again
  while (Task* const task = take_first(me)) {
    if (again != nullptr) start(*std::exchange(again, nullptr), me.turn.kind());
    const Ending ending = task->step(*task, Step::kRun, j, state);
    if (!ending.ok) ++failed;
    if (ending.again) {
      if (!closed.load()) {
        again = task;
        continue;
      }
      task->step(*task, Step::kCancel, j, state);
    }
    task->next = done;
    done = task;
    if (last == nullptr) last = task;
    ++tasks;
  }
  const Clock::time_point end = Clock::now();
  feed->ended(
      me.turn, to_seconds(end - begin), failed, end, kMostTogether,
      [&](const TaskFeed::Turn& turn) { hand(turn); }, again);
  if (done != nullptr) recycle(done, last, tasks);
  need_time();
}

void Executor::State::feed_servers() noexcept {
  feed->feed_servers(Clock::now(), kMostTogether, [&](const TaskFeed::Turn& turn) { hand(turn); });
  need_time();
}

/// Under the lock of the feed.
void Executor::State::hand(const TaskFeed::Turn& turn) noexcept {
  Server& server = servers[first_server[index(turn.resource())] + turn.server];
  server.turn = turn;
  std::uint32_t tasks = 0;
  for (WaitingTask* task = turn.first; task != nullptr; task = task->next)
    server.tasks[tasks++] = static_cast<Task*>(static_cast<FeedTask*>(task));
  server.turn_number.store(turn.number, std::memory_order_relaxed);
  server.range.store(tasks, std::memory_order_release);
  if (tasks > 1 && !hands_several.load(std::memory_order_relaxed)) hands_several.store(true);
  if (server.phase.exchange(kHanded) == kAsleep) server.phase.notify_one();
}

// ---- time

bool Executor::State::needs_time() const noexcept { return feed->waits_for_time() || hands_several.load(); }

/// Wakes the timekeeper if tasks wait for time, or if servers hold several tasks.
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

/// A server that is still in the turn of the last tick keeps the task that it runs, and gives back the
/// others.
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

}  // namespace allot
