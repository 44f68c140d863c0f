// The crew of a run: the slots of all resources, and the workers behind them. One worker serves all local
// slots; each slot of a resource with a launch prefix has its own lane.
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
    kOpening,  ///< its worker is not connected (yet, or any more)
    kIdle,
    kBusy,
    kStuck,  ///< its task was given up but has not ended
    kGone,   ///< its worker could not be started after several attempts; it is still tried from time to time
  };
  ResourceId resource{};
  Count number = 0;  ///< within the resource, from 0
  State state = State::kOpening;
  std::size_t lane = 0;      ///< slots of the same lane share a worker
  std::uint64_t task = 0;    ///< while busy or stuck: the id of the request
  std::int64_t process = 0;  ///< its main process on the worker's machine; 0: unknown
};

struct CrewEvent {
  enum class Kind {
    kRecord,  ///< the slot's task has ended, or its worker is gone and the outcome is unknown (status kLost)
    kGone,    ///< the slot is given up
    kNote,    ///< a worker was lost, or did not start, and is started again
  };
  Kind kind{};
  std::size_t slot = 0;
  TaskRecord record;    ///< of kRecord
  bool shared = false;  ///< of a kLost record: other tasks were lost with it
  std::string text;     ///< of kGone and kNote
  /// The same has just happened to other slots of the resource: no need to show it again.
  bool repeated = false;
};

struct CrewResource {
  std::string name;
  Count slots = 1;
  std::vector<std::string> launch;
};

struct CrewOptions {
  /// This process has no children except the crew's, and adopts orphans: everything that a dead local worker
  /// has left behind is killed before its tasks run again.
  bool owns_children = false;
  LaneOptions lane;
  /// Maximum time from starting a launcher until its worker is connected. Practically unlimited, because a
  /// launcher may wait in the queue of a batch system, and a restarted one would wait again.
  std::chrono::duration<double> launch_deadline{1e8};
  /// A worker is given up after this many failures in a row, about a minute with the delays below. A failure
  /// is an end before it has finished a task or lived for `longest_delay_s`. A launcher that cannot be
  /// executed is given up at once. A worker that was given up is still tried every `longest_delay_s`.
  int most_failures = 8;
  int most_strangers = 4;      ///< the same if the started program is not a worker: this rarely goes away
  double first_delay_s = 0.5;  ///< before a lost worker is started again; doubles each time
  double longest_delay_s = 30;
  /// Maximum time for a launcher whose worker was lost to cancel its job: srun waits 32 s for a node that has
  /// died, and if it is killed in that time, the job stays.
  double leave_s = 60;
  /// Opens a lane; empty: starts a worker, as WorkerLane does.
  std::function<std::unique_ptr<Lane>(const std::vector<std::string>& launch, const LaneOptions&)> open_lane;
};

/// The resources of a job for a crew.
std::vector<CrewResource> crew_resources(const Job& job);

/// Maximum descriptors that the lanes of these resources need.
std::size_t descriptors_for(std::span<const CrewResource> resources) noexcept;

/// Not thread-safe; never blocks, except in `finish`.
class Crew {
 public:
  Crew(std::span<const CrewResource> resources, CrewOptions options, Clock::time_point now = Clock::now());
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  std::span<const Slot> slots() const noexcept { return slots_; }
  std::size_t busy() const noexcept { return busy_; }
  /// Whether launchers of lost workers are still cancelling their jobs.
  bool leaving() const noexcept { return !leaving_.empty(); }
  /// Number of tasks on the worker of a lane, without those that were given up.
  std::size_t busy_on(std::size_t lane) const noexcept { return lines_[lane].busy; }
  /// Maximum time for which a task may still run after its worker was lost: 0 if this process kills the tasks
  /// of a local worker at once; otherwise until the guard of the worker has killed them, for a worker behind
  /// a launcher after `LaneOptions::silence`.
  Clock::duration lingers(std::size_t slot) const noexcept;
  /// Whether each slot is open or given up.
  bool settled() const noexcept;

  /// The slot must be idle. Returns the problem with the request if it cannot be sent; the slot then stays
  /// idle.
  std::optional<std::string> start(std::size_t slot, const TaskRequest& request);
  /// A signal to the whole process tree of the slot's task.
  void signal(std::size_t slot, int number);
  /// Stops waiting for the slot's task: no record of it will be reported. The slot is stuck until its worker
  /// has ended the task or is lost.
  void abandon(std::size_t slot);
  void pause();
  void resume();

  /// The files to wait for, as (file, wants to write).
  void files(std::vector<std::pair<int, bool>>& out) const;
  /// Call `pump` at this time at the latest.
  Clock::time_point next_deadline(Clock::time_point now = Clock::now()) const;
  /// Reads, writes, restarts workers, and appends events.
  void pump(Clock::time_point now, std::vector<CrewEvent>& events);

  /// Ends all workers and their tasks. Waits for them, for some seconds.
  void finish();

 private:
  struct Line {
    std::string resource;
    std::vector<std::string> launch;
    std::vector<std::size_t> slots;
    std::unique_ptr<Lane> lane;  // null: waits for `reopen`
    bool given_up = false;
    bool proven = false;   // its worker has finished a task
    std::size_t busy = 0;  // its slots with a task
    int failures = 0;      // in a row
    Clock::time_point ready = Clock::time_point::max();
    Clock::time_point reopen{};
  };
  /// A lane that was lost but whose launcher is still running.
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
  std::string program_;  // the path of this program when the crew was made
  std::vector<Slot> slots_;
  std::vector<Line> lines_;
  std::vector<Leaving> leaving_;
  std::vector<Clock::time_point> told_;  // by resource: time of the last reported loss
  std::vector<LaneEvent> lane_events_;
  std::size_t busy_ = 0;
  bool paused_ = false;
};

}  // namespace allot
