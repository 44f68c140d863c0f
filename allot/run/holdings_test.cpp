#include "allot/run/holdings.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "allot/base/random.hpp"
#include "allot/jobs/job_reader.hpp"

namespace allot {
namespace {

using ::testing::IsEmpty;

Job job_of(const std::string& text) {
  const ReadResult<Job> read = read_job_text(text, FileFormat::kToml);
  if (!read) {
    for (const Diagnostic& problem : read.diagnostics()) ADD_FAILURE() << to_string(problem);
  }
  return read.value();
}

const std::string kBox = R"(
[[resources]]
name = "cpu"
servers = 4
[[resources]]
name = "gpu"
[[resources]]
name = "far"
servers = 3
launch = "ssh far"
[[capacities]]
name = "memory"
amount = 10
per = "machine"
[[capacities]]
name = "licences"
amount = 2
[[capacities]]
name = "bus"
shared = true
[[tasks]]
name = "narrow"
repeat = 10
command = { cpu = "a", far = "a" }
needs = { cpu = { memory = 3 }, far = { memory = 6, licences = 1 } }
[[tasks]]
name = "wide"
repeat = 10
command = { cpu = "b", gpu = "b", far = "b" }
needs = { cpu = { cpu = 3, licences = 2 }, gpu = { cpu = 0.5, gpu = 0.5, bus = 3 }, far = { far = 2 } }
)";

constexpr auto kHoldCpu = ResourceId{0};
constexpr auto kHoldGpu = ResourceId{1};
constexpr auto kHoldFar = ResourceId{2};
constexpr auto kNarrow = TaskType{0};
constexpr auto kWide = TaskType{1};

TEST(Holdings, NeedsAreOfTheMachineWhereATaskRuns) {
  const Job job = job_of(kBox);
  const JobNeeds needs = needs_of(job);
  EXPECT_TRUE(needs.any);
  std::vector<std::string> names;
  for (const Capacity& capacity : needs.capacities) names.push_back(capacity.name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("memory", "memory of far", "licences", "bus"));
  Holdings holdings(job);
  const Holding first = holdings.take(kNarrow, kHoldFar, 0);
  EXPECT_FALSE(holdings.fits(kNarrow, kHoldFar)) << "6 of 10 are held there";
  EXPECT_TRUE(holdings.fits(kNarrow, kHoldCpu)) << "and none here";
  holdings.give_back(first);
  EXPECT_TRUE(holdings.fits(kNarrow, kHoldFar));
}

TEST(Holdings, SlotsAreHandedOutByNumber) {
  const Job job = job_of(kBox);
  Holdings holdings(job);
  const Holding one = holdings.take(kNarrow, kHoldCpu, 1);
  EXPECT_EQ(one.list(kHoldCpu), "1");
  const Holding three = holdings.take(kWide, kHoldCpu, 0);
  EXPECT_EQ(three.list(kHoldCpu), "0,2,3");
  EXPECT_EQ(three.servers.front().number, 0);
  EXPECT_FALSE(holdings.fits(kNarrow, kHoldCpu));
  EXPECT_FALSE(holdings.is_free(kHoldCpu, 2));
  holdings.give_back(one);
  EXPECT_TRUE(holdings.is_free(kHoldCpu, 2)) << "which place it is does not matter here";
  EXPECT_EQ(holdings.take(kNarrow, kHoldCpu, 2).list(kHoldCpu), "1");
}

TEST(Holdings, PartsShareASlotAndALaneIsOneTask) {
  const Job job = job_of(kBox);
  EXPECT_EQ(places(job, kHoldGpu), 2) << "two halves";
  EXPECT_EQ(places(job, kHoldCpu), 4);
  Holdings holdings(job);
  const Holding first = holdings.take(kWide, kHoldGpu, 0);
  const Holding second = holdings.take(kWide, kHoldGpu, 1);
  EXPECT_EQ(first.list(kHoldGpu), "0");
  EXPECT_EQ(second.list(kHoldGpu), "0");
  EXPECT_EQ(first.list(kHoldCpu), second.list(kHoldCpu)) << "both halves of one core";
  EXPECT_FALSE(holdings.fits(kWide, kHoldGpu));
  const Holding far = holdings.take(kWide, kHoldFar, 1);
  EXPECT_EQ(far.list(kHoldFar), "0,1");
  EXPECT_FALSE(holdings.is_free(kHoldFar, 0));
  EXPECT_TRUE(holdings.is_free(kHoldFar, 2));
}

const std::string kTwoCards = R"(
[[resources]]
name = "gpu"
servers = 2
[[tasks]]
name = "part"
repeat = 10
command = "a"
needs = { gpu = { gpu = 0.6 } }
[[tasks]]
name = "rest"
repeat = 10
command = "b"
needs = { gpu = { gpu = 0.4 } }
[[tasks]]
name = "wide"
repeat = 10
command = "c"
needs = { gpu = { gpu = 1.4 } }
)";
constexpr auto kCards = ResourceId{0};
constexpr auto kPart = TaskType{0};
constexpr auto kRest = TaskType{1};
constexpr auto kOneAndPart = TaskType{2};

