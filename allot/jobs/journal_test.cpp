#include "allot/jobs/journal.hpp"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "allot/jobs/journal_reader.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = TaskState::Kind;

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~JournalTest() override { fs::remove_all(folder_); }

  static std::vector<JobItem> items(std::vector<std::string> names) {
    std::vector<JobItem> out;
    for (std::string& name : names) out.push_back({TaskType{0}, out.size(), "decode:" + name});
    return out;
  }
  std::vector<TaskState> enter(Journal& journal, const std::vector<JobItem>& tasks,
                               const std::string& command = "djpeg {}") const {
    const std::vector<std::string> types = {"decode"};
    const std::vector<WorkDefinition> work = {{"decode", "command", "cpu", command},
                                              {"decode", "output", "", ""}};
    return journal.register_tasks(tasks, types, work);
  }
  static AttemptEnd end(std::size_t task, AttemptStatus status = AttemptStatus::kOk, int attempt = 1) {
    AttemptEnd record;
    record.task = task;
    record.attempt = attempt;
    record.resource = "cpu";
    record.slot = 1;
    record.start_unix = 1000.5;
    record.queue_s = 0.25;
    record.command = "djpeg x";
    record.status = status;
    if (status == AttemptStatus::kOk || status == AttemptStatus::kFailed)
      record.exit = status == AttemptStatus::kOk ? 0 : 1;
    if (status == AttemptStatus::kKilled) record.signal = 9;
    record.wall_s = 2;
    record.user_s = 1.5;
    record.sys_s = 0.125;
    record.maxrss_kb = 1234;
    record.counted = status == AttemptStatus::kOk;
    return record;
  }
  static JournalProblem problem_of(const auto& action, std::string* message = nullptr) {
    try {
      action();
    } catch (const JournalError& error) {
      if (message) *message = error.what();
      return error.kind();
    }
    ADD_FAILURE() << "no JournalError";
    return JournalProblem::kIo;
  }
  std::vector<AttemptRow> rows(const AttemptFilter& filter = {}) const {
    std::vector<AttemptRow> out;
    JournalReader(path_).for_each_attempt([&](const AttemptRow& row) { out.push_back(row); }, filter);
    return out;
  }

  fs::path folder_ = fs::temp_directory_path() / ("allot-journal-test-" + std::to_string(::getpid()));
  std::string path_ = (folder_ / "a.journal").string();
};

TEST_F(JournalTest, KeepsWhatWasDone) {
  {
    Journal journal(path_);
    EXPECT_THAT(enter(journal, items({"a", "b", "c"})), ElementsAre(TaskState{}, TaskState{}, TaskState{}));
    journal.begin_run({"id-1", "a.toml", "finish", "weighted", "allot 1", 999});
    journal.start(end(0));
    journal.finish(end(0), true);
    journal.start(end(1));
    journal.finish(end(1, AttemptStatus::kFailed), false);
    journal.finish(end(1, AttemptStatus::kTimeout, 2), true);  // its start was never recorded
    journal.note_event(1003, "drained", "by the user");
    journal.note_rates({{"decode", "cpu", 2, 1.5, 2.5, 20, 1002}});
    journal.note_rates({{"decode", "cpu", 3, 2.5, 3.5, 40, 1003}});
    journal.note_prediction({{1001, "decode", 5.5}});
    journal.end_run("finished", 1004);
    journal.flush();
    EXPECT_EQ(journal.committed(), 3U);
    EXPECT_FALSE(journal.failure());
  }
  const JournalReader reader(path_);
  const std::vector<AttemptRow> all = rows();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].task, "decode:a");
  EXPECT_EQ(all[0].type, "decode");
  EXPECT_EQ(all[0].resource, "cpu");
  EXPECT_EQ(all[0].slot, 1);
  EXPECT_EQ(all[0].status, AttemptStatus::kOk);
  EXPECT_EQ(all[0].exit, 0);
  EXPECT_EQ(all[0].signal, std::nullopt);
  EXPECT_DOUBLE_EQ(all[0].start_unix, 1000.5);
  EXPECT_DOUBLE_EQ(all[0].queue_s, 0.25);
  EXPECT_DOUBLE_EQ(all[0].wall_s, 2);
  EXPECT_DOUBLE_EQ(all[0].user_s, 1.5);
  EXPECT_DOUBLE_EQ(all[0].sys_s, 0.125);
  EXPECT_EQ(all[0].maxrss_kb, 1234);
  EXPECT_TRUE(all[0].counted);
  EXPECT_TRUE(all[0].is_final);
  EXPECT_EQ(all[0].command, "djpeg x");
  EXPECT_EQ(all[0].run, 1);
  EXPECT_FALSE(all[1].is_final);
  EXPECT_EQ(all[2].attempt, 2);
  EXPECT_TRUE(all[2].is_final);
  EXPECT_EQ(rows({AttemptStatus::kTimeout, ""}).size(), 1U);
  EXPECT_THAT(rows({std::nullopt, "other"}), IsEmpty());

  ASSERT_EQ(reader.runs().size(), 1U);
  EXPECT_EQ(reader.runs()[0].policy, "weighted");
  EXPECT_EQ(reader.runs()[0].outcome, "finished");
  EXPECT_EQ(reader.runs()[0].pid, ::getpid());
  ASSERT_EQ(reader.rates().size(), 1U);
  EXPECT_DOUBLE_EQ(reader.rates()[0].rate, 3);
  ASSERT_EQ(reader.predictions().size(), 1U);
  EXPECT_DOUBLE_EQ(reader.predictions()[0].throughput, 5.5);
  ASSERT_EQ(reader.events().size(), 1U);
  EXPECT_EQ(reader.events()[0].kind, "drained");
  ASSERT_EQ(reader.totals().size(), 1U);
  EXPECT_EQ(reader.totals()[0].tasks, 3);
  EXPECT_EQ(reader.totals()[0].done, 1);
  EXPECT_EQ(reader.totals()[0].failed, 1);
}

