// Journals made by somebody who means harm, and what lies beside them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "allot/jobs/journal.hpp"
#include "allot/jobs/journal_reader.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class HostileJournal : public ::testing::Test {
 protected:
  HostileJournal() {
    std::string pattern = (fs::temp_directory_path() / "allot-hostile-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = (folder_ / "poetry").string();
  }
  ~HostileJournal() override { fs::remove_all(folder_); }

  void make() const {
    Journal journal(path_);
    const std::vector<std::string> types = {"t"};
    const std::vector<JobItem> items = {{task_type(0), 0, "t:a"}};
    journal.register_tasks(items, types, {});
    journal.begin_run({"run-1", "job", "finish", "map", "1", 1.7e9});
    AttemptEnd end;
    end.task = 0;
    end.status = AttemptStatus::kOk;
    end.error = std::string(15'000'000, 'e');
    journal.finish(end, true);
  }
  void change(const std::string& sql) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    char* message = nullptr;
    ASSERT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message << "\n"
                                                                                        << sql;
    sqlite3_close(handle);
  }
  void expect_refused() const {
    for (const bool reading : {true, false}) {
      try {
        if (reading) {
          const JournalReader reader(path_);
        } else {
          const Journal journal(path_);
        }
        ADD_FAILURE() << "not refused";
      } catch (const JournalError& error) {
        EXPECT_EQ(error.kind(), JournalProblem::kCorrupt) << error.what();
      }
    }
  }
  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static unsigned mode(const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 ? found.st_mode & 0777U : 0;
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(HostileJournal, FilesOfOthersAreNotTouched) {
  std::ofstream(path_ + ".lock") << "[[package]]\nname = \"mine\"\n";
  make();
  EXPECT_EQ(read(path_ + ".lock"), "[[package]]\nname = \"mine\"\n");
  EXPECT_FALSE(fs::exists(path_ + ".allot-lock"));
  // And if one of them should have the very name of ours.
  std::ofstream(path_ + ".allot-lock") << "something else";
  EXPECT_THROW(make(), JournalError);
  EXPECT_EQ(read(path_ + ".allot-lock"), "something else");
}

TEST_F(HostileJournal, LinksBesideItAreNotFollowed) {
  std::ofstream(folder_ / "precious") << "mine";
  for (const char* const ending : {".allot-lock", "-wal", "-shm"}) {
    fs::create_symlink("precious", path_ + ending);
    EXPECT_THROW(make(), JournalError) << ending;
    if (fs::exists(path_)) {
      EXPECT_THROW(JournalReader reader(path_ + (ending[0] == '.' ? "none" : "")), JournalError) << ending;
    }
    EXPECT_EQ(read(folder_ / "precious"), "mine") << ending;
    fs::remove(path_ + ending);
  }
}

TEST_F(HostileJournal, IsForItsOwnerAlone) {
  make();
  EXPECT_EQ(mode(path_), 0600U);
  Journal journal(path_);
  EXPECT_EQ(mode(path_ + "-wal"), 0600U);
  EXPECT_EQ(mode(path_ + ".allot-lock"), 0600U);
}

TEST_F(HostileJournal, AShortFileOfSomebodyElseIsNone) {
  std::ofstream(path_) << "x";
  EXPECT_THROW(make(), JournalError);
  EXPECT_EQ(read(path_), "x");
}

TEST_F(HostileJournal, AnOlderOneBecomesPrivate) {
  make();
  fs::permissions(path_, static_cast<fs::perms>(0644));
  make();
  EXPECT_EQ(mode(path_), 0600U);
}

TEST_F(HostileJournal, LongTextsAreCut) {
  make();
  JournalReader(path_).for_each_attempt([](const AttemptRow& row) { EXPECT_LE(row.error.size(), 4200u); });
}

TEST_F(HostileJournal, ViewsTriggersAndOtherTablesAreRefused) {
  const std::string endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";
  const std::vector<std::string> changes = {
      "ALTER TABLE attempts RENAME TO hidden; CREATE VIEW attempts AS " + endless + "i AS sequence FROM n",
      "CREATE TRIGGER t AFTER INSERT ON attempts BEGIN DELETE FROM attempts; END",
      "CREATE TRIGGER t AFTER INSERT ON runs BEGIN INSERT INTO events SELECT max(sequence) + 1, 1, 1, 'a', "
      "'b' FROM events; END",
      "CREATE VIEW harmless AS SELECT 1",
      "CREATE TABLE more (a)",
      "CREATE INDEX more ON attempts (status)",
      "ALTER TABLE attempts ADD COLUMN more",
      "ALTER TABLE tasks ADD COLUMN more GENERATED ALWAYS AS (hex(zeroblob(900000000))) VIRTUAL",
      "DROP TABLE events",
      "DROP TABLE events; CREATE TABLE events (sequence INTEGER PRIMARY KEY, run INTEGER NOT NULL, time_unix "
      "REAL NOT "
      "NULL, kind TEXT NOT NULL, text TEXT NOT NULL DEFAULT 'x')",
  };
  for (const std::string& sql : changes) {
    SCOPED_TRACE(sql);
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    make();
    change(sql);
    expect_refused();
  }
}

TEST_F(HostileJournal, ValuesLongerThanAnyIsAreRefused) {
  make();
  change("UPDATE attempts SET error = hex(zeroblob(20000000))");
  try {
    JournalReader(path_).for_each_attempt([](const AttemptRow&) {});
    FAIL();
  } catch (const JournalError& error) {
    EXPECT_EQ(error.kind(), JournalProblem::kCorrupt) << error.what();
  }
}

TEST_F(HostileJournal, TheIdOfAnEarlierRunIsNoPath) {
  make();
  const std::vector<std::string> types = {"t"};
  const std::vector<JobItem> items = {{task_type(0), 0, "t:a"}};
  {
    Journal journal(path_);
    journal.register_tasks(items, types, {});
    EXPECT_EQ(journal.last_run(0), "run-1");
  }
  change("UPDATE runs SET id = '../../x'");
  Journal journal(path_);
  journal.register_tasks(items, types, {});
  EXPECT_EQ(journal.last_run(0), "");
}

}  // namespace
}  // namespace allot
