// The near end of a lane: a worker, here or far away, that runs tasks and reports on them.
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
  /// The worker's command, quoted behind a launcher that is ssh. Empty: the running program itself with
  /// "worker"; behind a launcher as this_program() names it when the lane is made, so who opens lanes again
  /// and again resolves it once.
  std::vector<std::string> worker;
  std::vector<std::string> environment;              ///< "NAME=value", on top of this process's own
  std::chrono::duration<double> heartbeat{1};        ///< both ends say something at least this often
  std::chrono::duration<double> deadline{15};        ///< without a word from the worker the lane is lost
  std::chrono::duration<double> hello_deadline{60};  ///< from the start to the worker's first word
  /// Without a word from here a worker behind a launcher ends, unless paused: for connections that break
  /// without an end of file. 0: never. A local worker always sees the end of file.
  std::chrono::duration<double> silence{300};
};

struct LaneEvent {
  enum class Kind : std::uint8_t {
    kReady,    ///< the worker is there
    kStarted,  ///< task `record.id` is running, as `process` where the worker is
    kRecord,   ///< how a task ended, as far as it can be true (record_check.hpp); exactly one for every task
               ///< sent, with status kLost if nobody knows
    kLost,     ///< the lane is of no more use: `why`, and what the launcher said last
    kEnded,    ///< the same, as asked for by finish()
  };
  Kind kind = Kind::kReady;
  TaskRecord record;
  std::int64_t process = 0;  ///< of kStarted
  std::string why;
  bool not_found = false;  ///< of kLost: the launcher cannot be executed at all, now or later
  bool is_stranger =
      false;  ///< of kLost: the program that was started is not a worker, or none of this protocol
};

/// The near end of a lane, as those who hand out tasks see it. Never blocks. Not thread-safe.
class Lane {
 public:
  virtual ~Lane() = default;

  /// For poll(): readable means pump(); -1 when there is nothing to wait for.
  virtual int read_fd() const noexcept = 0;
  virtual int write_fd() const noexcept = 0;
  virtual bool wants_write() const noexcept = 0;  ///< and write_fd() when this is so
  /// When to call pump() at the latest.
  virtual Clock::time_point next_deadline() const noexcept = 0;

  /// Queued; written by pump(), which may be called at once. Tasks may be sent before the worker is there,
  /// and any number at once. Throws InvalidModel when the request is larger than 16 MiB.
  virtual void send(const TaskRequest& task) = 0;
  /// Sends a signal to all processes of a task: its session, its descendants, and the daemons that carry its
  /// environment. Its record will say kKilled. No task of that id: nothing happens.
  virtual void kill(std::uint64_t id, int signal) = 0;
  /// Stops all processes of all tasks, and lets them go on. What is sent meanwhile starts afterwards.
  virtual void pause() = 0;
  virtual void resume() = 0;
  /// The worker kills all its tasks and ends; pump() tells when it has.
  virtual void finish() = 0;

  /// Reads, writes, checks the deadlines, and appends what happened.
  virtual void pump(Clock::time_point now, std::vector<LaneEvent>& events) = 0;

  virtual bool open() const noexcept = 0;  ///< neither lost nor ended
  /// The process started here: the launcher, or the local worker; -1 when it has ended. Also one that was
  /// lost should be given time for that, and pump() called meanwhile: a launcher may have jobs to cancel.
  virtual int process() const noexcept = 0;
};

/// A worker, started by a launcher or directly, and the pipes to it. Never blocks, but for the constructor
/// (the time of a fork) and the destructor (see there). Silence counts only while pump() is called as
/// next_deadline() asks: whoever was stopped or suspended hears anew from then on.
class WorkerLane final : public Lane {
 public:
  /// Starts `launch... worker...`, such as {"srun", "-pgpu", "-n1"} + {"/path/allot", "worker"}; with an
  /// empty `launch` the worker itself, here. Does not wait: what fails is told by pump(). A launcher gets
  /// SIGTERM when the calling thread ends, since one that waits in a queue does not look at its input. Throws
  /// std::system_error when there are no descriptors left.
  explicit WorkerLane(std::vector<std::string> launch, LaneOptions options = {});
  WorkerLane(WorkerLane&&) noexcept;
  WorkerLane& operator=(WorkerLane&&) noexcept;
  /// Ends the worker and its tasks. Waits for it, for at most five seconds from finish() on, or half a second
  /// from when it was lost; then the launcher is killed. One that cannot be killed is left alone after
  /// another second. To end many lanes at once, call finish() on all of them first.
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

  bool ready() const noexcept;             ///< the worker is there
  std::size_t in_flight() const noexcept;  ///< sent, and no record yet

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The path of the program that runs now, resolved: what /proc/self/exe names stays right when the file is
/// replaced later. Falls back to /proc/self/exe itself.
std::string this_program();

}  // namespace allot