TEST_F(JournalTest, ResumesByIdentityWhereverTheTasksStandNow) {
  {
    Journal journal(path_);
    enter(journal, items({"a", "b", "c"}));
    journal.finish(end(0), true);
    journal.finish(end(1, AttemptStatus::kFailed), true);
  }
  Journal journal(path_);
  const std::vector<TaskState> states = enter(journal, items({"new", "c", "b", "a"}));
  EXPECT_THAT(states, ElementsAre(TaskState{}, TaskState{}, TaskState{Kind::kFailed, 1, 1, 0},
                                  TaskState{Kind::kDone, 1, 0, 0}));
  journal.finish(end(0), true);
  journal.finish(end(1), true);
  journal.flush();
  std::map<std::string, int> finals;
  for (const AttemptRow& row : rows()) finals[row.task] += row.is_final ? 1 : 0;
  EXPECT_THAT(finals, ElementsAre(::testing::Pair("decode:a", 1), ::testing::Pair("decode:b", 1),
                                  ::testing::Pair("decode:c", 1), ::testing::Pair("decode:new", 1)));
}

TEST_F(JournalTest, RefusesASecondFinalRecord) {
  {
    Journal journal(path_);
    enter(journal, items({"a"}));
    journal.finish(end(0), true);
    journal.flush();
    journal.finish(end(0, AttemptStatus::kFailed, 2), true);
    std::string message;
    EXPECT_EQ(problem_of([&] { journal.flush(); }, &message), JournalProblem::kCorrupt);
    EXPECT_THAT(message, HasSubstr("second final record for task decode:a"));
    EXPECT_TRUE(journal.failure());
  }
  ASSERT_EQ(rows().size(), 1U);
  EXPECT_EQ(rows()[0].status, AttemptStatus::kOk);
}

TEST_F(JournalTest, MarksWhatNeverEndedAsLostAndInTheEndGivesUp) {
  const JournalOptions options{.most_requeues = 3};
  for (int attempt = 1; attempt <= 4; ++attempt) {
    Journal journal(path_, options);
    const std::vector<TaskState> states = enter(journal, items({"a", "b"}));
    EXPECT_EQ(states[0], (TaskState{Kind::kPending, attempt - 1, 0, attempt - 1}));
    journal.start(end(0, AttemptStatus::kOk, attempt));
  }
  Journal journal(path_, options);
  EXPECT_EQ(enter(journal, items({"a", "b"}))[0], (TaskState{Kind::kFailed, 4, 0, 4}));
  const std::vector<AttemptRow> all = rows();
  ASSERT_EQ(all.size(), 4U);
  for (const AttemptRow& row : all) EXPECT_EQ(row.status, AttemptStatus::kLost);
  EXPECT_FALSE(all[2].is_final);
  EXPECT_TRUE(all[3].is_final);
}

TEST_F(JournalTest, RetriesWhatFailedWhenAsked) {
  {
    Journal journal(path_);
    enter(journal, items({"a", "b"}));
    journal.finish(end(0), true);
    journal.finish(end(1, AttemptStatus::kFailed, 1), false);
    journal.finish(end(1, AttemptStatus::kFailed, 2), true);
  }
  {
    Journal journal(path_, {.retry_failed = true});
    EXPECT_THAT(enter(journal, items({"a", "b"})),
                ElementsAre(TaskState{Kind::kDone, 1, 0, 0}, TaskState{Kind::kPending, 2, 0, 0}));
    journal.finish(end(1, AttemptStatus::kOk, 3), true);
  }
  int finals = 0;
  for (const AttemptRow& row : rows()) finals += row.is_final ? 1 : 0;
  EXPECT_EQ(finals, 2);
  Journal journal(path_);
  EXPECT_EQ(enter(journal, items({"b"}))[0], (TaskState{Kind::kDone, 3, 0, 0}));
}

