// `allot log` and `allot plot` from the outside.
#include "allot/jobs/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/process.hpp"

namespace allot::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;
namespace fs = std::filesystem;

class JournalCommands : public ::testing::Test {
 protected:
  JournalCommands() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    const std::vector<std::string> types = {"decode", "sum"};
    std::vector<JobItem> items;
    for (std::size_t k = 0; k < 80; ++k) {
      items.push_back({task_type(k % 2), k, types[k % 2] + ":images/number " + std::to_string(k) + ".jpg"});
    }
    Journal journal(journal_);
    journal.register_tasks(items, types, {});
    journal.begin_run({"id", "a.toml", "throughput", "map", "1", 1'700'000'000});
    for (std::size_t k = 0; k < 70; ++k) {
      AttemptEnd end;
      end.task = k;
      end.resource = k % 3 == 0 ? "gpu" : "cpu";
      end.slot = static_cast<std::int64_t>(k % 2);
      end.start_unix = 1'700'000'000 + static_cast<double>(k);
      end.wall_s = 0.75;
      end.maxrss_kb = 12'000;
      end.status = k % 10 == 5 ? AttemptStatus::kFailed : AttemptStatus::kOk;
      end.exit = k % 10 == 5 ? 3 : 0;
      end.command = "djpeg 'number " + std::to_string(k) + ".jpg'";
      journal.start(end);
      journal.finish(end, true);
    }
    AttemptStart open;
    open.task = 70;
    open.resource = "cpu";
    journal.start(open);
  }
  ~JournalCommands() override { fs::remove_all(folder_); }

  fs::path folder_ = fs::temp_directory_path() / ("allot-cli-journal-" + std::to_string(::getpid()));
  std::string journal_ = (folder_ / "a.toml.journal").string();
};

std::vector<Json> json_lines(const std::string& text) {
  std::vector<Json> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(Json::parse(line));
  return out;
}

TEST_F(JournalCommands, LogIsOneJsonLinePerAttempt) {
  const Finished finished = run_allot({"log", journal_, "--json"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, IsEmpty());
  const std::vector<Json> lines = json_lines(finished.out);
  ASSERT_EQ(lines.size(), 71U);
  EXPECT_EQ(lines[0]["task"], "decode:images/number 0.jpg");
  EXPECT_EQ(lines[0]["status"], "ok");
  EXPECT_EQ(lines[5]["exit"], 3);
  EXPECT_EQ(lines[70]["status"], "started");
}

TEST_F(JournalCommands, LogCanBeNarrowed) {
  EXPECT_EQ(json_lines(run_allot({"log", journal_, "--json", "--status", "failed"}).out).size(), 7U);
  EXPECT_EQ(json_lines(run_allot({"log", journal_, "--json", "--type", "sum"}).out).size(), 35U);
  EXPECT_THAT(run_allot({"log", journal_, "--type", "none"}).out, HasSubstr("No attempt of that kind"));
}

TEST_F(JournalCommands, LogIsATableForPeopleThatIsCutWhenLong) {
  const Finished finished = run_allot({"log", journal_});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, AllOf(HasSubstr("The last 50 of 71 attempts"), HasSubstr("exit 3"),
                                  HasSubstr("gpu:0"), HasSubstr("to do"), Not(HasSubstr("number 3.jpg"))));
  EXPECT_THAT(run_allot({"log", journal_, "--last", "0"}).out, HasSubstr("number 3.jpg"));
}

TEST_F(JournalCommands, LogTellsAttemptsThatWereCutOffFromThoseThatRun) {
  const char* const cut_off = "The run ended before 1 of these did; the same 'allot run' resumes.";
  EXPECT_THAT(run_allot({"log", journal_}).out, HasSubstr(cut_off));
  EXPECT_THAT(run_allot({"log", journal_, "--status", "ok"}).out, Not(HasSubstr("The run ended")));
  const std::vector<std::string> types = {"decode"};
  const std::vector<JobItem> items = {{task_type(0), 0, "decode:one more.jpg"}};
  Journal journal(journal_);  // the next run, which is still there
  journal.register_tasks(items, types, {});
  journal.begin_run({"id 2", "a.toml", "throughput", "map", "1", 1'700'000'100});
  AttemptStart open;
  open.resource = "cpu";
  journal.start(open);
  journal.flush();
  EXPECT_THAT(run_allot({"log", journal_}).out, AllOf(HasSubstr("started"), Not(HasSubstr("The run ended"))));
}

TEST_F(JournalCommands, AJobFileIsToldFromItsJournal) {
  const std::string job = (folder_ / "a.toml").string();
  std::ofstream(job) << "[[resources]]\nname = \"cpu\"\n";
  const Finished finished = run_allot({"log", job});
  EXPECT_EQ(finished.status, 3);
  EXPECT_THAT(finished.err, HasSubstr("did you mean '" + journal_ + "'?"));
}

TEST_F(JournalCommands, LogIsCsvWhenAsked) {
  const Finished finished = run_allot({"log", journal_, "--csv"});
  EXPECT_THAT(finished.out, ::testing::StartsWith("sequence,run,task,type,resource,slot,"));
  EXPECT_EQ(std::count(finished.out.begin(), finished.out.end(), '\n'), 72);
  EXPECT_EQ(run_allot({"log", journal_, "--csv", "--json"}).status, 2);
}

TEST_F(JournalCommands, PlotWritesOnePageThatIsTheSameEveryTime) {
  const std::string page = (folder_ / "run.html").string();
  const auto content = [&] {
    std::ifstream file(page, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  Finished finished = run_allot({"plot", journal_, "--out", page});
  EXPECT_EQ(finished.status, 0) << finished.err;
  const std::string first = content();
  EXPECT_THAT(first, AllOf(HasSubstr("</html>"), HasSubstr("63 of 80")));
  run_allot({"plot", journal_, "--out", page});
  EXPECT_EQ(content(), first);
  EXPECT_EQ(run_allot({"plot", journal_}).status, 0);
  EXPECT_TRUE(fs::exists(journal_ + ".html"));
  EXPECT_EQ(run_allot({"plot", journal_, "--out", "-"}).out, first);
  EXPECT_EQ(run_allot({"plot", journal_, "--out", (folder_ / "no/such/folder.html").string()}).status, 1);
}

TEST_F(JournalCommands, RefuseWhatIsNoJournal) {
  std::ofstream(folder_ / "notes.txt") << "these are only some notes";
  for (const std::string command : {"log", "plot"}) {
    for (const std::string name : {"notes.txt", "none.journal", "."}) {
      const Finished finished = run_allot({command, (folder_ / name).string()});
      EXPECT_EQ(finished.status, 3) << command << " " << name;
      EXPECT_THAT(finished.out, IsEmpty());
      EXPECT_THAT(finished.err, HasSubstr("error: "));
    }
  }
}

}  // namespace
}  // namespace allot::testing
