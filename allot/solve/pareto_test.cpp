#include "allot/solve/pareto.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/model/generate.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/amount.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random_systems.hpp"

namespace allot {
namespace {

using testing::random_system;

constexpr std::size_t kAll = 1'000'000;

/// Falling throughput, falling error, and each point what its assignment gives.
void expect_frontier(const System& system, const ParetoFrontier& frontier) {
  for (std::size_t at = 0; at < frontier.points.size(); ++at) {
    const ParetoPoint& point = frontier.points[at];
    ASSERT_TRUE(testing::places_every_task(system, point.assignment));
    EXPECT_TRUE(testing::keeps_depths(system, point.assignment));
    const auto x = testing::recomputed_completions(system, point.assignment);
    EXPECT_TRUE(testing::meets_floors(system, x));
    EXPECT_NEAR(point.throughput, static_cast<double>(x.total), 1e-12 * point.throughput);
    EXPECT_NEAR(point.priority_error, *testing::recomputed_error(system, x), 1e-12);
    if (at > 0) {
      EXPECT_LT(point.throughput, frontier.points[at - 1].throughput);
      EXPECT_LT(point.priority_error, frontier.points[at - 1].priority_error);
    }
  }
}

// Against all states: nothing feasible beats a point in both, and no state of the true frontier is missing.
TEST(Pareto, OfASmallSystemIsTheFrontierOfAllStates) {
  for (std::uint64_t seed = 0; seed < testing::amount(200); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, {.max_types = 3,
                                               .max_resources = 3,
                                               .min_types = 2,
                                               .min_resources = 2,
                                               .max_count = 6,
                                               .depths = seed % 3 == 0,
                                               .floors = seed % 4 == 0,
                                               .priorities = true});
    const ParetoFrontier frontier = pareto(system, kAll);
    EXPECT_TRUE(frontier.exhaustive);
    EXPECT_FALSE(frontier.approximate);
    expect_frontier(system, frontier);
    bool any = false;
    testing::for_each_assignment(system, [&](const Assignment& n) {
      if (!testing::keeps_depths(system, n)) return;
      const auto x = testing::recomputed_completions(system, n);
      const auto error = testing::recomputed_error(system, x);
      if (!error || !testing::meets_floors(system, x, 1e-9L)) return;
      any = true;
      const double total = static_cast<double>(x.total);
      // Some point is at least as good in both, so nothing is missing...
      EXPECT_TRUE(std::any_of(frontier.points.begin(), frontier.points.end(),
                              [&](const ParetoPoint& point) {
                                return point.throughput >= total * (1 - 1e-12) &&
                                       point.priority_error <= *error + 1e-12;
                              }))
          << total << " " << *error;
      // ... and none is beaten in both.
      for (const ParetoPoint& point : frontier.points) {
        EXPECT_FALSE(total > point.throughput * (1 + 1e-9) && *error < point.priority_error - 1e-9);
      }
    });
    EXPECT_EQ(frontier.points.empty(), !any);
    if (!any && system.population() > 0) {
      EXPECT_EQ(frontier.outcome, Outcome::kInfeasible);
    }
    if (any) {
      EXPECT_EQ(frontier.outcome, Outcome::kOptimal);
    }
    if (HasFailure()) return;
  }
}

TEST(Pareto, EndsAtTheLargestThroughputAndTheLeastError) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = generate({.priorities = true, .seed = seed}).system;
    const double most =
        solve(*find_solver("exhaustive"), {system, Objective::kThroughput}).performance.throughput;
    const double least =
        *solve(*find_solver("exhaustive"), {system, Objective::kPriority}).performance.priority_error;
    for (const std::size_t points : {std::size_t{2}, std::size_t{5}, kAll}) {
      const ParetoFrontier frontier = pareto(system, points);
      ASSERT_FALSE(frontier.points.empty());
      EXPECT_LE(frontier.points.size(), points);
      EXPECT_NEAR(frontier.points.front().throughput, most, 1e-12 * most);
      EXPECT_NEAR(frontier.points.back().priority_error, least, 1e-12);
      expect_frontier(system, frontier);
    }
  }
}

TEST(Pareto, ThinningKeepsPointsOfTheFullFrontier) {
  const System system = generate({.priorities = true, .seed = 7}).system;
  const ParetoFrontier full = pareto(system, kAll);
  ASSERT_GT(full.points.size(), 6U);
  const ParetoFrontier thin = pareto(system, 6);
  EXPECT_EQ(thin.points.size(), 6U);
  for (const ParetoPoint& point : thin.points) {
    EXPECT_TRUE(std::any_of(full.points.begin(), full.points.end(),
                            [&](const ParetoPoint& other) { return other.assignment == point.assignment; }));
  }
}

// Systems beyond enumeration are searched: the ends are at least as good as what the heuristics give.
TEST(Pareto, OfALargeSystemContainsWhatTheSolversFind) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system =
        generate({.general = 4, .specialized = 2, .threads = 72, .priorities = true, .seed = seed}).system;
    const ParetoFrontier frontier = pareto(system, 50);
    EXPECT_FALSE(frontier.exhaustive);
    EXPECT_EQ(frontier.outcome, Outcome::kConverged);
    EXPECT_LE(frontier.points.size(), 50U);
    EXPECT_GT(frontier.points.size(), 5U);
    expect_frontier(system, frontier);
    const Solution map = solve(*find_solver("map"), {system, Objective::kThroughput});
    const Solution mis = solve(*find_solver("mis"), {system, Objective::kPriority});
    EXPECT_GE(frontier.points.front().throughput, map.performance.throughput * (1 - 1e-12));
    EXPECT_LE(frontier.points.back().priority_error, *mis.performance.priority_error + 1e-12);
  }
}