TEST_F(JournalTest, RefusesAChangedCommandUnlessItIsAccepted) {
  {
    Journal journal(path_);
    enter(journal, items({"a"}));
    journal.start(end(0));
  }
  std::string message;
  EXPECT_EQ(problem_of(
                [&] {
                  Journal journal(path_);
                  enter(journal, items({"a"}), "nvdec {}");
                },
                &message),
            JournalProblem::kChanged);
  EXPECT_THAT(message, AllOf(HasSubstr("decode, command on cpu"), HasSubstr("was: djpeg {}"),
                             HasSubstr("is:  nvdec {}")));
  // The refusal changed nothing.
  {
    Journal journal(path_);
    EXPECT_NO_THROW(enter(journal, items({"a"})));
  }
  {
    Journal journal(path_, {.accept_changed = true});
    EXPECT_NO_THROW(enter(journal, items({"a"}), "nvdec {}"));
  }
  Journal journal(path_);
  EXPECT_NO_THROW(enter(journal, items({"a"}), "nvdec {}"));
}

TEST_F(JournalTest, LetsResourcesComeAndCommandsChangeBeforeTheFirstAttempt) {
  const std::vector<std::string> types = {"decode"};
  {
    Journal journal(path_);
    enter(journal, items({"a"}), "wrong {}");
  }
  {
    Journal journal(path_);
    EXPECT_NO_THROW(enter(journal, items({"a"})));
    journal.start(end(0));
  }
  Journal journal(path_);
  const std::vector<WorkDefinition> work = {{"decode", "command", "gpu", "nvdec {}"},
                                            {"decode", "output", "", ""}};
  EXPECT_NO_THROW(journal.register_tasks(items({"a"}), types, work));
}

TEST_F(JournalTest, HasOneWriterAtATime) {
  const Journal first(path_);
  std::string message;
  EXPECT_EQ(problem_of([&] { const Journal second(path_); }, &message), JournalProblem::kLocked);
  EXPECT_THAT(message, AllOf(HasSubstr(path_), HasSubstr("process " + std::to_string(::getpid()))));
  EXPECT_EQ(problem_of([&] { move_aside(path_); }), JournalProblem::kLocked);
  EXPECT_NO_THROW(JournalReader{path_});
}

