// Runs functions on threads, each on the resource where the plan puts it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "allot/execute/executor_setup.hpp"
#include "allot/execute/task_feed.hpp"
#include "allot/model/objective.hpp"

namespace allot {

/// The exception in the future of a cancelled task.
class TaskCancelled : public std::runtime_error {
 public:
  TaskCancelled() : std::runtime_error("the task was cancelled before it began") {}
};

/// Thrown by `submit` when the executor is closed.
class ExecutorClosed : public std::runtime_error {
 public:
  ExecutorClosed() : std::runtime_error("the executor takes no more tasks") {}
};

/// How a task ended.
template <typename Result>
class TaskResult {
 public:
  using Value = std::conditional_t<std::is_void_v<Result>, std::monostate, Result>;
  explicit TaskResult(std::exception_ptr error) : error_(std::move(error)) {}
  explicit TaskResult(Value value) {
    if constexpr (std::is_reference_v<Result>)
      value_ = std::addressof(value);
    else
      value_.emplace(std::move(value));
  }

  bool ok() const noexcept { return error_ == nullptr; }
  /// Null if it succeeded.
  const std::exception_ptr& error() const noexcept { return error_; }
  /// Rethrows the exception of the task.
  Result get() {
    if (error_ != nullptr) std::rethrow_exception(error_);
    if constexpr (std::is_reference_v<Result>)
      return **value_;
    else if constexpr (!std::is_void_v<Result>)
      return std::move(*value_);
  }

 private:
  using Held = std::conditional_t<std::is_reference_v<Result>, std::remove_reference_t<Result>*, Value>;
  std::exception_ptr error_;
  std::optional<Held> value_;
};

struct ExecutorOptions {
  std::string policy = "planned";  ///< one of `builtin_policies()`
  /// For `planned`: the most value (worths), or shares (priorities of all kinds).
  Objective objective = Objective::kThroughput;
  /// Maximum submitted tasks that have not ended: at the limit, `submit` waits. 0: no limit. Tasks and
  /// callbacks that submit never wait, because other tasks might wait for them.
  std::size_t backlog = 0;
  std::size_t trace_tasks = 0;                             ///< see `FeedOptions`
  std::chrono::nanoseconds moment = FeedOptions().moment;  ///< the same: 0 follows the plan exactly
  FeedRule rule = {};                                      ///< the same: decides instead of the policy
  /// Other options. Its policy, objective and capacities are replaced by those of this struct and the setup.
  DispatcherOptions dispatcher;
};

/// Runs kinds of task that have a function for each resource. Each server has a thread; a plan decides which
/// server takes which task. Rates are learned from the tasks.
///
/// Every method may be called from any thread, including from tasks and callbacks. Tasks and callbacks cannot
/// wait for all tasks.
class Executor {
 public:
  /// Starts the servers and waits until each has made its state. Throws InvalidModel if the setup is invalid,
  /// and rethrows exceptions from making a server's state.
  explicit Executor(const ExecutorSetup& setup, const ExecutorOptions& options = {});
  /// Like `shutdown()`: submitted tasks are run first. In a task or a callback of its own it does not wait: a
  /// detached thread waits for the tasks and ends the servers.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// A task: its arguments are copied or moved, and its function is called with them on some server. The
  /// future has what it returns or throws, or TaskCancelled. Throws ExecutorClosed.
  template <typename Result, typename... Arguments, typename... Given>
  std::future<Result> submit(const TaskKind<Result(Arguments...)>& kind, Given&&... arguments) {
    std::promise<Result> promise;
    std::future<Result> future = promise.get_future();
    put<Promised<Result, Arguments...>>(kind, std::move(promise), std::forward<Given>(arguments)...);
    return future;
  }
  /// The same; if stop is requested before the task begins, it is cancelled.
  template <typename Result, typename... Arguments, typename... Given>
  std::future<Result> submit(std::stop_token stop, const TaskKind<Result(Arguments...)>& kind,
                             Given&&... arguments) {
    std::promise<Result> promise;
    std::future<Result> future = promise.get_future();
    put<Stoppable<Result, Arguments...>>(kind, std::pair(std::move(promise), std::move(stop)),
                                         std::forward<Given>(arguments)...);
    return future;
  }
  /// When the task has ended, `callback(TaskResult<Result>)` is called on its server's thread, or on the
  /// thread that cancelled it. Exceptions of the callback are discarded.
  template <typename Result, typename... Arguments, typename Callback, typename... Given>
  void submit_then(const TaskKind<Result(Arguments...)>& kind, Callback callback, Given&&... arguments) {
    put<WithCallback<false, Callback, Result, Arguments...>>(kind, std::move(callback),
                                                             std::forward<Given>(arguments)...);
  }
  /// The same, but while the callback returns true, the task is submitted again as a new task, which may run
  /// elsewhere. It keeps its arguments as the function left them. Use it for repeating work and for retries.
  /// Once the executor is closed, the callback receives TaskCancelled instead.
  template <typename Result, typename... Arguments, typename Callback, typename... Given>
  void submit_while(const TaskKind<Result(Arguments...)>& kind, Callback callback, Given&&... arguments) {
    put<WithCallback<true, Callback, Result, Arguments...>>(kind, std::move(callback),
                                                            std::forward<Given>(arguments)...);
  }

