// The loop of `allot run`: starts tasks where the plan wants them, keeps the journal, learns, retries, stops.
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
  int requeues = 3;              ///< of a task lost alone: JournalOptions::most_requeues should be the same
  int retries = 1;               ///< of a task that failed, where its type says nothing else
  double first_backoff_s = 0.2;  ///< before a retry; doubles with each, up to a minute
  std::optional<HaltRule> halt;
  double grace_s = 5;          ///< between TERM and KILL
  double margin_s = 5;         ///< which a worker may be late in enforcing a time limit
  double kill_patience_s = 5;  ///< after KILL: then the attempt is lost, and not waited for
  std::string run_id;
  std::string output_folder;  ///< where what the tasks print is kept
  double tick_s = 0.25;       ///< how often the observer is shown the run, if it watches
  double note_s = 1;          ///< how often rates and predictions go to the journal
  CrewOptions crew;
};

/// What may be asked of a running run. To be called from the observer's functions.
class RunControl {
 public:
  virtual ~RunControl() = default;
  virtual void drain() = 0;       ///< start nothing more, let running tasks finish
  virtual void time_is_up() = 0;  ///< the same, because the time for this run is over
  virtual void terminate() = 0;   ///< the same, and TERM to all; KILL after the grace
  /// The same with KILL, now. Asked for again: what cannot be killed is not waited for.
  virtual void kill() = 0;
  /// Stops all running tasks, and lets them go on; what passes between is no part of any rate. Returns when
  /// the workers have been told.
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
    kTimeLimit,    ///< its time was up, and nobody asked for more than that: the rest is for another run
    kHalted,       ///< by the halt rule
    kStranded,     ///< what is left can run only on resources that have no worker: for another run
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
  std::optional<double> in_flight;  ///< the mean number that it should be
};

/// "finished", "interrupted", "time-limit", "halted", "stranded", "io-error"
std::string_view to_string(RunSummary::Outcome outcome) noexcept;

/// Runs what the journal says is left of the job. The journal must be open and new: the runner registers
/// the tasks. Throws JournalError when the tasks do not fit the journal, InvalidModel when the policy lacks
/// something (priorities) or there are more lanes than the process may have files. Leaves no process behind
/// that can be killed.
RunSummary run_tasks(const Job& job, Journal& journal, const RunOptions& options, RunObserver& observer);

}  // namespace allot
