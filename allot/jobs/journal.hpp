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
#include "allot/jobs/run_journal.hpp"

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
  int most_requeues = 3;                ///< a task is queued again so often after attempts lost alone
  std::chrono::milliseconds group{10};  ///< a record waits so long at most until its group is committed
  std::string vfs;                      ///< SQLite's; empty: the default one
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
class Journal final : public RunJournal {
 public:
  /// Opens the file or makes it: takes the lock (which dies with the process), checks that it is sound, marks
  /// attempts that were never ended as lost (for the last time: final; where several were lost at once, that
  /// counts against none of them). Throws JournalError.
  explicit Journal(const std::string& path, JournalOptions options = {});
  /// Waits until all is durable, if it can be.
  ~Journal() override;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// These tasks, by the texts of their identities, are to be done again although they may have their final
  /// record: register_tasks makes them pending, and keeps their history. To be called before it.
  void redo(std::span<const std::string> tasks);

  /// Tells it the tasks of the job, by the texts of their identities, all different, each with the index of
  /// its type's name, and what each type does; returns how far each has come. The tasks are known by their
  /// place in `items` from here on. To be called once, before any attempt. Throws JournalError: kChanged,
  /// naming the type and both definitions, when an attempt of a type was made under another definition.
  std::vector<TaskState> register_tasks(std::span<const JobItem> items, std::span<const std::string> types,
                                        std::span<const WorkDefinition> work);
  std::vector<TaskState> register_tasks(const Job& job, std::span<const JobItem> items);
  std::optional<std::vector<TaskState>> register_tasks(const Job& job, std::span<const JobItem> items,
                                                       const std::function<bool()>& go_on) override;

  std::int64_t task_id(std::size_t task) const override;

  const std::string& last_run(std::size_t task) const override;

  /// On the disk when it returns: whatever a task makes from now on is known to be this run's, however soon
  /// the run is killed. Throws JournalError where it cannot be written.
  void begin_run(const RunInfo& run);
  void end_run(std::string outcome, double end_unix) override;
  void start(AttemptStart start) override;
  void finish(AttemptEnd end, bool is_final) override;
  void note_event(double time_unix, std::string kind, std::string text) override;
  void note_rates(std::vector<LearntRate> rates) override;
  void note_prediction(std::vector<Prediction> plan) override;

  std::uint64_t committed() const noexcept override;  ///< thread-safe
  /// An eventfd that becomes readable after a group was committed, or the writer failed; read it to reset it.
  int committed_fd() const noexcept;
  void flush() override;
  std::optional<std::string> failure() const override;  ///< thread-safe

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Moves a journal out of the way, with the files that belong to it: to PATH.1, or the next number that is
/// free. Returns where it is now; nothing when there was none. Throws JournalError: kLocked, kIo.
std::optional<std::string> move_aside(const std::string& path);

}  // namespace allot
