// The tasks of a worker, from request to record, with all their processes.
#pragma once

#include <poll.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/worker/detail/collector.hpp"
#include "allot/worker/detail/output_keeper.hpp"
#include "allot/worker/protocol.hpp"
#include "allot/worker/task.hpp"

namespace allot::detail {

/// For the main thread of a process that has no other children and adopts orphans (process.hpp). Does not
/// block.
class Tasks {
 public:
  /// The soft limit of descriptors for tasks; 0: the limit of this process.
  explicit Tasks(std::size_t most_descriptors);

  /// Queues the task: advance() starts one task at a time, so that the ends of other tasks are noticed
  /// promptly.
  void add(TaskRequest request) { waiting_.push_back(std::move(request)); }
  /// Sends a signal to all processes of a task; its record will be kKilled.
  void kill(std::uint64_t id, int signal);
  /// Pauses and resumes all processes. Nothing starts while paused.
  void pause();
  void resume();
  /// This process or its machine was stopped, and perhaps all tasks with it: time limits are extended by
  /// this.
  void slept(Clock::duration time);
  bool paused() const noexcept { return paused_since_.has_value(); }

  /// Adds the descriptors to wait for.
  void watch(std::vector<pollfd>& watched) const;
  /// When to call advance() at the latest, if that is before `latest`.
  Clock::time_point next(Clock::time_point latest) const;
  /// Reads from the watched descriptors that are ready.
  void collect(std::span<const pollfd> ready);
  /// Children have ended: reaps them.
  void reap();
  /// Kills the orphans whose task has ended. reap() does so, too, but cannot recognise a process during its
  /// execve(), when it has no environment.
  void end_leftovers();
  /// Starts a child that kills the tasks when this process is gone. At most once, before the first task.
  void start_guard();
  /// Starts the next task, and handles timeouts and delayed records.
  void advance(Clock::time_point now);

  /// The messages to send.
  std::vector<protocol::Message> take_news() { return std::exchange(news_, {}); }

  /// Removes the unfinished output of tasks; call it when their processes are dead.
  void discard_outputs();

 private:
  enum class EndedBy : std::uint8_t { kItself, kTimeout, kCaller };

  struct Running {
    TaskRequest request;
    Clock::time_point start;
    double start_unix = 0;
    std::optional<Clock::time_point> deadline;  ///< of the timeout, later of the grace period
    EndedBy ended_by = EndedBy::kItself;
    Clock::duration stopped{0};
    bool was_stopped = false;
    Collector out;
    Collector err;
  };

  struct Held {
    Clock::time_point until;
    TaskRecord record;
  };

  void start(TaskRequest request);
  void refuse(const TaskRequest& request, TaskStatus status, std::string error, bool not_found);
  void record(Running task, int wait_status, const rusage& usage);
  void check_timeouts(Clock::time_point now);
  void signal_task(pid_t process, std::uint64_t id, int signal) const;
  void account_pause(Running& task, Clock::time_point now) const;
  std::optional<std::uint64_t> owner(pid_t process) const;
  void signal_all(int signal) const;

  std::size_t most_descriptors_;
  pid_t guard_ = -1;
  std::string marker_;  ///< common prefix of the marker in the environment of this worker's tasks
  std::deque<TaskRequest> waiting_;
  std::map<pid_t, Running> running_;  ///< by main process
  std::deque<Held> held_;
  std::optional<OutputKeeper> keeper_;
  std::optional<Clock::time_point> paused_since_;
  std::vector<protocol::Message> news_;
};

/// For a value from a message: negative values become zero, and no value overflows the clock.
Clock::duration to_duration(double seconds) noexcept;

}  // namespace allot::detail
