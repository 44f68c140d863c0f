// The layer below executors: hosts put tasks and ask what a free server runs next. It has no threads and
// stores no functions, so a thread pool, another runtime, or an interpreter can use it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allot/base/clock.hpp"
#include "allot/base/per.hpp"
#include "allot/dispatch/dispatcher.hpp"
#include "allot/dispatch/late_dispatch.hpp"
#include "allot/dispatch/lines.hpp"

namespace allot {

/// A task in a feed. Hosts derive their own class from it, and must not move it until it has ended or was
/// cancelled.
struct FeedTask : WaitingTask {
  enum class State : std::uint8_t {
    kOut,  ///< the feed does not have it
    kWaiting,
    kTaken,  ///< by a server
  };
  State state = State::kOut;  ///< the feed's, under its lock
};

/// What a rule looks at when a server of a resource is free. Views only: valid during the call.
struct FeedView {
  /// For each kind, the arrival number of the task that has waited longest; a lower number came earlier. 0:
  /// no task waits, or the resource cannot run one now.
  std::span<const std::uint64_t> arrivals;
  std::span<const Count> free;  ///< servers, by resource
};

/// Chooses the kind whose task a free server of the resource runs. None: the server stays idle until a task
/// is put or ends anywhere, at most for a few milliseconds.
using FeedRule = std::function<std::optional<TaskType>(ResourceId, const FeedView&)>;

struct FeedOptions {
  /// The default policy is `planned`.
  DispatcherOptions dispatcher{.policy = "planned"};
  /// A server that asks for several tasks gets as many short ones as together take less than this.
  std::chrono::nanoseconds together{50'000};
  /// How many of the latest tasks `trace` keeps. 0: none. Otherwise a server is given one task at a time.
  std::size_t trace_tasks = 0;
  /// A server that is ahead of the plan by less than this continues, and a kind without a share in the plan
  /// does not wait forever while a server is free: see `LateDispatch`. 0: follow the plan exactly.
  std::chrono::nanoseconds moment{500'000};
  /// Decides instead of the policy, whose plans are not used then. Rates are learned from its choices. It is
  /// called under the lock: it must not call the feed or throw.
  FeedRule rule = {};
};

/// Since the feed was made.
struct FeedStatistics {
  struct Pair {
    std::uint64_t completed = 0;
    std::uint64_t failed = 0;
    Count running = 0;         ///< now
    double busy_seconds = 0;   ///< of all tasks that ended
    bool is_possible = false;  ///< tasks of the kind can run there
  };
  PerPair<Pair> pairs;         ///< by kind and resource
  std::vector<Count> waiting;  ///< now, by kind
  std::vector<Count> busy;     ///< servers at work now, by resource
  double seconds = 0;
};

/// Tasks of several kinds, and the servers of several resources. A host puts tasks and asks what each free
/// server runs next:
///
///     feed.put(task, kind);                            // a task is ready; from any thread
///     if (auto turn = feed.next(j)) {                  // a server of j takes it
///       run(*turn->first, turn->server);               // your code
///       feed.ended(*turn, busy_seconds);               // exactly once for each turn
///     }
///
/// After a task was put and after a turn has ended, any resource may have something to run: `feed_servers`
/// checks all that have a free server. Also call it at the time that `ask_again` returns.
///
/// A policy that binds late (`planned`) decides when a server is free. Any other policy binds a task to a
/// resource earlier, but not much earlier: only as many tasks wait bound as the servers can run soon; the
/// others wait in order of arrival. Tasks with held needs require a policy that binds late; shared capacities
/// make no task wait. Resources with the discipline `kFcfs` serve tasks in order of arrival.
///
/// A kind whose tasks fail on all resources is still run: the tasks themselves are at fault.
///
/// Every method may be called from any thread. `put` takes no lock and never waits; all others take one for
/// about a microsecond. Nothing is allocated for a task.
class TaskFeed {
 public:
  /// `priors` is row-major, one per kind and resource: see `RatePrior`. Throws InvalidModel if the policy is
  /// unknown or the system is invalid.
  TaskFeed(std::vector<Resource> resources, std::vector<TaskClass> kinds, std::vector<RatePrior> priors,
           FeedOptions options = {}, Clock::time_point now = Clock::now());
  /// The same with all that a scenario says about the machine; learning starts from its rates.
  explicit TaskFeed(const System& system, FeedOptions options = {}, Clock::time_point now = Clock::now());
  ~TaskFeed();
  TaskFeed(const TaskFeed&) = delete;
  TaskFeed& operator=(const TaskFeed&) = delete;

  /// These throw InvalidModel if the name is unknown.
  TaskType kind(std::string_view name) const;
  ResourceId resource(std::string_view name) const;
  std::string kind_name(TaskType i) const;
  std::size_t kinds() const;
  std::size_t resources() const noexcept { return resources_.size(); }
  Count servers(ResourceId j) const noexcept { return resources_[index(j)].servers; }
  /// Adds a kind later, see `Dispatcher::add_type`. Its tasks wait a few milliseconds until there is a plan
  /// for it.
  TaskType add_kind(const TaskClass& kind, std::vector<RatePrior> by_resource);

  // ---- tasks

  /// The task is ready. It must not be in a feed.
  void put(FeedTask& task, TaskType kind) noexcept;
  /// Takes back a waiting task. False: a server has taken it, or it is not in the feed.
  bool cancel(FeedTask& task);
  /// Takes back all waiting tasks, of one kind or of all, as a chain by `next`.
  FeedTask* cancel_waiting(std::optional<TaskType> kind = std::nullopt);

  // ---- servers

  /// What a server runs: a task, or several of one kind, one after another.
  struct Turn {
    LateDispatch::Start start;  ///< its ticket has kind, resource and number of tasks
    std::uint32_t server = 0;   ///< of the resource, from 0
    FeedTask* first = nullptr;  ///< the others follow by `next`
    std::uint64_t number = 0;   ///< of the turn, increasing
    Clock::time_point began;

    TaskType kind() const noexcept { return start.ticket.type; }
    ResourceId resource() const noexcept { return start.ticket.resource; }
    Count tasks() const noexcept { return start.ticket.tasks; }
  };

  /// What a server of the resource runs now. None: no server is free, nothing waits, or the waiting tasks are
  /// for other resources. At most `most` tasks; more than one only if they are short and many wait.
  std::optional<Turn> next(ResourceId j, Clock::time_point now = Clock::now(), Count most = 1) {
    const Lock lock(*this);
    return next_turn(j, now, most);
  }
  /// Calls `hand(turn)` for every turn that can begin now, anywhere. `hand` is called under the lock; it
  /// may call only `put` of the feed.
  template <typename Hand>
  void feed_servers(Clock::time_point now, Count most, const Hand& hand) {
    const Lock lock(*this);
    feed_free(now, most, hand);
  }
  /// The turn has ended: its tasks belong to the host again, and its server is free. `busy_seconds`: run time
  /// of all its tasks together, without waiting. `failed` of them count as failures.
  void ended(const Turn& turn, double busy_seconds, Count failed = 0, Clock::time_point now = Clock::now()) {
    const Lock lock(*this);
    end_turn(turn, busy_seconds, failed, now);
  }
  /// Both at once; the server that has become free is served first. `again`: a task of the turn to put again
  /// before anything else is decided.
  template <typename Hand>
  void ended(const Turn& turn, double busy_seconds, Count failed, Clock::time_point now, Count most,
             const Hand& hand, FeedTask* again = nullptr) {
    const Lock lock(*this);
    end_turn(turn, busy_seconds, failed, now);
    if (again != nullptr) put(*again, turn.kind());
    while (const std::optional<Turn> own = next_turn(turn.resource(), now, most)) hand(*own);
    feed_free(now, most, hand);
  }
  /// Calls `recall(turn)` under the lock. It returns, as a chain, the tasks of the turn that have not begun
  /// and will not begin: they wait again, first of their kind. For a host whose server is held up.
  template <typename Recall>
  void give_back(Turn& turn, const Recall& recall) {
    const Lock lock(*this);
    put_back(turn, recall(turn));
  }

  /// When to call `feed_servers` again even if nothing has happened. Absent: calls after put tasks and ended
  /// turns are enough.
  std::optional<Clock::time_point> ask_again(Clock::time_point now = Clock::now()) const;

  /// Whether tasks were put that no server has seen yet; whether tasks waited although a server was free at
  /// the end of the last `feed_servers`, so that it must be called again later; how many servers are free.
  /// All are lock-free.
  bool has_news() const noexcept { return inbox_.load(std::memory_order_seq_cst) != nullptr; }
  bool waits_for_time() const noexcept { return waits_for_time_.load(std::memory_order_seq_cst); }
  Count free_servers() const noexcept { return free_servers_.load(std::memory_order_seq_cst); }

  // ---- reports

  FeedStatistics statistics(Clock::time_point now = Clock::now()) const;
  /// The numbers as OpenMetrics text: names as in docs/reference/metrics.md.
  std::string metrics(Clock::time_point now = Clock::now()) const;
  /// The latest tasks as JSON for ui.perfetto.dev.
  std::string trace() const;
  /// Estimates, plans, and changes: drained or lost resources, counts, shares.
  Dispatcher& dispatcher() noexcept { return dispatcher_; }
  const Dispatcher& dispatcher() const noexcept { return dispatcher_; }

 private:
  struct Slice {
    TaskType kind{};
    ResourceId resource{};
    std::uint32_t server = 0;
    bool failed = false;
    Clock::time_point begin;
    Clock::time_point end;
  };
  /// Spins before it sleeps: a decision takes less time than a thread needs to fall asleep and wake up.
  class Lock {
   public:
    explicit Lock(const TaskFeed& feed);
    ~Lock() { mutex_.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    std::mutex& mutex_;
  };

  template <typename Hand>
  void feed_free(Clock::time_point now, Count most, const Hand& hand) {
    collect();
    for (std::size_t j = 0; j < resources_.size() && lines_.waiting() > 0; ++j) {
      while (const std::optional<Turn> turn = next_turn(resource_id(j), now, most)) hand(*turn);
    }
    leave_waiting();
  }
  double seconds(Clock::time_point now) const noexcept { return to_seconds(now - made_); }
  std::int64_t nanoseconds(Clock::time_point at) const noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(at - made_).count();
  }
  void collect();
  void tell_waiting();
  void leave_waiting();
  FeedTask& pop(TaskType i);
  std::optional<Turn> next_turn(ResourceId j, Clock::time_point now, Count most);
  bool take_late(Turn& turn, ResourceId j, Clock::time_point now, Count most);
  bool take_bound(Turn& turn, ResourceId j, Clock::time_point now);
  bool take_by_rule(Turn& turn, ResourceId j, Clock::time_point now);
  void refuse_held(const TaskClass& kind) const;
  Count tasks_together(const Turn& turn, Count most) const noexcept;
  std::optional<TaskType> rejected(ResourceId j) const;
  bool is_rejected(TaskType i, ResourceId j) const;
  void bind(Clock::time_point now);
  void follow_plan();
  void unbind_all();
  void end_turn(const Turn& turn, double busy_seconds, Count failed, Clock::time_point now);
  void put_back(Turn& turn, FeedTask* tasks);
  void leave_line(FeedTask& task);

  const FeedOptions options_;
  const std::vector<Resource> resources_;
  const Clock::time_point made_;
  Dispatcher dispatcher_;
  Count servers_ = 0;  ///< of all resources

  alignas(64) std::atomic<FeedTask*> inbox_{nullptr};  ///< the latest first
  alignas(64) std::atomic<Count> free_servers_{0};
  std::atomic<bool> waits_for_time_{false};

  mutable std::mutex mutex_;  ///< guards all members below
  std::vector<TaskClass> kinds_;
  std::optional<LateDispatch> late_;     ///< only for a policy that binds late
  Lines lines_;                          ///< other policies bind tasks shortly before they run
  Count bound_ = 0;                      ///< tasks that wait bound to a resource
  std::shared_ptr<const Plan> plan_;     ///< the plan that the lines follow; only for a policy that places
                                         ///< tasks
  std::vector<Count> present_;           ///< scratch: tasks of each kind at a resource, or free servers
  std::vector<double> weights_;          ///< scratch
  std::vector<std::uint64_t> arrivals_;  ///< scratch
  std::vector<std::vector<std::uint32_t>> free_;  ///< free servers by resource, the latest last
  PerPair<FeedStatistics::Pair> pairs_;
  PerPair<double> mean_seconds_;  ///< of the latest tasks; 0: no task has ended
  std::uint64_t turns_ = 0;
  std::uint64_t hurried_ = 0;  ///< number of the plan for which a better one was requested
  std::vector<Slice> slices_;  ///< ring buffer
  std::uint64_t traced_ = 0;
};

}  // namespace allot
