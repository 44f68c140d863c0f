// How lanes end, launchers, strangers at the other end, and orphans.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "allot/base/random.hpp"
#include "allot/worker/lane.hpp"
#include "allot/worker/process.hpp"
#include "allot/worker/protocol.hpp"
#include "tests/support/lane_fixture.hpp"

namespace allot {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = LaneEvent::Kind;

// ---- how lanes end

TEST_F(LaneTest, EndsWithAllItsTasksWhenFinished) {
  LaneDriver driver = local();
  driver.lane().send(shell_task(1, "trap '' TERM HUP INT; (setsid sleep 1000 &); sleep 1000"));
  driver.wait_for(Kind::kStarted, 1);
  driver.lane().finish();
  EXPECT_EQ(driver.wait_for(Kind::kRecord, 1).record.status, TaskStatus::kLost);
  EXPECT_NE(driver.wait_for(Kind::kEnded).why, "it never came");
  EXPECT_THAT(processes_with(marker_), IsEmpty()) << "the worker ends after the last of them";
  EXPECT_FALSE(driver.lane().open());
  EXPECT_EQ(driver.lane().process(), -1);
  EXPECT_EQ(driver.lane().next_deadline(), Clock::time_point::max());
}

TEST_F(LaneTest, LeavesNothingWhenDestroyed) {
  {
    LaneDriver driver = local();
    driver.lane().send(shell_task(1, "(setsid sleep 1000 &); sleep 1000"));
    driver.wait_for(Kind::kStarted, 1);
    WorkerLane moved = std::move(driver.lane());
    driver.lane() = WorkerLane({}, options_);
  }
  EXPECT_THAT(processes_with(marker_), IsEmpty());
}

TEST_F(LaneTest, TellsWhenTheWorkerIsKilled) {
  adopt_orphans();
  LaneDriver driver = local();
  driver.lane().send(shell_task(1, "exec sleep 1000"));
  driver.wait_for(Kind::kStarted, 1);
  ::kill(driver.lane().process(), SIGKILL);
  EXPECT_THAT(driver.wait_for(Kind::kLost).why, HasSubstr("signal 9"));
  const LaneEvent* const record = driver.find(Kind::kRecord, 1);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->record.status, TaskStatus::kLost);
  // Its tasks die with it; what they leave comes here.
  kill_descendants();
  EXPECT_THAT(processes_with(marker_), IsEmpty());
  // Nothing is taken silently afterwards.
  EXPECT_EQ(driver.run({"true"}).status, TaskStatus::kLost);
}

TEST_F(LaneTest, DropsTheRecordsOfTasksThatDieWithTheWorker) {
  // As a batch system cancels a job: the tasks are terminated first, the worker a moment later.
  LaneDriver driver = local();
  driver.lane().send(shell_task(1, "exec sleep 1000"));
  driver.wait_for(Kind::kStarted, 1);
  for (const int process : processes_with(marker_)) {
    if (process != driver.lane().process()) ::kill(process, SIGTERM);
  }
  driver.pump_for(20ms);
  ::kill(driver.lane().process(), SIGTERM);
  EXPECT_EQ(driver.wait_for(Kind::kRecord, 1).record.status, TaskStatus::kLost);
  EXPECT_THAT(driver.wait_for(Kind::kLost).why, HasSubstr("SIGTERM"));
}

TEST_F(LaneTest, IgnoresWhatATerminalSends) {
  LaneDriver driver = local();
  driver.wait_for(Kind::kReady);
  for (const int signal : {SIGINT, SIGHUP, SIGQUIT, SIGTSTP}) ::kill(driver.lane().process(), signal);
  EXPECT_EQ(driver.run({"true"}).status, TaskStatus::kOk);
}

