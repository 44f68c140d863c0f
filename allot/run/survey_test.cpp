#include "allot/run/survey.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "allot/jobs/stages.hpp"

namespace allot {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// A job of three inputs, each with an output, in a folder of its own.
class SurveyOfAJob : public ::testing::Test {
 protected:
  SurveyOfAJob() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    job_.folder = folder_.string();
    job_.resources.emplace_back().name = "cpu";
    JobTask& task = job_.tasks.emplace_back();
    task.name = "t";
    task.inputs.values = {"a", "b", "c"};
    std::vector<std::string> problems;
    const TemplateScope scope{{""}, false, false};
    task.commands = {CommandTemplate::from_words({"true"}, scope, problems)};
    task.output = Template::parse("{}.out", scope, problems);
    task.rates.resize(1);
    items_ = list_items(job_);
  }
  ~SurveyOfAJob() override { fs::remove_all(folder_); }

  void touch(const std::string& name) const { std::ofstream(folder_ / name) << "x"; }
  /// One run in which these tasks are started, and end with these statuses; one that stays open has no end.
  void record(const std::vector<std::pair<std::size_t, AttemptStatus>>& attempts, bool ends = true) const {
    Journal journal(path_);
    journal.register_tasks(job_, items_);
    journal.begin_run({"id", "job", "finish", "weighted", "1", unix_now()});
    for (const auto& [task, status] : attempts) {
      AttemptEnd end;
      end.task = task;
      end.resource = "cpu";
      end.start_unix = unix_now();
      end.status = status;
      journal.start(end);
      if (status != AttemptStatus::kStarted) journal.finish(end, true);
    }
    if (ends) journal.end_run("finished", unix_now());
    journal.flush();
  }
  Survey survey(const SurveyOptions& options = {}) const { return survey_job(job_, items_, path_, options); }
  static std::vector<TaskState::Kind> kinds(const Survey& survey) {
    std::vector<TaskState::Kind> out;
    for (const TaskState& state : survey.states) out.push_back(state.kind);
    return out;
  }

  static constexpr auto kPending = TaskState::Kind::kPending;
  static constexpr auto kDone = TaskState::Kind::kDone;
  static constexpr auto kFailed = TaskState::Kind::kFailed;
  fs::path folder_ = fs::temp_directory_path() / ("allot-survey-" + std::to_string(::getpid()));
  std::string path_ = (folder_ / "journal").string();
  Job job_;
  std::vector<JobItem> items_;
};