  /// Waits until all submitted tasks have ended. Throws std::logic_error in a task or a callback.
  void wait();
  /// The same, for at most this long. Returns whether all have ended.
  bool wait_for(std::chrono::nanoseconds time);
  /// Cancels tasks that no server has taken yet, of one kind or of all. Returns how many.
  std::size_t cancel_waiting(std::optional<TaskType> kind = std::nullopt);
  template <typename Signature>
  std::size_t cancel_waiting(const TaskKind<Signature>& kind) {
    return cancel_waiting(std::optional(kind.id()));
  }
  /// Accepts no more tasks and waits until the present ones have ended; does not wait in a task or a
  /// callback.
  void shutdown();
  /// The same, but cancels tasks that no server has taken yet.
  void shutdown_now();

  /// Tasks that are submitted and have not ended.
  std::size_t pending() const noexcept;
  FeedStatistics statistics() const { return feed().statistics(); }
  /// OpenMetrics text.
  std::string metrics() const { return feed().metrics(); }
  /// The latest tasks as JSON for ui.perfetto.dev.
  std::string trace() const { return feed().trace(); }
  const TaskFeed& feed() const noexcept;
  /// Plans, estimates and changes: see `Dispatcher`.
  Dispatcher& dispatcher() noexcept;

 private:
  struct State;
  enum class Step : std::uint8_t { kRun, kCancel };
  struct Ending {
    bool ok = true;      ///< the function did not throw
    bool again = false;  ///< the task is to be submitted again
  };

  /// A task with its arguments: in place if they fit, otherwise on the heap.
  struct alignas(64) Task : FeedTask {
    static constexpr std::size_t kRoom = 96;
    /// Does the step, and destroys the contents of `room` unless the task is submitted again.
    Ending (*step)(Task&, Step, ResourceId, void* state) noexcept = nullptr;
    alignas(16) std::byte room[kRoom];
  };

  template <typename Result, typename... Arguments>
  struct Work {
    using Function = typename TaskKind<Result(Arguments...)>::Function;
    const Function* functions;  ///< the setup's, which the executor keeps
    std::tuple<std::decay_t<Arguments>...> values;

    Result call(ResourceId j, void* state) { return functions[index(j)](state, values); }
  };

