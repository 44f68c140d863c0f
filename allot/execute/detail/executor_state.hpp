// The state of an executor. Its methods are in executor.cpp (tasks and ends) and executor_servers.cpp
// (servers and time).
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "allot/execute/executor.hpp"

namespace allot {

struct Executor::State {
  /// The phase of a server. The thread that hands it a turn changes it under the lock of the feed.
  enum Phase : std::uint32_t {
    kAwake,   ///< it works, or polls for work
    kAsleep,  ///< it sleeps and must be woken
    kHanded,  ///< it has been handed a turn
    kStop,
  };

  /// Maximum tasks that a server is given at once.
  static constexpr Count kMostTogether = 64;

  /// A thread and its current turn.
  struct alignas(64) Server {
    std::atomic<std::uint32_t> phase{kAwake};
    /// The range of `tasks` that have not begun: from (high half) to (low half). The server takes the first;
    /// a thread that finds the server held up takes all.
    std::atomic<std::uint32_t> range{0};
    std::atomic<std::uint64_t> turn_number{0};
    TaskFeed::Turn turn;  ///< changed under the lock of the feed
    std::array<Task*, kMostTogether> tasks{};
    std::uint64_t seen_turn = 0;  ///< the turn that the timekeeper saw last
    int core = -1;
    std::thread thread;
  };

  /// While it lives, the current thread counts as one that runs tasks or callbacks.
  class Mine {
   public:
    explicit Mine(const State& state) noexcept;
    ~Mine();
    Mine(const Mine&) = delete;
    Mine& operator=(const Mine&) = delete;

   private:
    const void* before_;
  };

  State(const ExecutorSetup& setup, const ExecutorOptions& options);
  ~State() { stop(); }

  // ---- tasks
  Task& make_task();
  void recycle(Task* first, Task* last, std::size_t tasks) noexcept;
  void start(Task& task, TaskType kind) noexcept;
  std::size_t cancel_waiting(std::optional<TaskType> kind);
  bool is_mine() const noexcept;

  // ---- servers
  void serve(std::size_t at, const ExecutorSetup::MakeState& make) noexcept;
  bool await_turn(Server& me) noexcept;
  void run_turn(Server& me, void* state) noexcept;
  void feed_servers() noexcept;
  void hand(const TaskFeed::Turn& turn) noexcept;
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
  /// Threads that wait for room continue once at most this many tasks are pending.
  std::size_t room() const noexcept {
    return options.backlog - std::min(options.backlog, std::max<std::size_t>(1, options.backlog / 4));
  }
  void close() noexcept;
  void stop() noexcept;

  const ExecutorOptions options;
  const std::vector<ExecutorSetup::OneKind> kinds;  ///< they own the functions that tasks point to
  std::unique_ptr<TaskFeed> feed;
  std::vector<std::size_t> first_server;  ///< by resource
  std::deque<Server> servers;

  alignas(64) std::atomic<std::size_t> pending{0};
  std::atomic<bool> closed{false};
  alignas(64) std::atomic<bool> has_lookout{false};  ///< a server without work polls for some
  alignas(64) std::atomic<Task*> returned{nullptr};
  alignas(64) std::mutex store_mutex;  ///< guards `free_tasks` and `store`
  Task* free_tasks = nullptr;
  std::deque<Task> store;  ///< a deque never moves its elements

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
  std::atomic<bool> keeps_time{false};  ///< the timekeeper wakes up at every tick
  std::atomic<bool> hands_several{false};
  bool stopping = false;
  std::thread timekeeper;
};

}  // namespace allot