TEST_F(SurveyOfAJob, WithoutAJournalEverythingIsToBeDone) {
  EXPECT_THAT(kinds(survey()), ElementsAre(kPending, kPending, kPending));
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(SurveyOfAJob, FindsTasksAsTheJournalHasThem) {
  record({{0, AttemptStatus::kOk}, {1, AttemptStatus::kFailed}, {2, AttemptStatus::kStarted}});
  EXPECT_THAT(kinds(survey()), ElementsAre(kDone, kFailed, kPending));
  EXPECT_THAT(kinds(survey({.journal = {.retry_failed = true}})), ElementsAre(kDone, kPending, kPending));
  EXPECT_THAT(kinds(survey({.fresh = true})), ElementsAre(kPending, kPending, kPending));
  EXPECT_EQ(survey().states[2].attempts, 1);
}

TEST_F(SurveyOfAJob, ALossTooManyIsFinalAsItIsForTheJournal) {
  record({{0, AttemptStatus::kStarted}});
  EXPECT_THAT(kinds(survey({.journal = {.most_requeues = 0}})), ElementsAre(kFailed, kPending, kPending));
}

TEST_F(SurveyOfAJob, RedoesWhatIsAskedFor) {
  touch("a");
  touch("b.out");
  record({{0, AttemptStatus::kOk}, {1, AttemptStatus::kOk}, {2, AttemptStatus::kFailed}});
  EXPECT_THAT(survey().redone, IsEmpty());
  EXPECT_THAT(survey({.redo = {.missing = true}}).redone, ElementsAre(0));
  EXPECT_THAT(survey({.redo = {.changed = true}}).redone, IsEmpty());
  const timespec later[2] = {{std::time(nullptr) + 100, 0}, {std::time(nullptr) + 100, 0}};
  ::utimensat(AT_FDCWD, (folder_ / "a").c_str(), later, 0);
  EXPECT_THAT(survey({.redo = {.changed = true}}).redone, ElementsAre(0));
  EXPECT_THAT(survey({.redo = {.patterns = {"t:[bc]"}}}).redone, ElementsAre(1, 2));
  EXPECT_THAT(survey({.redo = {.patterns = {"t", "x*"}}}).unmatched, ElementsAre("x*"));
}

TEST_F(SurveyOfAJob, OutputsOfTasksThatWereNeverTriedAreInTheWay) {
  touch("a.out");
  touch("b.out");
  EXPECT_THAT(survey().blocked, ElementsAre(0, 1));
  record({{1, AttemptStatus::kStarted}});
  EXPECT_THAT(survey().blocked, ElementsAre(0));
}

TEST_F(SurveyOfAJob, OutputsSinceARunThatWasKilledMayBeItsOwn) {
  record({}, false);
  touch("a.out");
  EXPECT_THAT(survey().blocked, IsEmpty());
}

TEST_F(SurveyOfAJob, ThrowsWhatARunWouldThrow) {
  record({{0, AttemptStatus::kOk}});
  std::vector<std::string> problems;
  job_.tasks[0].commands = {CommandTemplate::from_words({"false"}, {{""}, false, false}, problems)};
  EXPECT_THROW(survey(), JournalError);
  EXPECT_NO_THROW(survey({.journal = {.accept_changed = true}}));
  std::ofstream(path_, std::ios::trunc) << "no journal at all, but long enough to be looked at";
  EXPECT_THROW(survey({.journal = {.accept_changed = true}}), JournalError);
  EXPECT_THAT(kinds(survey({.fresh = true})), ElementsAre(kPending, kPending, kPending));
}

/// The same job with a second stage, which takes the outputs of the first, and a third after that.
class SurveyOfStages : public SurveyOfAJob {
 protected:
  SurveyOfStages() {
    JobTask second = job_.tasks.front();
    second.name = "u";
    second.from = task_type(0);
    second.inputs = {columns_from(job_.tasks[0].inputs.columns), {}};
    std::vector<std::string> problems;
    second.output = Template::parse("{from}.end", {second.inputs.columns, false, false}, problems);
    JobTask third = job_.tasks.front();
    third.name = "v";
    third.inputs.values = {"all"};
    third.after = {task_type(1)};
    third.output.reset();
    job_.tasks.push_back(second);
    job_.tasks.push_back(third);
    job_.tasks.front().keep = false;
    fill_stages(job_);
    items_ = list_items(job_);
    for (const char* const name : {"a.end", "b.end", "c.end"}) touch(name);
  }
  void record_all() const {
    std::vector<std::pair<std::size_t, AttemptStatus>> all;
    for (std::size_t at = 0; at < items_.size(); ++at) all.emplace_back(at, AttemptStatus::kOk);
    record(all);
  }
};

TEST_F(SurveyOfStages, WhatIsMadeFromATaskIsRedoneWithIt) {
  record_all();
  EXPECT_THAT(survey({.redo = {.patterns = {"t:b"}}}).redone, ElementsAre(1, 4, 6));
}

TEST_F(SurveyOfStages, AnOutputThatServedIsNotMissing) {
  record_all();
  EXPECT_THAT(survey({.redo = {.missing = true}}).redone, IsEmpty());
  fs::remove(folder_ / "c.end");
  EXPECT_THAT(survey({.redo = {.missing = true}}).redone, ElementsAre(2, 5, 6)) << "it needs its input again";
}

TEST_F(SurveyOfStages, AnOutputIsMissingForWhoHasNotTakenIt) {
  record({{0, AttemptStatus::kOk}, {1, AttemptStatus::kOk}});
  touch("a.out");
  const Survey found = survey({.journal = {}, .redo = {}});
  EXPECT_THAT(found.redone, ElementsAre(1)) << "it is made again unasked: b waits for it";
}

}  // namespace
}  // namespace allot
