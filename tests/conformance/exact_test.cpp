// The exact solver against enumeration: the same optimum, the same verdict, and bounds that hold whenever it
// is stopped.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <vector>

#include "allot/model/generate.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random_systems.hpp"

namespace allot::exact_test {
namespace {

using testing::random_system;
using testing::SystemShape;

const SolverInfo& exact() { return *find_solver("exact"); }
const SolverInfo& exhaustive() { return *find_solver("exhaustive"); }

struct Mix {
  const char* name;
  SystemShape shape;
};

const Mix kMixes[] = {
    {"ps", {.max_types = 4, .max_resources = 3, .max_count = 5, .fcfs = false}},
    {"fcfs", {.max_types = 4, .max_resources = 3, .max_count = 5}},
    {"depths", {.max_types = 4, .max_resources = 3, .max_count = 5, .fcfs = false, .depths = true}},
    {"floors", {.max_types = 4, .max_resources = 3, .max_count = 5, .fcfs = false, .floors = true}},
    {"fcfs_floors", {.max_types = 3, .max_resources = 3, .max_count = 5, .floors = true}},
    {"all", {.max_types = 3, .max_resources = 3, .max_count = 5, .depths = true, .floors = true}},
    {"wide", {.max_types = 2, .max_resources = 5, .max_count = 4, .depths = true}},
    {"large_ps",
     {.max_types = 4, .max_resources = 3, .min_types = 3, .min_resources = 3, .max_count = 6, .fcfs = false}},
    {"large_fcfs",
     {.max_types = 4,
      .max_resources = 3,
      .min_types = 3,
      .min_resources = 3,
      .max_count = 6,
      .max_servers = 1}},
    {"large_all",
     {.max_types = 3,
      .max_resources = 3,
      .min_types = 3,
      .min_resources = 3,
      .max_count = 6,
      .depths = true,
      .floors = true}},
};

class ExactAgainstEnumeration : public ::testing::TestWithParam<Mix> {};

TEST_P(ExactAgainstEnumeration, FindsTheSameOptimumAndProvesIt) {
  int infeasible = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(::testing::Message() << GetParam().name << " seed=" << seed);
    const Problem problem{random_system(seed, GetParam().shape), Objective::kThroughput};
    const Solution best = solve(exhaustive(), problem);
    const Solution found = solve(exact(), problem);
    ASSERT_EQ(found.outcome, best.outcome);
    if (best.outcome == Outcome::kInfeasible) {
      ++infeasible;
      EXPECT_FALSE(found.proven_optimal);
      continue;
    }
    const double x = best.performance.throughput;
    ASSERT_NEAR(found.performance.throughput, x, 1e-9 * x);
    EXPECT_TRUE(found.proven_optimal);
    EXPECT_LE(*found.gap(), 1e-9);
    EXPECT_GE(*found.upper_bound, x * (1 - 1e-12));
  }
  // The mixes with floors or depths must have put the verdict "infeasible" to the test.
  if (GetParam().shape.floors) {
    EXPECT_GT(infeasible, 20);
  }
}

// Whenever it is stopped, the bound it gives is one.
TEST_P(ExactAgainstEnumeration, GivesABoundThatHoldsWhenStoppedEarly) {
  using std::chrono::microseconds;
  for (std::uint64_t seed = 500; seed < 560; ++seed) {
    const Problem problem{random_system(seed, GetParam().shape), Objective::kThroughput};
    const Solution best = solve(exhaustive(), problem);
    if (best.outcome == Outcome::kInfeasible) continue;
    for (const int limit : {1, 30, 100, 300, 1000}) {
      SCOPED_TRACE(::testing::Message() << GetParam().name << " seed=" << seed << " microseconds=" << limit);
      const Solution found =
          solve(exact(), problem, {.stop = {.deadline = Clock::now() + microseconds(limit)}});
      ASSERT_TRUE(testing::places_every_task(problem.system, found.assignment));
      if (found.upper_bound) {
        EXPECT_GE(*found.upper_bound, best.performance.throughput * (1 - 1e-9));
      }
      if (found.proven_optimal) {
        EXPECT_NEAR(found.performance.throughput, best.performance.throughput,
                    1e-9 * best.performance.throughput);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Mixes, ExactAgainstEnumeration, ::testing::ValuesIn(kMixes),
                         [](const auto& test) { return std::string(test.param.name); });

// What cannot run must not matter: neither the rates of a type without threads nor those of a closed
// resource.
TEST(Exact, ProvesTheOptimumWhateverTheRatesOfWhatCannotRun) {
  for (const double absurd : {1e12, 1e15, 1e18}) {
    SCOPED_TRACE(absurd);
    const System absent({{.name = "r0"}, {.name = "r1"}},
                        {{.name = "a", .count = 3}, {.name = "b", .count = 3}, {.name = "absent"}},
                        Rates(3, 2, {0.6, 3.8, 4.9, 8.4, absurd, 0}));
    const System closed({{.name = "r0"}, {.name = "r1"}, {.name = "closed", .min_depth = 7}},
                        {{.name = "a", .count = 3}, {.name = "b", .count = 3}},
                        Rates(2, 3, {0.6, 3.8, absurd, 4.9, 8.4, absurd}));
    for (const System& system : {absent, closed}) {
      const Solution found = solve(exact(), {system, Objective::kThroughput});
      EXPECT_TRUE(found.proven_optimal);
      EXPECT_NEAR(found.performance.throughput, *testing::brute_force(system).max_throughput, 1e-9);
      EXPECT_NEAR(found.performance.throughput, 10.72, 0.005);
    }
  }
}

TEST(Exact, FindsAnAssignmentThatKeepsALeastDepthBehindSeveralFcfsServers) {
  const System system({{.name = "r0", .servers = 3},
                       {.name = "r1", .servers = 2, .discipline = Discipline::kFcfs, .min_depth = 3}},
                      {{.name = "t0", .count = 2}, {.name = "t1", .count = 1}}, Rates(2, 2, {4, 4, 0, 4}));
  const Solution found = solve(exact(), {system, Objective::kThroughput});
  EXPECT_EQ(found.outcome, Outcome::kOptimal) << found.reason;
  EXPECT_TRUE(found.proven_optimal);
  EXPECT_NEAR(found.performance.throughput, 8, 1e-9);
}

// An accelerator of several fcfs servers that one type alone can reach has an exact formula: min(n, c) mu.
TEST(Exact, ProvesTheOptimumOfABoxWithAnAcceleratorOfSeveralServers) {
  const Discipline fcfs = Discipline::kFcfs;
  const System system(
      {{.name = "cpu", .servers = 16},
       {.name = "g1", .discipline = fcfs},
       {.name = "g2", .discipline = fcfs},
       {.name = "enc", .kind = Kind::kSpecialized, .servers = 2, .discipline = fcfs}},
      {{.name = "decode", .count = 12},
       {.name = "detect", .count = 10},
       {.name = "encode", .count = 8},
       {.name = "ocr", .count = 6},
       {.name = "hash", .count = 4}},
      Rates(5, 4, {30, 220, 140, 0, 2.2, 160, 38, 0, 6, 0, 0, 90, 4, 55, 18, 0, 250, 0, 0, 0}));
  EXPECT_FALSE(system.approximate());
  const Solution found = solve(exact(), {system, Objective::kThroughput});
  EXPECT_TRUE(found.proven_optimal);
  EXPECT_NEAR(found.performance.throughput, 1762.82, 0.005);
}

// States without a formula are bounded by what their servers could do at best: where even that is not enough,
// the best state with a formula is proven.
TEST(Exact, ProvesTheOptimumWhereOnlyOtherStatesHaveNoFormula) {
  const System system(
      {{.name = "cpu", .servers = 8}, {.name = "slow", .servers = 2, .discipline = Discipline::kFcfs}},
      {{.name = "a", .count = 4}, {.name = "b", .count = 3}}, Rates(2, 2, {5, 1, 6, 2}));
  EXPECT_TRUE(system.approximate());
  const Solution found = solve(exact(), {system, Objective::kThroughput});
  EXPECT_TRUE(found.proven_optimal);
  EXPECT_FALSE(found.performance.approximate);
  EXPECT_NEAR(found.performance.throughput, 38, 1e-9);
}

TEST(Exact, AgreesWithEnumerationOnTwoProcessorsAndTwoAccelerators) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
      SCOPED_TRACE(::testing::Message() << "seed=" << seed << " fcfs=" << (discipline == Discipline::kFcfs));
      const System system = generate({.general = 2, .specialized = 2, .threads = 24, .seed = seed})
                                .system.with_discipline(discipline);
      const Solution best = solve(exhaustive(), {system, Objective::kThroughput});
      const Solution found = solve(exact(), {system, Objective::kThroughput});
      ASSERT_NEAR(found.performance.throughput, best.performance.throughput,
                  1e-9 * best.performance.throughput);
      EXPECT_TRUE(found.proven_optimal);
    }
  }
}

// The bound when stopped early on systems that need branching, against the optimum of a run to the end.
TEST(Exact, GivesABoundThatHoldsWhenStoppedEarlyOnLargerSystems) {
  using std::chrono::microseconds;
  int stopped = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Problem problem{generate({.general = 4, .specialized = 2, .threads = 72, .seed = seed}).system,
                          Objective::kThroughput};
    const Solution best = solve(exact(), problem);
    ASSERT_TRUE(best.proven_optimal);
    for (const int limit : {100, 1000, 3000, 10'000}) {
      SCOPED_TRACE(::testing::Message() << "seed=" << seed << " microseconds=" << limit);
      const Solution found =
          solve(exact(), problem, {.stop = {.deadline = Clock::now() + microseconds(limit)}});
      stopped += found.outcome == Outcome::kTimeLimit ? 1 : 0;
      if (found.upper_bound) {
        EXPECT_GE(*found.upper_bound, best.performance.throughput * (1 - 1e-9));
      }
      EXPECT_LE(found.performance.throughput, best.performance.throughput * (1 + 1e-9));
    }
  }
  EXPECT_GT(stopped, 0);
}

// Each report may only narrow the gap, and encloses the optimum.
TEST(Exact, ReportsProgressThatNarrowsDownOnTheOptimum) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const Problem problem{generate({.general = 4, .specialized = 2, .threads = 72, .seed = seed}).system,
                          Objective::kThroughput};
    std::vector<SolveProgress> reports;
    SolveOptions options;
    options.progress = [&](const SolveProgress& report) { reports.push_back(report); };
    const Solution best = solve(exact(), problem, options);
    ASSERT_FALSE(reports.empty());
    const double x = best.performance.throughput;
    double best_so_far = 0;
    for (const SolveProgress& report : reports) {
      if (report.best) {
        EXPECT_GE(*report.best, best_so_far);
        EXPECT_LE(*report.best, x * (1 + 1e-12));
        best_so_far = *report.best;
      }
      if (report.bound) {
        EXPECT_GE(*report.bound, x * (1 - 1e-9));
      }
    }
  }
}

