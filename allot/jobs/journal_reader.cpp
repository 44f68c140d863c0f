#include "allot/jobs/journal_reader.hpp"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "allot/jobs/detail/database.hpp"
#include "allot/jobs/detail/file_lock.hpp"
#include "allot/jobs/detail/records.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;
using detail::Database;
using detail::Statement;

/// A temporary folder for a copy; the destructor removes it.
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

  /// A copy of the journal and its log.
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

/// The columns of all rows as members; nothing without a database.
template <typename Row, typename... Members>
std::vector<Row> all(const Database* database, const char* sql, Members... columns) {
  std::vector<Row> out;
  if (database == nullptr) return out;
  Statement rows(*database, sql);
  while (rows.step()) {
    Row& row = out.emplace_back();
    rows.into(row.*columns...);
  }
  return out;
}

}  // namespace

bool is_in_use(const std::string& path) { return detail::FileLock::is_held(path); }

struct JournalReader::State {
  std::unique_ptr<Scratch> scratch;
  std::unique_ptr<Database> database;
  bool is_new = false;  ///< created, but nothing was ever committed: its run has just begun, or was killed
  const Database* written() const noexcept { return is_new ? nullptr : database.get(); }

  explicit State(const std::string& path) {
    std::error_code error;
    if (!fs::exists(path, error)) throw JournalError(JournalProblem::kIo, path + ": there is no such file");
    if (!fs::is_regular_file(path, error)) throw JournalError(JournalProblem::kIo, path + ": is not a file");
    detail::refuse_links_beside(path);
    try {
      open(path, path, SQLITE_OPEN_READONLY);
    } catch (const JournalError& problem) {
      if (problem.kind() != JournalProblem::kIo || ::access(path.c_str(), R_OK) != 0) throw;
      // SQLite cannot read a log if it cannot write there: it reads a copy.
      scratch = std::make_unique<Scratch>();
      open(scratch->copy(path), path, SQLITE_OPEN_READWRITE);
    }
  }

  void open(const std::string& file, const std::string& name, int flags) {
    database = std::make_unique<Database>(file, name, flags, "");
    database->execute("BEGIN");  // the first read fixes the snapshot for all later reads
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
  rows.with(filter.status ? to_string(*filter.status) : "", filter.type);
  AttemptRow row;
  std::string status;
  while (rows.step()) {
    rows.into(row.sequence, row.run, row.task, row.type, row.resource, row.slot, row.attempt, status,
              row.exit, row.signal, row.start_unix, row.queue_s, row.wall_s, row.user_s, row.sys_s,
              row.maxrss_kb, row.counted, row.is_final, row.error, row.command, row.task_id);
    const auto known = parse_status(status);
    if (!known) database.corrupt("the status of attempt " + std::to_string(row.sequence));
    row.status = *known;
    visit(row);
  }
}

std::vector<RunRow> JournalReader::runs() const {
  return all<RunRow>(
      state_->written(),
      "SELECT run, id, job, objective, policy, version, pid, start_unix, end_unix, outcome FROM runs "
      "ORDER BY run",
      &RunRow::run, &RunRow::id, &RunRow::job, &RunRow::objective, &RunRow::policy, &RunRow::version,
      &RunRow::pid, &RunRow::start_unix, &RunRow::end_unix, &RunRow::outcome);
}

std::vector<EventRow> JournalReader::events() const {
  return all<EventRow>(state_->written(), "SELECT run, time_unix, kind, text FROM events ORDER BY sequence",
                       &EventRow::run, &EventRow::time_unix, &EventRow::kind, &EventRow::text);
}

std::vector<LearntRate> JournalReader::rates() const {
  return all<LearntRate>(
      state_->written(),
      "SELECT type, resource, rate, low, high, completions, time_unix FROM rates ORDER BY type, resource",
      &LearntRate::type, &LearntRate::resource, &LearntRate::rate, &LearntRate::low, &LearntRate::high,
      &LearntRate::completions, &LearntRate::time_unix);
}

std::vector<Prediction> JournalReader::predictions() const {
  return all<Prediction>(state_->written(),
                         "SELECT time_unix, type, throughput FROM predictions ORDER BY time_unix, sequence",
                         &Prediction::time_unix, &Prediction::type, &Prediction::throughput);
}

std::vector<TaskTotals> JournalReader::totals() const {
  return all<TaskTotals>(
      state_->written(),
      "SELECT t.type, count(*), sum(a.status = 'ok'), sum(a.status <> 'ok'), coalesce((SELECT d.text FROM "
      "definitions d WHERE d.type = t.type AND d.part = 'from'), '') FROM tasks t LEFT JOIN "
      "attempts a ON a.sequence = t.final GROUP BY t.type ORDER BY min(t.id)",
      &TaskTotals::type, &TaskTotals::tasks, &TaskTotals::done, &TaskTotals::failed, &TaskTotals::from);
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
