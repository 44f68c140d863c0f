// Worlds made by hand: each a story that once went wrong, told from the outside.
#include <gmock/gmock.h>

#include "tests/support/amount.hpp"
#include "tests/worlds/world.hpp"

namespace allot::worlds {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Resources, and one type of task that runs on all of them.
class SceneTest : public ::testing::Test {
 protected:
  SceneTest() {
    scene_.seed = 1;
    scene_.job.path = "scene.toml";
    scene_.job.folder = ".";
    scene_.options.run_id = "scene";
  }

  void add_resource(Count servers, double seconds, bool launched = false) {
    const std::size_t j = scene_.job.resources.size();
    JobResource& resource = scene_.job.resources.emplace_back();
    resource.name = "r" + std::to_string(j);
    resource.servers = servers;
    if (launched) resource.launch = {"launcher", std::to_string(j)};
    scene_.lanes.emplace_back().opens_after = 0.01;
    scene_.seconds.push_back(seconds);
    scene_.not_found.push_back(false);
    scene_.fails.push_back(0);
  }
  JobTask& add_tasks(std::size_t count) {
    std::vector<std::string> problems;
    JobTask& task = scene_.job.tasks.emplace_back();
    task.name = "t0";
    task.inputs = inputs_by_counting(count);
    task.commands.assign(scene_.job.resources.size(),
                         CommandTemplate::from_words({"work", "{}"}, {{""}, true, false}, problems));
    task.rates.resize(scene_.job.resources.size());
    scene_.manners.assign(count, Manner::kWell);
    return task;
  }
  void live() {
    verdict_ = live_through(scene_);
    EXPECT_THAT(verdict_.violations, IsEmpty());
  }
  AttemptStatus final_of(std::size_t task) const {
    const Disk::Task& seen = verdict_.disk.tasks.at(task);
    return seen.final_attempt ? seen.attempts.at(*seen.final_attempt).status : AttemptStatus::kStarted;
  }
  std::size_t count(AttemptStatus status) const {
    std::size_t count = 0;
    for (std::size_t at = 0; at < scene_.manners.size(); ++at) count += final_of(at) == status ? 1 : 0;
    return count;
  }
  std::size_t attempts(std::size_t task) const { return verdict_.disk.tasks.at(task).attempts.size(); }

