#include "allot/worker/lane.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

#include "allot/base/error.hpp"
#include "tests/support/lane_fixture.hpp"

namespace allot {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using ::testing::Gt;
using ::testing::HasSubstr;
using Kind = LaneEvent::Kind;

// ---- tasks

TEST_F(LaneTest, ReportsHowTasksEnd) {
  LaneDriver driver = local();
  const TaskRecord good = driver.run({"true"});
  EXPECT_EQ(good.status, TaskStatus::kOk) << good.error;
  EXPECT_EQ(good.exit, 0);
  EXPECT_EQ(good.signal, std::nullopt);
  EXPECT_EQ(good.error, "");
  EXPECT_FALSE(good.was_stopped);
  EXPECT_THAT(good.maxrss_kb, Gt(0));
  EXPECT_NEAR(good.start_unix,
              std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(), 60);
  const TaskRecord bad = driver.shell("exit 3");
  EXPECT_EQ(bad.status, TaskStatus::kFailed);
  EXPECT_EQ(bad.exit, 3);
  const TaskRecord crashed = driver.shell("kill -SEGV $$");
  EXPECT_EQ(crashed.status, TaskStatus::kFailed);
  EXPECT_EQ(crashed.exit, std::nullopt);
  EXPECT_EQ(crashed.signal, SIGSEGV);
  const TaskRecord slain = driver.shell("kill -KILL $$");
  EXPECT_EQ(slain.status, TaskStatus::kFailed) << "nobody here asked for it";
  EXPECT_EQ(slain.signal, SIGKILL);
  EXPECT_GE(driver.run({"sleep", "0.2"}).wall_s, 0.19);
  EXPECT_GT(driver.shell("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done").user_s, 0);
  EXPECT_NE(driver.find(Kind::kReady), nullptr);
  EXPECT_EQ(driver.lane().in_flight(), 0U);
}

TEST_F(LaneTest, SaysThatATaskStartedBeforeItEnds) {
  LaneDriver driver = local();
  driver.lane().send(shell_task(5, "read never </dev/zero & sleep 1000"));
  driver.wait_for(Kind::kStarted, 5);
  EXPECT_NE(driver.find(Kind::kStarted, 5), nullptr);
  EXPECT_EQ(driver.find(Kind::kRecord, 5), nullptr);
}

TEST_F(LaneTest, PassesArgumentsAsTheyAre) {
  LaneDriver driver = local();
  std::string bytes;
  for (int byte = 1; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  EXPECT_EQ(driver.run({"printf", "%s|", bytes, "", "a b", "$HOME", "*"}).out, bytes + "||a b|$HOME|*|");
  const std::string large(100'000, 'x');
  EXPECT_EQ(driver.run({"printf", "%s", large}).out, large);
}

TEST_F(LaneTest, GivesTasksTheirEnvironmentAndFolder) {
  LaneDriver driver = local();
  TaskRequest task = shell_task(1, "printf '%s' \"$ALLOT_RESOURCE/$EMPTY/$PWD/$ALLOT_TEST_MARKER\"; cat");
  task.environment = {"ALLOT_RESOURCE=gpu", "EMPTY="};
  task.directory = folder_;
  EXPECT_EQ(driver.run(task).out, "gpu//" + std::filesystem::canonical(folder_).string() + "/" + marker_);
}

TEST_F(LaneTest, KeepsTheBeginningOfALargeOutput) {
  LaneDriver driver = local();
  const TaskRecord record =
      driver.shell("echo begin; echo mistake >&2; head -c 8000000 /dev/zero | tr '\\0' x; echo end");
  EXPECT_EQ(record.status, TaskStatus::kOk);
  EXPECT_EQ(record.out.size(), kMostOutput);
  EXPECT_TRUE(record.out.starts_with("begin\nxxx"));
  EXPECT_TRUE(record.out_cut);
  EXPECT_EQ(record.err, "mistake\n");
  EXPECT_FALSE(record.err_cut);
}

TEST_F(LaneTest, WritesOutputsToFiles) {
  LaneDriver driver = local();
  TaskRequest task = shell_task(1, "echo new; echo mistake >&2");
  task.directory = folder_;
  task.stdout_path = "out";
  task.stderr_path = folder_ + "/err";
  std::ofstream(folder_ + "/out") << "what was there before, and longer";
  const TaskRecord record = driver.run(task);
  EXPECT_EQ(record.out, "");
  EXPECT_EQ(contents(folder_ + "/out"), "new\n");
  EXPECT_EQ(contents(folder_ + "/err"), "mistake\n");
}

TEST_F(LaneTest, RemovesFilesInWhichNothingWasWrittenButNotTheOutput) {
  LaneDriver driver = local();
  TaskRequest task = shell_task(1, "echo mistake >&2");
  task.directory = folder_;
  task.stdout_path = "out";
  task.stderr_path = "err";
  driver.run(task);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/out"));
  EXPECT_EQ(contents(folder_ + "/err"), "mistake\n");
  task = shell_task(2, ":");
  task.directory = folder_;
  task.stdout_path = task.temporary_output = folder_ + "/part";
  task.final_output = folder_ + "/whole";
  EXPECT_EQ(driver.run(task).status, TaskStatus::kOk);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/whole"));
}

TEST_F(LaneTest, TellsCommandsThatCannotBeExecuted) {
  LaneDriver driver = local();
  const TaskRecord absent = driver.run({"allot-no-such-program"});
  EXPECT_EQ(absent.status, TaskStatus::kFailed);
  EXPECT_TRUE(absent.not_found);
  EXPECT_THAT(absent.error, HasSubstr("No such file or directory"));
  EXPECT_EQ(absent.exit, std::nullopt);
  TaskRequest task = shell_task(1, ":");
  task.directory = folder_ + "/absent";
  const TaskRecord no_folder = driver.run(task);
  EXPECT_EQ(no_folder.status, TaskStatus::kFailed);
  EXPECT_FALSE(no_folder.not_found);
  EXPECT_THAT(no_folder.error, HasSubstr("absent"));
  EXPECT_EQ(driver.run({"true"}).status, TaskStatus::kOk) << "the worker goes on";
}

TEST_F(LaneTest, PutsOutputsInPlaceWhenTasksSucceed) {
  LaneDriver driver = local();
  const auto task = [&](std::uint64_t id, const std::string& script) {
    TaskRequest request = shell_task(id, script);
    request.directory = folder_;
    request.temporary_output = "result.part";
    request.final_output = "result";
    return request;
  };
  const TaskRecord good = driver.run(task(1, "echo good >result.part"));
  EXPECT_EQ(good.status, TaskStatus::kOk) << good.error;
  EXPECT_EQ(contents(folder_ + "/result"), "good\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/result.part"));

  EXPECT_EQ(driver.run(task(2, "echo bad >result.part; exit 1")).status, TaskStatus::kFailed);
  EXPECT_EQ(contents(folder_ + "/result"), "good\n") << "a failure leaves what was there";
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/result.part"));

  const TaskRecord nothing = driver.run(task(3, ":"));
  EXPECT_EQ(nothing.status, TaskStatus::kFailed);
  EXPECT_EQ(nothing.exit, 0);
  EXPECT_THAT(nothing.error, HasSubstr("wrote no output"));

  TaskRequest nowhere = task(4, "echo good >result.part");
  nowhere.final_output = "absent/result";
  EXPECT_THAT(driver.run(nowhere).error, HasSubstr("absent/result"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/result.part"));

  driver.lane().send(task(5, "echo half >result.part; sleep 1000"));
  ASSERT_TRUE(eventually([&] {
    driver.pump_for(2ms);
    return contents(folder_ + "/result.part") == "half\n";
  }));
  driver.lane().finish();
  driver.wait_for(Kind::kEnded);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/result.part"));
}

TEST_F(LaneTest, EndsTasksWhoseTimeIsOver) {
  LaneDriver driver = local();
  TaskRequest slow = shell_task(1, "sleep 1000");
  slow.timeout_s = 0.3;
  const TaskRecord record = driver.run(slow);
  EXPECT_EQ(record.status, TaskStatus::kTimeout);
  EXPECT_EQ(record.signal, SIGTERM);
  EXPECT_GE(record.wall_s, 0.29);

  TaskRequest polite = shell_task(2, "trap 'exit 0' TERM; while :; do sleep 0.05; done");
  polite.timeout_s = 2;
  EXPECT_EQ(driver.run(polite).status, TaskStatus::kTimeout) << "whatever its exit";

  // Deaf, with a child in another session that is deaf too.
  TaskRequest deaf = shell_task(3, "trap '' TERM; setsid sleep 1000 & while :; do sleep 0.1; done");
  deaf.timeout_s = 2;
  deaf.grace_s = 0.2;
  const TaskRecord killed = driver.run(deaf);
  EXPECT_EQ(killed.status, TaskStatus::kTimeout);
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_TRUE(driver.pump_until([&] { return processes_with(marker_).size() == 1; }))
      << "the worker is alone";
}

TEST_F(LaneTest, KillsOnRequest) {
  LaneDriver driver = local();
  driver.lane().send(shell_task(1, "(setsid sleep 1000 &) ; sleep 1001"));
  driver.lane().send(shell_task(2, "sleep 1000"));
  // The worker, a shell and its two, and another that sleeps itself.
  ASSERT_TRUE(driver.pump_until([&] { return processes_with(marker_).size() >= 4; }));
  driver.lane().kill(1, SIGTERM);
  driver.lane().kill(77, SIGKILL);  // nobody
  const TaskRecord record = driver.wait_for(Kind::kRecord, 1).record;
  EXPECT_EQ(record.status, TaskStatus::kKilled);
  EXPECT_TRUE(record.signal == SIGTERM || record.exit) << "whichever of shell and sleep ended first";
  EXPECT_TRUE(driver.pump_until([&] { return processes_with(marker_).size() <= 3; })) << "its daemon, too";
  EXPECT_EQ(driver.find(Kind::kRecord, 2), nullptr);
}

TEST_F(LaneTest, RunsHundredsAtOnce) {
  LaneDriver driver = local();
  for (std::uint64_t id = 1; id <= 200; ++id) {
    driver.lane().send(shell_task(id, "sleep 1; echo " + std::to_string(id)));
  }
  EXPECT_EQ(driver.lane().in_flight(), 200U);
  EXPECT_TRUE(driver.pump_until([&] { return driver.lane().in_flight() == 0; }));
  std::set<std::uint64_t> seen;
  for (const LaneEvent& event : driver.events()) {
    if (event.kind != Kind::kRecord) continue;
    EXPECT_TRUE(seen.insert(event.record.id).second) << "one record each";
    EXPECT_EQ(event.record.status, TaskStatus::kOk) << event.record.error;
    EXPECT_EQ(event.record.out, std::to_string(event.record.id) + "\n");
  }
  EXPECT_EQ(seen.size(), 200U);
}

TEST_F(LaneTest, IsNotBoundByTheDescriptorsOfATask) {
  // With a limit that would not do for the pipes of so many.
  LaneDriver driver({"sh", "-c", "ulimit -Sn 60; exec \"$@\"", "sh"}, options_);
  for (std::uint64_t id = 1; id <= 60; ++id) driver.lane().send(shell_task(id, "sleep 1; ulimit -Sn"));
  EXPECT_TRUE(driver.pump_until([&] { return driver.lane().in_flight() == 0; }));
  for (std::uint64_t id = 1; id <= 60; ++id) {
    const TaskRecord record = driver.wait_for(Kind::kRecord, id).record;
    EXPECT_EQ(record.out, "60\n") << "a task sees the limit as it was. " << record.error;
  }
}

TEST_F(LaneTest, DoesNotCountTimeStopped) {
  LaneDriver driver = local();
  const Clock::time_point start = Clock::now();
  TaskRequest task = shell_task(1, "(setsid sleep 0.3); sleep 0.3");
  task.timeout_s = 10;
  driver.lane().send(task);
  driver.wait_for(Kind::kStarted, 1);
  driver.lane().pause();
  driver.lane().pause();  // twice is once
  driver.lane().send(shell_task(2, ":"));
  driver.pump_for(1500ms);
  EXPECT_EQ(driver.find(Kind::kRecord, 1), nullptr) << "it stands still";
  EXPECT_EQ(driver.find(Kind::kStarted, 2), nullptr) << "and nothing is started";
  driver.lane().resume();
  const TaskRecord record = driver.wait_for(Kind::kRecord, 1).record;
  const double all = std::chrono::duration<double>(Clock::now() - start).count();
  EXPECT_EQ(record.status, TaskStatus::kOk) << record.error;
  EXPECT_TRUE(record.was_stopped);
  EXPECT_LT(record.wall_s, all - 1);
  EXPECT_EQ(driver.wait_for(Kind::kRecord, 2).record.status, TaskStatus::kOk);
  EXPECT_FALSE(driver.find(Kind::kRecord, 2)->record.was_stopped);
}

TEST_F(LaneTest, RefusesRequestsThatNoKernelWouldTake) {
  LaneDriver driver = local();
  TaskRequest task;
  task.argv = {"true", std::string(std::size_t{17} << 20, 'x')};
  EXPECT_THROW(driver.lane().send(task), InvalidModel);
  task.argv[1].resize(std::size_t{10} << 20);
  EXPECT_THAT(driver.run(task).error, HasSubstr("Argument list too long"));
}

// ---- what tasks leave behind

TEST_F(LaneTest, EndsWhatATaskLeavesWhileOthersRun) {
  LaneDriver driver = local();
  driver.lane().send(shell_task(1, "exec sleep 1000"));
  driver.wait_for(Kind::kStarted, 1);
  // In its group, in its session, and in a session of its own without parents.
  EXPECT_EQ(driver.shell("sleep 1000 & (setsid sh -c 'sleep 1000 & sleep 1000' &) ; exit 0").status,
            TaskStatus::kOk);
  EXPECT_TRUE(driver.pump_until([&] { return processes_with(marker_).size() == 2; }))
      << "the worker and task 1";
  EXPECT_EQ(driver.find(Kind::kRecord, 1), nullptr);
}

TEST_F(LaneTest, LeavesDaemonsAloneWhileTheirTaskRuns) {
  LaneDriver driver = local();
  const std::string daemon = testing::fresh_marker();
  driver.lane().send(shell_task(1, "(setsid sh -c 'sleep 1000; : " + daemon + "' &) ; exec sleep 1000"));
  ASSERT_TRUE(driver.pump_until([&] { return !processes_with(daemon).empty(); }));
  // Ends of other tasks are when leftovers are looked for.
  for (int round = 0; round < 5; ++round) driver.shell("sleep 0.01 & exit 0");
  EXPECT_FALSE(processes_with(daemon).empty());
  driver.lane().kill(1, SIGKILL);
  EXPECT_TRUE(driver.pump_until([&] { return processes_with(daemon).empty(); }));
}

TEST_F(LaneTest, EndsDaemonsWithoutATraceOfTheirTaskWhenNoneRuns) {
  LaneDriver driver = local();
  const std::string daemon = testing::fresh_marker();
  driver.shell("(setsid env -i sh -c 'sleep 1000; : " + daemon + "' &) ; sleep 0.3");
  EXPECT_TRUE(driver.pump_until([&] { return processes_with(daemon).empty(); }));
  EXPECT_TRUE(driver.lane().open());
}

}  // namespace
}  // namespace allot
