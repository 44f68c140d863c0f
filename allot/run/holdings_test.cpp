#include "allot/run/holdings.hpp"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace allot
