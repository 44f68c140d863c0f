#include "allot/report/journal_page.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <regex>
#include <string>
#include <vector>

namespace allot {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class JournalPage : public ::testing::Test {
 protected:
  JournalPage() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~JournalPage() override { fs::remove_all(folder_); }

  /// Attempts one after the other on `slots` slots.
  void write(std::size_t count, std::int64_t slots, double pause = 0) const {
    std::vector<JobItem> items;
    for (std::size_t k = 0; k < count; ++k)
      items.push_back({task_type(k % 2), k, "t:" + std::to_string(k) + "<&>"});
    const std::vector<std::string> types = {"first", "second"};
    Journal journal(path_, {.group = std::chrono::milliseconds(1000)});
    journal.register_tasks(items, types, {});
    journal.begin_run({"id", "a.toml", "throughput", "map", "1", 1000});
    journal.note_prediction({{1000, "first", 2}, {1000, "second", 3}});
    std::mt19937 random(3);
    for (std::size_t k = 0; k < count; ++k) {
      AttemptEnd end;
      end.task = k;
      end.resource = "cpu";
      end.slot = static_cast<std::int64_t>(k) % slots;
      end.start_unix =
          1000 + static_cast<double>(k / static_cast<std::size_t>(slots)) + (k > count / 2 ? pause : 0);
      end.wall_s = 0.5 + 0.4 * static_cast<double>(random() % 100) / 100;
      end.status = k % 10 == 9 ? AttemptStatus::kFailed : AttemptStatus::kOk;
      end.command = "x";
      journal.finish(end, true);
    }
    journal.flush();
  }
  std::string page() const { return journal_page(JournalReader(path_), {"a run", "allot 1"}); }
  static std::size_t occurrences(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++count;
    return count;
  }

  fs::path folder_ = fs::temp_directory_path() / ("allot-journal-page-" + std::to_string(::getpid()));
  std::string path_ = (folder_ / "a.journal").string();
};

TEST_F(JournalPage, ShowsEveryAttemptOfAFew) {
  write(20, 2);
  const std::string html = page();
  EXPECT_EQ(occurrences(html, "<title>t:"), 22U);  // bars, and marks of the two that failed
  EXPECT_EQ(occurrences(html, "class=\"mark\""), 2U);
  EXPECT_THAT(html, AllOf(HasSubstr("t:3&lt;&amp;&gt;"), Not(HasSubstr("<&>"))));
  EXPECT_THAT(html,
              AllOf(HasSubstr("18 of 20"), HasSubstr("class=\"promise\""), HasSubstr("What went wrong")));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
}

TEST_F(JournalPage, SaysNothingOfAPredictionThatIsNotDrawn) {
  write(20, 2);
  EXPECT_THAT(page(), HasSubstr("predicted by the plan"));
  fs::remove_all(folder_);
  fs::create_directories(folder_);
  {
    Journal journal(path_, {.group = std::chrono::milliseconds(1000)});
    const std::vector<std::string> types = {"first"};
    const std::vector<JobItem> items = {{task_type(0), 0, "t:0"}};
    journal.register_tasks(items, types, {});
    journal.begin_run({"id", "a.toml", "throughput", "map", "1", 1000});
    journal.note_prediction({{1001, "first", 2}});  // when all has ended
    AttemptEnd end;
    end.resource = "cpu";
    end.start_unix = 1000;
    end.wall_s = 1;
    end.status = AttemptStatus::kOk;
    end.command = "x";
    journal.finish(end, true);
    journal.flush();
  }
  const std::string late = page();
  EXPECT_THAT(late, Not(HasSubstr("predicted by the plan")));
  EXPECT_THAT(late, Not(HasSubstr("class=\"promise\"")));
}

TEST_F(JournalPage, FetchesNothing) {
  write(20, 2);
  EXPECT_FALSE(std::regex_search(page(), std::regex("(src|href)=\"(?!data:|#)|url\\(|@import|<script")));
}

TEST_F(JournalPage, IsTheSameForTheSameJournal) {
  write(500, 3);
  EXPECT_EQ(page(), page());
}

TEST_F(JournalPage, StaysSmallHoweverManyAttemptsAndSlotsThereAre) {
  write(100'000, 500);
  const std::string html = page();
  EXPECT_LT(html.size(), std::size_t{8} << 20);
  EXPECT_LE(occurrences(html, "class=\"row\""), 121U);
  EXPECT_THAT(html, HasSubstr("90000 of 100000"));
}

TEST_F(JournalPage, CutsALongPauseShort) {
  write(40, 2, 86'400);
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("class=\"break\""));
  EXPECT_THAT(html, HasSubstr("of activity"));
}

TEST_F(JournalPage, HasWordsForAnEmptyJournal) {
  { const Journal journal(path_); }
  EXPECT_THAT(page(), HasSubstr("No attempt has been recorded yet."));
}

TEST_F(JournalPage, ShowsStagesAndNoBarForWhatWasNeverStarted) {
  const std::vector<JobItem> items = {
      {task_type(0), 0, "a:1"}, {task_type(0), 1, "a:2"}, {task_type(1), 0, "b:1"}};
  const std::vector<WorkDefinition> work = {{"b", "from", "", "a", ""}};
  {
    Journal journal(path_);
    journal.register_tasks(items, std::vector<std::string>{"a", "b"}, work);
    journal.begin_run({"id", "a.toml", "finish", "weighted", "1", 1000});
    for (const std::size_t task : {0, 1, 2}) {
      AttemptEnd end;
      end.task = task;
      end.attempt = task == 2 ? 0 : 1;
      end.resource = task == 2 ? "" : "cpu";
      end.start_unix = 1000 + static_cast<double>(task);
      end.wall_s = task == 2 ? 0 : 1;
      end.status = task == 0 ? AttemptStatus::kOk : AttemptStatus::kFailed;
      end.error = task == 2 ? "a:1, which it waited for, has failed" : "";
      journal.finish(end, true);
    }
    journal.flush();
  }
  EXPECT_THAT(page(), AllOf(HasSubstr("Which stage ran when"), HasSubstr("<strong>2</strong> attempts"),
                            HasSubstr("a:1, which it waited for, has failed")));
  EXPECT_EQ(JournalReader(path_).totals()[1].from, "a");
}

}  // namespace
}  // namespace allot
