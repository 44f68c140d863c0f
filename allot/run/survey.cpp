#include "allot/run/survey.hpp"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "allot/jobs/journal_reader.hpp"
#include "allot/jobs/stages.hpp"
#include "allot/run/request.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;

/// File times come from a clock that may be slightly behind.
constexpr double kClockSlack_s = 1;

double seconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The contents of the journal.
struct Recorded {
  std::unordered_map<std::string, TaskRow> tasks;
  /// A killed run may have made files without recording their makers: files since then belong to it.
  double killed_since = std::numeric_limits<double>::infinity();
};

Recorded read_records(const std::string& path, const Job& job, const SurveyOptions& options) {
  Recorded recorded;
  std::error_code error;
  if (!fs::exists(path, error)) return recorded;
  try {
    const JournalReader reader(path);
    recorded.tasks = reader.tasks();
    for (const RunRow& run : reader.runs()) {
      if (!run.end_unix) recorded.killed_since = std::min(recorded.killed_since, run.start_unix);
    }
    const std::string changes =
        options.fresh || options.journal.accept_changed ? "" : reader.changes(definitions(job));
    if (!changes.empty()) {
      throw JournalError(JournalProblem::kChanged,
                         path + ": belongs to a job that was defined differently" + changes);
    }
  } catch (const JournalError&) {
    if (!options.fresh) throw;
    recorded = {};  // it will be moved aside in any case
  }
  return recorded;
}

class Surveyor {
 public:
  Surveyor(const Job& job, std::span<const JobItem> items, const SurveyOptions& options, Recorded recorded)
      : job_(job), items_(items), options_(options), recorded_(std::move(recorded)) {
    std::size_t first = 0;
    for (const JobTask& task : job.tasks) {
      first_of_.push_back(first);
      first += task.inputs.rows();
    }
  }

  Survey run() {
    std::vector<bool> matched(options_.redo.patterns.size(), false);
    is_redone_.assign(items_.size(), false);
    for (std::size_t at = 0; at < items_.size(); ++at) {
      const TaskRow* const row = row_of(at);
      const bool is_asked_for = matches(items_[at], matched);
      const TaskState& state =
          survey_.states.emplace_back(options_.fresh || row == nullptr ? TaskState{} : as_resumed(*row));
      is_redone_[at] = is_asked_for || (state.kind != TaskState::Kind::kPending && is_stale(at, *row));
    }
    redo_followers();
    for (std::size_t at = 0; at < items_.size(); ++at) {
      if (is_redone_[at]) redo(at);
      TaskState& state = survey_.states[at];
      if (state.kind == TaskState::Kind::kFailed && options_.journal.retry_failed)
        state = {TaskState::Kind::kPending, state.attempts, 0, 0};
    }
    restore_inputs();
    std::sort(survey_.redone.begin(), survey_.redone.end());
    for (std::size_t at = 0; at < items_.size(); ++at) {
      if (survey_.states[at].kind == TaskState::Kind::kPending && is_blocked(at, row_of(at)))
        survey_.blocked.push_back(at);
    }
    for (std::size_t k = 0; k < matched.size(); ++k) {
      if (!matched[k]) survey_.unmatched.push_back(options_.redo.patterns[k]);
    }
    return std::move(survey_);
  }

 private:
  const TaskRow* row_of(std::size_t at) const {
    const auto found = recorded_.tasks.find(items_[at].identity);
    return found == recorded_.tasks.end() ? nullptr : &found->second;
  }

  void redo(std::size_t at) {
    TaskState& state = survey_.states[at];
    if (state.kind == TaskState::Kind::kPending) return;
    survey_.redone.push_back(at);
    state = {TaskState::Kind::kPending, state.attempts, 0, 0};
  }

  /// The task whose output this one takes. Its type has a `from`.
  std::size_t before(std::size_t at) const {
    return first_of_[index(*job_.tasks[index(items_[at].type)].from)] + items_[at].row;
  }

  /// A task that takes an output which is made again is also done again, and so are all tasks after it.
  void redo_followers() {
    std::vector<bool> any(job_.tasks.size(), false);
    for (const TaskType type : stage_order(job_)) {
      const JobTask& task = job_.tasks[index(type)];
      const bool all = std::any_of(task.after.begin(), task.after.end(),
                                   [&](TaskType before) { return any[index(before)]; });
      const std::size_t first = first_of_[index(type)];
      for (std::size_t at = first; at < first + task.inputs.rows(); ++at) {
        if (all || (task.from && is_redone_[before(at)])) is_redone_[at] = true;
        if (is_redone_[at]) any[index(type)] = true;
      }
    }
  }

