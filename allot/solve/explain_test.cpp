#include "allot/solve/explain.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "allot/model/throughput.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/amount.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random_systems.hpp"

namespace allot {
namespace {

using testing::random_system;

// Each alternative is the difference of two evaluations, whatever the discipline, servers and priorities.
TEST(Explain, GainsAreDifferencesOfTwoEvaluations) {
  for (std::uint64_t seed = 0; seed < testing::amount(200); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const bool priorities = seed % 2 == 0;
    const System system =
        random_system(seed, {.several_fcfs = true, .depths = seed % 3 == 0, .priorities = priorities});
    const Solution solution = solve(*find_solver("local"), {system, Objective::kThroughput});
    const Assignment& n = solution.assignment;
    const auto x = testing::recomputed_completions(system, n);
    std::size_t at = 0;
    const std::vector<Placement> placements = explain(system, n);
    for (const TaskType i : system.types()) {
      for (const ResourceId j : system.resource_ids()) {
        if (n(i, j) == 0) continue;
        ASSERT_LT(at, placements.size());
        const Placement& placement = placements[at++];
        EXPECT_EQ(placement.task, i);
        EXPECT_EQ(placement.resource, j);
        EXPECT_EQ(placement.count, n(i, j));
        ASSERT_EQ(placement.alternatives.size(), system.resources_for(i).size() - 1);
        double before = 1e300;
        for (const Alternative& alternative : placement.alternatives) {
          ASSERT_NE(alternative.resource, j);
          ASSERT_TRUE(system.can_run(i, alternative.resource));
          Assignment moved = n;
          --moved(i, j);
          ++moved(i, alternative.resource);
          const auto then = testing::recomputed_completions(system, moved);
          EXPECT_NEAR(alternative.gain, static_cast<double>(then.total - x.total),
                      1e-11 * static_cast<double>(x.total));
          EXPECT_LE(alternative.gain, before);  // best first
          before = alternative.gain;
          EXPECT_EQ(alternative.allowed, testing::keeps_depths(system, moved));
          if (priorities) {
            EXPECT_NEAR(alternative.error_change,
                        *testing::recomputed_error(system, then) - *testing::recomputed_error(system, x),
                        1e-12);
          } else {
            EXPECT_EQ(alternative.error_change, 0.0);
          }
        }
        // Every other resource once.
        for (const ResourceId b : system.resources_for(i)) {
          EXPECT_EQ(std::count_if(placement.alternatives.begin(), placement.alternatives.end(),
                                  [&](const Alternative& a) { return a.resource == b; }),
                    b == j ? 0 : 1);
        }
      }
    }
    EXPECT_EQ(at, placements.size());
  }
}

// The fast type would gain from the gpu, but it would take time there from the one with a floor.
TEST(Explain, DoesNotAllowWhatMissesAFloor) {
  const System system({{.name = "cpu", .servers = 8}, {.name = "gpu"}},
                      {{.name = "search", .count = 6, .max_response = 0.05}, {.name = "resize", .count = 8}},
                      Rates(2, 2, {14, 100, 45, 480}));
  const Solution best = solve(*find_solver("best"), {system, Objective::kThroughput});
  ASSERT_TRUE(best.proven_optimal);
  bool gains = false;
  for (const Placement& placement : explain(system, best.assignment)) {
    for (const Alternative& alternative : placement.alternatives) {
      gains |= alternative.gain > 1;
      if (alternative.allowed) {
        EXPECT_LE(alternative.gain, 1e-9);
      }
    }
  }
  EXPECT_TRUE(gains);
}

// In an optimum no allowed move gains anything.
TEST(Explain, NoAllowedMoveGainsInAnOptimum) {
  for (std::uint64_t seed = 0; seed < testing::amount(150); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, {.max_types = 3,
                                               .max_resources = 3,
                                               .max_count = 5,
                                               .depths = seed % 2 == 0,
                                               .floors = seed % 3 == 0});
    const Solution best = solve(*find_solver("exhaustive"), {system, Objective::kThroughput});
    if (best.outcome == Outcome::kInfeasible) continue;
    for (const Placement& placement : explain(system, best.assignment)) {
      for (const Alternative& alternative : placement.alternatives) {
        if (alternative.allowed) {
          EXPECT_LE(alternative.gain, 1e-11 * best.performance.throughput);
        }
      }
    }
  }
}

// 'detect' must have half of the gpu for its floor, although 'resize' gains more there.
TEST(Explain, SaysWhatALimitCosts) {
  const System system(
      {{.name = "cpu", .servers = 2}, {.name = "gpu"}},
      {{.name = "resize", .count = 2, .floor = 1}, {.name = "detect", .count = 2, .floor = 20}},
      Rates(2, 2, {10, 100, 8, 30}));
  const SolverInfo& solver = *find_solver("exhaustive");
  const Problem problem{system, Objective::kThroughput};
  const Solution best = solve(solver, problem);
  const std::vector<LimitCost> costs = costs_of_limits(solver, problem, best, {});
  ASSERT_EQ(costs.size(), 1U) << "the floor of 'resize' does not bind";
  EXPECT_EQ(costs[0].limit, "the floor of 'detect' (20 tasks/s)");
  EXPECT_DOUBLE_EQ(best.performance.value, (30 + 100) / 2.0 + 8 + 10);
  EXPECT_DOUBLE_EQ(costs[0].value, 100 + 2 * (10 + 8 + 8) / 3.0);
}

TEST(Explain, SaysNothingOfAnEmptySystem) {
  const System system({{.name = "r"}}, {{.name = "x"}}, Rates(1, 1, {1}));
  EXPECT_TRUE(explain(system, home_assignment(system)).empty());
}

}  // namespace
}  // namespace allot
