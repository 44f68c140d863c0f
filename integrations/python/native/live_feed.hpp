// The base of Python's executor: tasks are Python objects, and servers are Python threads. The library
// decides what runs where; idle threads wait without the interpreter lock.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "allot/execute/task_feed.hpp"
#include "integrations/python/native/live_dispatcher.hpp"

namespace allot::python {

/// A task and its Python object.
struct FeedItem : FeedTask {
  PyObject* work = nullptr;  ///< owned
};

/// The feed, with a mailbox for each server. It never touches a Python object: it may be used and destroyed
/// without the interpreter lock. A separate thread checks when a plan may have changed what idle servers
/// should do.
class ServerRoom {
 public:
  ServerRoom(const System& system, std::vector<RatePrior> priors, FeedOptions options)
      : feed_(system.resources(), system.tasks(), std::move(priors), std::move(options)) {
    for (std::size_t j = 0; j < feed_.resources(); ++j) {
      first_.push_back(servers_.size());
      for (Count k = 0; k < feed_.servers(resource_id(j)); ++k) servers_.emplace_back();
    }
    watch_ = std::thread([this] { watch(); });
  }
  ~ServerRoom() {
    {
      const std::lock_guard lock(watch_mutex_);
      is_over_ = true;
    }
    wake_watch_.notify_one();
    watch_.join();
  }
  ServerRoom(const ServerRoom&) = delete;
  ServerRoom& operator=(const ServerRoom&) = delete;

  TaskFeed& feed() noexcept { return feed_; }
  std::size_t servers() const noexcept { return servers_.size(); }
  ResourceId resource_of(std::size_t server) const noexcept {
    const auto after = std::upper_bound(first_.begin(), first_.end(), server);
    return resource_id(static_cast<std::size_t>(after - first_.begin()) - 1);
  }
  std::int64_t waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }

  void put(FeedItem& item, TaskType kind) {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    feed_.put(item, kind);
    if (feed_.free_servers() == 0) return;
    feed_.feed_servers(Clock::now(), 1, [this](const TaskFeed::Turn& turn) { hand(turn); });
    alert();
  }

  /// The server's turn has ended after `seconds`. Returns its next task if that is known at once.
  FeedItem* end(std::size_t server, double seconds, bool failed) {
    Server& own = servers_[server];
    const TaskFeed::Turn turn = *own.turn;
    own.turn.reset();  // it gets no other turn before `ended`
    feed_.ended(turn, seconds, failed ? 1 : 0, Clock::now(), 1,
                [this](const TaskFeed::Turn& next) { hand(next); });
    alert();
    const std::lock_guard lock(own.mutex);
    return own.turn ? static_cast<FeedItem*>(own.turn->first) : nullptr;
  }

  /// Waits until the server has a task; null: there will be no more tasks.
  FeedItem* await(std::size_t server) {
    Server& own = servers_[server];
    std::unique_lock lock(own.mutex);
    own.handed.wait(lock, [&] { return own.turn || (is_closed_ && waiting() == 0); });
    return own.turn ? static_cast<FeedItem*>(own.turn->first) : nullptr;
  }

  /// No more tasks will be put: servers end when no task waits.
  void close() {
    is_closed_ = true;
    wake_all();
  }
  /// The waiting tasks, as a chain.
  FeedTask* cancel_waiting() {
    FeedTask* const chain = feed_.cancel_waiting();
    for (const WaitingTask* task = chain; task != nullptr; task = task->next) waiting_.fetch_sub(1);
    if (is_closed_) wake_all();
    return chain;
  }

 private:
  struct Server {
    std::mutex mutex;
    std::condition_variable handed;
    std::optional<TaskFeed::Turn> turn;
  };

  void hand(const TaskFeed::Turn& turn) {
    Server& server = servers_[first_[index(turn.resource())] + turn.server];
    {
      const std::lock_guard lock(server.mutex);
      server.turn = turn;
    }
    server.handed.notify_one();
    if (waiting_.fetch_sub(1) == 1 && is_closed_) wake_all();
  }

  void wake_all() {
    for (Server& server : servers_) {
      { const std::lock_guard lock(server.mutex); }
      server.handed.notify_one();
    }
  }

  /// Tasks wait although servers are free: wakes the thread that looks again.
  void alert() {
    if (waiting() == 0 || feed_.free_servers() == 0 || !is_asleep_.load()) return;
    {
      const std::lock_guard lock(watch_mutex_);
      is_asleep_ = false;
    }
    wake_watch_.notify_one();
  }

  void watch() {
    std::unique_lock lock(watch_mutex_);
    while (!is_over_) {
      is_asleep_ = true;
      if (const std::optional<Clock::time_point> when = feed_.ask_again()) {
        is_asleep_ = false;
        wake_watch_.wait_until(lock, *when, [&] { return is_over_; });
      } else {
        wake_watch_.wait(lock, [&] { return is_over_ || !is_asleep_; });
      }
      lock.unlock();
      feed_.feed_servers(Clock::now(), 1, [this](const TaskFeed::Turn& turn) { hand(turn); });
      lock.lock();
    }
  }

  TaskFeed feed_;
  std::vector<std::size_t> first_;  ///< first server of each resource
  std::deque<Server> servers_;
  std::atomic<std::int64_t> waiting_{0};
  std::atomic<bool> is_closed_{false};
  std::mutex watch_mutex_;
  std::condition_variable wake_watch_;
  std::atomic<bool> is_asleep_{false};
  bool is_over_ = false;
  std::thread watch_;
};