TEST_F(LaneTest, NoticesASilentWorker) {
  options_.heartbeat = 100ms;
  options_.deadline = 3s;
  LaneDriver driver = local();
  driver.wait_for(Kind::kReady);
  driver.pump_for(4s);
  EXPECT_TRUE(driver.lane().open()) << "heartbeats keep it";
  driver.lane().send(shell_task(1, "exec sleep 1000"));
  driver.wait_for(Kind::kStarted, 1);
  ::kill(driver.lane().process(), SIGSTOP);
  EXPECT_THAT(driver.wait_for(Kind::kLost).why, HasSubstr("the worker has been silent for 3 s"));
  EXPECT_NE(driver.find(Kind::kRecord, 1), nullptr);
}

TEST_F(LaneTest, WorkerEndsWhenItHearsNothing) {
  options_.silence = 500ms;
  options_.heartbeat = 3600s;
  options_.deadline = 3600s;
  LaneDriver driver({"env"}, options_);
  driver.lane().send(shell_task(1, "exec sleep 1000"));
  EXPECT_THAT(driver.wait_for(Kind::kLost).why, ContainsRegex("status 1: .*nothing was heard"));
}

// ---- launchers

TEST_F(LaneTest, SpeaksThroughALauncherThatPrintsFirst) {
  LaneDriver driver({"sh", "-c", "echo Welcome to node 7; echo motd >&2; exec \"$@\"", "sh"}, options_);
  EXPECT_EQ(driver.run({"echo", "hello"}).out, "hello\n");
}

TEST_F(LaneTest, SaysWhatTheLauncherSaid) {
  LaneDriver driver({"sh", "-c", "echo 'invalid partition:  gpu' >&2; exit 3", "sh"}, options_);
  driver.lane().send(shell_task(1, ":"));
  EXPECT_THAT(driver.wait_for(Kind::kLost).why, HasSubstr("sh ended, with status 3: invalid partition: gpu"));
  EXPECT_EQ(driver.find(Kind::kRecord, 1)->record.status, TaskStatus::kLost);
  EXPECT_THAT(driver.find(Kind::kRecord, 1)->record.error, HasSubstr("invalid partition"));

  LaneDriver absent({"allot-no-such-launcher"}, options_);
  EXPECT_THAT(absent.wait_for(Kind::kLost).why, HasSubstr("allot-no-such-launcher"));
}

TEST_F(LaneTest, TellsALauncherThatIsNotThereFromOneThatFails) {
  LaneDriver missing({"no-such-launcher-anywhere"}, options_);
  const LaneEvent never = missing.wait_for(Kind::kLost);
  EXPECT_TRUE(never.not_found);
  EXPECT_THAT(never.why, HasSubstr("cannot execute no-such-launcher-anywhere"));
  LaneDriver failing({"false"}, options_);
  EXPECT_FALSE(failing.wait_for(Kind::kLost).not_found);
}

TEST_F(LaneTest, TerminatesALauncherThatWaitsWhenItsStarterIsGone) {
  // It does not look at its input, so no end of file tells it.
  std::optional<LaneDriver> driver;
  std::thread([&] {
    driver.emplace(std::vector<std::string>{"sh", "-c", "exec sleep 1000"}, options_);
  }).join();
  EXPECT_THAT(driver->wait_for(Kind::kLost).why, HasSubstr("signal 15"));
}

TEST_F(LaneTest, GivesUpOnALauncherThatStartsNothing) {
  options_.hello_deadline = 300ms;
  LaneDriver driver({"sh", "-c", "echo queued >&2; sleep 1000", "sh"}, options_);
  EXPECT_THAT(driver.wait_for(Kind::kLost).why, HasSubstr("no worker appeared within 0.3 s: queued"));
}

TEST_F(LaneTest, RefusesWhatIsNoWorker) {
  LaneDriver endless({"sh", "-c", "while :; do echo I am something else entirely; done", "sh"}, options_);
  EXPECT_THAT(endless.wait_for(Kind::kLost).why, HasSubstr("not a worker"));

  const auto saying = [&](const std::string& bytes) {
    std::ofstream(folder_ + "/said", std::ios::binary) << protocol::kFarMagic << bytes;
    LaneDriver driver({"sh", "-c", "cat " + folder_ + "/said; sleep 1000", "sh"}, options_);
    return driver.wait_for(Kind::kLost).why;
  };
  EXPECT_THAT(saying(protocol::encode(protocol::Hello{99, "allot 9.9"})),
              ContainsRegex("allot 9.9.*version 99"));
  EXPECT_THAT(saying("\xff\xff\xff\xff\xff"), HasSubstr("damaged"));
  EXPECT_THAT(saying(protocol::encode(protocol::Heartbeat{})), HasSubstr("greeting"));
  EXPECT_THAT(saying(protocol::encode(protocol::Hello{}) + protocol::encode(protocol::Pause{})),
              HasSubstr("only allot run"));
}

