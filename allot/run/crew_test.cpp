#include "allot/run/crew.hpp"

#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <functional>

#include "tests/support/lane_driver.hpp"

namespace allot {
namespace {

using namespace std::chrono_literals;
using testing::eventually;
using ::testing::HasSubstr;
using testing::processes_with;
using Kind = CrewEvent::Kind;
using State = Slot::State;

/// The program that is told to start a worker starts it.
const std::vector<std::string> kPassOn = {"env"};

/// Everything that a test starts carries its marker, and nothing of it is alive afterwards.
class CrewTest : public ::testing::Test {
 protected:
  CrewTest() {
    options_.lane.worker = {ALLOT_COMMAND, "worker"};
    options_.lane.environment = {"ALLOT_TEST_MARKER=" + marker_};
    options_.first_delay_s = 0.05;
  }
  ~CrewTest() override {
    crew_.reset();
    EXPECT_TRUE(eventually([this] { return processes_with(marker_).empty(); }, 20s)) << "processes are left";
  }

  void make(const std::vector<CrewResource>& resources) {
    crew_ = std::make_unique<Crew>(resources, options_);
  }
  /// As the loop of a run does.
  bool pump_until(const std::function<bool()>& holds) {
    const Clock::time_point until = Clock::now() + testing::kPatience;
    while (!holds()) {
      if (Clock::now() >= until) return false;
      std::vector<std::pair<int, bool>> files;
      crew_->files(files);
      std::vector<pollfd> polled;
      for (const auto& [file, writes] : files)
        polled.push_back({file, static_cast<short>(writes ? POLLOUT : POLLIN), 0});
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(
          std::min(crew_->next_deadline(), Clock::now() + 20ms) - Clock::now());
      ::poll(polled.data(), polled.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
      crew_->pump(Clock::now(), events_);
    }
    return true;
  }
  bool settle() {
    return pump_until([this] { return crew_->settled(); });
  }
  std::size_t count(Kind kind) const {
    return static_cast<std::size_t>(
        std::count_if(events_.begin(), events_.end(), [&](const CrewEvent& e) { return e.kind == kind; }));
  }
  const CrewEvent* find(Kind kind) const {
    const auto at =
        std::find_if(events_.begin(), events_.end(), [&](const CrewEvent& e) { return e.kind == kind; });
    return at == events_.end() ? nullptr : &*at;
  }
  void start(std::size_t slot, std::vector<std::string> argv) {
    TaskRequest request;
    request.id = ++last_id_;
    request.argv = std::move(argv);
    crew_->start(slot, request);
  }
  std::vector<int> workers() const { return processes_with(marker_); }

  const std::string marker_ = testing::fresh_marker();
  CrewOptions options_;
  std::unique_ptr<Crew> crew_;
  std::vector<CrewEvent> events_;
  std::uint64_t last_id_ = 0;
};

TEST_F(CrewTest, HasTheSlotsOfAllResources) {
  make({{"cpu", 2, {}}, {"node", 2, kPassOn}, {"gpu", 1, {}}});
  ASSERT_TRUE(settle());
  std::vector<std::pair<std::size_t, Count>> slots;
  for (const Slot& slot : crew_->slots()) {
    slots.emplace_back(index(slot.resource), slot.number);
    EXPECT_EQ(slot.state, State::kIdle);
  }
  EXPECT_THAT(slots, ::testing::ElementsAre(std::pair(0, 0), std::pair(0, 1), std::pair(1, 0),
                                            std::pair(1, 1), std::pair(2, 0)));
  EXPECT_EQ(workers().size(), 3U) << "one for all local slots, one for each slot behind a launcher";
}

TEST_F(CrewTest, ReportsEachTaskOnceAtItsSlot) {
  make({{"cpu", 2, {}}, {"node", 1, kPassOn}});
  ASSERT_TRUE(settle());
  for (std::size_t slot = 0; slot < 3; ++slot) start(slot, {"sh", "-c", "exit " + std::to_string(slot)});
  EXPECT_EQ(crew_->busy(), 3U);
  ASSERT_TRUE(pump_until([this] { return crew_->busy() == 0; }));
  ASSERT_EQ(events_.size(), 3U);
  for (const CrewEvent& event : events_) {
    EXPECT_EQ(event.kind, Kind::kRecord);
    EXPECT_EQ(event.record.exit, static_cast<int>(event.slot));
    EXPECT_EQ(event.record.id, event.slot + 1);
    EXPECT_EQ(crew_->slots()[event.slot].state, State::kIdle);
  }
}

TEST_F(CrewTest, SignalsTheTaskOfOneSlot) {
  make({{"cpu", 2, {}}});
  ASSERT_TRUE(settle());
  start(0, {"sleep", "1000"});
  start(1, {"sleep", "0.5"});
  crew_->signal(0, SIGTERM);
  ASSERT_TRUE(pump_until([this] { return crew_->busy() == 0; }));
  for (const CrewEvent& event : events_)
    EXPECT_EQ(event.record.status, event.slot == 0 ? TaskStatus::kKilled : TaskStatus::kOk);
}

TEST_F(CrewTest, OpensAgainWhatWasLost) {
  for (const std::vector<std::string>& launch : {std::vector<std::string>{}, kPassOn}) {
    events_.clear();
    make({{"node", 1, launch}});
    ASSERT_TRUE(settle());
    const std::vector<int> before = workers();
    ASSERT_EQ(before.size(), 1U);
    start(0, {"sleep", "1000"});
    ASSERT_TRUE(pump_until([this] { return workers().size() == 2; }));
    ::kill(before.front(), SIGKILL);
    ASSERT_TRUE(pump_until([this] { return find(Kind::kNote) != nullptr; }));
    ASSERT_EQ(count(Kind::kRecord), 1U);
    EXPECT_EQ(find(Kind::kRecord)->record.status, TaskStatus::kLost);
    EXPECT_THAT(find(Kind::kNote)->text, HasSubstr("was lost and is opened again"));
    EXPECT_EQ(crew_->busy(), 0U);
    ASSERT_TRUE(settle());
    events_.clear();
    start(0, {"true"});
    ASSERT_TRUE(pump_until([this] { return count(Kind::kRecord) == 1; }));
    EXPECT_EQ(events_.front().record.status, TaskStatus::kOk);
  }
}

TEST_F(CrewTest, TellsOfManyLossesOnce) {
  make({{"node", 4, kPassOn}});
  ASSERT_TRUE(settle());
  for (const int worker : workers()) ::kill(worker, SIGKILL);
  ASSERT_TRUE(pump_until([this] { return count(Kind::kNote) == 4; }));
  EXPECT_EQ(std::count_if(events_.begin(), events_.end(), [](const CrewEvent& e) { return !e.repeated; }), 1);
}

TEST_F(CrewTest, GivesUpALauncherThatFailsTimeAndAgain) {
  options_.most_failures = 3;
  make({{"node", 1, {"sh", "-c", "echo no such partition >&2; exit 1"}}, {"cpu", 1, {}}});
  ASSERT_TRUE(settle());
  EXPECT_EQ(crew_->slots()[0].state, State::kGone);
  EXPECT_EQ(crew_->slots()[1].state, State::kIdle);
  EXPECT_EQ(count(Kind::kNote), 2U);
  EXPECT_THAT(find(Kind::kNote)->text, HasSubstr("did not open and is tried again"));
  ASSERT_EQ(count(Kind::kGone), 1U);
  EXPECT_THAT(find(Kind::kGone)->text, HasSubstr("a lane of 'node' cannot be opened"));
  EXPECT_THAT(find(Kind::kGone)->text, HasSubstr("no such partition"));
}

TEST_F(CrewTest, GivesUpALauncherThatIsNotThereAtOnce) {
  make({{"node", 2, {"no-such-launcher-anywhere"}}});
  ASSERT_TRUE(settle());
  EXPECT_EQ(count(Kind::kGone), 2U);
  EXPECT_EQ(count(Kind::kNote), 0U);
  EXPECT_THAT(find(Kind::kGone)->text, HasSubstr("cannot execute no-such-launcher-anywhere"));
}

TEST_F(CrewTest, GivesUpAWorkerThatNeverFinishesATask) {
  options_.most_failures = 3;
  // It greets, and soon ends.
  make({{"node", 1, {"timeout", "-s", "KILL", "0.3"}}});
  ASSERT_TRUE(pump_until([this] {
    if (crew_->slots()[0].state == State::kIdle) start(0, {"sleep", "1000"});
    return count(Kind::kGone) == 1;
  }));
  EXPECT_EQ(count(Kind::kNote), 2U);
}

TEST_F(CrewTest, WaitsForALauncherAsLongAsItTakes) {
  options_.lane.hello_deadline = 50ms;  // for a local worker only
  make({{"node", 1, {"sh", "-c", "sleep 1; exec \"$@\"", "sh"}}});
  ASSERT_TRUE(settle());
  EXPECT_EQ(crew_->slots()[0].state, State::kIdle);
  EXPECT_TRUE(events_.empty());
}

TEST_F(CrewTest, LetsALauncherSayFarewellWithoutWaitingForIt) {
  options_.lane.heartbeat = 100ms;
  options_.lane.deadline = 1s;
  const std::string done = ::testing::TempDir() + marker_;
  // Silent in a while, and slow to end when it is told to.
  make({{"node",
         1,
         {"sh", "-c",
          "trap 'sleep 2; touch " + done +
              "; exit' TERM; timeout -s STOP 0.5 \"$@\" & "
              "while :; do wait; sleep 0.1; done",
          "sh"}},
        {"cpu", 1, {}}});
  ASSERT_TRUE(pump_until([this] { return count(Kind::kNote) > 0; }));
  start(1, {"true"});
  ASSERT_TRUE(pump_until([this] { return count(Kind::kRecord) > 0; }));
  EXPECT_FALSE(std::filesystem::exists(done)) << "the others had to wait";
  EXPECT_TRUE(pump_until([&] { return std::filesystem::exists(done); })) << "it was killed too early";
  std::filesystem::remove(done);
}

}  // namespace
}  // namespace allot
