// Who does the work: the slots of all resources, and the workers behind them. One worker serves all local
// slots; each slot of a resource with a launch prefix has a lane of its own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allot/base/ids.hpp"
#include "allot/base/stop.hpp"
#include "allot/jobs/job.hpp"
#include "allot/worker/lane.hpp"
#include "allot/worker/task.hpp"

namespace allot {

/// A place where one task runs at a time.
struct Slot {
  enum class State {
    kOpening,  ///< its worker is not there (yet, or any more)
    kIdle,
    kBusy,
    kStuck,  ///< its task was given up, and has not ended
    kGone,   ///< its worker could not be started, time and again; it is still tried now and then
  };
  ResourceId resource{};
  Count number = 0;  ///< within the resource, from 0
  State state = State::kOpening;
  std::size_t lane = 0;      ///< slots of the same lane share a worker
  std::uint64_t task = 0;    ///< while busy or stuck: the id of the request
  std::int64_t process = 0;  ///< its main process where the worker is; 0: not known
};

struct CrewEvent {
  enum class Kind {
    kRecord,  ///< the slot's task has ended, or its worker is gone and nobody knows (status kLost)
    kGone,    ///< the slot is given up
    kNote,    ///< a worker was lost, or did not start, and is started again
  };
  Kind kind{};
  std::size_t slot = 0;
  TaskRecord record;    ///< of kRecord
  bool shared = false;  ///< of a record that says kLost: other tasks were lost with it
  std::string text;     ///< of kGone and kNote
  /// The same has just happened to other slots of the resource: not worth another line on a screen.
  bool repeated = false;
};

struct CrewResource {
  std::string name;
  Count slots = 1;
  std::vector<std::string> launch;
};

struct CrewOptions {
  /// The process has no children but the crew's, and adopts orphans: whatever a dead local worker has left is
  /// killed before its tasks run again.
  bool owns_children = false;
  LaneOptions lane;
  /// How long a launcher may take until its worker is there. Without end, since it may wait in the queue of a
  /// batch system, and one that is started again waits anew.
  std::chrono::duration<double> launch_deadline{1e8};
  /// A worker that fails so many times in a row, about a minute with the delays below, is given up: that ends
  /// before it has finished a task or lived for `longest_delay_s`. A launcher that cannot be executed is
  /// given up at once. What was given up is still tried every `longest_delay_s`.
  int most_failures = 8;
  int most_strangers =
      4;  ///< the same where the program that was started is not a worker: that hardly passes
  double first_delay_s = 0.5;  ///< before a lost worker is started again; doubles each time
  double longest_delay_s = 30;
  /// A launcher whose worker was lost may take so long to cancel its job: srun waits for 32 s for a node that
  /// has died, and if it is killed meanwhile, the job stays.
  double leave_s = 60;
  /// Opens a lane; empty: starts a worker, as WorkerLane does.
  std::function<std::unique_ptr<Lane>(const std::vector<std::string>& launch, const LaneOptions&)> open_lane;
};

/// The resources of a job, as a crew sees them.
std::vector<CrewResource> crew_resources(const Job& job);

/// How many descriptors the lanes of these resources need at the most.
std::size_t descriptors_for(std::span<const CrewResource> resources) noexcept;

/// Not thread-safe; never blocks, but for `finish`.
class Crew {
 public:
  Crew(std::span<const CrewResource> resources, CrewOptions options, Clock::time_point now = Clock::now());
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  std::span<const Slot> slots() const noexcept { return slots_; }
  std::size_t busy() const noexcept { return busy_; }
  /// Whether launchers of lost workers are still busy with cancelling what they had started.
  bool leaving() const noexcept { return !leaving_.empty(); }
  /// How many tasks the worker of a lane has, but for those that were given up.
  std::size_t busy_on(std::size_t lane) const noexcept { return lines_[lane].busy; }
  /// For how long a task may be there at most after its worker was lost: here its processes are killed at
  /// once, and a worker behind a launcher ends when it has heard nothing for `LaneOptions::silence`.
  Clock::duration lingers(std::size_t slot) const noexcept;
  /// Whether all slots are open, or given up.
  bool settled() const noexcept;

  /// The slot must be idle. What is wrong with the request, if it cannot be sent at all; the slot then stays
  /// idle.
  std::optional<std::string> start(std::size_t slot, const TaskRequest& request);
  /// A signal to the whole process tree of the slot's task.
  void signal(std::size_t slot, int number);
  /// The slot's task is not waited for any more: no record of it will be told. The slot is stuck until its
  /// worker has ended the task after all, or is lost.
  void abandon(std::size_t slot);
  void pause();
  void resume();

  /// The files to wait for, as (file, wants to write).
  void files(std::vector<std::pair<int, bool>>& out) const;
  /// When `pump` wants to be called at the latest.
  Clock::time_point next_deadline(Clock::time_point now = Clock::now()) const;
  /// Reads, writes, restarts; appends what happened.
  void pump(Clock::time_point now, std::vector<CrewEvent>& events);

  /// Ends all workers, and with them whatever still runs. Waits for them, for some seconds.
  void finish();

 private:
  struct Line {
    std::string resource;
    std::vector<std::string> launch;
    std::vector<std::size_t> slots;
    std::unique_ptr<Lane> lane;  // null: waits for `reopen`
    bool given_up = false;
    bool proven = false;   // its worker has finished a task
    std::size_t busy = 0;  // its slots that have a task
    int failures = 0;      // in a row
    Clock::time_point ready = Clock::time_point::max();
    Clock::time_point reopen{};
  };
  /// A lane that was lost, but not its launcher.
  struct Leaving {
    std::unique_ptr<Lane> lane;
    Clock::time_point until;
  };

  void open(Line& line);
  void kill_leftovers();
  void on_lost(Line& line, Clock::time_point now, const LaneEvent& end, std::vector<CrewEvent>& events);
  bool repeats(const Line& line, Clock::time_point now);
  void on_record(Line& line, TaskRecord& record, bool shared, std::vector<CrewEvent>& events);
  std::optional<std::size_t> slot_of(const Line& line, std::uint64_t task) const;

  CrewOptions options_;
  std::string program_;  // this one, as it was called when the crew was made
  std::vector<Slot> slots_;
  std::vector<Line> lines_;
  std::vector<Leaving> leaving_;
  std::vector<Clock::time_point> told_;  // by resource: when a loss was last told
  std::vector<LaneEvent> lane_events_;
  std::size_t busy_ = 0;
  bool paused_ = false;
};

}  // namespace allot
