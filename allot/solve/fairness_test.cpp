#include "allot/solve/fairness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "allot/solve/solver.hpp"
#include "tests/support/amount.hpp"
#include "tests/support/random_needs.hpp"
#include "tests/support/random_systems.hpp"

namespace allot {
namespace {

using testing::random_system;
using testing::with_random_needs;

Solution planned(const Problem& problem) { return solve(*find_solver("planned"), problem); }

/// The same system with floors that give everybody the level.
System with_level(const System& system, double level) {
  std::vector<TaskClass> tasks = system.tasks();
  for (TaskClass& task : tasks) {
    const double wanted = task.priority.value_or(1) * level;
    if (task.count > 0 && wanted > 0) task.floor = std::max(task.floor.value_or(0), wanted);
  }
  return system.with_tasks(tasks);
}

// A level is a floor for everybody: each point is what `planned` finds with these floors, the first without
// any, and the last has the level of max-min.
TEST(Fairness, EachPointIsThePlanWithTheLevelAsAFloor) {
  std::uint64_t traded = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    System system = random_system(seed, {.depths = true,
                                         .floors = seed % 2 == 0,
                                         .priorities = seed % 3 != 0,
                                         .zero_priorities = seed % 12 == 4,
                                         .worths = true});
    RandomStream needs(seed, 0x9a9);
    if (needs.below(3) == 0) system = with_random_needs(system, needs);
    const Problem problem{system, Objective::kThroughput};
    const FairnessTrade trade = trade_fairness(problem, 5);
    const Solution best = planned(problem);
    if (best.outcome == Outcome::kInfeasible) {
      EXPECT_EQ(trade.outcome, Outcome::kInfeasible);
      EXPECT_TRUE(trade.points.empty());
      continue;
    }
    ASSERT_EQ(trade.outcome, Outcome::kOptimal);
    if (trade.points.empty()) {  // nobody takes part
      for (const TaskType i : system.types())
        EXPECT_TRUE(system.count(i) == 0 || system.task(i).priority.value_or(1) == 0);
      continue;
    }
    const double tolerance = 1e-7 * std::max(1.0, best.performance.value);
    EXPECT_NEAR(trade.points.front().value, best.performance.value, tolerance);
    const Solution fairest = planned({system, Objective::kMaxMin});
    EXPECT_NEAR(trade.points.back().least, fairest.objective_value,
                1e-6 * std::max(1.0, fairest.objective_value));
    traded += trade.points.size() > 1;
    for (const FairnessPoint& point : trade.points) {
      const Solution floored =
          planned({with_level(system, point.least * (1 - 1e-9)), Objective::kThroughput});
      ASSERT_EQ(floored.outcome, Outcome::kOptimal);
      EXPECT_NEAR(point.value, floored.performance.value, 1e-6 * std::max(1.0, best.performance.value));
      EXPECT_GE(least_served(problem, floored.performance.throughput_by_task, {}), point.least * (1 - 1e-6));
    }
    for (std::size_t at = 1; at < trade.points.size(); ++at) {
      EXPECT_GT(trade.points[at].least, trade.points[at - 1].least);
      EXPECT_LE(trade.points[at].value, trade.points[at - 1].value);
    }
  }
  EXPECT_GT(traded, testing::amount(50)) << "too few systems have anything to trade";
}

// Rates from 1e-18 to 1e18, floors, depths, worths and weights together: whatever the solver can do with
// them, what it gives falls from the most value to the fairest, and begins where the plan with the most value
// is.
TEST(Fairness, FallsWhateverTheRates) {
  std::uint64_t traded = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    testing::SystemShape shape = testing::kEverything;
    shape.floors = seed % 2 == 0;
    shape.priorities = seed % 3 != 0;
    shape.worths = true;
    const Problem problem{random_system(seed, shape), Objective::kThroughput};
    const FairnessTrade trade = trade_fairness(problem, 4);
    for (std::size_t at = 1; at < trade.points.size(); ++at) {
      EXPECT_GT(trade.points[at].least, trade.points[at - 1].least);
      EXPECT_LE(trade.points[at].value, trade.points[at - 1].value);
    }
    if (trade.points.empty()) continue;
    traded += trade.points.size() > 1;
    EXPECT_GE(trade.points.back().value, 0);
    EXPECT_GE(trade.points.front().least, 0);
    const Solution best = planned(problem);
    if (best.outcome != Outcome::kOptimal) continue;
    EXPECT_NEAR(trade.points.front().value, best.performance.value, 1e-6 * best.performance.value);
  }
  EXPECT_GT(traded, testing::amount(50));
}

