#include "allot/jobs/journal.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include "allot/base/stop.hpp"
#include "allot/jobs/detail/database.hpp"
#include "allot/jobs/detail/file_lock.hpp"
#include "allot/jobs/detail/records.hpp"
#include "allot/jobs/detail/schema.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;
using detail::Database;
using detail::KnownTask;
using detail::seal;
using detail::Statement;
using detail::Transaction;

/// Limits for texts whose length others choose.
constexpr std::size_t kMostError = 4096;
constexpr std::size_t kMostText = std::size_t{1} << 20;

std::string bounded(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

struct RunEnd {
  std::string outcome;
  double end_unix;
};
struct Finish {
  AttemptEnd end;
  bool is_final;
};
struct Event {
  double time_unix;
  std::string kind;
  std::string text;
};
using Record = std::variant<RunInfo, RunEnd, AttemptStart, Finish, Event, std::vector<LearntRate>,
                            std::vector<Prediction>>;

/// Registration asks whether to go on after this many tasks.
constexpr std::size_t kAskEvery = 1024;

constexpr off_t kSmallestDatabase = 512;  // one page

/// Creates the file, readable only by its owner, if there is none; files that SQLite puts beside it get the
/// same mode. The user did not choose those names: a link there would lead to a file that is not ours.
const std::string& private_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
  if (file < 0 && errno != EEXIST)
    throw JournalError(JournalProblem::kIo, path + ": " + std::generic_category().message(errno));
  struct stat found {};
  if (file < 0 && ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode)) {
    // SQLite would take it for an empty database.
    if (found.st_size > 0 && found.st_size < kSmallestDatabase)
      throw JournalError(JournalProblem::kCorrupt, path + ": not a journal of allot");
    if (found.st_uid == ::geteuid() && (found.st_mode & 077U) != 0)
      ::chmod(path.c_str(), found.st_mode & 0700U);
  }
  detail::refuse_links_beside(path);
  return path;
}

/// The names of new files are durable only when their folder is on the disk.
void sync_folder(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  const int file = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

}  // namespace

struct Journal::State {
  struct RegisteredTask {
    std::int64_t id;
    std::string task;
    std::string_view type;
    std::int64_t last_run;
  };

  std::string path;
  JournalOptions options;
  detail::FileLock lock_file;
  Database database;
  std::mutex database_mutex;                         // held during a transaction; the caller has some, too
  std::unordered_map<std::string, KnownTask> known;  // until the tasks are registered
  std::vector<RegisteredTask> tasks;
  std::set<std::string, std::less<>> type_names;
  std::unordered_set<std::string> redo;  // tasks that become pending again when they are registered
  std::int64_t run = 0;
  std::unordered_map<std::int64_t, std::string> run_ids;  // of earlier runs; 0 has none

  // The writer's statements.
  std::optional<Statement> insert_start, upsert_end, set_final;

  // Between the caller and the writer.
  mutable std::mutex mutex;
  std::condition_variable wake, done;
  std::vector<Record> queue;
  Clock::time_point first_queued;
  std::uint64_t queued = 0;   // records
  std::uint64_t durable = 0;  // records
  std::uint64_t defeats = 0;  // failed commits
  bool flush_wanted = false;
  bool stopping = false;
  std::optional<JournalError> failed;
  std::atomic<std::uint64_t> finishes{0};  // durable ones
  int event = -1;
  std::thread writer;