/// The feed for Python. All methods except `close` and the destructor need the interpreter lock.
class LiveFeed {
 public:
  LiveFeed(const System& system, std::vector<RatePrior> priors, double worth, FeedOptions options)
      : directories_(std::make_shared<Directories>(system)), worth_(worth), process_(getpid()) {
    options.dispatcher.capacities = system.capacities();
    const std::uint64_t seed = options.dispatcher.seed;
    {
      const Unlocked released;
      room_ = std::make_shared<ServerRoom>(system, std::move(priors), std::move(options));
    }
    dispatcher_ = std::make_shared<LiveDispatcher>(
        directories_, std::shared_ptr<Dispatcher>(room_, &room_->feed().dispatcher()), worth_, seed);
    items_.resize(room_->servers());
  }
  ~LiveFeed() {
    if (getpid() != process_) {  // a fork has no threads to wait for
      static_cast<void>(new std::shared_ptr<ServerRoom>(std::move(room_)));
      dispatcher_.reset();
      return;
    }
    if (!room_) return;  // ended with the interpreter
    cancel_waiting();
    for (const FeedItem* const item : items_) delete item;
    dispatcher_.reset();
    end_without_lock(std::move(room_));
  }
  LiveFeed(const LiveFeed&) = delete;
  LiveFeed& operator=(const LiveFeed&) = delete;

  std::shared_ptr<LiveDispatcher> dispatcher() const { return dispatcher_; }
  const Directories& directories() const noexcept { return *directories_; }

  std::size_t add_kind(const py::object& rates, const py::dict& fields) {
    TaskClass added;
    dispatcher_->set_fields(task_fields(), fields, added);
    const TaskType kind = room()->feed().add_kind(added, priors_of(rates, directories_->resources, worth_));
    directories_->tasks.add(added.name);
    return index(kind);
  }

  void put(std::size_t kind, py::object work) {
    if (kind >= directories_->tasks.size()) raise_invalid("kind", "there is no such kind");
    const std::shared_ptr<ServerRoom> servers = room();
    auto* const item = new FeedItem;
    item->work = work.release().ptr();
    servers->put(*item, task_type(kind));
  }

  /// For the thread of a server: ends its previous task, if any, and returns its next one; waits for it.
  /// None: there will be no more tasks. `seconds`: run time of the previous task, NaN if it did not run.
  py::object next(std::size_t server, double seconds, bool failed) {
    const std::shared_ptr<ServerRoom> servers = room();
    FeedItem* item = nullptr;
    if (items_.at(server) != nullptr) {
      delete std::exchange(items_[server], nullptr);
      item = servers->end(server, seconds, failed);
    }
    if (item == nullptr) {
      const Unlocked released;
      item = servers->await(server);
    }
    if (item == nullptr) return py::none();
    items_[server] = item;
    return py::reinterpret_steal<py::object>(std::exchange(item->work, nullptr));
  }

  /// The waiting tasks, which will not run, in order of arrival.
  py::list cancel_waiting() {
    py::list works;
    FeedTask* chain = room()->cancel_waiting();
    while (chain != nullptr) {
      auto* const item = static_cast<FeedItem*>(chain);
      chain = static_cast<FeedTask*>(item->next);
      works.append(py::reinterpret_steal<py::object>(item->work));
      delete item;
    }
    return works;
  }

  void close() {
    if (room_ && getpid() == process_) room_->close();
  }

  /// By kind and resource: completed, failed, running and busy seconds; waiting by kind; seconds.
  py::object statistics() const {
    const FeedStatistics seen = room()->feed().statistics();
    const std::size_t width = directories_->resources.size();
    const auto matrix = [&](auto get) {
      py::array_t<decltype(get(FeedStatistics::Pair{}))> array({directories_->tasks.size(), width});
      auto* out = array.mutable_data();
      for (const TaskType i : seen.pairs.type_ids()) {
        for (const ResourceId j : seen.pairs.resource_ids()) *out++ = get(seen.pairs(i, j));
      }
      return read_only(std::move(array));
    };
    using Pair = FeedStatistics::Pair;
    return record("ExecutorStatistics", directories_->tasks.names(), directories_->resources.names(),
                  matrix([](const Pair& pair) { return static_cast<Count>(pair.completed); }),
                  matrix([](const Pair& pair) { return static_cast<Count>(pair.failed); }),
                  matrix([](const Pair& pair) { return pair.running; }),
                  matrix([](const Pair& pair) { return pair.busy_seconds; }),
                  to_array(std::span<const Count>(seen.waiting)), to_array(std::span<const Count>(seen.busy)),
                  seen.seconds);
  }
  std::string metrics() const { return room()->feed().metrics(); }
  std::string trace() const { return room()->feed().trace(); }

 private:
  std::shared_ptr<ServerRoom> room() const {
    if (getpid() != process_) raise_forked("this executor", "make a new one in the child");
    if (!room_) raise_ending();
    return room_;
  }

  std::shared_ptr<Directories> directories_;
  double worth_;
  pid_t process_;
  std::shared_ptr<ServerRoom> room_;
  std::shared_ptr<LiveDispatcher> dispatcher_;
  std::vector<FeedItem*> items_;  ///< the task that each server runs
  EndedInTime ended_in_time_{[this] { return std::shared_ptr<void>(std::move(room_)); }};
};

}  // namespace allot::python
