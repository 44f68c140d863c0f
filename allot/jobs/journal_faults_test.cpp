// The journal under what must not happen: torn and flipped files, writes that fail, a writer killed.
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "allot/jobs/journal.hpp"
#include "allot/jobs/journal_reader.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;
using Kind = TaskState::Kind;

const std::vector<std::string> kTypes = {"decode"};
const std::vector<WorkDefinition> kWork = {{"decode", "command", "cpu", "djpeg {}"}};

std::vector<JobItem> items(std::size_t count) {
  std::vector<JobItem> out;
  for (std::size_t k = 0; k < count; ++k) out.push_back({TaskType{0}, k, "decode:" + std::to_string(k)});
  return out;
}

AttemptEnd attempt(std::size_t task, int number = 1) {
  AttemptEnd end;
  end.task = task;
  end.attempt = number;
  end.resource = "cpu";
  end.command = "djpeg " + std::to_string(task);
  end.exit = 0;
  end.wall_s = 0.5;
  return end;
}

class JournalFaults : public ::testing::Test {
 protected:
  JournalFaults() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~JournalFaults() override { fs::remove_all(folder_); }

  /// No task has two final records, and those it has are those that the states say.
  static void expect_consistent(const std::string& path, const std::vector<TaskState>& states) {
    std::map<std::string, int> finals;
    JournalReader(path).for_each_attempt(
        [&](const AttemptRow& row) { finals[row.task] += row.is_final ? 1 : 0; });
    for (const auto& [task, count] : finals) EXPECT_LE(count, 1) << task;
    for (std::size_t k = 0; k < states.size(); ++k) {
      const auto it = finals.find("decode:" + std::to_string(k));
      EXPECT_EQ(it != finals.end() && it->second == 1, states[k].kind != Kind::kPending) << k;
    }
  }

  // In memory where there is such a place: what is tried here does not depend on the disk, only its time
  // does.
  fs::path folder_ = (::access("/dev/shm", W_OK) == 0 ? fs::path("/dev/shm") : fs::temp_directory_path()) /
                     ("allot-journal-faults-" + std::to_string(::getpid()));
  std::string path_ = (folder_ / "a.journal").string();
};

// ---- damage

/// A journal as a killed run leaves it: some records in the database, some in the log only.
class DamagedJournal : public JournalFaults {
 protected:
  static constexpr std::size_t kFolded = 30;
  static constexpr std::size_t kInLog = 30;
  static constexpr std::size_t kTasks = kFolded + kInLog + 5;

  DamagedJournal() {
    {
      Journal journal(path_);
      journal.register_tasks(items(kTasks), kTypes, kWork);
      for (std::size_t k = 0; k < kFolded; ++k) journal.finish(attempt(k), true);
    }
    Journal journal(path_);
    journal.register_tasks(items(kTasks), kTypes, kWork);
    for (std::size_t k = kFolded; k < kFolded + kInLog; ++k) {
      journal.start(attempt(k));
      journal.finish(attempt(k), true);
      journal.flush();  // a commit each
    }
    database_ = content(path_);
    log_ = content(path_ + "-wal");
  }

  static std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// Opens a journal with these bytes; returns the states of the tasks, or none when it was refused.
  std::vector<TaskState> open(const std::string& database, const std::string& log) const {
    const std::string path = (folder_ / "damaged.journal").string();
    for (const char* const part : {"", "-wal", "-shm", ".allot-lock"}) fs::remove(path + part);
    std::ofstream(path, std::ios::binary) << database;
    std::ofstream(path + "-wal", std::ios::binary) << log;
    try {
      Journal journal(path);
      std::vector<TaskState> states = journal.register_tasks(items(kTasks), kTypes, kWork);
      expect_consistent(path, states);
      return states;
    } catch (const JournalError& error) {
      EXPECT_STRNE(error.what(), "");
    }
    try {  // nor may reading it do harm
      JournalReader(path).for_each_attempt([](const AttemptRow&) {});
    } catch (const JournalError&) {
    }
    return {};
  }

  std::string database_;
  std::string log_;
};

TEST_F(DamagedJournal, OpensWhole) {
  ASSERT_GT(log_.size(), kInLog * 4096);
  const std::vector<TaskState> states = open(database_, log_);
  ASSERT_EQ(states.size(), kTasks);
  for (std::size_t k = 0; k < kTasks; ++k) {
    EXPECT_EQ(states[k].kind, k < kFolded + kInLog ? Kind::kDone : Kind::kPending) << k;
  }
}

/// Records of the log may be gone from some point on, but nothing before it and nothing out of the database.
void expect_prefix(const std::vector<TaskState>& states, std::size_t folded, std::size_t in_log) {
  for (std::size_t k = 0; k < folded; ++k) EXPECT_EQ(states[k].kind, Kind::kDone) << k;
  bool ended = false;
  for (std::size_t k = folded; k < states.size(); ++k) {
    const bool done = states[k].kind == Kind::kDone;
    EXPECT_FALSE(done && (ended || k >= folded + in_log)) << k;
    ended = ended || !done;
  }
}