  State(const std::string& file, JournalOptions given)
      : path(file),
        options(std::move(given)),
        lock_file(file),
        database(private_file(file), file, SQLITE_OPEN_READWRITE, options.vfs) {
    open();
    known = detail::load_tasks(database);
    load_run_ids();
    recover();
    event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event < 0)
      throw JournalError(JournalProblem::kIo, path + ": " + std::generic_category().message(errno));
    writer = std::thread([this] { write_loop(); });
  }

  ~State() {
    if (writer.joinable()) {
      {
        const std::lock_guard guard(mutex);
        stopping = true;
      }
      wake.notify_all();
      writer.join();
    }
    if (event >= 0) ::close(event);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // ---- opening

  void open() {
    // Checked before anything in another program's file is changed.
    const bool is_new = database.check_format(true);
    if (!is_new) {
      const std::string verdict = database.text("PRAGMA integrity_check(1)");
      if (verdict != "ok") database.corrupt(verdict);
    }
    if (database.text("PRAGMA journal_mode = WAL") != "wal")
      throw JournalError(JournalProblem::kIo, path + ": its file system cannot hold a write-ahead log");
    // Every commit is synchronised with the disk before it counts.
    database.execute("PRAGMA synchronous = FULL");
    if (is_new) {
      const Transaction transaction(database);
      database.execute(detail::kJournalSchema);
      database.execute("PRAGMA application_id = " + std::to_string(detail::kJournalApplication));
      database.execute("PRAGMA user_version = " + std::to_string(detail::kJournalFormat));
      transaction.commit();
      sync_folder(path);
    }
    insert_start.emplace(
        database,
        "INSERT INTO attempts (task, run, attempt, resource, slot, status, start_unix, queue_s, "
        "command) VALUES (?, ?, ?, ?, ?, 'started', ?, ?, ?)");
    upsert_end.emplace(
        database,
        "INSERT INTO attempts (task, run, attempt, resource, slot, status, exit, signal, start_unix, "
        "queue_s, "
        "wall_s, user_s, sys_s, maxrss_kb, counted, error, command, forgiven) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18) "
        "ON CONFLICT (task, attempt) DO UPDATE SET run = ?2, resource = ?4, slot = ?5, status = ?6, exit = "
        "?7, signal "
        "= ?8, "
        "start_unix = ?9, queue_s = ?10, wall_s = ?11, user_s = ?12, sys_s = ?13, maxrss_kb = ?14, counted = "
        "?15, error = ?16, command = ?17, forgiven = ?18 RETURNING sequence");
    set_final.emplace(database, "UPDATE tasks SET final = ?2, seal = ?3 WHERE id = ?1 AND final IS NULL");
  }

  void load_run_ids() {
    Statement runs(database, "SELECT run, id FROM runs");
    while (runs.step()) run_ids.emplace(runs.whole(0), runs.text(1));
  }

  /// Attempts without an end were lost with the process that ran them.
  void recover() {
    const Transaction transaction(database);
    // Any of several may have been the cause, so none is blamed.
    const bool shared = std::count_if(known.begin(), known.end(),
                                      [](const auto& entry) { return entry.second.is_open_attempt; }) > 1;
    if (shared) database.execute("UPDATE attempts SET forgiven = 1 WHERE status = 'started'");
    database.execute(
        "UPDATE attempts SET status = 'lost', error = 'the run ended before it did' WHERE status = "
        "'started'");
    Statement last(database, "SELECT max(sequence) FROM attempts WHERE task = ?");
    for (auto& [name, task] : known) {
      if (shared && task.is_open_attempt) --task.state.lost;
      if (!task.is_open_attempt || task.state.kind != TaskState::Kind::kPending ||
          task.state.lost <= options.most_requeues) {
        continue;
      }
      last.with(task.id).step();
      make_final(task.id, name, task.type, last.whole(0), AttemptStatus::kLost);
      task.state.kind = TaskState::Kind::kFailed;
    }
    // A run without an end was killed.
    database.execute("UPDATE runs SET outcome = 'killed' WHERE end_unix IS NULL AND outcome = ''");
    transaction.commit();
    run = database.number("SELECT coalesce(max(run), 0) FROM runs");
  }

  void make_final(std::int64_t id, std::string_view task, std::string_view type, std::int64_t sequence,
                  AttemptStatus status) {
    set_final->with(id, sequence, seal(task, type, sequence, to_string(status))).run();
    if (database.changes() != 1)
      database.corrupt("a second final record for task " + std::string(task) + " was refused");
  }

  // ---- the tasks of a job

  void check_work(std::span<const WorkDefinition> work) {
    const std::string changes = detail::changed_work(database, work);
    if (!changes.empty() && !options.accept_changed) {
      throw JournalError(JournalProblem::kChanged,
                         path + ": belongs to a job that was defined differently" + changes);
    }
    database.execute("DELETE FROM definitions WHERE part = 'from'");  // a type may no longer have one
    Statement keep(database, "INSERT OR REPLACE INTO definitions VALUES (?, ?, ?, ?)");
    for (const WorkDefinition& now : work) keep.with(now.type, now.part, now.resource, now.text).run();
  }

  std::optional<std::vector<TaskState>> register_tasks(std::span<const JobItem> items,
                                                       std::span<const std::string> types,
                                                       std::span<const WorkDefinition> work,
                                                       const std::function<bool()>& go_on) {
    const std::lock_guard guard(database_mutex);
    const Transaction transaction(database);
    check_work(work);
    std::vector<TaskState> states;
    states.reserve(items.size());
    tasks.reserve(items.size());
    Statement insert(database, "INSERT INTO tasks (task, type, seal) VALUES (?, ?, ?)");
    for (const JobItem& item : items) {
      if (go_on && states.size() % kAskEvery == 0 && !go_on()) return std::nullopt;  // rolls back
      const std::string_view type = *type_names.insert(types[index(item.type)]).first;
      const auto it = known.find(item.identity);
      if (it == known.end()) {
        insert.with(item.identity, type, seal(item.identity, type, 0, "")).run();
        tasks.push_back({sqlite3_last_insert_rowid(database.handle()), item.identity, type, 0});
        states.emplace_back();
        continue;
      }
      KnownTask& task = it->second;
      const bool is_retried = task.state.kind == TaskState::Kind::kFailed && options.retry_failed;
      if (is_retried || redo.contains(item.identity)) reopen(task, item.identity);
      tasks.push_back({task.id, item.identity, type, task.last_run});
      states.push_back(task.state);
    }
    transaction.commit();
    known.clear();
    redo.clear();
    return states;
  }

  /// Its final record becomes an ordinary attempt, and earlier failures do not count any more.
  void reopen(KnownTask& task, const std::string& name) {
    Statement(database, "UPDATE tasks SET final = NULL, seal = ? WHERE id = ?")
        .with(seal(name, task.type, 0, ""), task.id)
        .run();
    Statement(database, "UPDATE attempts SET forgiven = 1 WHERE task = ?").with(task.id).run();
    task.state = {TaskState::Kind::kPending, task.state.attempts, 0, 0};
  }

  // ---- the writer

  void push(Record record) {
    const std::lock_guard guard(mutex);
    const bool is_first = queue.empty();
    if (is_first) first_queued = Clock::now();
    queue.push_back(std::move(record));
    ++queued;
    if (is_first) wake.notify_one();  // for the other records of the group the writer waits anyway
  }

  void write_loop() {
    std::vector<Record> batch;  // kept if it could not be written
    std::unique_lock guard(mutex);
    while (true) {
      wake.wait(guard, [&] { return stopping || flush_wanted || (!queue.empty() && !failed); });
      if (!stopping && !flush_wanted) {
        wake.wait_until(guard, first_queued + options.group, [&] { return stopping || flush_wanted; });
      }
      flush_wanted = false;
      std::move(queue.begin(), queue.end(), std::back_inserter(batch));
      queue.clear();
      if (!batch.empty()) {
        guard.unlock();
        std::optional<JournalError> error = write(batch);
        guard.lock();
        if (error) {
          ++defeats;
        } else {
          durable += batch.size();
          for (const Record& record : batch) finishes += std::holds_alternative<Finish>(record) ? 1 : 0;
          batch.clear();
        }
        failed = std::move(error);
        const std::uint64_t one = 1;
        // The counter is full only after 2^64 groups that nobody read.
        if (::write(event, &one, sizeof one) < 0) errno = 0;
      }
      done.notify_all();
      if (stopping && (failed || queue.empty())) return;
    }
  }

  std::optional<JournalError> write(const std::vector<Record>& batch) {
    try {
      const std::lock_guard guard(database_mutex);
      const Transaction transaction(database);
      for (const Record& record : batch) {
        std::visit([this](const auto& content) { apply(content); }, record);
      }
      transaction.commit();
      return std::nullopt;
    } catch (const JournalError& error) {
      return error;
    } catch (const std::exception& error) {
      return JournalError(JournalProblem::kIo, path + ": " + error.what());
    }
  }

  void apply(const RunInfo& info) {
    run = database.number("SELECT coalesce(max(run), 0) + 1 FROM runs");
    Statement(
        database,
        "INSERT INTO runs (run, id, job, objective, policy, version, pid, start_unix) VALUES (?, ?, ?, ?, ?, "
        "?, ?, ?)")
        .with(run, info.id, info.job, info.objective, info.policy, info.version,
              static_cast<std::int64_t>(::getpid()), info.start_unix)
        .run();
  }
  void apply(const RunEnd& end) {
    Statement(database, "UPDATE runs SET end_unix = ?, outcome = ? WHERE run = ?")
        .with(end.end_unix, end.outcome, run)
        .run();
  }
  void apply(const AttemptStart& start) {
    insert_start
        ->with(tasks[start.task].id, run, start.attempt, start.resource, start.slot, start.start_unix,
               start.queue_s, bounded(start.command, kMostText))
        .run();
  }
  void apply(const Finish& finish) {
    const AttemptEnd& end = finish.end;
    const RegisteredTask& task = tasks[end.task];
    upsert_end->with(task.id, run, end.attempt, end.resource, end.slot, to_string(end.status), end.exit,
                     end.signal, end.start_unix, end.queue_s, end.wall_s, end.user_s, end.sys_s,
                     end.maxrss_kb, end.counted, bounded(end.error, kMostError),
                     bounded(end.command, kMostText), end.forgiven);
    if (!upsert_end->step()) database.corrupt("an attempt was not kept");
    const std::int64_t sequence = upsert_end->whole(0);
    upsert_end->run();
    if (finish.is_final) make_final(task.id, task.task, task.type, sequence, end.status);
  }
  void apply(const Event& happened) {
    Statement(database, "INSERT INTO events (run, time_unix, kind, text) VALUES (?, ?, ?, ?)")
        .with(run, happened.time_unix, happened.kind, bounded(happened.text, kMostError))
        .run();
  }
  void apply(const std::vector<LearntRate>& rates) {
    Statement keep(database, "INSERT OR REPLACE INTO rates VALUES (?, ?, ?, ?, ?, ?, ?)");
    for (const LearntRate& r : rates) {
      keep.with(r.type, r.resource, r.rate, r.low, r.high, r.completions, r.time_unix).run();
    }
  }
  void apply(const std::vector<Prediction>& plan) {
    Statement keep(database,
                   "INSERT INTO predictions (run, time_unix, type, throughput) VALUES (?, ?, ?, ?)");
    for (const Prediction& p : plan) keep.with(run, p.time_unix, p.type, p.throughput).run();
  }

  void flush() {
    std::unique_lock guard(mutex);
    const std::uint64_t wanted = queued;
    const std::uint64_t before = defeats;
    if (durable >= wanted) return;
    flush_wanted = true;
    wake.notify_one();
    done.wait(guard, [&] { return durable >= wanted || defeats > before; });
    if (durable < wanted && failed) throw JournalError(*failed);
  }
};

