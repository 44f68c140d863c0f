// The journal: every attempt of every task, on disk. Even after a crash of the process or the machine, a task
// has at most one final record, and an acknowledged record is kept. docs/reference/journal.md
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
#include "allot/jobs/run_journal.hpp"

namespace allot {

enum class JournalProblem {
  kLocked,   ///< another run has it open
  kChanged,  ///< its work was defined differently
  kCorrupt,  ///< it is damaged, or not a journal
  kIo,       ///< it cannot be read or written: permissions, a full disk
};

/// `what()` names the file and what to do.
class JournalError : public std::runtime_error {
 public:
  JournalError(JournalProblem kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  JournalProblem kind() const noexcept { return kind_; }

 private:
  JournalProblem kind_;
};

struct JournalOptions {
  bool accept_changed = false;          ///< continue even if the definition of the work has changed
  bool retry_failed = false;            ///< tasks that failed finally are pending again
  int most_requeues = 3;                ///< how often a task is queued again after attempts that were lost
                                        ///< alone
  std::chrono::milliseconds group{10};  ///< maximum wait of a record until its group is committed
  std::string vfs;                      ///< SQLite's virtual file system; empty: the default one
};

/// A run, as recorded in the journal.
struct RunInfo {
  std::string id;  ///< ALLOT_RUN_ID
  std::string job;
  std::string objective;
  std::string policy;
  std::string version;  ///< of the program
  double start_unix = 0;
};

/// The journal of a job, held open by its only writer. Records are queued, and a separate thread writes them
/// in groups, each synchronised with the disk. All functions except failure(), committed() and committed_fd()
/// must be called from one thread; those that queue never block on the disk.
class Journal final : public RunJournal {
 public:
  /// Opens or creates the file: takes the lock (which ends with the process), checks the file, and marks
  /// attempts without an end as lost. The task fails finally if it has been lost too often; attempts that
  /// were lost together do not count. Throws JournalError.
  explicit Journal(const std::string& path, JournalOptions options = {});
  /// Waits until all records are durable, if possible.
  ~Journal() override;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Tasks to do again even if they have a final record, by the texts of their identities: register_tasks
  /// makes them pending and keeps their history. Call it before register_tasks.
  void redo(std::span<const std::string> tasks);

  /// Registers the tasks of the job and what each type does, and returns the state of each task. Identities
  /// must be different; each item has the index of its type's name. From here on, tasks are identified by
  /// their position in `items`. Call it once, before any attempt. Throws JournalError: kChanged, naming the
  /// type and both definitions, if an attempt of a type was made under another definition.
  std::vector<TaskState> register_tasks(std::span<const JobItem> items, std::span<const std::string> types,
                                        std::span<const WorkDefinition> work);
  std::vector<TaskState> register_tasks(const Job& job, std::span<const JobItem> items);
  std::optional<std::vector<TaskState>> register_tasks(const Job& job, std::span<const JobItem> items,
                                                       const std::function<bool()>& go_on) override;

  std::int64_t task_id(std::size_t task) const override;

  const std::string& last_run(std::size_t task) const override;

  /// On disk when it returns: everything that a task writes from now on is known to belong to this run, even
  /// if the run is killed at once. Throws JournalError if it cannot be written.
  void begin_run(const RunInfo& run);
  void end_run(std::string outcome, double end_unix) override;
  void start(AttemptStart start) override;
  void finish(AttemptEnd end, bool is_final) override;
  void note_event(double time_unix, std::string kind, std::string text) override;
  void note_rates(std::vector<LearntRate> rates) override;
  void note_prediction(std::vector<Prediction> plan) override;

  std::uint64_t committed() const noexcept override;  ///< thread-safe
  /// An eventfd that becomes readable after a group was committed or the writer failed; read it to reset it.
  int committed_fd() const noexcept;
  void flush() override;
  std::optional<std::string> failure() const override;  ///< thread-safe

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Moves a journal and its accompanying files to PATH.1, or the next free number. Returns the new path;
/// nothing if there was no journal. Throws JournalError: kLocked, kIo.
std::optional<std::string> move_aside(const std::string& path);

}  // namespace allot