TEST_F(DamagedJournal, KeepsAPrefixOfATornLog) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    std::mt19937_64 random(seed);
    const std::vector<TaskState> states = open(database_, log_.substr(0, random() % log_.size()));
    ASSERT_EQ(states.size(), kTasks) << "a torn log is no reason to refuse";
    expect_prefix(states, kFolded, kInLog);
    if (HasFailure()) break;
  }
}

TEST_F(DamagedJournal, KeepsAPrefixOfALogWithAFlippedBit) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    std::mt19937_64 random(seed);
    std::string log = log_;
    char& byte = log[random() % log.size()];
    byte = static_cast<char>(byte ^ (1 << (random() % 8)));
    const std::vector<TaskState> states = open(database_, log);
    if (!states.empty()) expect_prefix(states, kFolded, kInLog);
    if (HasFailure()) break;
  }
}

TEST_F(DamagedJournal, NeverMakesUpASuccessFromAFlippedBit) {
  // With the log folded in: otherwise most of the database is hidden behind it.
  { const Journal journal(path_); }
  const std::string database = content(path_);
  int opened = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    std::mt19937_64 random(seed);
    std::string bytes = database;
    char& byte = bytes[random() % bytes.size()];
    byte = static_cast<char>(byte ^ (1 << (random() % 8)));
    const std::vector<TaskState> states = open(bytes, "");
    ++(states.empty() ? refused : opened);
    for (std::size_t k = 0; k < states.size(); ++k) {
      EXPECT_EQ(states[k].kind, k < kFolded + kInLog ? Kind::kDone : Kind::kPending) << k;
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(opened, 0);  // much of a page is empty
  EXPECT_GT(refused, 0);
}

// What a flipped bit could do where no page looks broken: each of these is a sound database.
TEST_F(JournalFaults, RefusesARecordThatWasNotWrittenSo) {
  for (const char* const change :
       {"UPDATE attempts SET status = 'ok' WHERE task = 2", "UPDATE tasks SET final = NULL WHERE id = 1",
        "UPDATE tasks SET task = 'decode:x' WHERE id = 1", "UPDATE tasks SET type = 'other' WHERE id = 3"}) {
    SCOPED_TRACE(change);
    for (const char* const part : {"", "-wal", "-shm"}) fs::remove(path_ + part);
    {
      Journal journal(path_);
      journal.register_tasks(items(3), kTypes, kWork);
      journal.finish(attempt(0), true);
      AttemptEnd failed = attempt(1);
      failed.status = AttemptStatus::kFailed;
      journal.finish(failed, true);
    }
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(database, change, nullptr, nullptr, nullptr), SQLITE_OK);
    ASSERT_EQ(sqlite3_changes(database), 1);
    sqlite3_close(database);
    try {
      const Journal journal(path_);
      ADD_FAILURE() << "opened";
    } catch (const JournalError& error) {
      EXPECT_EQ(error.kind(), JournalProblem::kCorrupt);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("damaged (the record of task decode:"));
    }
  }
}

// ---- writes that fail

/// The system's files, of which one write, truncation or synchronisation fails: the k-th, once or for ever.
class FailingFiles {
 public:
  static constexpr const char* kName = "allot-failing-files";

  FailingFiles() {
    base_ = sqlite3_vfs_find(nullptr);
    vfs_ = *base_;
    vfs_.zName = kName;
    vfs_.pNext = nullptr;
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + base_->szOsFile;
    vfs_.pAppData = this;
    vfs_.xOpen = open;
    sqlite3_vfs_register(&vfs_, 0);
  }
  FailingFiles(const FailingFiles&) = delete;
  FailingFiles& operator=(const FailingFiles&) = delete;
  ~FailingFiles() { sqlite3_vfs_unregister(&vfs_); }

  void fail_at(int k, int code, bool for_ever) {
    count_ = 0;
    at_ = k;
    code_ = code;
    for_ever_ = for_ever;
  }
  bool has_failed() const { return at_ > 0 && count_ >= at_; }

 private:
  struct File {
    sqlite3_file head;
    FailingFiles* owner;
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };
  static File* as_file(sqlite3_file* file) { return reinterpret_cast<File*>(file); }
  static sqlite3_file* real(sqlite3_file* file) { return as_file(file)->real(); }