TEST_F(JournalTest, TellsThroughADescriptorWhenAGroupIsDurable) {
  Journal journal(path_);
  enter(journal, items({"a", "b"}));
  EXPECT_EQ(journal.committed(), 0U);
  journal.finish(end(0), true);
  pollfd file{journal.committed_fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&file, 1, 30'000), 1);
  EXPECT_EQ(journal.committed(), 1U);
  std::uint64_t count = 0;
  ASSERT_EQ(::read(journal.committed_fd(), &count, sizeof count), static_cast<ssize_t>(sizeof count));
  EXPECT_EQ(::poll(&file, 1, 0), 0);
}

TEST_F(JournalTest, CanBeReadWhileItIsWritten) {
  Journal journal(path_);
  enter(journal, items({"a", "b"}));
  journal.start(end(0));
  journal.flush();
  const JournalReader before(path_);
  std::size_t count = 0;
  const auto visit = [&](const AttemptRow& row) { count += row.status == AttemptStatus::kStarted ? 1 : 0; };
  before.for_each_attempt(visit);
  EXPECT_EQ(count, 1U);
  journal.finish(end(0), true);
  journal.flush();
  before.for_each_attempt(visit);  // still the moment it was opened at
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(rows()[0].status, AttemptStatus::kOk);
}

TEST_F(JournalTest, CanBeReadWhereNothingCanBeWritten) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become a user without rights here";
  const std::string copy = (folder_ / "closed" / "a.journal").string();
  fs::create_directories(folder_ / "closed");
  Journal journal(path_);
  enter(journal, items({"a"}));
  journal.finish(end(0), true);
  journal.flush();
  fs::copy_file(path_, copy);  // as a killed run leaves it: the log not folded in
  fs::copy_file(path_ + "-wal", copy + "-wal");
  for (const std::string& file : {copy, copy + "-wal"}) fs::permissions(file, static_cast<fs::perms>(0644));
  fs::permissions(folder_, fs::perms::all);
  fs::permissions(folder_ / "closed", static_cast<fs::perms>(0555));
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 2;
    if (::setgid(65534) == 0 && ::setuid(65534) == 0 && ::access((folder_ / "closed").c_str(), W_OK) != 0) {
      try {
        const JournalReader reader(copy);
        reader.for_each_attempt([&](const AttemptRow& row) { status = row.is_final ? 0 : 1; });
      } catch (const std::exception&) {
        status = 3;
      }
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  fs::permissions(folder_ / "closed", fs::perms::all);
}

TEST_F(JournalTest, IsNotMadeFromOtherFiles) {
  std::ofstream(path_) << "some notes of mine, which are longer than nothing";
  EXPECT_EQ(problem_of([&] { const Journal journal(path_); }), JournalProblem::kCorrupt);
  EXPECT_EQ(problem_of([&] { const JournalReader reader(path_); }), JournalProblem::kCorrupt);
  std::ifstream in(path_);
  std::string text;
  std::getline(in, text);
  EXPECT_THAT(text, HasSubstr("some notes"));

  EXPECT_EQ(problem_of([&] { const JournalReader reader(folder_ / "none"); }), JournalProblem::kIo);
  EXPECT_EQ(problem_of([&] { const JournalReader reader(folder_); }), JournalProblem::kIo);
  EXPECT_EQ(problem_of([&] { const Journal journal(folder_ / "no" / "folder"); }), JournalProblem::kIo);
}

TEST_F(JournalTest, MovesAsideUnderTheNextFreeNumber) {
  EXPECT_EQ(move_aside(path_), std::nullopt);
  for (int number = 1; number <= 2; ++number) {
    {
      Journal journal(path_);
      enter(journal, items({"a"}));
      journal.finish(end(0), true);
    }
    EXPECT_EQ(move_aside(path_), path_ + "." + std::to_string(number));
    EXPECT_FALSE(fs::exists(path_));
  }
  EXPECT_EQ(JournalReader(path_ + ".1").totals()[0].done, 1);
  Journal journal(path_);
  EXPECT_EQ(enter(journal, items({"a"}))[0], TaskState{});
}

TEST_F(JournalTest, LeavesNoLockFileBehind) {
  { const Journal journal(path_); }
  EXPECT_FALSE(fs::exists(path_ + ".allot-lock"));
}

TEST_F(JournalTest, WhatIsToBeRedoneIsPendingAgainWithItsHistory) {
  {
    Journal journal(path_);
    enter(journal, items({"a", "b", "c"}));
    journal.finish(end(0), true);
    journal.finish(end(1, AttemptStatus::kFailed), true);
    journal.finish(end(2), true);
  }
  {
    Journal journal(path_);
    const std::vector<std::string> again = {"decode:a", "decode:b", "decode:none"};
    journal.redo(again);
    const auto states = enter(journal, items({"a", "b", "c"}));
    EXPECT_EQ(states[0], (TaskState{Kind::kPending, 1, 0, 0}));
    EXPECT_EQ(states[1], (TaskState{Kind::kPending, 1, 0, 0}));
    EXPECT_EQ(states[2].kind, Kind::kDone);
    journal.finish(end(0, AttemptStatus::kOk, 2), true);
  }
  const auto tasks = JournalReader(path_).tasks();
  EXPECT_EQ(tasks.at("decode:a").state, (TaskState{Kind::kDone, 2, 0, 0}));
  EXPECT_EQ(tasks.at("decode:b").state.kind, Kind::kPending);
  EXPECT_EQ(tasks.at("decode:a").last_start_unix, 1000.5);
  EXPECT_EQ(rows().size(), 4U);
}

TEST_F(JournalTest, ATaskKeepsItsNumberWhateverItsPlaceInTheJob) {
  {
    Journal journal(path_);
    enter(journal, items({"b"}));
    EXPECT_EQ(journal.task_id(0), 1);
  }
  Journal journal(path_);
  enter(journal, items({"a", "b"}));
  EXPECT_EQ(journal.task_id(0), 2);
  EXPECT_EQ(journal.task_id(1), 1);
}

TEST_F(JournalTest, FailedAttemptsAreTimeoutsAndFinalLossesToo) {
  Journal journal(path_);
  enter(journal, items({"a", "b", "c", "d", "e"}));
  journal.finish(end(0, AttemptStatus::kFailed), true);
  journal.finish(end(1, AttemptStatus::kTimeout), true);
  journal.finish(end(2, AttemptStatus::kLost), true);
  journal.finish(end(3, AttemptStatus::kLost), false);
  journal.finish(end(4), true);
  journal.flush();
  EXPECT_EQ(rows({AttemptStatus::kFailed, ""}).size(), 3U);
  EXPECT_EQ(rows({AttemptStatus::kTimeout, ""}).size(), 1U);
  EXPECT_EQ(rows({AttemptStatus::kLost, ""}).size(), 2U);
  EXPECT_EQ(rows({AttemptStatus::kOk, ""}).size(), 1U);
}

}  // namespace
}  // namespace allot
