#include "allot/sweep/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "allot/sweep/encoding.hpp"
#include "tests/support/tiny_experiment.hpp"

namespace allot {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~StoreTest() override { fs::remove_all(folder_); }
  std::string path(const std::string& name = "store.sqlite") const { return folder_ / name; }

  std::string refusal(const std::string& file) const {
    try {
      const Store store(file);
    } catch (const StoreError& error) {
      return error.what();
    }
    return "";
  }

  static void execute(const std::string& file, const char* sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }

  fs::path folder_ = fs::temp_directory_path() / ("allot-store-" + std::to_string(::getpid()));
  Experiment experiment_ = testing::tiny_experiment("figure-2");
};

TEST_F(StoreTest, GivesBackWhatWasSavedAfterReopening) {
  {
    Store store(path());
    for (const std::size_t unit : {4, 0, 2})
      store.save(experiment_, 1, {unit, testing::tiny_result(1, unit), 0.5});
  }
  const Store store(path());
  const std::vector<StoredUnit> found = store.load(experiment_, 1, 4);
  ASSERT_EQ(found.size(), 2u);  // unit 4 is beyond what is asked for
  EXPECT_EQ(found[0].unit, 0u);
  EXPECT_EQ(found[1].unit, 2u);
  EXPECT_EQ(found[1].seconds, 0.5);
  EXPECT_EQ(encode_result(found[1].result),
            encode_result(testing::tiny_result(1, 2)));  // NaN and -0 included
}

TEST_F(StoreTest, KeepsExperimentsVersionsAndSeedsApart) {
  Store store(path());
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  store.save(experiment_, 1, {0, {{{1}}, {}}, 0});
  store.save(experiment_, kLargest, {0, {{{2}}, {}}, 0});
  Experiment newer = experiment_;
  newer.version = 2;
  store.save(newer, 1, {0, {{{3}}, {}}, 0});
  const Experiment other = testing::tiny_experiment("figure-3");
  EXPECT_TRUE(store.load(other, 1, 10).empty());
  EXPECT_EQ(store.load(experiment_, 1, 10).at(0).result.rows[0][0], 1);
  EXPECT_EQ(store.load(experiment_, kLargest, 10).at(0).result.rows[0][0], 2);
  EXPECT_EQ(store.load(newer, 1, 10).at(0).result.rows[0][0], 3);
}

TEST_F(StoreTest, RefusesAUnitThatIsThereAlready) {
  Store store(path());
  store.save(experiment_, 1, {0, {}, 0});
  EXPECT_THROW(store.save(experiment_, 1, {0, {}, 0}), StoreError);
  store.save(experiment_, 1, {1, {}, 0});  // and goes on
  EXPECT_EQ(store.load(experiment_, 1, 9).size(), 2u);
}

TEST_F(StoreTest, LeavesOneFileWhenClosed) {
  {
    Store store(path());
    store.save(experiment_, 1, {0, {}, 0});
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(StoreTest, KeepsWhatAKilledProcessSaved) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Store store(path());
    for (std::size_t unit = 0; unit < 50; ++unit)
      store.save(experiment_, 1, {unit, testing::tiny_result(1, unit), 0});
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(Store(path()).load(experiment_, 1, 100).size(), 50u);
}

TEST_F(StoreTest, IsHeldByOneProcessAtATime) {
  const Store store(path());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(refusal(path()).find("in use by another run") != std::string::npos ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(StoreTest, RefusesWhatIsNoStore) {
  std::ofstream(path("text")) << std::string(5000, 'x');
  EXPECT_THAT(refusal(path("text")), HasSubstr("not a store of allot"));
  EXPECT_THAT(refusal(path("text")), HasSubstr(path("text")));
  execute(path("other"), "CREATE TABLE mine (x)");
  const auto content = [&] {
    std::ifstream file(path("other"), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string before = content();
  EXPECT_THAT(refusal(path("other")), HasSubstr("another program"));
  EXPECT_EQ(content(), before);
  { const Store store(path()); }
  execute(path(), "PRAGMA user_version = 99");
  EXPECT_THAT(refusal(path()), HasSubstr("format 99"));
  EXPECT_THAT(refusal(path("no/such/folder")), HasSubstr("unable to open"));
  EXPECT_THAT(refusal(folder_), HasSubstr("unable to open"));
}

TEST_F(StoreTest, RefusesAStoreWithViewsOrTriggers) {
  for (const char* const sql :
       {"CREATE VIEW v AS SELECT 1", "CREATE TABLE more (a)",
        "CREATE TRIGGER t AFTER INSERT ON units BEGIN DELETE FROM units; END",
        "ALTER TABLE units RENAME TO hidden; CREATE VIEW units AS SELECT * FROM hidden"}) {
    const std::string name = path("changed");
    std::remove(name.c_str());
    { const Store store(name); }
    execute(name, sql);
    EXPECT_THAT(refusal(name), HasSubstr("not those of a store")) << sql;
  }
}

TEST_F(StoreTest, FollowsNoLink) {
  std::ofstream(path("empty")).flush();
  std::filesystem::create_symlink(path("empty"), path("link"));
  EXPECT_THAT(refusal(path("link")), HasSubstr("is a link"));
  EXPECT_EQ(std::filesystem::file_size(path("empty")), 0u);
}

TEST_F(StoreTest, TakesAnEmptyFileForANewOne) {
  std::ofstream(path()).flush();  // killed while it was being made
  Store store(path());
  store.save(experiment_, 1, {0, {}, 0});
}

TEST_F(StoreTest, SaysWhichUnitIsDamaged) {
  {
    Store store(path());
    store.save(experiment_, 1, {7, {{{1}}, {}}, 0});
  }
  execute(path(), "UPDATE units SET result = x'010203'");
  const Store store(path());
  try {
    store.load(experiment_, 1, 10);
    FAIL();
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), HasSubstr("unit 7 of figure-2"));
  }
}

}  // namespace
}  // namespace allot