  /// SQLITE_OK, or what to fail with.
  static int turn(sqlite3_file* file) {
    FailingFiles& self = *as_file(file)->owner;
    if (self.at_ == 0) return SQLITE_OK;
    ++self.count_;
    return self.count_ == self.at_ || (self.for_ever_ && self.count_ > self.at_) ? self.code_.load()
                                                                                 : SQLITE_OK;
  }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    auto* const self = static_cast<FailingFiles*>(vfs->pAppData);
    as_file(file)->owner = self;
    file->pMethods = nullptr;
    const int code = self->base_->xOpen(self->base_, name, real(file), flags, out);
    if (code == SQLITE_OK) file->pMethods = &kMethods;
    return code;
  }

  static int write(sqlite3_file* f, const void* bytes, int size, sqlite3_int64 at) {
    const int code = turn(f);
    if (code == SQLITE_OK) return real(f)->pMethods->xWrite(real(f), bytes, size, at);
    real(f)->pMethods->xWrite(real(f), bytes, size / 2, at);  // torn
    return code;
  }
  static int truncate(sqlite3_file* f, sqlite3_int64 size) {
    const int code = turn(f);
    return code == SQLITE_OK ? real(f)->pMethods->xTruncate(real(f), size) : code;
  }
  static int sync(sqlite3_file* f, int flags) {
    const int code = turn(f);
    return code == SQLITE_OK ? real(f)->pMethods->xSync(real(f), flags) : code;
  }

  static const sqlite3_io_methods kMethods;

  sqlite3_vfs* base_ = nullptr;
  sqlite3_vfs vfs_{};
  // Touched by the journal's thread and, while that rests, by the test's.
  std::atomic<int> count_{0};
  std::atomic<int> at_{0};
  std::atomic<int> code_{SQLITE_OK};
  std::atomic<bool> for_ever_{false};
};

const sqlite3_io_methods FailingFiles::kMethods = {
    .iVersion = 2,
    .xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); },
    .xRead = [](sqlite3_file* f, void* to, int size,
                sqlite3_int64 at) { return real(f)->pMethods->xRead(real(f), to, size, at); },
    .xWrite = write,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize = [](sqlite3_file* f,
                    sqlite3_int64* size) { return real(f)->pMethods->xFileSize(real(f), size); },
    .xLock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); },
    .xUnlock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); },
    .xCheckReservedLock = [](sqlite3_file* f,
                             int* out) { return real(f)->pMethods->xCheckReservedLock(real(f), out); },
    .xFileControl = [](sqlite3_file* f, int op,
                       void* arg) { return real(f)->pMethods->xFileControl(real(f), op, arg); },
    .xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); },
    .xDeviceCharacteristics =
        [](sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); },
    .xShmMap =
        [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
          return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
        },
    .xShmLock = [](sqlite3_file* f, int offset, int n,
                   int flags) { return real(f)->pMethods->xShmLock(real(f), offset, n, flags); },
    .xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); },
    .xShmUnmap = [](sqlite3_file* f, int remove) { return real(f)->pMethods->xShmUnmap(real(f), remove); },
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

class FailingWrites : public JournalFaults, public ::testing::WithParamInterface<std::pair<int, bool>> {};

/// A run in two sessions. Returns what was acknowledged; a JournalError ends it.
std::set<std::size_t> small_run(const std::string& path) {
  std::set<std::size_t> acknowledged;
  try {
    for (std::size_t session = 0; session < 2; ++session) {
      Journal journal(path, {.most_requeues = 1000, .vfs = FailingFiles::kName});
      const std::vector<TaskState> states = journal.register_tasks(items(8), kTypes, kWork);
      journal.begin_run({"id", "a.toml", "finish", "map", "1", 1});
      for (std::size_t k = session * 4; k < session * 4 + 4; ++k) {
        journal.start(attempt(k, states[k].attempts + 1));
        journal.finish(attempt(k, states[k].attempts + 1), true);
        journal.flush();
        EXPECT_FALSE(journal.failure());
        acknowledged.insert(k);
      }
    }
  } catch (const JournalError& error) {
    EXPECT_TRUE(error.kind() == JournalProblem::kIo || error.kind() == JournalProblem::kCorrupt)
        << error.what();
    EXPECT_STRNE(error.what(), "");
  }
  return acknowledged;
}

TEST_P(FailingWrites, EndInAnErrorAndKeepWhatWasAcknowledged) {
  FailingFiles files;
  const auto [code, for_ever] = GetParam();
  int k = 1;
  for (bool failed = true; failed; ++k) {
    SCOPED_TRACE(::testing::Message() << "write " << k);
    for (const char* const part : {"", "-wal", "-shm", "-journal", ".allot-lock"}) fs::remove(path_ + part);
    files.fail_at(k, code, for_ever);
    const std::set<std::size_t> acknowledged = small_run(path_);
    failed = files.has_failed();
    EXPECT_TRUE(failed || acknowledged.size() == 8U);
    files.fail_at(0, SQLITE_OK, false);

    Journal journal(path_, {.most_requeues = 1000});
    const std::vector<TaskState> states = journal.register_tasks(items(8), kTypes, kWork);
    for (const std::size_t task : acknowledged) EXPECT_EQ(states[task].kind, Kind::kDone) << task;
    expect_consistent(path_, states);
    // And it can be gone on with.
    for (std::size_t task = 0; task < 8; ++task) {
      if (states[task].kind == Kind::kPending) journal.finish(attempt(task, states[task].attempts + 1), true);
    }
    EXPECT_NO_THROW(journal.flush());
    if (HasFailure()) break;
  }
  EXPECT_GT(k, 40) << "too few writes to have tried them all";
}

