// The decision process: equal to the best state where Lemma 1 holds, above it where it does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "allot/analyze/analyze.hpp"
#include "allot/base/error.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/naive_control.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random_systems.hpp"

namespace allot {
namespace {

System two_processors(std::vector<Count> counts, std::vector<double> rates, Discipline discipline) {
  std::vector<Resource> resources(2);
  resources[0].name = "a";
  resources[1].name = "b";
  resources[0].discipline = resources[1].discipline = discipline;
  std::vector<TaskClass> tasks(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    tasks[i].name = "t" + std::to_string(i + 1);
    tasks[i].count = counts[i];
  }
  const std::size_t types = counts.size();
  return System(std::move(resources), std::move(tasks), Rates(types, 2, std::move(rates)));
}

const std::vector<double> kCounterexample = {9.36, 7.65, 8.64, 3.5, 5.04, 4.44};

TEST(OptimalControl, IsTheBestStateUnderProcessorSharing) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = testing::random_system(
        seed, {.max_types = 3, .max_resources = 3, .max_count = 5, .max_servers = 3, .fcfs = false});
    if (system.population() == 0) continue;
    const OptimalControl control = solve_optimal_control(system);
    const testing::BruteForce best = testing::brute_force(system);
    EXPECT_EQ(control.states, best.states);
    EXPECT_LE(control.throughput, control.upper_bound);
    EXPECT_NEAR(control.throughput, control.upper_bound, 1e-9 * control.upper_bound);
    EXPECT_NEAR(control.throughput, *best.max_throughput, 1e-8 * *best.max_throughput);
    ++compared;
  }
  EXPECT_GE(compared, 20U);
}

TEST(OptimalControl, BeatsTheBestStateUnderFcfs) {
  const System system = two_processors({3, 1, 1}, kCounterexample, Discipline::kFcfs);
  const double best = *testing::brute_force(system).max_throughput;
  const OptimalControl control = solve_optimal_control(system);
  EXPECT_NEAR(best, 15.228, 5e-4);
  EXPECT_NEAR(control.throughput, 15.328, 5e-4);
  EXPECT_NEAR(control.upper_bound, control.throughput, 1e-9 * control.upper_bound);
}

TEST(OptimalControl, TheSameSystemUnderPsIsBoundedByItsBestState) {
  const System system = two_processors({3, 1, 1}, kCounterexample, Discipline::kPs);
  EXPECT_NEAR(optimal_control(system), *testing::brute_force(system).max_throughput, 1e-7);
}

// A single type has nothing to decide under fcfs either.
TEST(OptimalControl, OneTypeKeepsAllServersBusy) {
  for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
    EXPECT_NEAR(optimal_control(two_processors({3}, {5, 2}, discipline)), 7, 1e-8);
  }
}

// Fcfs with several servers: the best that any fixed assignment reaches in the exact chain is a lower bound.
TEST(OptimalControl, IsAtLeastEveryFixedAssignmentUnderFcfsWithSeveralServers) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 40 && compared < 12; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = testing::random_system(
        seed, {.max_types = 2, .max_resources = 2, .max_count = 3, .max_servers = 2, .several_fcfs = true});
    if (system.population() < 2) continue;
    const double control = optimal_control(system);
    testing::for_each_assignment(system, [&](const Assignment& n) {
      PolicyOptions options;
      options.assignment = n;
      const double fixed = analyze(system, *find_policy("fixed"), {}, options).highest_throughput;
      EXPECT_LE(fixed, control * (1 + 1e-8));
    });
    ++compared;
  }
  EXPECT_GE(compared, 10U);
}

TEST(OptimalControl, NothingRunsWithoutThreads) {
  EXPECT_EQ(optimal_control(two_processors({0}, {5, 2}, Discipline::kPs)), 0.0);
}

TEST(OptimalControl, IsPartOfTheAnalysisWhenAskedFor) {
  const System system = two_processors({3, 1, 1}, kCounterexample, Discipline::kFcfs);
  const Analysis without = analyze(system, *find_policy("jsq"));
  EXPECT_FALSE(without.optimal_control_throughput.has_value());
  const Analysis with = analyze(system, *find_policy("jsq"), {.optimal_control = true});
  ASSERT_TRUE(with.optimal_control_throughput.has_value());
  EXPECT_NEAR(*with.optimal_control_throughput, 15.328, 5e-4);
  EXPECT_EQ(with.optimal_control_value, with.optimal_control_throughput);
  EXPECT_LT(with.throughput, *with.optimal_control_throughput);
}

TEST(OptimalControl, KnowsThreadsThatChangeTheirType) {
  // One thread alternates; each of its types is best served where it is fastest.
  const System system = two_processors({0, 0}, {4, 1, 1, 2}, Discipline::kPs);
  const std::vector<ThreadGroup> threads = {{1, {task_type(0), task_type(1)}}};
  const OptimalControl control = solve_optimal_control(system, {}, threads);
  EXPECT_NEAR(control.throughput, 2 / (1.0 / 4 + 1.0 / 2), 1e-8);
  EXPECT_NEAR(control.value, 1 / (1.0 / 4 + 1.0 / 2), 1e-8);
}