TEST(Exact, StopsAtTheToleratedGap) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const Problem problem{generate({.general = 4, .specialized = 2, .threads = 72, .seed = seed}).system,
                          Objective::kThroughput};
    const double x = solve(exact(), problem).performance.throughput;
    SolveOptions options;
    options.gap_tolerance = 0.01;
    const Solution near = solve(exact(), problem, options);
    EXPECT_GE(near.performance.throughput, x * 0.99);
    ASSERT_TRUE(near.upper_bound.has_value());
    EXPECT_GE(*near.upper_bound, x * (1 - 1e-9));
    EXPECT_LE(*near.gap(), 0.01);
    if (near.proven_optimal) {
      EXPECT_NEAR(near.performance.throughput, x, 1e-9 * x);
    }
  }
}

// Rates in tasks per day or per nanosecond: the proof must not depend on the unit.
TEST(Exact, ProvesTheOptimumWhateverTheUnitOfTime) {
  for (const double unit : {0x1p-40, 0x1p-20, 0x1p20, 0x1p40}) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      SCOPED_TRACE(::testing::Message() << "unit=" << unit << " seed=" << seed);
      const SystemShape shape{.max_types = 4, .max_resources = 3, .max_count = 4, .floors = seed % 2 == 0};
      const System system = random_system(seed, shape);
      const Solution best = solve(exhaustive(), {system, Objective::kThroughput});
      const Solution found = solve(exact(), {testing::scaled(system, unit), Objective::kThroughput});
      ASSERT_EQ(found.outcome, best.outcome);
      if (best.outcome == Outcome::kInfeasible) continue;
      const double x = unit * best.performance.throughput;
      ASSERT_NEAR(found.performance.throughput, x, 1e-9 * x);
      EXPECT_TRUE(found.proven_optimal);
    }
  }
}

}  // namespace
}  // namespace allot::exact_test