  template <typename Result, typename... Arguments>
  struct Promised : Work<Result, Arguments...> {
    std::promise<Result> promise;
    template <typename... Given>
    Promised(const typename Work<Result, Arguments...>::Function* table, std::promise<Result> given,
             Given&&... arguments)
        : Work<Result, Arguments...>{table, typename TaskKind<Result(Arguments...)>::Values(
                                                std::forward<Given>(arguments)...)},
          promise(std::move(given)) {}
    bool run(ResourceId j, void* state) noexcept {
      try {
        if constexpr (std::is_void_v<Result>) {
          this->call(j, state);
          promise.set_value();
        } else {
          promise.set_value(this->call(j, state));
        }
        return true;
      } catch (...) {
        promise.set_exception(std::current_exception());
        return false;
      }
    }
    void cancel() noexcept { promise.set_exception(std::make_exception_ptr(TaskCancelled())); }
  };

  template <typename Result, typename... Arguments>
  struct Stoppable : Promised<Result, Arguments...> {
    std::stop_token stop;
    template <typename... Given>
    Stoppable(const typename Work<Result, Arguments...>::Function* table,
              std::pair<std::promise<Result>, std::stop_token> given, Given&&... arguments)
        : Promised<Result, Arguments...>(table, std::move(given.first), std::forward<Given>(arguments)...),
          stop(std::move(given.second)) {}
    bool run(ResourceId j, void* state) noexcept {
      if (!stop.stop_requested()) return Promised<Result, Arguments...>::run(j, state);
      this->cancel();
      return true;
    }
  };

  template <bool kRepeats, typename Callback, typename Result, typename... Arguments>
  struct WithCallback : Work<Result, Arguments...> {
    Callback callback;
    template <typename... Given>
    WithCallback(const typename Work<Result, Arguments...>::Function* table, Callback given,
                 Given&&... arguments)
        : Work<Result, Arguments...>{table, typename TaskKind<Result(Arguments...)>::Values(
                                                std::forward<Given>(arguments)...)},
          callback(std::move(given)) {}
    Ending run(ResourceId j, void* state) noexcept {
      std::optional<TaskResult<Result>> outcome;
      try {
        if constexpr (std::is_void_v<Result>) {
          this->call(j, state);
          outcome.emplace(std::monostate());
        } else {
          outcome.emplace(this->call(j, state));
        }
      } catch (...) {
        outcome.emplace(std::current_exception());
      }
      const bool ok = outcome->ok();
      return {ok, tell(std::move(*outcome))};
    }
    void cancel() noexcept { tell(TaskResult<Result>(std::make_exception_ptr(TaskCancelled()))); }
    bool tell(TaskResult<Result> outcome) noexcept {
      try {
        if constexpr (kRepeats) return callback(std::move(outcome));
        callback(std::move(outcome));
      } catch (...) {
      }
      return false;
    }
  };

  template <typename Held>
  static Ending act(Held& work, Step step, ResourceId j, void* state) noexcept {
    if (step == Step::kRun) return {work.run(j, state)};
    work.cancel();
    return {};
  }

  template <typename Held, typename Signature, typename... Given>
  void put(const TaskKind<Signature>& kind, Given&&... given) {
    Task& task = make_task();
    constexpr bool is_aligned = alignof(Held) <= 16;
    try {
      if constexpr (is_aligned && sizeof(Held) <= Task::kRoom) {
        new (task.room) Held(kind.functions_->data(), std::forward<Given>(given)...);
        task.step = [](Task& one, Step step, ResourceId j, void* state) noexcept {
          Held& work = *std::launder(reinterpret_cast<Held*>(one.room));
          const Ending ending = act(work, step, j, state);
          if (!ending.again) work.~Held();
          return ending;
        };
      } else {
        new (task.room) Held*(new Held(kind.functions_->data(), std::forward<Given>(given)...));
        task.step = [](Task& one, Step step, ResourceId j, void* state) noexcept {
          std::unique_ptr<Held> work(*std::launder(reinterpret_cast<Held**>(one.room)));
          const Ending ending = act(*work, step, j, state);
          if (ending.again) (void)work.release();
          return ending;
        };
      }
    } catch (...) {
      drop_task(task);
      throw;
    }
    start_task(task, kind.id());
  }

  Task& make_task();
  void drop_task(Task& task) noexcept;
  void start_task(Task& task, TaskType kind) noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace allot