TEST_F(LaneTest, WorkerRefusesWhatIsNotFromAllot) {
  const auto told = [&](const std::string& bytes) {
    std::ofstream(folder_ + "/told", std::ios::binary) << bytes;
    const std::string command = std::string(ALLOT_COMMAND) + " worker <" + folder_ + "/told >" + folder_ +
                                "/answer 2>" + folder_ + "/complaint";
    const int status = std::system(command.c_str());
    return std::to_string(WEXITSTATUS(status)) + " " + contents(folder_ + "/complaint");
  };
  const std::string hello = std::string(protocol::kNearMagic) + protocol::encode(protocol::Hello{});
  EXPECT_THAT(told("GET / HTTP/1.0\r\n"),
              HasSubstr("1 error: the worker ended: its input is not from allot"));
  EXPECT_TRUE(contents(folder_ + "/answer").starts_with(protocol::kFarMagic))
      << "its own greeting comes first";
  EXPECT_THAT(told(hello + "\xff\xff\xff\xff\xff"),
              HasSubstr("1 error: the worker ended: its input is damaged"));
  EXPECT_THAT(told(hello + protocol::encode(TaskRecord{})), HasSubstr("1 error"));
  EXPECT_THAT(told(std::string(protocol::kNearMagic) + protocol::encode(protocol::Hello{99, "allot 9.9"})),
              ContainsRegex("1 error.*allot 9.9 version 99"));
  EXPECT_EQ(told(hello), "0 ") << "the end of the input is the end of the work";
  EXPECT_EQ(told(""), "0 ");
}

// ---- no orphan survives

/// A process that keeps a local worker busy with tasks that fork and daemonise, until it is killed.
[[noreturn]] void run_controller(const LaneOptions& options, const std::string& marker) {
  LaneDriver driver({}, options);
  const std::string scripts[] = {
      "sleep 1000",
      "(setsid sh -c 'sleep 1000 & sleep 1000' &) ; sleep 0.01",
      "setsid sh -c 'trap \"\" TERM HUP; (setsid sleep 1000 &) ; sleep 1000' & sleep 1000",
      "(setsid env -i sh -c 'sleep 1000; : " + marker + "' &) ; exit 0",
      "exit 0",
  };
  std::uint64_t id = 0;
  for (;;) {
    while (driver.lane().in_flight() < 12) {
      ++id;
      driver.lane().send(shell_task(id, scripts[id % std::size(scripts)]));
    }
    driver.pump_for(1ms);
  }
}

TEST_F(LaneTest, NoProcessSurvivesAControllerThatIsKilled) {
  RandomStream random(20);
  for (int round = 0; round < 30; ++round) {
    const auto delay = std::chrono::microseconds(static_cast<std::int64_t>(random.uniform(0, 80'000)));
    SCOPED_TRACE(::testing::Message() << "round " << round << ", killed after " << delay.count() << " us");
    const std::string marker = testing::fresh_marker();
    options_.environment = {"ALLOT_TEST_MARKER=" + marker};
    const pid_t controller = ::fork();
    ASSERT_GE(controller, 0);
    if (controller == 0) run_controller(options_, marker);
    std::this_thread::sleep_for(delay);
    ::kill(controller, SIGKILL);
    ::waitpid(controller, nullptr, 0);
    ASSERT_TRUE(eventually([&] { return processes_with(marker).empty(); }, 30s))
        << processes_with(marker).size() << " survive";
  }
}

}  // namespace
}  // namespace allot
