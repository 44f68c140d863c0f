#include "allot/jobs/journal_reader.hpp"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "allot/jobs/detail/database.hpp"
#include "allot/jobs/detail/records.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;
using detail::Database;
using detail::Statement;

/// A folder of its own for a copy; gone with this.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "allot-journal-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw JournalError(JournalProblem::kIo, pattern + ": cannot be made");
    folder_ = pattern;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  /// A copy of the journal, with the log that belongs to it.
  std::string copy(const std::string& path) const {
    const fs::path to = fs::path(folder_) / "journal";
    std::error_code error;
    fs::copy_file(path, to, error);
    if (!error && fs::exists(path + "-wal")) fs::copy_file(path + "-wal", to.string() + "-wal", error);
    if (error) throw JournalError(JournalProblem::kIo, path + ": " + error.message());
    return to.string();
  }

 private:
  std::string folder_;
};

std::string_view status_of(AttemptKind kind) noexcept {
  switch (kind) {
    case AttemptKind::kAny:
      return "";
    case AttemptKind::kStarted:
      return to_string(AttemptStatus::kStarted);
    case AttemptKind::kOk:
      return to_string(AttemptStatus::kOk);
    case AttemptKind::kFailed:
      return to_string(AttemptStatus::kFailed);
    case AttemptKind::kTimeout:
      return to_string(AttemptStatus::kTimeout);
    case AttemptKind::kKilled:
      return to_string(AttemptStatus::kKilled);
    case AttemptKind::kLost:
      return to_string(AttemptStatus::kLost);
  }
  return "";
}

}  // namespace

struct JournalReader::State {
  std::unique_ptr<Scratch> scratch;
  std::unique_ptr<Database> database;
  bool is_new = false;  ///< made, but nothing was ever committed to it: its run has just begun, or was killed

  explicit State(const std::string& path) {
    std::error_code error;
    if (!fs::exists(path, error)) throw JournalError(JournalProblem::kIo, path + ": there is no such file");
    if (!fs::is_regular_file(path, error)) throw JournalError(JournalProblem::kIo, path + ": is not a file");
    detail::refuse_links_beside(path);
    try {
      open(path, path, SQLITE_OPEN_READONLY);
    } catch (const JournalError& problem) {
      if (problem.kind() != JournalProblem::kIo || ::access(path.c_str(), R_OK) != 0) throw;
      // Where nothing can be written, SQLite cannot read a log: it does so in a copy.
      scratch = std::make_unique<Scratch>();
      open(scratch->copy(path), path, SQLITE_OPEN_READWRITE);
    }
  }

  void open(const std::string& file, const std::string& name, int flags) {
    database = std::make_unique<Database>(file, name, flags, "");
    database->execute("BEGIN");  // what is read first is the moment that all is read of
    is_new = database->check_format(true);
  }
};

JournalReader::JournalReader(const std::string& path) : state_(std::make_unique<State>(path)) {}
JournalReader::JournalReader(JournalReader&&) noexcept = default;
JournalReader& JournalReader::operator=(JournalReader&&) noexcept = default;
JournalReader::~JournalReader() = default;

void JournalReader::for_each_attempt(const std::function<void(const AttemptRow&)>& visit,
                                     const AttemptFilter& filter) const {
  if (state_->is_new) return;
  const Database& database = *state_->database;
  Statement rows(
      database,
      "SELECT a.sequence, a.run, t.task, t.type, a.resource, a.slot, a.attempt, a.status, a.exit, a.signal, "
      "a.start_unix, a.queue_s, a.wall_s, a.user_s, a.sys_s, a.maxrss_kb, a.counted, "
      "coalesce(t.final = a.sequence, 0), a.error, a.command, t.id FROM attempts a JOIN tasks t ON t.id = "
      "a.task WHERE (?1 = '' OR a.status = ?1 OR (?1 = 'failed' AND (a.status = 'timeout' OR (a.status = "
      "'lost' AND t.final = a.sequence)))) AND (?2 = '' OR t.type = ?2) ORDER BY a.sequence");
  rows.with(status_of(filter.kind), filter.type);
  AttemptRow row;
  while (rows.step()) {
    row.sequence = rows.whole(0);
    row.run = rows.whole(1);
    row.task = rows.text(2);
    row.type = rows.text(3);
    row.resource = rows.text(4);
    row.slot = rows.whole(5);
    row.attempt = static_cast<int>(rows.whole(6));
    const auto status = parse_status(rows.text(7));
    if (!status) database.corrupt("the status of attempt " + std::to_string(row.sequence));
    row.status = *status;
    row.exit = rows.maybe(8);
    row.signal = rows.maybe(9);
    row.start_unix = rows.real(10);
    row.queue_s = rows.real(11);
    row.wall_s = rows.real(12);
    row.user_s = rows.real(13);
    row.sys_s = rows.real(14);
    row.maxrss_kb = rows.whole(15);
    row.counted = rows.whole(16) != 0;
    row.is_final = rows.whole(17) != 0;
    row.error = rows.text(18);
    row.command = rows.text(19);
    row.task_id = rows.whole(20);
    visit(row);
  }
}

