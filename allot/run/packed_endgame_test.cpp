#include "allot/run/packed_endgame.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <map>

#include "allot/base/random.hpp"

namespace allot {
namespace {

struct PackedCase {
  System system;
  std::vector<PackedGroup> groups;
  PerPair<double> seconds;
  std::vector<PackedRunning> running;
};

PackedCase random_case(std::uint64_t seed) {
  RandomStream random(seed, 7);
  const std::size_t types = 1 + random.below(3);
  const std::size_t resources = 1 + random.below(2);
  std::vector<Resource> machine(resources);
  for (std::size_t j = 0; j < resources; ++j) {
    machine[j].name = "r" + std::to_string(j);
    machine[j].servers = 1 + static_cast<Count>(random.below(4));
  }
  std::vector<Capacity> capacities = {{"memory", 10, false}, {"bus", 1, true}};
  std::vector<TaskClass> tasks(types);
  PerPair<double> seconds(types, resources);
  std::vector<PackedGroup> groups;
  Count left = 5;
  for (std::size_t i = 0; i < types; ++i) {
    tasks[i].name = "t" + std::to_string(i);
    const std::size_t sure = random.below(resources);
    for (std::size_t j = 0; j < resources; ++j) {
      if (j != sure && random.below(3) == 0) continue;
      seconds(task_type(i), resource_id(j)) = random.uniform(1, 6);
      const auto need = [&](CapacityId r, double amount) {
        tasks[i].needs.push_back({resource_id(j), r, amount});
      };
      if (random.below(2) == 0)
        need(servers_of(resource_id(j)),
             1 + static_cast<double>(random.below(static_cast<std::uint64_t>(machine[j].servers))));
      if (random.below(2) == 0) need(capacity_id(resources), random.uniform(1, 10));
      need(capacity_id(resources + 1), 5);
    }
    const Count count = std::min<Count>(left, static_cast<Count>(random.below(3)));
    left -= count;
    groups.push_back({task_type(i), count});
  }
  System system(machine, tasks, Rates(seconds), capacities);
  std::vector<PackedRunning> running;
  for (const TaskType i : system.types()) {
    if (random.below(3) == 0) running = {{i, system.resources_for(i)[0], random.uniform(0.5, 4)}};
  }
  return {std::move(system), groups, seconds, running};
}

struct Scheduled {
  TaskType type{};
  ResourceId resource{};
  double begin = 0;
  double end = 0;
};

bool fit_together(const System& system, const std::vector<Scheduled>& all) {
  for (const Scheduled& at : all) {
    for (const CapacityId r : system.capacity_ids()) {
      if (system.is_shared(r)) continue;
      double held = 0;
      for (const Scheduled& other : all) {
        if (other.begin > at.begin || other.end <= at.begin) continue;
        for (const Draw& draw : system.needs(other.type, other.resource))
          held += draw.capacity == r ? draw.amount : 0;
      }
      if (held > system.amount(r) * (1 + 1e-9)) return false;
    }
  }
  return true;
}

/// The best of all orders and places, each task as soon as it fits: one of those is the best of all.
double best_finish(const PackedCase& one, std::vector<Scheduled> placed, std::vector<Count> left,
                   double finish) {
  double best = std::numeric_limits<double>::infinity();
  bool any = false;
  for (std::size_t g = 0; g < left.size(); ++g) {
    if (left[g] == 0) continue;
    any = true;
    --left[g];
    for (const ResourceId j : one.system.resources_for(one.groups[g].type)) {
      std::vector<double> begins = {0};
      for (const Scheduled& other : placed) begins.push_back(other.end);
      std::sort(begins.begin(), begins.end());
      const double takes = one.seconds(task_type(g), j);
      for (const double begin : begins) {
        std::vector<Scheduled> more = placed;
        more.push_back({one.groups[g].type, j, begin, begin + takes});
        if (!fit_together(one.system, more)) continue;
        best = std::min(best, best_finish(one, std::move(more), left, std::max(finish, begin + takes)));
        break;
      }
    }
    ++left[g];
  }
  return any ? best : finish;
}

/// Every order is tried by the witness, so nothing ends sooner; and what starts now has room together.
TEST(PackedEndgame, IsCloseToTheBestOfAllSchedulesAndNeverOverdraws) {
  double sum = 0;
  double worst = 1;
  int counted = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    const PackedCase one = random_case(seed);
    std::vector<Scheduled> placed;
    for (const PackedRunning& task : one.running)
      placed.push_back({task.type, task.resource, 0, task.free_in});
    std::vector<Count> left;
    Count all = 0;
    for (const PackedGroup& group : one.groups) {
      left.push_back(group.count);
      all += group.count;
    }
    const PackedPlan plan = PackedEndgame().plan(one.system, one.groups, one.seconds, one.running);
    if (all == 0) {
      EXPECT_THAT(plan.start, ::testing::IsEmpty());
      continue;
    }
    const double best = best_finish(one, placed, left, 0);
    ASSERT_GE(plan.finish, best * (1 - 1e-9));
    sum += plan.finish / best;
    worst = std::max(worst, plan.finish / best);
    ++counted;
    std::map<std::size_t, Count> started;
    for (const auto& [g, j] : plan.start) {
      placed.push_back({one.groups[g].type, j, 0, one.seconds(task_type(g), j)});
      ASSERT_GT(one.seconds(task_type(g), j), 0);
      ASSERT_LE(++started[g], one.groups[g].count);
    }
    EXPECT_TRUE(fit_together(one.system, placed));
    EXPECT_TRUE(!plan.start.empty() || !one.running.empty()) << "something starts where nothing runs";
  }
  EXPECT_LT(sum / counted, 1.02);
  EXPECT_LT(worst, 1.35);
}

TEST(PackedEndgame, AWideTaskIsNotLeftForTheEnd) {
  // One that needs all four servers for ten seconds, and eight short narrow ones of two.
  const System system({{.name = "cpu", .servers = 4}},
                      {{.name = "wide", .needs = {{ResourceId{0}, CapacityId{0}, 4}}}, {.name = "narrow"}},
                      Rates(2, 1, {0.1, 0.5}));
  PerPair<double> seconds(2, 1);
  seconds(TaskType{0}, ResourceId{0}) = 10;
  seconds(TaskType{1}, ResourceId{0}) = 2;
  const std::vector<PackedGroup> groups = {{TaskType{0}, 1}, {TaskType{1}, 8}};
  const PackedPlan plan = PackedEndgame().plan(system, groups, seconds, {});
  EXPECT_DOUBLE_EQ(plan.finish, 14);
}

/// 0.6 and 0.4 of a slot: the first two go to different slots, and what is left of each is for the others.
class PackedParts : public ::testing::Test {
 protected:
  PackedPlan plan(Count parts, Count rests, Count wholes, std::span<const PackedRunning> running = {}) {
    const std::vector<PackedGroup> groups = {
        {TaskType{0}, parts}, {TaskType{1}, rests}, {TaskType{2}, wholes}};
    return PackedEndgame().plan(system_, groups, PerPair<double>(3, 1, 1.0), running);
  }
  const System system_{{{.name = "gpu", .servers = 2}},
                       {{.name = "part", .needs = {{ResourceId{0}, CapacityId{0}, 0.6}}},
                        {.name = "rest", .needs = {{ResourceId{0}, CapacityId{0}, 0.4}}},
                        {.name = "whole"}},
                       Rates(3, 1, {1, 1, 1})};
};

TEST_F(PackedParts, AreWithinOneSlot) {
  const PackedPlan two = plan(4, 0, 0);
  EXPECT_DOUBLE_EQ(two.finish, 2) << "three at a time would take 1.33 rounds, two take 2";
  EXPECT_EQ(two.start.size(), 2U);
  const PackedPlan both = plan(4, 4, 0);
  EXPECT_DOUBLE_EQ(both.finish, 2);
  EXPECT_EQ(both.start.size(), 4U);
}

TEST_F(PackedParts, WaitForTheSlotsThatAreHeldNow) {
  const std::vector<Holding::Server> first = {{ResourceId{0}, 0, 0.4}};
  const std::vector<Holding::Server> second = {{ResourceId{0}, 1, 0.4}};
  const std::vector<PackedRunning> apart = {{TaskType{1}, ResourceId{0}, 3, first},
                                            {TaskType{1}, ResourceId{0}, 5, second}};
  const PackedPlan plan_apart = plan(0, 0, 1, apart);
  EXPECT_THAT(plan_apart.start, ::testing::IsEmpty()) << "1.2 are free, but no slot";
  EXPECT_DOUBLE_EQ(plan_apart.finish, 4);
  const std::vector<PackedRunning> together = {{TaskType{1}, ResourceId{0}, 3, first},
                                               {TaskType{1}, ResourceId{0}, 5, first}};
  EXPECT_DOUBLE_EQ(plan(0, 0, 1, together).finish, 1);
}

}  // namespace
}  // namespace allot