TEST(Holdings, APartIsWithinOneSlot) {
  const Job job = job_of(kTwoCards);
  EXPECT_EQ(places(job, kCards), 4) << "two of the smallest on each";
  Holdings holdings(job);
  const Holding first = holdings.take(kPart, kCards, 0);
  EXPECT_EQ(first.list(kCards), "0");
  EXPECT_EQ(holdings.take(kPart, kCards, 0).list(kCards), "1");
  EXPECT_FALSE(holdings.is_room_for(kPart, kCards)) << "0.4 are free of each, which are 0.8 of none";
  EXPECT_FALSE(holdings.fits(kPart, kCards));
  EXPECT_TRUE(holdings.will_fit(kPart, kCards));
  EXPECT_EQ(holdings.take(kRest, kCards, 1).list(kCards), "0");
  EXPECT_EQ(holdings.take(kRest, kCards, 1).list(kCards), "1");
  EXPECT_FALSE(holdings.is_free(kCards, 0));
  holdings.give_back(first);
  EXPECT_TRUE(holdings.fits(kPart, kCards));
  EXPECT_FALSE(holdings.fits(kOneAndPart, kCards));
}

TEST(Holdings, APartLeavesOtherSlotsFree) {
  const Job job = job_of(kTwoCards);
  Holdings holdings(job);
  const Holding first = holdings.take(kRest, kCards, 1);
  const Holding second = holdings.take(kRest, kCards, 1);
  EXPECT_EQ(first.list(kCards), "0");
  EXPECT_EQ(second.list(kCards), "0");
  EXPECT_FALSE(holdings.fits(kOneAndPart, kCards)) << "1.2 are free, 1 and 0.2";
  holdings.give_back(first);
  const Holding wide = holdings.take(kOneAndPart, kCards, 0);
  EXPECT_EQ(wide.list(kCards), "0,1");
  EXPECT_EQ(wide.servers.front().number, 1) << "whole slots come first";
  EXPECT_FALSE(holdings.fits(kRest, kCards));
  holdings.give_back(wide);
  holdings.keep({{kOneAndPart, kCards}});
  EXPECT_FALSE(holdings.fits(kPart, kCards)) << "it fits beside the other, but then 1.4 would not";
  holdings.keep(std::nullopt);
  EXPECT_EQ(holdings.take(kPart, kCards, 1).list(kCards), "0");
}

TEST(Holdings, AStuckTaskLeavesWhatItDoesNotHoldOfItsSlot) {
  const Job job = job_of(kTwoCards);
  Holdings holdings(job);
  holdings.keep_while_stuck(holdings.take(kPart, kCards, 0), 0);
  EXPECT_TRUE(holdings.will_fit(kOneAndPart, kCards)) << "1 and 0.4";
  holdings.keep_while_stuck(holdings.take(kPart, kCards, 0), 1);
  EXPECT_FALSE(holdings.will_fit(kPart, kCards)) << "0.4 and 0.4";
  EXPECT_TRUE(holdings.will_fit(kRest, kCards));
}

TEST(Holdings, WhatIsKeptForOneIsNotForOthers) {
  const Job job = job_of(kBox);
  Holdings holdings(job);
  const Holding one = holdings.take(kNarrow, kHoldCpu, 0);
  const Holding two = holdings.take(kNarrow, kHoldCpu, 1);
  EXPECT_FALSE(holdings.fits(kWide, kHoldCpu));
  EXPECT_TRUE(holdings.fits(kNarrow, kHoldCpu));
  holdings.keep({{kWide, kHoldCpu}});
  EXPECT_FALSE(holdings.fits(kNarrow, kHoldCpu));
  EXPECT_TRUE(holdings.is_room_for(kNarrow, kHoldCpu));
  holdings.give_back(one);
  EXPECT_TRUE(holdings.fits(kWide, kHoldCpu));
  EXPECT_FALSE(holdings.fits(kNarrow, kHoldCpu)) << "until it has started";
}