INSTANTIATE_TEST_SUITE_P(Kinds, FailingWrites,
                         ::testing::Values(std::pair(SQLITE_IOERR_WRITE, false),
                                           std::pair(SQLITE_IOERR_FSYNC, true), std::pair(SQLITE_FULL, false),
                                           std::pair(SQLITE_FULL, true)));

TEST_F(JournalFaults, AFullDiskIsSaidAndWhatWaitsIsWrittenOnceThereIsRoom) {
  FailingFiles files;
  Journal journal(path_, {.vfs = FailingFiles::kName});
  journal.register_tasks(items(3), kTypes, kWork);
  journal.finish(attempt(0), true);
  journal.flush();
  files.fail_at(1, SQLITE_FULL, true);
  journal.finish(attempt(1), true);
  try {
    journal.flush();
    FAIL() << "written to a full disk";
  } catch (const JournalError& error) {
    EXPECT_EQ(error.kind(), JournalProblem::kIo);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("the disk is full"));
  }
  ASSERT_TRUE(journal.failure());
  EXPECT_EQ(journal.committed(), 1U);
  files.fail_at(0, SQLITE_OK, false);
  journal.finish(attempt(2), true);
  EXPECT_NO_THROW(journal.flush());
  EXPECT_FALSE(journal.failure());
  EXPECT_EQ(journal.committed(), 3U);
}

// ---- a violent end

/// Works through what is pending, and tells through the pipe which tasks were acknowledged.
[[noreturn]] void work_until_killed(const std::string& path, std::size_t tasks, int pipe) {
  try {
    Journal journal(path, {.most_requeues = 1'000'000, .group = std::chrono::milliseconds(1)});
    const std::vector<TaskState> states = journal.register_tasks(items(tasks), kTypes, kWork);
    journal.begin_run({"id", "a.toml", "finish", "map", "1", 1});
    std::vector<std::uint32_t> order;
    std::size_t told = 0;
    for (std::size_t k = 0; k < tasks; ++k) {
      if (states[k].kind != Kind::kPending) continue;
      journal.start(attempt(k, states[k].attempts + 1));
      journal.finish(attempt(k, states[k].attempts + 1), true);
      order.push_back(static_cast<std::uint32_t>(k));
      for (const std::size_t durable = journal.committed(); told < durable; ++told) {
        if (::write(pipe, &order[told], sizeof order[told]) < 0) ::_exit(2);
      }
      // Slow enough that all rounds together do not come to the end of the tasks.
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    ::pause();
  } catch (const std::exception&) {
    ::_exit(3);
  }
  ::_exit(0);
}

TEST_F(JournalFaults, KillingTheWriterLosesNothingThatWasAcknowledged) {
  constexpr std::size_t kTasks = 20'000;
  std::set<std::uint32_t> acknowledged;
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(::testing::Message() << "round=" << round);
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      work_until_killed(path_, kTasks, ends[1]);
    }
    ::close(ends[1]);
    // Some ends come while the journal is being opened, most while it is being written.
    if (round % 4 != 0) {
      std::uint32_t task = 0;
      pollfd acknowledgement{ends[0], POLLIN, 0};
      EXPECT_EQ(::poll(&acknowledgement, 1, 60'000), 1) << "the child says nothing";
      if (!HasFailure() && ::read(ends[0], &task, sizeof task) == static_cast<ssize_t>(sizeof task)) {
        EXPECT_TRUE(acknowledged.insert(task).second) << "done twice: " << task;
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself with status " << WEXITSTATUS(status);
    std::uint32_t task = 0;
    while (::read(ends[0], &task, sizeof task) == static_cast<ssize_t>(sizeof task)) {
      EXPECT_TRUE(acknowledged.insert(task).second) << "done twice: " << task;
    }
    ::close(ends[0]);
    if (HasFailure()) break;
  }
  ASSERT_FALSE(acknowledged.empty());
  Journal journal(path_);
  const std::vector<TaskState> states = journal.register_tasks(items(kTasks), kTypes, kWork);
  for (const std::uint32_t task : acknowledged) EXPECT_EQ(states[task].kind, Kind::kDone) << task;
  expect_consistent(path_, states);
}

}  // namespace
}  // namespace allot