TEST(Pareto, ReturnsInTimeWhenStopped) {
  const System system =
      generate({.general = 8, .specialized = 4, .threads = 288, .priorities = true, .seed = 2}).system;
  const StopFlag flag = true;
  for (const bool interrupted : {false, true}) {
    SolveOptions options;
    if (interrupted) {
      options.stop.flag = &flag;
    } else {
      options.stop.deadline = Clock::now() - std::chrono::seconds(1);
    }
    const auto start = Clock::now();
    const ParetoFrontier frontier = pareto(system, 10, options);
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
    EXPECT_EQ(frontier.outcome, interrupted ? Outcome::kInterrupted : Outcome::kTimeLimit);
    EXPECT_FALSE(frontier.exhaustive);
    expect_frontier(system, frontier);
  }
}

TEST(Pareto, NeedsPrioritiesAndTwoPoints) {
  EXPECT_THROW(pareto(random_system(1), 10), InvalidModel);
  const System system = random_system(1, {.priorities = true});
  EXPECT_THROW(pareto(system, 1), InvalidModel);
  EXPECT_THROW(pareto(system, 0), InvalidModel);
}

TEST(Pareto, IsTheSameEveryTime) {
  const System system =
      generate({.general = 4, .specialized = 2, .threads = 72, .priorities = true, .seed = 9}).system;
  const ParetoFrontier first = pareto(system, 20);
  const ParetoFrontier again = pareto(system, 20);
  ASSERT_EQ(first.points.size(), again.points.size());
  for (std::size_t at = 0; at < first.points.size(); ++at) {
    EXPECT_EQ(first.points[at].assignment, again.points[at].assignment);
  }
}

TEST(Pareto, MarksStatesWithoutAnExactFormula) {
  const System system(
      {{.name = "r", .servers = 2, .discipline = Discipline::kFcfs}},
      {{.name = "x", .count = 2, .priority = 1.0}, {.name = "y", .count = 2, .priority = 1.0}},
      Rates(2, 1, {3, 1}));
  const ParetoFrontier frontier = pareto(system, 5);
  EXPECT_TRUE(frontier.approximate);
  EXPECT_NE(frontier.outcome, Outcome::kOptimal);
}

TEST(Pareto, TellsHowMuchOfTheWorkIsDone) {
  for (const Count threads : {18, 400}) {  // few are enumerated, many searched
    const System system =
        generate({.general = 5, .specialized = 0, .threads = threads, .priorities = true}).system;
    std::vector<double> shares;
    SolveOptions options;
    options.share_done = [&](double share) { shares.push_back(share); };
    pareto(system, 10, options);
    ASSERT_GT(shares.size(), 2U);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_GT(shares.front(), 0);
    EXPECT_EQ(shares.back(), 1);
  }
}

// With counts of 1e9 the walk meets millions of states that no other beats: neither memory nor the time to
// choose among them may follow.
TEST(Pareto, OfVeryManyStatesEndsWhenAsked) {
  std::vector<Resource> resources(3);
  for (std::size_t j = 0; j < resources.size(); ++j) {
    resources[j].name = "r" + std::to_string(j);
    resources[j].discipline = Discipline::kFcfs;
    resources[j].servers = 1'000'000'000;
  }
  std::vector<TaskClass> tasks(2);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].name = "t" + std::to_string(i);
    tasks[i].count = 1'000'000'000;
    tasks[i].priority = static_cast<double>(i + 1);
  }
  const System system(resources, tasks, Rates(2, 3, {3.55, 17.1, 15.5, 5.85, 10.4, 9.54}));
  SolveOptions options;
  options.stop.steps = testing::amount(3'000'000);
  const ParetoFrontier frontier = pareto(system, 50, options);
  EXPECT_LE(frontier.points.size(), 50u);
  EXPECT_GE(frontier.points.size(), 2u);
  expect_frontier(system, frontier);
}

// Equal throughputs that differ by rounding are one point, and what is advised is the same however few points
// are asked for.
TEST(Pareto, ListsNoPointTwiceAndAdvisesTheSameWhateverItShows) {
  std::uint64_t advised = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(60); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system =
        random_system(seed, {.min_types = 2, .min_resources = 2, .max_count = 8, .priorities = true});
    const ParetoFrontier all = pareto(system, kAll);
    for (std::size_t at = 1; at < all.points.size(); ++at) {
      EXPECT_LT(all.points[at].throughput, all.points[at - 1].throughput * (1 - 1e-13));
      EXPECT_LT(all.points[at].priority_error, all.points[at - 1].priority_error - 1e-13);
    }
    for (const std::size_t points : {2, 3, 5, 20}) {
      const ParetoFrontier some = pareto(system, points);
      EXPECT_EQ(some.advised, all.advised);
      if (points == 2 || all.points.empty()) continue;
      EXPECT_NE(std::find(some.points.begin(), some.points.end(), all.advised), some.points.end());
    }
    advised += !all.points.empty() && all.advised != all.points.front() ? 1 : 0;
  }
  EXPECT_GT(advised, testing::amount(10));
}

}  // namespace
}  // namespace allot