Journal::Journal(const std::string& path, JournalOptions options)
    : state_(std::make_unique<State>(path, std::move(options))) {}
Journal::~Journal() = default;

std::vector<TaskState> Journal::register_tasks(std::span<const JobItem> items,
                                               std::span<const std::string> types,
                                               std::span<const WorkDefinition> work) {
  return state_->register_tasks(items, types, work, {}).value();
}

std::vector<TaskState> Journal::register_tasks(const Job& job, std::span<const JobItem> items) {
  return register_tasks(job, items, {}).value();
}

std::optional<std::vector<TaskState>> Journal::register_tasks(const Job& job, std::span<const JobItem> items,
                                                              const std::function<bool()>& go_on) {
  std::vector<std::string> types;
  for (const JobTask& task : job.tasks) types.push_back(task.name);
  return state_->register_tasks(items, types, definitions(job), go_on);
}

void Journal::redo(std::span<const std::string> tasks) { state_->redo.insert(tasks.begin(), tasks.end()); }
std::int64_t Journal::task_id(std::size_t task) const { return state_->tasks.at(task).id; }
const std::string& Journal::last_run(std::size_t task) const {
  static const std::string kNone;
  const auto it = state_->run_ids.find(state_->tasks[task].last_run);
  // It becomes part of a path; ids from this program consist of letters, digits and dashes.
  const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; };
  const bool is_known = it != state_->run_ids.end() && it->second.size() <= 64 &&
                        std::all_of(it->second.begin(), it->second.end(), is_plain);
  return is_known ? it->second : kNone;
}

