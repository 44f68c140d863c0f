// The near end of a lane. Its worker, here or on another machine, runs tasks and reports on them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/worker/task.hpp"

namespace allot {

struct LaneOptions {
  /// The worker's command, quoted if the launcher is ssh. Empty: the running program itself with "worker".
  /// Behind a launcher this is the path from this_program() at the time the lane is made; resolve it once if
  /// you open lanes repeatedly.
  std::vector<std::string> worker;
  std::vector<std::string> environment;              ///< "NAME=value", on top of this process's own
  std::chrono::duration<double> heartbeat{1};        ///< both ends send something at least this often
  std::chrono::duration<double> deadline{15};        ///< the lane is lost after this time without a message
                                                     ///< from the worker
  std::chrono::duration<double> hello_deadline{60};  ///< maximum time from the start to the worker's first
                                                     ///< message
  /// A worker behind a launcher ends after this time without a message from the near end, unless paused: for
  /// connections that break without an end of file. 0: never. A local worker always sees the end of file.
  std::chrono::duration<double> silence{300};
};

struct LaneEvent {
  enum class Kind : std::uint8_t {
    kReady,    ///< the worker has started
    kStarted,  ///< task `record.id` is running, as `process` where the worker is
    kRecord,   ///< how a task ended, checked by record_check.hpp; exactly one per sent task, with status
               ///< kLost if the outcome is unknown
    kLost,     ///< the lane can no longer be used: `why` has the reason and the last output of the launcher
    kEnded,    ///< the same, as requested by finish()
  };
  Kind kind = Kind::kReady;
  TaskRecord record;
  std::int64_t process = 0;  ///< of kStarted
  std::string why;
  bool not_found = false;  ///< of kLost: the launcher cannot be executed, now or later
  bool is_stranger =
      false;  ///< of kLost: the program that was started is not a worker, or not one of this protocol
};

/// The near end of a lane, for code that sends tasks. Never blocks. Not thread-safe.
class Lane {
 public:
  virtual ~Lane() = default;

  /// For poll(): call pump() when it is readable; -1 if there is nothing to wait for.
  virtual int read_fd() const noexcept = 0;
  virtual int write_fd() const noexcept = 0;
  virtual bool wants_write() const noexcept = 0;  ///< call pump() when write_fd() is writable, too
  /// Call pump() at this time at the latest.
  virtual Clock::time_point next_deadline() const noexcept = 0;

  /// Queues the task; pump(), which may be called at once, writes it. Any number of tasks may be sent, even
  /// before the worker is ready. Throws InvalidModel if the request is larger than 16 MiB.
  virtual void send(const TaskRequest& task) = 0;
  /// Sends a signal to all processes of a task: its session, its descendants, and the daemons that have its
  /// environment. Its record will be kKilled. An unknown id does nothing.
  virtual void kill(std::uint64_t id, int signal) = 0;
  /// Pauses and resumes all processes of all tasks. Tasks sent while paused start afterwards.
  virtual void pause() = 0;
  virtual void resume() = 0;
  /// The worker kills all its tasks and ends; pump() then reports kEnded.
  virtual void finish() = 0;

  /// Reads, writes, checks the deadlines, and appends events.
  virtual void pump(Clock::time_point now, std::vector<LaneEvent>& events) = 0;

  virtual bool open() const noexcept = 0;  ///< neither lost nor ended
  /// The process started here: the launcher, or the local worker; -1 if it has ended. After a loss, keep
  /// calling pump() until it ends: a launcher may have jobs to cancel.
  virtual int process() const noexcept = 0;
};

/// A worker, started directly or by a launcher, and the pipes to it. Never blocks, except in the constructor
/// (for a fork) and the destructor (see there). Silence counts only while pump() is called as next_deadline()
/// requires: after this process was stopped or suspended, the count starts again.
class WorkerLane final : public Lane {
 public:
  /// Starts `launch... worker...`, such as {"srun", "-pgpu", "-n1"} + {"/path/allot", "worker"}; if `launch`
  /// is empty, starts the worker itself on this machine. Does not wait: pump() reports failures. A launcher
  /// gets SIGTERM when the calling thread ends, because a launcher that waits in a queue does not read its
  /// input. Throws std::system_error if no descriptors are left.
  explicit WorkerLane(std::vector<std::string> launch, LaneOptions options = {});
  WorkerLane(WorkerLane&&) noexcept;
  WorkerLane& operator=(WorkerLane&&) noexcept;
  /// Ends the worker and its tasks. Waits for it at most five seconds after finish(), or half a second after
  /// it was lost; then kills the launcher. If it cannot be killed, it is left alone after another second. To
  /// end many lanes at once, call finish() on all of them first.
  ~WorkerLane() override;

  int read_fd() const noexcept override;
  int write_fd() const noexcept override;
  bool wants_write() const noexcept override;
  Clock::time_point next_deadline() const noexcept override;
  void send(const TaskRequest& task) override;
  void kill(std::uint64_t id, int signal) override;
  void pause() override;
  void resume() override;
  void finish() override;
  void pump(Clock::time_point now, std::vector<LaneEvent>& events) override;
  bool open() const noexcept override;
  int process() const noexcept override;

  bool ready() const noexcept;             ///< the worker has started
  std::size_t in_flight() const noexcept;  ///< tasks sent that have no record yet

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The resolved path of the running program: what /proc/self/exe names stays right if the file is replaced
/// later. Falls back to /proc/self/exe itself.
std::string this_program();

}  // namespace allot
