// What was done: every attempt of every task, on disk. Whatever happens to the process or the machine, a task
// has at most one final record here, and one that was acknowledged stays. docs/reference/journal.md
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "allot/jobs/attempt.hpp"
#include "allot/jobs/job.hpp"

namespace allot {

enum class JournalProblem {
  kLocked,   ///< another run has it open
  kChanged,  ///< it belongs to work that was defined otherwise
  kCorrupt,  ///< it is damaged, or no journal
  kIo,       ///< it cannot be read or written: permissions, a full disk
};

/// `what()` names the file and says what to do.
class JournalError : public std::runtime_error {
 public:
  JournalError(JournalProblem kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  JournalProblem kind() const noexcept { return kind_; }

 private:
  JournalProblem kind_;
};

struct JournalOptions {
  bool accept_changed = false;          ///< go on although the definition of the work is another one
  bool retry_failed = false;            ///< tasks that failed for good are pending again
  int most_requeues = 3;                ///< a task is queued again so often after lost attempts
  std::chrono::milliseconds group{10};  ///< a record waits so long at most until its group is committed
  std::string vfs;                      ///< SQLite's; empty: the default one
};

/// Where a task stands when a run begins.
struct TaskState {
  enum class Kind { kPending, kDone, kFailed };
  Kind kind = Kind::kPending;  ///< kDone and kFailed: it has its final record
  int attempts = 0;            ///< so far: the next one is attempts + 1
  int failures = 0;            ///< of the attempts: those that failed or timed out and count against retries
  int lost = 0;                ///< of the attempts: those lost, of which most_requeues are forgiven
  friend bool operator==(const TaskState&, const TaskState&) = default;
};

/// A run, as its row in the journal has it.
struct RunInfo {
  std::string id;  ///< ALLOT_RUN_ID
  std::string job;
  std::string objective;
  std::string policy;
  std::string version;  ///< of the program
  double start_unix = 0;
};

/// The journal of a job, held open by its one writer. Records are queued and written by a thread of its own
/// in groups, each synchronised with the disk. All functions but failure(), committed() and committed_fd()
/// are for one thread; none of those that queue blocks on the disk.
class Journal {
 public:
  /// Opens the file or makes it: takes the lock (which dies with the process), checks that it is sound, marks
  /// attempts that were never ended as lost (for the last time: final). Throws JournalError.
  explicit Journal(const std::string& path, JournalOptions options = {});
  /// Waits until all is durable, if it can be.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Tells it the tasks of the job, by the texts of their identities, all different, each with the index of
  /// its type's name, and what each type does; returns how far each has come. The tasks are known by their
  /// place in `items` from here on. To be called once, before any attempt. Throws JournalError: kChanged,
  /// naming the type and both definitions, when an attempt of a type was made under another definition.
  std::vector<TaskState> register_tasks(std::span<const JobItem> items, std::span<const std::string> types,
                                        std::span<const WorkDefinition> work);
  /// The same for a job at hand.
  std::vector<TaskState> register_tasks(const Job& job, std::span<const JobItem> items);

  /// The id of the earlier run that made the last attempt at a task; empty: none did. After register_tasks().
  const std::string& last_run(std::size_t task) const;

  void begin_run(const RunInfo& run);
  /// `outcome`: "finished", "halted", "interrupted", ...
  void end_run(std::string outcome, double end_unix);
  void start(AttemptStart start);
  /// `is_final`: this is the task's one final record. A second one is an error that the writer meets.
  void finish(AttemptEnd end, bool is_final);
  void note_event(double time_unix, std::string kind, std::string text);
  void note_rates(std::vector<LearntRate> rates);      ///< take the place of those of the same pairs
  void note_prediction(std::vector<Prediction> plan);  ///< of one plan, by type

  /// How many calls of finish() are durable. Thread-safe.
  std::uint64_t committed() const noexcept;
  /// An eventfd that becomes readable after a group was committed, or the writer failed; read it to reset it.
  int committed_fd() const noexcept;
  /// Waits until everything queued is durable; tries again if writing failed before. Throws JournalError.
  void flush();
  /// What the writer met: nothing more will be durable, unless flush() succeeds. Thread-safe.
  std::optional<std::string> failure() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Moves a journal out of the way, with the files that belong to it: to PATH.1, or the next number that is
/// free. Returns where it is now; nothing when there was none. Throws JournalError: kLocked, kIo.
std::optional<std::string> move_aside(const std::string& path);

}  // namespace allot
