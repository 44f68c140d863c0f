// The loop of `allot run`: starts tasks where the plan puts them, keeps the journal, learns, retries, stops.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allot/jobs/attempt.hpp"
#include "allot/jobs/job.hpp"
#include "allot/jobs/journal.hpp"
#include "allot/run/attempt_files.hpp"
#include "allot/run/crew.hpp"
#include "allot/run/halt.hpp"
#include "allot/run/objective.hpp"
#include "allot/run/placer.hpp"
#include "allot/run/view.hpp"

namespace allot {

struct RunOptions : PlacerOptions {
  int requeues = 3;              ///< of a task that was lost alone; JournalOptions::most_requeues should be
                                 ///< the same
  int retries = 1;               ///< of a failed task, unless its type says otherwise
  double first_backoff_s = 0.2;  ///< before a retry; doubles with each, up to a minute
  std::optional<HaltRule> halt;
  double grace_s = 5;          ///< between TERM and KILL
  double margin_s = 5;         ///< maximum delay of a worker in enforcing a time limit
  double kill_patience_s = 5;  ///< after KILL; then the attempt counts as lost
  std::string run_id;
  std::string output_folder;  ///< for the output of the tasks
  double tick_s = 0.25;       ///< how often the observer sees the run, if it watches
  double note_s = 1;          ///< how often rates and predictions go to the journal
  CrewOptions crew;
};

/// Requests to a run in progress. Call them from the observer's functions.
class RunControl {
 public:
  virtual ~RunControl() = default;
  virtual void drain() = 0;       ///< start nothing more, let running tasks finish
  virtual void time_is_up() = 0;  ///< the same, because the time for this run is over
  virtual void terminate() = 0;   ///< the same, and TERM to all; KILL after the grace
  /// The same with KILL, now. Called again: gives up on tasks that cannot be killed.
  virtual void kill() = 0;
  /// Stops all running tasks, and lets them continue; the time in between does not affect rates. Returns when
  /// the workers have been notified.
  virtual void pause() = 0;
  virtual void resume() = 0;
};

/// Called from the thread of `run`.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// A file that wakes the loop when it is readable, such as a signalfd; -1: none.
  virtual int wake_file() { return -1; }
  /// Called on every turn of the loop, before anything is started: look for signals here.
  virtual void woken(RunControl&) {}
  virtual void ended(const AttemptEnd&, const JobItem&, bool /*is_final*/, const AttemptOutput&) {}
  /// Whether `tick` is wanted now: what it shows takes some linear programs.
  virtual bool watches() const { return true; }
  virtual void tick(const RunView&) {}
  virtual void note(std::string_view) {}
};

struct RunSummary {
  enum class Outcome {
    kFinished,     ///< every task has its final record
    kInterrupted,  ///< by drain, terminate or kill: the rest is for another run
    kTimeLimit,    ///< its time was over: the rest is for another run
    kHalted,       ///< by the halt rule
    kStranded,     ///< the remaining tasks can run only on resources without a worker: for another run
    kIo,           ///< the journal can no longer be written: `problem`
  };
  Outcome outcome = Outcome::kFinished;
  std::string problem;
  RunView view;                ///< at the end
  std::uint64_t done_now = 0;  ///< by this run
  std::uint64_t failed_now = 0;
  double overhead_s = 0;  ///< time of the loop itself, without waiting
  std::optional<double>
      bound_s;  ///< the program's bound for what this run did, by the rates as known at the end
  std::optional<double> little;     ///< throughput times response time
  std::optional<double> in_flight;  ///< the mean number of tasks in flight, which `little` should equal
};

/// "finished", "interrupted", "time-limit", "halted", "stranded", "io-error"
std::string_view to_string(RunSummary::Outcome outcome) noexcept;

/// Runs the rest of the job according to the journal. The journal must be open and new: the runner registers
/// the tasks. Throws JournalError if the tasks do not fit the journal, and InvalidModel if the policy lacks
/// something (priorities) or there are more lanes than the process may have open files. Leaves no process
/// behind, except those that cannot be killed.
RunSummary run_tasks(const Job& job, Journal& journal, const RunOptions& options, RunObserver& observer);

}  // namespace allot
