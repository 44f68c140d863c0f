// What a run records, independent of where it is stored.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allot/jobs/attempt.hpp"
#include "allot/jobs/job.hpp"

namespace allot {

/// The state of a task when a run begins.
struct TaskState {
  enum class Kind { kPending, kDone, kFailed };
  Kind kind = Kind::kPending;  ///< kDone and kFailed: it has its final record
  int attempts = 0;            ///< so far: the next attempt is attempts + 1
  int failures = 0;            ///< attempts that failed or timed out and count against the retries
  int lost = 0;                ///< attempts that were lost and count against the requeues
  friend bool operator==(const TaskState&, const TaskState&) = default;
};

/// The journal for the loop of a run. Only register_tasks() and flush() wait for the disk.
class RunJournal {
 public:
  virtual ~RunJournal() = default;

  /// Registers the tasks of the job and returns the state of each. From here on, tasks are identified by
  /// their position in `items`. Call it once, before any attempt. `go_on` is called from time to time: if it
  /// returns false, nothing is registered and nothing is returned. Throws JournalError.
  virtual std::optional<std::vector<TaskState>> register_tasks(const Job& job, std::span<const JobItem> items,
                                                               const std::function<bool()>& go_on) = 0;
  /// The number of a registered task in the journal: the same in every run, even if its position in the job
  /// changes.
  virtual std::int64_t task_id(std::size_t task) const = 0;
  /// The id of the earlier run that made the last attempt at a task; empty: no run did.
  virtual const std::string& last_run(std::size_t task) const = 0;
  virtual void start(AttemptStart start) = 0;
  /// `is_final`: this is the final record of the task. A second final record is an error in the writer.
  virtual void finish(AttemptEnd end, bool is_final) = 0;
  /// The number of calls of finish() whose records are durable, counted from the first.
  virtual std::uint64_t committed() const = 0;
  virtual void note_event(double time_unix, std::string kind, std::string text) = 0;
  virtual void note_rates(std::vector<LearntRate> rates) = 0;      ///< replace those of the same pairs
  virtual void note_prediction(std::vector<Prediction> plan) = 0;  ///< of one plan, by type
  /// `outcome`: "finished", "halted", "interrupted", "time-limit", ...
  virtual void end_run(std::string outcome, double end_unix) = 0;
  /// Waits until everything queued is durable; tries again if writing failed before. Throws JournalError.
  virtual void flush() = 0;
  /// The error of the writer: nothing more becomes durable unless flush() succeeds.
  virtual std::optional<std::string> failure() const = 0;
};

}  // namespace allot
