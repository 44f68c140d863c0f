// Reading a journal, for `allot log` and `allot plot`, even during a run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "allot/jobs/attempt.hpp"
#include "allot/jobs/journal.hpp"

namespace allot {

struct RunRow : RunInfo {
  std::int64_t run = 0;  ///< from 1
  std::int64_t pid = 0;
  std::optional<double> end_unix;  ///< none: running, or killed
  std::string outcome;
};

struct EventRow {
  std::int64_t run = 0;
  double time_unix = 0;
  std::string kind;
  std::string text;
};

/// The numbers of tasks in the journal, by state.
struct TaskTotals {
  std::string type;
  std::int64_t tasks = 0;
  std::int64_t done = 0;
  std::int64_t failed = 0;
  std::string from;  ///< the type whose outputs it uses; empty: none
};

/// Which attempts to read.
struct AttemptFilter {
  /// How they ended; kFailed also includes those that timed out or were lost finally.
  std::optional<AttemptStatus> status;
  std::string type;
};

/// The state of a task in the journal.
struct TaskRow {
  TaskState state;
  bool is_open_attempt = false;  ///< the last attempt has no end: it is still running, or was lost with its
                                 ///< run
  double last_start_unix = 0;    ///< of its last attempt; 0 without one
};

/// Whether a run has the journal open now. True if that is unknown.
bool is_in_use(const std::string& path);

/// A snapshot of a journal: it does not change during the life of this object. Changes nothing on disk. Not
/// thread-safe. An empty file, which its run has created but not written to yet, reads as an empty journal.
class JournalReader {
 public:
  /// Throws JournalError: kIo if the file does not exist, kCorrupt if it is damaged or not a journal.
  explicit JournalReader(const std::string& path);
  JournalReader(JournalReader&&) noexcept;
  JournalReader& operator=(JournalReader&&) noexcept;
  ~JournalReader();

  /// In order of start. Throws JournalError(kCorrupt) if it meets damage.
  void for_each_attempt(const std::function<void(const AttemptRow&)>& visit,
                        const AttemptFilter& filter = {}) const;
  std::vector<RunRow> runs() const;
  std::vector<EventRow> events() const;
  std::vector<LearntRate> rates() const;
  std::vector<Prediction> predictions() const;  ///< in order of time
  std::vector<TaskTotals> totals() const;       ///< by type, in the order of the job
  /// The state of each task by the text of its identity, after the same checks that a run makes before it
  /// continues. Throws JournalError(kCorrupt).
  std::unordered_map<std::string, TaskRow> tasks() const;
  /// The definitions that have changed since: lines for a message, or nothing.
  std::string changes(std::span<const WorkDefinition> work) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace allot
