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
  /// As they ended; kFailed: those that timed out or were lost for good, too.
  std::optional<AttemptStatus> status;
  std::string type;
};

/// A task as the journal knows it.
struct TaskRow {
  TaskState state;
  bool is_open_attempt = false;  ///< the last attempt has no end: it is going on, or was lost with its run
  double last_start_unix = 0;    ///< of its last attempt; 0 without one
};

/// Whether a run has the journal open at the moment. True if that is unknown.
bool is_in_use(const std::string& path);

/// A snapshot of a journal, unchanged for as long as this is held. Changes nothing on disk. Not thread-safe.
/// An empty file, which its run has created but not written to yet, reads as an empty journal.
class JournalReader {
 public:
  /// Throws JournalError: kIo when there is no such file, kCorrupt when it is damaged or no journal.
  explicit JournalReader(const std::string& path);
  JournalReader(JournalReader&&) noexcept;
  JournalReader& operator=(JournalReader&&) noexcept;
  ~JournalReader();

  /// In the order of their starts. Throws JournalError(kCorrupt) for damage met on the way.
  void for_each_attempt(const std::function<void(const AttemptRow&)>& visit,
                        const AttemptFilter& filter = {}) const;
  std::vector<RunRow> runs() const;
  std::vector<EventRow> events() const;
  std::vector<LearntRate> rates() const;
  std::vector<Prediction> predictions() const;  ///< in the order of time
  std::vector<TaskTotals> totals() const;       ///< by type, in the order of the job
  /// How far each task has come, by the text of its identity, after the checks that a run makes before it
  /// goes on. Throws JournalError(kCorrupt).
  std::unordered_map<std::string, TaskRow> tasks() const;
  /// What has been defined otherwise since: lines for a message, or nothing.
  std::string changes(std::span<const WorkDefinition> work) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace allot
