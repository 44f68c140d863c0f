// What a run writes down as it goes, wherever that is kept.
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

/// Where a task stands when a run begins.
struct TaskState {
  enum class Kind { kPending, kDone, kFailed };
  Kind kind = Kind::kPending;  ///< kDone and kFailed: it has its final record
  int attempts = 0;            ///< so far: the next one is attempts + 1
  int failures = 0;            ///< of the attempts: those that failed or timed out and count against retries
  int lost = 0;                ///< of the attempts: those lost that count against requeues
  friend bool operator==(const TaskState&, const TaskState&) = default;
};

/// The journal as the loop of a run sees it: nothing here waits for the disk, but register_tasks() and
/// flush().
class RunJournal {
 public:
  virtual ~RunJournal() = default;

  /// Tells it the tasks of the job; returns how far each has come. The tasks are known by their place in
  /// `items` from here on. To be called once, before any attempt. `go_on` is asked now and then: when it says
  /// no, nothing is registered, and nothing is returned. Throws JournalError.
  virtual std::optional<std::vector<TaskState>> register_tasks(const Job& job, std::span<const JobItem> items,
                                                               const std::function<bool()>& go_on) = 0;
  /// The number that the journal knows a registered task by: the same in every run, whatever its place in the
  /// job.
  virtual std::int64_t task_id(std::size_t task) const = 0;
  /// The id of the earlier run that made the last attempt at a task; empty: none did.
  virtual const std::string& last_run(std::size_t task) const = 0;
  virtual void start(AttemptStart start) = 0;
  /// `is_final`: this is the task's one final record. A second one is an error that the writer meets.
  virtual void finish(AttemptEnd end, bool is_final) = 0;
  /// How many calls of finish() are durable: the first ones.
  virtual std::uint64_t committed() const = 0;
  virtual void note_event(double time_unix, std::string kind, std::string text) = 0;
  virtual void note_rates(std::vector<LearntRate> rates) = 0;  ///< take the place of those of the same pairs
  virtual void note_prediction(std::vector<Prediction> plan) = 0;  ///< of one plan, by type
  /// `outcome`: "finished", "halted", "interrupted", "time-limit", ...
  virtual void end_run(std::string outcome, double end_unix) = 0;
  /// Waits until everything queued is durable; tries again if writing failed before. Throws JournalError.
  virtual void flush() = 0;
  /// What the writer met: nothing more will be durable, unless flush() succeeds.
  virtual std::optional<std::string> failure() const = 0;
};

}  // namespace allot