TEST(Holdings, ALostTaskHoldsWhatItHeldUntilItsTime) {
  const Job job = job_of(kBox);
  Holdings holdings(job);
  const Clock::time_point now{std::chrono::hours(1)};
  holdings.give_back_at(holdings.take(kNarrow, kHoldFar, 0), now + std::chrono::seconds(300));
  EXPECT_EQ(holdings.next(), now + std::chrono::seconds(300));
  EXPECT_FALSE(holdings.will_fit(kNarrow, kHoldFar));
  EXPECT_TRUE(holdings.will_fit(kWide, kHoldFar));
  holdings.wake(now + std::chrono::seconds(299));
  EXPECT_FALSE(holdings.fits(kNarrow, kHoldFar));
  holdings.slept(std::chrono::seconds(10));
  holdings.wake(now + std::chrono::seconds(305));
  EXPECT_FALSE(holdings.fits(kNarrow, kHoldFar));
  holdings.wake(now + std::chrono::seconds(310));
  EXPECT_TRUE(holdings.fits(kNarrow, kHoldFar));
  holdings.keep_while_stuck(holdings.take(kNarrow, kHoldFar, 2), 7);
  ASSERT_EQ(holdings.stuck().size(), 1U);
  holdings.give_back(holdings.no_longer_stuck(0));
  EXPECT_TRUE(holdings.fits(kNarrow, kHoldFar));
  EXPECT_TRUE(holdings.is_free(kHoldFar, 2));
}

TEST(Holdings, WithoutNeedsASlotIsAllThatIsHeld) {
  const Job job = job_of(
      "[[resources]]\nname = \"cpu\"\nservers = 2\n[[tasks]]\nname = \"a\"\nrepeat = 3\ncommand = \"a\"\n");
  Holdings holdings(job);
  EXPECT_FALSE(holdings.any());
  EXPECT_TRUE(holdings.fits(kNarrow, kHoldCpu));
  EXPECT_EQ(holdings.take(kNarrow, kHoldCpu, 1).list(kHoldCpu), "1");
  EXPECT_THAT(holdings.free(), IsEmpty());
}

/// Against sums made anew, over many tasks that come and go.
TEST(Holdings, ComeAndGoWithoutDrift) {
  const Job job = job_of(kBox);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, 0);
    Holdings holdings(job);
    const System& shape = *holdings.shape();
    std::vector<Holding> held;
    for (int step = 0; step < 2000; ++step) {
      const TaskType i = task_type(random.below(2));
      const ResourceId j = resource_id(random.below(3));
      if (random.below(2) == 0 && shape.can_run(i, j) && holdings.fits(i, j)) {
        Count slot = 0;
        while (slot < 3 && !holdings.is_free(j, slot)) ++slot;
        held.push_back(holdings.take(i, j, slot));
      } else if (!held.empty()) {
        const std::size_t at = random.below(held.size());
        holdings.give_back(held[at]);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
      }
      std::vector<double> sums(shape.capacity_count(), 0.0);
      for (const Holding& holding : held) {
        for (const Draw& draw : shape.needs(holding.type, holding.resource))
          sums[index(draw.capacity)] += draw.amount;
      }
      for (const CapacityId r : shape.capacity_ids()) {
        if (shape.is_shared(r)) continue;
        ASSERT_LE(sums[index(r)], shape.amount(r) + 1e-9);
        ASSERT_NEAR(holdings.free()[index(r)], shape.amount(r) - sums[index(r)], 1e-9);
      }
    }
  }
}

/// Parts of all sizes, on slots that are never all free.
TEST(Holdings, NoSlotIsOverdrawnByParts) {
  Job job = job_of(kTwoCards);
  job.resources[0].servers = 3;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, 1);
    for (JobTask& task : job.tasks) task.needs[0].amount = random.uniform(0.05, random.below(2) == 0 ? 1 : 3);
    Holdings holdings(job);
    std::vector<Holding> held;
    for (int step = 0; step < 3000; ++step) {
      const TaskType i = task_type(random.below(3));
      const double needed = job.tasks[index(i)].needs[0].amount;
      std::vector<double> free(3, 1.0);
      for (const Holding& holding : held) {
        for (const Holding::Server& server : holding.servers)
          free[static_cast<std::size_t>(server.number)] -= server.part;
      }
      for (const double part : free) ASSERT_GE(part, -1e-8);
      // The rule, word by word: of entirely free slots as many as are whole, and one more, or one in which
      // there is room.
      const auto whole = static_cast<std::ptrdiff_t>(needed);
      const double part = needed - std::floor(needed);
      const auto is_whole = [](double one) { return one > 1 - 1e-9; };
      const auto wholes = std::count_if(free.begin(), free.end(), is_whole);
      const bool beside = std::any_of(free.begin(), free.end(),
                                      [&](double one) { return !is_whole(one) && one > part - 1e-9; });
      ASSERT_EQ(holdings.is_room_for(i, kCards), wholes >= whole + (beside ? 0 : 1)) << needed;
      if (holdings.is_room_for(i, kCards) && (held.size() < 2 || random.below(2) == 0)) {
        held.push_back(holdings.take(i, kCards, 0));
        ASSERT_EQ(held.back().servers.size(), static_cast<std::size_t>(whole + 1));
      } else if (held.size() > 1) {
        const std::size_t at = random.below(held.size());
        holdings.give_back(held[at]);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
  }
}

}  // namespace
}  // namespace allot