std::vector<RunRow> JournalReader::runs() const {
  if (state_->is_new) return {};
  Statement rows(
      *state_->database,
      "SELECT run, id, job, objective, policy, version, pid, start_unix, end_unix, outcome FROM runs "
      "ORDER BY run");
  std::vector<RunRow> out;
  while (rows.step()) {
    RunRow row;
    row.run = rows.whole(0);
    row.id = rows.text(1);
    row.job = rows.text(2);
    row.objective = rows.text(3);
    row.policy = rows.text(4);
    row.version = rows.text(5);
    row.pid = rows.whole(6);
    row.start_unix = rows.real(7);
    if (!rows.is_null(8)) row.end_unix = rows.real(8);
    row.outcome = rows.text(9);
    out.push_back(std::move(row));
  }
  return out;
}

std::vector<EventRow> JournalReader::events() const {
  if (state_->is_new) return {};
  Statement rows(*state_->database, "SELECT run, time_unix, kind, text FROM events ORDER BY sequence");
  std::vector<EventRow> out;
  while (rows.step()) out.push_back({rows.whole(0), rows.real(1), rows.text(2), rows.text(3)});
  return out;
}

std::vector<LearntRate> JournalReader::rates() const {
  if (state_->is_new) return {};
  Statement rows(*state_->database,
                 "SELECT type, resource, rate, low, high, completions, time_unix FROM rates ORDER BY type, "
                 "resource");
  std::vector<LearntRate> out;
  while (rows.step()) {
    out.push_back(
        {rows.text(0), rows.text(1), rows.real(2), rows.real(3), rows.real(4), rows.whole(5), rows.real(6)});
  }
  return out;
}

std::vector<Prediction> JournalReader::predictions() const {
  if (state_->is_new) return {};
  Statement rows(*state_->database,
                 "SELECT time_unix, type, throughput FROM predictions ORDER BY time_unix, sequence");
  std::vector<Prediction> out;
  while (rows.step()) out.push_back({rows.real(0), rows.text(1), rows.real(2)});
  return out;
}

std::vector<TaskTotals> JournalReader::totals() const {
  if (state_->is_new) return {};
  Statement rows(
      *state_->database,
      "SELECT t.type, count(*), sum(a.status = 'ok'), sum(a.status <> 'ok') FROM tasks t LEFT JOIN "
      "attempts a ON a.sequence = t.final GROUP BY t.type ORDER BY min(t.id)");
  std::vector<TaskTotals> out;
  while (rows.step()) out.push_back({rows.text(0), rows.whole(1), rows.whole(2), rows.whole(3)});
  return out;
}

std::unordered_map<std::string, TaskRow> JournalReader::tasks() const {
  if (state_->is_new) return {};
  const Database& database = *state_->database;
  if (const std::string verdict = database.text("PRAGMA integrity_check(1)"); verdict != "ok")
    database.corrupt(verdict);
  std::unordered_map<std::string, TaskRow> out;
  for (auto& [name, task] : detail::load_tasks(database))
    out.emplace(name, TaskRow{task.state, task.is_open_attempt, task.last_start_unix});
  return out;
}

std::string JournalReader::changes(std::span<const WorkDefinition> work) const {
  return state_->is_new ? "" : detail::changed_work(*state_->database, work);
}

}  // namespace allot
