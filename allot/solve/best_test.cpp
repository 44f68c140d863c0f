#include "allot/solve/best.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "allot/model/generate.hpp"
#include "allot/solve/pareto.hpp"
#include "allot/solve/solver.hpp"
#include "allot/solve/whatif.hpp"
#include "tests/support/amount.hpp"
#include "tests/support/random_box.hpp"
#include "tests/support/random_systems.hpp"

namespace allot {
namespace {

using testing::random_system;

Solution run(const char* solver, const System& system, const SolveOptions& options = {}) {
  return solve(*find_solver(solver), Problem{system, Objective::kThroughput}, options);
}

/// A machine on which five commands once had four different bests: a pool, two fcfs GPUs, and an fcfs encoder
/// with two servers.
System transcoder() {
  return System({{.name = "cpu", .servers = 16},
                 {.name = "g1", .discipline = Discipline::kFcfs},
                 {.name = "g2", .discipline = Discipline::kFcfs},
                 {.name = "enc", .kind = Kind::kSpecialized, .servers = 2, .discipline = Discipline::kFcfs}},
                {{.name = "decode", .count = 12, .priority = 2.0},
                 {.name = "detect", .count = 10, .priority = 4.0},
                 {.name = "encode", .count = 8, .priority = 2.0},
                 {.name = "ocr", .count = 6, .priority = 1.0},
                 {.name = "hash", .count = 4, .priority = 1.0}},
                Rates(5, 4, {30, 220, 140, 0, 2.2, 160, 38, 0, 6, 0, 0, 90, 4, 55, 18, 0, 250, 0, 0, 0}));
}

TEST(BestKnown, IsOneForAllWhoAsk) {
  const System system = transcoder();
  const double x = run("exhaustive", system).performance.throughput;
  EXPECT_NEAR(x, 1762.8235294, 1e-6);
  EXPECT_NEAR(best_known(system).performance.throughput, x, 1e-9 * x);
  EXPECT_NEAR(run("exact", system).performance.throughput, x, 1e-9 * x);
  EXPECT_NEAR(what_if(system).base.performance.throughput, x, 1e-9 * x);
  EXPECT_NEAR(pareto(system, 20).points.front().throughput, x, 1e-9 * x);
}

TEST(BestKnown, IsNeverLessThanAnySolver) {
  for (std::uint64_t seed = 0; seed < testing::amount(150); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(
        seed,
        {.max_count = 5, .several_fcfs = seed % 3 == 0, .depths = seed % 2 == 0, .floors = seed % 5 == 0});
    const Solution best = best_known(system);
    for (const char* solver : {"best-fit", "map", "local", "exact", "exhaustive"}) {
      const Solution other = run(solver, system);
      if (other.outcome == Outcome::kInfeasible) continue;
      ASSERT_NE(best.outcome, Outcome::kInfeasible) << solver;
      EXPECT_GE(best.performance.throughput, other.performance.throughput * (1 - 1e-12)) << solver;
    }
  }
}

TEST(BestKnown, AlwaysHasABoundThatNoStateExceeds) {
  for (std::uint64_t seed = 0; seed < testing::amount(200); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, {.several_fcfs = true, .depths = seed % 2 == 0});
    const Solution best = best_known(system);
    if (best.outcome == Outcome::kInfeasible || system.population() == 0) continue;
    ASSERT_TRUE(best.upper_bound.has_value());
    ASSERT_TRUE(best.gap().has_value());
    EXPECT_GE(*best.upper_bound, run("exhaustive", system).performance.throughput * (1 - 1e-12));
  }
}

TEST(BestKnown, HasABoundEvenWithoutTime) {
  SolveOptions options;
  options.stop.deadline = Clock::now() - std::chrono::hours(1);
  const Solution best = best_known(generate({.general = 8, .threads = 128}).system, options);
  EXPECT_EQ(best.outcome, Outcome::kTimeLimit);
  EXPECT_TRUE(best.gap().has_value());
}

TEST(BestKnown, DependsOnTheSystemAndTheSeedAlone) {
  const System system = generate({.general = 22, .specialized = 10, .threads = 2048, .seed = 3}).system;
  const Solution first = best_known(system);
  const Solution second = best_known(system);
  EXPECT_EQ(first.assignment, second.assignment);
  EXPECT_EQ(first.upper_bound, second.upper_bound);
  EXPECT_NE(first.outcome, Outcome::kBudget);  // its budget is part of the method
}

// Random boxes with pools of cores, GPUs under fcfs and with minimum depths: whoever is asked, the best is
// the same wherever one of them proves it; no floor raises it, no server and no faster pair lowers it.
TEST(BestKnown, AgreesWithEveryProofOnBoxes) {
  int proven = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = allot::testing::random_box(
        seed, {.fcfs = true, .depths = true, .priorities = true, .max_types = 4, .max_count = 4});
    const Solution best = best_known(system);
    const Solution enumerated = run("exhaustive", system, {.settings = {{"max_states", 1e5}}});
    if (!best.proven_optimal && !enumerated.proven_optimal) continue;
    ++proven;
    const double x =
        enumerated.proven_optimal ? enumerated.performance.throughput : best.performance.throughput;
    EXPECT_NEAR(best.performance.throughput, x, 1e-9 * x);
    EXPECT_NEAR(what_if(system).base.performance.throughput, x, 1e-9 * x);
    EXPECT_NEAR(pareto(system, 20).points.front().throughput, x, 1e-9 * x);
    std::vector<TaskClass> tasks = system.tasks();
    tasks[0].floor = 0.9 * best.performance.throughput_by_task[0];
    EXPECT_LE(best_known(System(system.resources(), tasks, system.rates())).performance.throughput,
              x * (1 + 1e-9));
    EXPECT_GE(best_known(system.with_servers(resource_id(0), system.resource(resource_id(0)).servers + 1))
                  .performance.throughput,
              x * (1 - 1e-9));
  }
  EXPECT_GT(proven, 15);
}

// Wherever it is stopped, even before the first linear program is solved.
TEST(BestKnown, AnswersWithABoundAfterAnyNumberOfSteps) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const System system = testing::random_box(seed);
    const double most = best_known(system).performance.throughput;
    for (std::uint64_t steps = 0; steps < 20'000; steps += steps < 200 ? 1 : 997) {
      SCOPED_TRACE(::testing::Message() << "seed=" << seed << " steps=" << steps);
      SolveOptions options;
      options.stop.steps = steps;
      const Solution best = best_known(system, options);
      ASSERT_TRUE(is_placement(system, best.assignment));
      ASSERT_TRUE(best.upper_bound);
      EXPECT_GE(*best.upper_bound, most * (1 - 1e-12));
      EXPECT_LE(best.performance.throughput, most * (1 + 1e-12));
    }
  }
}

}  // namespace
}  // namespace allot