void Journal::begin_run(const RunInfo& run) {
  state_->push(run);
  state_->flush();
}
void Journal::end_run(std::string outcome, double end_unix) {
  state_->push(RunEnd{std::move(outcome), end_unix});
}
void Journal::start(AttemptStart start) { state_->push(std::move(start)); }
void Journal::finish(AttemptEnd end, bool is_final) { state_->push(Finish{std::move(end), is_final}); }
void Journal::note_event(double time_unix, std::string kind, std::string text) {
  state_->push(Event{time_unix, std::move(kind), std::move(text)});
}
void Journal::note_rates(std::vector<LearntRate> rates) { state_->push(std::move(rates)); }
void Journal::note_prediction(std::vector<Prediction> plan) { state_->push(std::move(plan)); }

std::uint64_t Journal::committed() const noexcept { return state_->finishes.load(std::memory_order_acquire); }
int Journal::committed_fd() const noexcept { return state_->event; }
void Journal::flush() { state_->flush(); }

std::optional<std::string> Journal::failure() const {
  const std::lock_guard guard(state_->mutex);
  return state_->failed ? std::optional<std::string>(state_->failed->what()) : std::nullopt;
}

std::optional<std::string> move_aside(const std::string& path) {
  const detail::FileLock lock(path);
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  try {
    // After a checkpoint of its log, the journal is one file.
    const Database database(path, path, SQLITE_OPEN_READWRITE, "");
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (const JournalError&) {
    // Damaged, or not a journal: moved unchanged.
  }
  std::string to;
  for (int number = 1; to.empty() || fs::exists(to, error) || fs::exists(to + "-wal", error); ++number) {
    to = path + "." + std::to_string(number);
  }
  for (const char* const part : {"", "-wal", "-shm"}) {
    if (!fs::exists(path + part, error)) continue;
    fs::rename(path + part, to + part, error);
    if (error) throw JournalError(JournalProblem::kIo, path + part + ": " + error.message());
  }
  sync_folder(path);
  return to;
}

}  // namespace allot