  /// An output that was removed as no longer needed is made again for a task that needs it.
  void restore_inputs() {
    const std::vector<TaskType> order = stage_order(job_);
    for (auto type = order.rbegin(); type != order.rend(); ++type) {
      const JobTask& task = job_.tasks[index(*type)];
      if (!task.from || job_.tasks[index(*task.from)].keep) continue;
      const std::size_t first = first_of_[index(*type)];
      for (std::size_t at = first; at < first + task.inputs.rows(); ++at) {
        if (survey_.states[at].kind == TaskState::Kind::kPending &&
            survey_.states[before(at)].kind == TaskState::Kind::kDone && !has_output(before(at)))
          redo(before(at));
      }
    }
  }

  bool has_output(std::size_t at) const {
    struct stat status {};
    return ::lstat(output_path(job_, items_[at], at + 1).c_str(), &status) == 0;
  }

  /// Whether all takers of the task's output are done, so that it may have been removed.
  bool has_served(std::size_t at) const {
    const TaskType type = items_[at].type;
    for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
      if (job_.tasks[i].from != type) continue;
      const TaskRow* const taker = row_of(first_of_[i] + items_[at].row);
      if (taker == nullptr || taker->state.kind != TaskState::Kind::kDone) return false;
    }
    return true;
  }

  /// The state after Journal has opened the file: an attempt without an end was lost, and one too many is
  /// final.
  TaskState as_resumed(const TaskRow& row) const {
    TaskState state = row.state;
    if (row.is_open_attempt && state.kind == TaskState::Kind::kPending &&
        state.lost > options_.journal.most_requeues)
      state.kind = TaskState::Kind::kFailed;
    return state;
  }

  bool matches(const JobItem& item, std::vector<bool>& matched) const {
    bool any = false;
    for (std::size_t k = 0; k < matched.size(); ++k) {
      const char* const pattern = options_.redo.patterns[k].c_str();
      const bool is_match = ::fnmatch(pattern, item.identity.c_str(), 0) == 0 ||
                            ::fnmatch(pattern, job_.tasks[index(item.type)].name.c_str(), 0) == 0;
      if (is_match) matched[k] = true;
      any |= is_match;
    }
    return any;
  }

  bool is_stale(std::size_t at, const TaskRow& row) const {
    if (options_.redo.missing && row.state.kind == TaskState::Kind::kDone) {
      const JobTask& task = job_.tasks[index(items_[at].type)];
      if (task.output && !has_output(at) && (task.keep || !has_served(at))) return true;
    }
    return options_.redo.changed && has_newer_input(items_[at], row.last_start_unix);
  }

  /// Checks the values of the input that name files, at the paths that the task would use.
  bool has_newer_input(const JobItem& item, double start_unix) const {
    const JobTask& task = job_.tasks[index(item.type)];
    for (const std::string& value : task.inputs.row(item.row)) {
      if (value.empty()) continue;
      for (const fs::path& folder : {fs::path(job_.folder), fs::path(job_.folder) / task.directory}) {
        struct stat status {};
        if (::stat((folder / value).c_str(), &status) != 0) continue;
        if (S_ISREG(status.st_mode) && seconds(status.st_mtim) > start_unix) return true;
        break;
      }
    }
    return false;
  }

  bool is_blocked(std::size_t at, const TaskRow* row) const {
    const std::string path = output_path(job_, items_[at], at + 1);
    struct stat status {};
    if (path.empty() || ::lstat(path.c_str(), &status) != 0) return false;
    if (row == nullptr) return true;
    // The change time: a task may set the modification time to any value.
    return row->state.attempts == 0 && seconds(status.st_ctim) < recorded_.killed_since - kClockSlack_s;
  }

  const Job& job_;
  std::span<const JobItem> items_;
  const SurveyOptions& options_;
  Recorded recorded_;
  std::vector<std::size_t> first_of_;  // by type: its items
  std::vector<bool> is_redone_;        // by item
  Survey survey_;
};

}  // namespace

Survey survey_job(const Job& job, std::span<const JobItem> items, const std::string& journal_path,
                  const SurveyOptions& options) {
  return Surveyor(job, items, options, read_records(journal_path, job, options)).run();
}

}  // namespace allot
