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
  /// The worker's command; /proc/self/exe, which stands for the running program, is resolved behind a
  /// launcher, and quoted behind one that is ssh.
  std::vector<std::string> worker = {"/proc/self/exe", "worker"};
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
    kStarted,  ///< task `record.id` is running
    kRecord,   ///< how a task ended, as far as it can be true (record_check.hpp); exactly one for every task
               ///< sent, with status kLost if nobody knows
    kLost,     ///< the lane is of no more use: `why`, and what the launcher said last
    kEnded,    ///< the same, as asked for by finish()
  };
  Kind kind = Kind::kReady;
  TaskRecord record;
  std::string why;
  bool not_found = false;  ///< of kLost: the launcher cannot be executed at all, now or later
};

/// A worker, started by a launcher or directly, and the pipes to it. Never blocks, but for the constructor
/// (the time of a fork) and the destructor (see there). Not thread-safe.
class Lane {
 public:
  /// Starts `launch... worker...`, such as {"srun", "-pgpu", "-n1"} + {"/path/allot", "worker"}; with an
  /// empty `launch` the worker itself, here. Does not wait: what fails is told by pump(). A launcher gets
  /// SIGTERM when the calling thread ends, since one that waits in a queue does not look at its input. Throws
  /// std::system_error when there are no descriptors left.
  explicit Lane(std::vector<std::string> launch, LaneOptions options = {});
  Lane(Lane&&) noexcept;
  Lane& operator=(Lane&&) noexcept;
  /// Ends the worker and its tasks. Waits for it, for at most five seconds from finish() on, or half a second
  /// from when it was lost; then the launcher is killed. To end many lanes at once, call finish() on all of
  /// them first.
  ~Lane();

  /// For poll(): readable means pump(); -1 when there is nothing to wait for.
  int read_fd() const noexcept;
  int write_fd() const noexcept;
  bool wants_write() const noexcept;  ///< and write_fd() when this is so
  /// When to call pump() at the latest.
  Clock::time_point next_deadline() const noexcept;

  /// Queued; written by pump(), which may be called at once. Tasks may be sent before the worker is there,
  /// and any number at once. Throws InvalidModel when the request is larger than 16 MiB.
  void send(const TaskRequest& task);
  /// Sends a signal to all processes of a task: its session, its descendants, and the daemons that carry its
  /// environment. Its record will say kKilled. No task of that id: nothing happens.
  void kill(std::uint64_t id, int signal);
  /// Stops all processes of all tasks, and lets them go on. What is sent meanwhile starts afterwards.
  void pause();
  void resume();
  /// The worker kills all its tasks and ends; pump() tells when it has.
  void finish();

  /// Reads, writes, checks the deadlines, and appends what happened.
  void pump(Clock::time_point now, std::vector<LaneEvent>& events);

  bool ready() const noexcept;             ///< the worker is there
  bool open() const noexcept;              ///< neither lost nor ended
  std::size_t in_flight() const noexcept;  ///< sent, and no record yet
  /// The process started here: the launcher, or the local worker; -1 when it has ended. Also one that was
  /// lost should be given time for that, and pump() called meanwhile: a launcher may have jobs to cancel.
  int process() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace allot