// Values travel through the chain at the pace of its slowest rate: with rates a thousand million apart they
// would never arrive. It says so, with bounds that hold.
TEST(OptimalControl, EndsWithBoundsWhenRatesAreTooFarApart) {
  const System system({{.name = "a"}, {.name = "b"}}, {{.name = "x", .count = 2}, {.name = "y", .count = 2}},
                      Rates(2, 2, {1e9, 3, 1, 2e-1}));
  const OptimalControl control = solve_optimal_control(system);
  const double best =
      solve(*find_solver("exhaustive"), {system, Objective::kThroughput}).performance.throughput;
  EXPECT_LE(control.value, best * (1 + 1e-9));
  EXPECT_GE(control.upper_bound, best * (1 - 1e-9));
}

// ---- worth

/// Three ways: the library, plain sweeps over lists of threads, and where Lemma 1 holds every state.
TEST(OptimalControl, MaximisesTheValueAsANaiveMethodDoes) {
  std::size_t compared = 0;
  std::size_t with_order = 0;
  for (std::uint64_t seed = 0; seed < 120 && compared < 40; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const bool shared = seed % 2 == 0;
    const System system = testing::random_system(seed, {.max_types = 3,
                                                        .max_resources = 2,
                                                        .max_count = shared ? 3 : 2,
                                                        .max_servers = 2,
                                                        .fcfs = !shared,
                                                        .several_fcfs = true,
                                                        .worths = true});
    if (system.population() < 2 || !system.has_worths()) continue;
    const OptimalControl control = solve_optimal_control(system);
    ASSERT_EQ(control.stopped, StopReason::kNone);
    const testing::NaiveControl naive(system, testing::as_groups(system));
    const auto [low, high] = naive.most_value();
    EXPECT_NEAR(control.value, static_cast<double>(low), 1e-8 * control.upper_bound);
    EXPECT_NEAR(control.value, static_cast<double>(high), 1e-8 * control.upper_bound);
    double best = 0;
    double throughput = 0;
    testing::for_each_assignment(system, [&](const Assignment& n) {
      const testing::Completions x = testing::recomputed_completions(system, n);
      if (static_cast<double>(x.value) <= best) return;
      best = static_cast<double>(x.value);
      throughput = static_cast<double>(x.total);
    });
    if (shared) {
      EXPECT_NEAR(control.value, best, 1e-8 * best);
    } else {
      ++with_order;
    }
    // A policy of that value completes so much: no less than the value says, no more than is possible.
    double dearest = 0;
    for (const TaskClass& task : system.tasks()) dearest = std::max(dearest, task.worth);
    EXPECT_GE(control.throughput * dearest, control.value * (1 - 1e-8));
    const System plain = system.with_worths(std::vector<double>(system.type_count(), 1.0));
    EXPECT_LE(control.throughput, optimal_control(plain) * (1 + 1e-8));
    // The best state tells the throughput, too, where no other is as good.
    std::size_t as_good = 0;
    testing::for_each_assignment(system, [&](const Assignment& n) {
      as_good += testing::recomputed_completions(system, n).value > best * (1 - 1e-6) ? 1 : 0;
    });
    if (shared && as_good == 1) {
      EXPECT_NEAR(control.throughput, throughput, 1e-6 * throughput);
    }
    ++compared;
  }
  EXPECT_GE(compared, 40U);
  EXPECT_GE(with_order, 10U);
}

TEST(OptimalControl, IsTheSameBitForBitWhereEverythingIsWorthOne) {
  for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
    const System system = two_processors({3, 1, 1}, kCounterexample, discipline);
    const OptimalControl control = solve_optimal_control(system);
    EXPECT_EQ(control.value, control.throughput);
    const OptimalControl doubled =
        solve_optimal_control(system.with_worths(std::vector<double>(3, 2.0)));  // exact in binary
    EXPECT_EQ(doubled.value, 2 * control.value);
    EXPECT_EQ(doubled.upper_bound, 2 * control.upper_bound);
    EXPECT_NEAR(doubled.throughput, control.throughput, 1e-7 * control.throughput);
  }
}

/// Rounds of several groups, which meet at the same resources and differ in worth.
TEST(OptimalControl, MaximisesTheValueOfRounds) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed, 0x40d5);
    std::vector<double> rates(6);
    for (double& rate : rates) rate = random.uniform(0.5, 5);
    const System system =
        two_processors({0, 0, 0}, rates, seed % 2 == 0 ? Discipline::kPs : Discipline::kFcfs);
    const std::vector<ThreadGroup> threads = {
        {2, {task_type(0), task_type(1), task_type(0)}, random.uniform(0.1, 10), {}, ""},
        {1, {task_type(2), task_type(1)}, random.uniform(0.1, 10), {}, ""}};
    const OptimalControl control = solve_optimal_control(system, {}, threads);
    ASSERT_EQ(control.stopped, StopReason::kNone);
    const auto [low, high] = testing::NaiveControl(system, threads).most_value();
    EXPECT_NEAR(control.value, static_cast<double>(low), 1e-8 * control.value);
    EXPECT_NEAR(control.value, static_cast<double>(high), 1e-8 * control.value);
    for (const char* const name : {"jsq", "random", "best-fit"}) {
      const Analysis analysis = analyze(system, threads, *find_policy(name)->make(system, {}));
      EXPECT_LE(analysis.value, control.value * (1 + 1e-8)) << name;
      EXPECT_GT(analysis.value, 0) << name;
    }
  }
}

}  // namespace
}  // namespace allot