  Scene scene_;
  Verdict verdict_;
};

TEST_F(SceneTest, ATaskThatFailsWhereItIsFastestIsTriedWhereItIsSlow) {
  add_resource(1, 0.05);
  add_resource(1, 1);
  add_tasks(1).rates = {20.0, 1.0};
  scene_.fails[0] = 1;
  live();
  EXPECT_EQ(verdict_.outcome, "finished");
  EXPECT_EQ(final_of(0), AttemptStatus::kOk);
  EXPECT_LT(verdict_.seconds, 20);
}

TEST_F(SceneTest, TheLastOfManyMayFail) {
  add_resource(1, 0.05);
  add_resource(1, 1);
  add_tasks(20).rates = {20.0, 1.0};
  scene_.manners[19] = Manner::kFails;
  live();
  EXPECT_EQ(verdict_.outcome, "finished");
  EXPECT_EQ(count(AttemptStatus::kOk), 19U);
  EXPECT_EQ(final_of(19), AttemptStatus::kFailed);
}

TEST_F(SceneTest, ATaskThatCannotBeKilledIsGivenUpAfterItsTimeLimit) {
  add_resource(2, 0.1);
  add_tasks(6).timeout_s = 10;
  scene_.manners[0] = Manner::kUnkillable;
  scene_.options.requeues = 0;
  live();
  EXPECT_EQ(verdict_.outcome, "finished");
  EXPECT_EQ(final_of(0), AttemptStatus::kLost);
  EXPECT_EQ(count(AttemptStatus::kOk), 5U);
  const Disk::Task& task = verdict_.disk.tasks[0];
  EXPECT_THAT(task.attempts.at(1).error, HasSubstr("could not be killed; process 10"));
  EXPECT_LT(verdict_.seconds, 10 + 5 + 5 + 5 + 2);
}

TEST_F(SceneTest, ARunWithTasksThatCannotBeKilledEndsWhenItIsToldTo) {
  add_resource(2, 0.1);
  add_tasks(2);
  scene_.manners = {Manner::kUnkillable, Manner::kUnkillable};
  scene_.signals = {{20, Signal::Kind::kTerminate}};
  live();
  EXPECT_EQ(verdict_.outcome, "interrupted");
  EXPECT_LT(verdict_.seconds, 20 + 5 + 5 + 2);
}

TEST_F(SceneTest, ARunWhoseTimeIsUpSaysSoUnlessSomebodyInterruptsItBesides) {
  add_resource(1, 10);
  add_tasks(5);
  scene_.variation = 0;
  scene_.signals = {{15, Signal::Kind::kTimeIsUp}};
  live();
  EXPECT_EQ(verdict_.outcome, "time-limit");
  EXPECT_THAT(verdict_.disk.runs, ElementsAre("time-limit"));
  EXPECT_EQ(count(AttemptStatus::kOk), 2U);
  scene_.signals.push_back({17, Signal::Kind::kDrain});
  live();
  EXPECT_EQ(verdict_.outcome, "interrupted");
  scene_.signals = {{12, Signal::Kind::kDrain}, {15, Signal::Kind::kTimeIsUp}};
  live();
  EXPECT_EQ(verdict_.outcome, "interrupted");
}

TEST_F(SceneTest, AWorkerThatTalksAndNeverReportsIsNotWaitedFor) {
  add_resource(1, 0.1, true);
  add_resource(1, 0.1);
  add_tasks(4).timeout_s = 3;
  scene_.lanes[0].deaf = true;
  scene_.options.requeues = 10;
  live();
  EXPECT_EQ(verdict_.outcome, "finished");
  EXPECT_EQ(count(AttemptStatus::kOk), 4U);
}

TEST_F(SceneTest, OneThatKillsItsWorkerIsFoundAndItsNeighboursAreNotBlamed) {
  add_resource(8, 0.5);
  add_tasks(40);
  scene_.manners[3] = Manner::kKillsWorker;
  live();
  EXPECT_EQ(verdict_.outcome, "finished");
  EXPECT_EQ(count(AttemptStatus::kOk), 39U);
  EXPECT_EQ(final_of(3), AttemptStatus::kLost);
}

TEST_F(SceneTest, AnAnswerThatNobodyAskedForIsNotTriedWithoutEnd) {
  add_resource(1, 0.001);
  add_tasks(3);
  scene_.manners[1] = Manner::kClaimsKilled;
  live();
  EXPECT_EQ(final_of(1), AttemptStatus::kLost);
  EXPECT_EQ(attempts(1), 4U);
  EXPECT_EQ(count(AttemptStatus::kOk), 2U);
}

TEST_F(SceneTest, ALauncherThatFailsForAWhileCostsNoTask) {
  add_resource(1, 0.01, true);
  add_tasks(1000);
  scene_.lanes[0].fails_to_open = 5;  // about 15 s
  live();
  EXPECT_EQ(verdict_.outcome, "finished");
  EXPECT_EQ(count(AttemptStatus::kOk), 1000U);
}

TEST_F(SceneTest, AResourceThatIsLostLeavesItsTasksPending) {
  add_resource(1, 0.01, true);
  add_tasks(1000);
  scene_.lanes[0].not_found = true;
  live();
  EXPECT_EQ(verdict_.outcome, "stranded");
  EXPECT_EQ(count(AttemptStatus::kStarted), 1000U) << "none has a final record";
  EXPECT_THAT(verdict_.notes, Contains(HasSubstr("given up for now")));
}

TEST_F(SceneTest, WhenEverythingStandsStillNothingIsLost) {
  for (const bool whole_machine : {true, false}) {
    scene_ = Scene();
    scene_.job.folder = ".";
    add_resource(2, 4);
    add_resource(2, 4, true);
    add_tasks(8).timeout_s = 20;
    scene_.freezes = {{3, 18, whole_machine}, {25, 3600, whole_machine}};
    live();
    EXPECT_EQ(verdict_.outcome, "finished");
    for (std::size_t at = 0; at < 8; ++at) EXPECT_EQ(attempts(at), 1U);
  }
}

TEST_F(SceneTest, ARowThatIsTooLargeFailsItself) {
  add_resource(1, 0.1);
  add_tasks(5);
  scene_.manners[0] = Manner::kTooLarge;
  live();
  EXPECT_EQ(verdict_.outcome, "finished");
  EXPECT_EQ(final_of(0), AttemptStatus::kFailed);
  EXPECT_EQ(count(AttemptStatus::kOk), 4U);
}

TEST_F(SceneTest, AKilledRunGoesOnWhereItWasAndRepeatsNothing) {
  add_resource(3, 0.2);
  add_tasks(30);
  scene_.kills = {0.3, 0.5, 0.7, 0.2};
  live();
  EXPECT_EQ(verdict_.runs, 5U);
  EXPECT_EQ(count(AttemptStatus::kOk), 30U);
}

TEST_F(SceneTest, AFullDiskEndsTheRunAndSaysSo) {
  add_resource(2, 0.2);
  add_tasks(100);
  scene_.disk_full = 1;
  live();
  EXPECT_EQ(verdict_.outcome, "io-error");
  EXPECT_THAT(verdict_.notes, Contains(HasSubstr("the journal cannot be written")));
  EXPECT_LT(verdict_.seconds, 5);
}

TEST_F(SceneTest, PausedTimeIsNoTime) {
  add_resource(1, 1);
  add_tasks(5).timeout_s = 20;
  scene_.signals = {{0.5, Signal::Kind::kPause, 1000}};
  live();
  EXPECT_EQ(verdict_.outcome, "finished");
  EXPECT_EQ(count(AttemptStatus::kOk), 5U);
}

/// Two that take the whole machine among a thousand that take a slot each: by a plan, and by policies that
/// know nothing of room.
TEST_F(SceneTest, WideTasksAreNotStarvedByNarrowOnes) {
  for (const std::string policy : {"", "jsq", "map"}) {
    SCOPED_TRACE(policy);
    scene_ = Scene();
    scene_.job.folder = ".";
    scene_.options.policy = policy;
    add_resource(8, 0.5);
    add_tasks(1000).rates = {2.0};
    JobTask wide = scene_.job.tasks.front();
    wide.name = "t1";
    wide.inputs = inputs_by_counting(2);
    wide.needs = {{ResourceId{0}, CapacityId{0}, 8}};
    scene_.job.tasks.push_back(wide);
    scene_.seconds.push_back(0.5);
    scene_.not_found.push_back(false);
    scene_.fails.push_back(0);
    scene_.manners.resize(1002, Manner::kWell);
    live();
    EXPECT_EQ(verdict_.outcome, "finished");
    std::size_t before = 0;  // that ended before both wide ones
    std::size_t seen = 0;
    for (const auto& [when, type] : verdict_.completions) {
      seen += index(type) == 1 ? 1 : 0;
      before += seen < 2 ? 1 : 0;
    }
    EXPECT_LT(before, policy.empty() ? 990U : 300U);
  }
}

/// Parts of two sizes on four slots: everywhere something is free, nowhere a whole slot.
TEST_F(SceneTest, AWholeSlotIsHadAmongPartsOfSlots) {
  for (const std::string policy : {"", "jsq"}) {
    SCOPED_TRACE(policy);
    scene_ = Scene();
    scene_.job.folder = ".";
    scene_.options.policy = policy;
    scene_.variation = 0.3;
    add_resource(4, 0.5);
    JobTask& first = add_tasks(600);
    first.rates = {2.0};
    first.needs = {{ResourceId{0}, CapacityId{0}, 0.3}};
    for (const double amount : {0.6, 1.0}) {
      JobTask other = scene_.job.tasks.front();
      other.name = "t" + std::to_string(scene_.job.tasks.size());
      other.inputs = inputs_by_counting(amount == 1 ? 4 : 100);
      other.needs = {{ResourceId{0}, CapacityId{0}, amount}};
      scene_.job.tasks.push_back(other);
      scene_.seconds.push_back(0.5);
      scene_.not_found.push_back(false);
      scene_.fails.push_back(0);
    }
    scene_.manners.resize(704, Manner::kWell);
    live();
    EXPECT_EQ(verdict_.outcome, "finished");
    std::size_t before = 0;  // that ended before all whole ones
    std::size_t seen = 0;
    for (const auto& [when, type] : verdict_.completions) {
      seen += index(type) == 2 ? 1 : 0;
      before += seen < 4 ? 1 : 0;
    }
    EXPECT_LT(before, 600U);
    // Each slot takes 0.6 and 0.3, or three of 0.3: at least 600 / 3 and 100 / 2 more rounds of half a
    // second.
    EXPECT_LT(verdict_.seconds, 45);
  }
}

/// A card whose tasks need a core, which tasks without the card take whenever it is free.
TEST_F(SceneTest, ACardThatNeedsACoreIsTriedThoughNoCoreIsFree) {
  for (const std::size_t tasks : {200, 600}) {
    for (std::uint64_t seed = 1; seed <= testing::amount(5); ++seed) {
      SCOPED_TRACE(::testing::Message() << tasks << " tasks, seed=" << seed);
      scene_ = Scene();
      scene_.seed = seed;
      scene_.job.folder = ".";
      add_resource(4, 0.3);
      add_resource(2, 0.1);
      add_tasks(tasks).needs = {{ResourceId{1}, CapacityId{0}, 1}};
      live();
      EXPECT_EQ(verdict_.outcome, "finished");
      // Two cores with the card, and two without it; without the card it would take 1.8 times as long.
      EXPECT_LT(verdict_.seconds, 1.2 * static_cast<double>(tasks) / (2 / 0.1 + 2 / 0.3));
    }
  }
}

TEST_F(SceneTest, WhatALostTaskHeldIsNotGivenToAnotherBeforeItsWorkerMustHaveEnded) {
  add_resource(2, 1, true);
  scene_.job.capacities.emplace_back().name = "licence";
  add_tasks(3).needs = {{ResourceId{0}, CapacityId{1}, 1}};
  scene_.manners[0] = Manner::kKillsWorker;
  scene_.options.requeues = 0;
  live();
  EXPECT_EQ(verdict_.outcome, "finished");
  EXPECT_EQ(final_of(0), AttemptStatus::kLost);
  EXPECT_EQ(count(AttemptStatus::kOk), 2U);
  EXPECT_GT(verdict_.seconds, 300);
}

TEST_F(SceneTest, WhatATaskHoldsThatCannotBeKilledStaysHeld) {
  add_resource(3, 0.1);
  scene_.job.capacities.emplace_back().name = "licence";
  JobTask& task = add_tasks(4);
  task.needs = {{ResourceId{0}, CapacityId{1}, 1}};
  task.timeout_s = 1;
  scene_.manners[0] = Manner::kUnkillable;
  scene_.options.requeues = 0;
  scene_.signals = {{100, Signal::Kind::kTerminate}};
  live();
  EXPECT_EQ(verdict_.outcome, "interrupted") << "nobody else gets the licence";
  EXPECT_EQ(count(AttemptStatus::kOk), 0U);
}

/// Two that hang use up what is shared, so the plan has nothing for the others. In their place goes what is
/// worth most per second.
TEST_F(SceneTest, InPlaceOfTasksThatHangTheBestOthersRun) {
  add_resource(3, 1);
  scene_.job.capacities.emplace_back().name = "bus";
  scene_.job.capacities[0].shared = true;
  scene_.options.policy = "planned";
  scene_.options.objective = RunObjective::kThroughput;
  JobTask& hang = add_tasks(2);
  hang.rates = {1.0};
  hang.worth = 100;
  hang.needs = {{ResourceId{0}, CapacityId{1}, 1}};
  for (const double seconds : {1.0, 0.5}) {
    JobTask other = scene_.job.tasks.front();
    other.name = "t" + std::to_string(scene_.job.tasks.size());
    other.inputs = inputs_by_counting(10);
    other.rates = {1 / seconds};
    other.worth = 1;
    scene_.job.tasks.push_back(other);
    scene_.seconds.push_back(seconds);
    scene_.not_found.push_back(false);
    scene_.fails.push_back(0);
  }
  scene_.manners.assign(22, Manner::kWell);
  scene_.manners[0] = scene_.manners[1] = Manner::kHangs;
  scene_.signals = {{100, Signal::Kind::kTerminate}};
  live();
  ASSERT_EQ(verdict_.completions.size(), 20U);
  for (std::size_t at = 0; at < 10; ++at)
    EXPECT_EQ(verdict_.completions[at].second, task_type(2)) << "the faster of the two, completion " << at;
}

// Found by a campaign: a task lost after the last command for its type was missing; the share of a type that
// has ended; two tasks that hang and use up what is shared.
TEST_F(SceneTest, WorldsThatWereBrokenOnceStayMended) {
  for (const std::uint64_t seed : {124908, 137147, 168972, 888669}) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    EXPECT_THAT(live_through(draw_scene(seed)).violations, IsEmpty());
  }
}

TEST_F(SceneTest, WorldsAreWhatTheirSeedsSay) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Verdict once = live_through(draw_scene(seed));
    const Verdict again = live_through(draw_scene(seed));
    EXPECT_EQ(once.turns, again.turns) << "seed " << seed;
    EXPECT_EQ(once.seconds, again.seconds);
    EXPECT_EQ(once.notes, again.notes);
  }
}

}  // namespace
}  // namespace allot::worlds