/// One server; a round of the first group takes 1 s and is worth 3, one of the second 2 s and worth 1.
Problem two_groups() {
  const System system({{.name = "cpu"}}, {{.name = "a"}, {.name = "b"}}, Rates(2, 1, {1.0, 1.0}));
  return {system,
          Objective::kThroughput,
          {{.count = 2, .sequence = {TaskType{0}}, .worth = 3},
           {.count = 2, .sequence = {TaskType{0}, TaskType{1}}}}};
}

// J1 + 2 J2 <= 1: the most value is 3 with the first group alone; at the level t it is 3 (1 - 2t) + t.
TEST(Fairness, GroupsOfThreadsAreServedInRounds) {
  const FairnessTrade trade = trade_fairness(two_groups(), 3);
  ASSERT_EQ(trade.points.size(), 3u);
  EXPECT_NEAR(trade.points[0].value, 3, 1e-9);
  EXPECT_NEAR(trade.points[1].least, 1.0 / 6, 1e-8);
  EXPECT_NEAR(trade.points[1].value, 3 * (1 - 2.0 / 6) + 1.0 / 6, 1e-8);
  EXPECT_NEAR(trade.points[2].least, 1.0 / 3, 1e-8);
  EXPECT_NEAR(trade.points[2].value, 4.0 / 3, 1e-8);
  const std::vector<double> completions{0.6, 0.4};
  const std::vector<double> rounds{0.2, 0.4};
  EXPECT_EQ(least_served(two_groups(), completions, rounds), 0.2);
}

TEST(Fairness, ArrivalsAreCarriedAndAreNobodysShare) {
  const System system({{.name = "cpu", .servers = 2}},
                      {{.name = "a", .count = 4}, {.name = "b", .count = 4, .worth = 2.0}},
                      Rates(2, 1, {1.0, 1.0}));
  const Problem problem{system, Objective::kThroughput, {}, {{TaskType{0}, 0.5}}};
  const FairnessTrade trade = trade_fairness(problem, 2);
  ASSERT_EQ(trade.points.size(), 2u);
  EXPECT_NEAR(trade.points[0].value, 0.5 + 3, 1e-8);
  EXPECT_NEAR(trade.points[1].least, 0.75, 1e-8);
  EXPECT_NEAR(trade.points[1].value, 0.5 + 0.75 + 1.5, 1e-8);
  EXPECT_NEAR(least_served(problem, std::vector<double>{0.75, 1.25}, {}), 0.25, 1e-12);
}

TEST(Fairness, WithoutThreadsOrWithoutTimeThereIsNoTrade) {
  const System idle({{.name = "cpu"}}, {{.name = "a"}}, Rates(1, 1, {1.0}));
  EXPECT_TRUE(trade_fairness({idle, Objective::kThroughput}, 4).points.empty());
  EXPECT_EQ(least_served({idle, Objective::kThroughput}, std::vector<double>{0.0}, {}), 0);
  SolveOptions late;
  late.stop.deadline = Clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(trade_fairness(two_groups(), 4, late).outcome, Outcome::kTimeLimit);
}

// One type: whatever it completes is what the least-served completes.
TEST(Fairness, OnePointWhereNothingIsGivenUp) {
  const System one({{.name = "cpu", .servers = 3}}, {{.name = "a", .count = 2}}, Rates(1, 1, {1.5}));
  const FairnessTrade trade = trade_fairness({one, Objective::kThroughput}, 10);
  ASSERT_EQ(trade.points.size(), 1u);
  EXPECT_NEAR(trade.points[0].least, 3, 1e-8);
  EXPECT_NEAR(trade.points[0].value, 3, 1e-8);
}

}  // namespace
}  // namespace allot
