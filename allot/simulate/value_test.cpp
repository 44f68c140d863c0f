// What completions and rounds are worth: recounted from single events, and by closed formulas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/base/statistics.hpp"
#include "allot/simulate/simulate.hpp"
#include "tests/support/random_systems.hpp"
#include "tests/support/small_scenarios.hpp"

namespace allot {
namespace {

using testing::changing_scenario;
using testing::quick;
using testing::Recorder;
using testing::run;
using testing::small_scenario;

Scenario with_worths(Scenario scenario, const std::vector<double>& worths) {
  scenario.system = scenario.system.with_worths(worths);
  return scenario;
}

/// A resource for each rate, a type for each resource, and threads that go through them in order.
Scenario tandem(const std::vector<double>& rates, Count jobs, double worth) {
  std::vector<Resource> resources(rates.size());
  std::vector<TaskClass> tasks(rates.size());
  std::vector<double> matrix(rates.size() * rates.size(), 0.0);
  ThreadGroup group{jobs, {}, worth, {}, "frame"};
  for (std::size_t i = 0; i < rates.size(); ++i) {
    resources[i].name = "r" + std::to_string(i);
    tasks[i].name = "t" + std::to_string(i);
    matrix[i * rates.size() + i] = rates[i];
    group.sequence.push_back(task_type(i));
  }
  return {
      "tandem",
      System(std::move(resources), std::move(tasks), Rates(rates.size(), rates.size(), std::move(matrix))),
      {group},
      {},
      {}};
}

void expect_equal(const Estimate& a, const Estimate& b) {
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.half_width, b.half_width);
}

TEST(Value, IsWorthTimesThroughput) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = testing::random_system(
        seed, {.max_types = 3, .max_resources = 3, .max_count = 5, .several_fcfs = true, .worths = true});
    const Scenario scenario{"", system, {}, {}, {}};
    for (const std::uint32_t replications : {1U, 3U}) {
      SimulateOptions options = quick(300);
      options.replications = replications;
      const SimulationResult result = run(scenario, seed % 2 == 0 ? "jsq" : "random", options);
      double expected = 0;
      for (std::size_t i = 0; i < system.type_count(); ++i)
        expected += system.tasks()[i].worth * result.throughput_by_task[i].mean;
      EXPECT_NEAR(result.value.mean, expected, 1e-12 * expected);
      EXPECT_TRUE(result.rounds.empty());
      if (system.population() == 0) continue;
      ASSERT_EQ(result.value_by_replication.size(), replications);
      if (replications > 1) {
        const Estimate interval = mean_interval(result.value_by_replication);
        expect_equal(result.value, {interval.mean, interval.half_width});
      }
      compared += system.has_worths() ? 1 : 0;
    }
  }
  EXPECT_GE(compared, 40U);
}

// Bit for bit, where nothing has a worth of its own; arrivals and comings and goings included.
TEST(Value, IsTheThroughputWhereEveryCompletionCountsOne) {
  for (const bool changing : {false, true}) {
    for (const std::uint32_t replications : {1U, 3U}) {
      Scenario scenario = changing ? changing_scenario(Discipline::kFcfs) : small_scenario();
      scenario.threads.clear();
      SimulateOptions options = quick();
      options.replications = replications;
      const SimulationResult result = run(scenario, "jsq", options);
      ASSERT_TRUE(result.value.half_width.has_value());
      expect_equal(result.value, result.throughput);
      EXPECT_EQ(result.value_by_replication, result.throughput_by_replication);
    }
  }
}

TEST(Value, ChangesNothingElse) {
  const SimulationResult plain = run(small_scenario(), "jsq", quick());
  SimulationResult valued = run(with_worths(small_scenario(), {7, 0}), "jsq", quick());
  EXPECT_NEAR(valued.value.mean, 7 * plain.throughput_by_task[0].mean, 1e-12 * valued.value.mean);
  valued.value = plain.value;
  valued.value_by_replication = plain.value_by_replication;
  testing::expect_same(plain, valued);
}

// Events of one replication, recounted: a thread of a group completes a round with every so many tasks.
// Others of the same types come, stay and go.
TEST(Rounds, AreThoseThatTheEventsTell) {
  for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
    for (const char* const policy : {"jsq", "map", "random"}) {
      SCOPED_TRACE(policy);
      Scenario scenario = changing_scenario(discipline);
      scenario.system = scenario.system.with_counts(std::vector<Count>{0, 0});
      scenario.threads.push_back({3, {task_type(1)}, 0.25, {}, "single"});
      scenario.threads.front().worth = 10;
      scenario.population.erase(scenario.population.begin() + 1, scenario.population.end());
      Recorder recorder;
      SimulateOptions options = quick(3000);
      options.replications = 1;
      options.warmup = 0;
      options.trace = &recorder;
      const SimulationResult result = run(scenario, policy, options);
      std::map<std::uint64_t, std::uint64_t> by_thread;
      std::uint64_t completions = 0;
      for (const TraceEvent& event : recorder.events) {
        if (event.what != TraceEvent::What::kComplete) continue;
        ++by_thread[event.thread];
        ++completions;
      }
      ASSERT_EQ(completions, 3000U);
      const double seconds = static_cast<double>(completions) / result.throughput.mean;
      const std::uint64_t frames = by_thread[0] / 3 + by_thread[1] / 3;
      const std::uint64_t singles = by_thread[2] + by_thread[3] + by_thread[4];
      std::uint64_t others = completions - by_thread[0] - by_thread[1] - singles;
      ASSERT_GT(frames, 100U);
      ASSERT_GT(others, 10U);
      ASSERT_EQ(result.rounds.size(), 2U);
      EXPECT_NEAR(result.rounds[0].mean * seconds, static_cast<double>(frames), 1e-6);
      EXPECT_NEAR(result.rounds[1].mean * seconds, static_cast<double>(singles), 1e-6);
      EXPECT_NEAR(result.value.mean * seconds,
                  10 * static_cast<double>(frames) + 0.25 * static_cast<double>(singles) +
                      static_cast<double>(others),
                  1e-6);
    }
  }
}

// A job alone never waits: a round takes the sum of its service times.
TEST(Rounds, OfOneJobAreOneOverItsServiceTimes) {
  const std::vector<double> rates = {4, 0.5, 2};
  const double expected = 1 / (1 / 4.0 + 1 / 0.5 + 1 / 2.0);
  const Scenario scenario = tandem(rates, 1, 2.5);
  SimulateOptions options = quick(30'000);
  options.replications = 10;
  const SimulationResult result = run(scenario, "best-fit", options);
  ASSERT_EQ(result.rounds.size(), 1U);
  ASSERT_TRUE(result.rounds[0].half_width && result.value.half_width);
  EXPECT_NEAR(result.rounds[0].mean, expected, 2 * *result.rounds[0].half_width);
  EXPECT_LT(*result.rounds[0].half_width, 0.02 * expected);
  EXPECT_NEAR(result.value.mean, 2.5 * result.rounds[0].mean, 1e-12);
  EXPECT_NEAR(*result.value.half_width, 2.5 * *result.rounds[0].half_width, 1e-12);
  const SimulationResult steady = run(scenario, "best-fit", options, "deterministic");
  EXPECT_NEAR(steady.rounds[0].mean, expected, 1e-4 * expected);
}

// Where a type is visited twice a round has more tasks than types.
TEST(Rounds, MayVisitATypeTwice) {
  Scenario scenario = tandem({4, 1}, 1, 1);
  scenario.threads[0].sequence = {task_type(0), task_type(1), task_type(0)};
  const SimulationResult result = run(scenario, "best-fit", quick(30'000));
  EXPECT_NEAR(result.rounds[0].mean, 1 / 1.5, 2 * *result.rounds[0].half_width);
  EXPECT_NEAR(result.throughput.mean, 3 * result.rounds[0].mean, 1e-3);
  expect_equal(result.value, result.rounds[0]);
}

// With rounds of one task, a round is a completion: all three have the same intervals, from replications or
// from batches.
TEST(Rounds, OfOneTaskAreCompletions) {
  Scenario scenario = small_scenario();
  scenario.system = scenario.system.with_counts(std::vector<Count>{0, 0});
  scenario.threads = {{4, {task_type(0)}, 1.0, {}, ""}};
  for (const std::uint32_t replications : {1U, 4U}) {
    SimulateOptions options = quick();
    options.replications = replications;
    const SimulationResult result = run(scenario, "jsq", options);
    ASSERT_TRUE(result.throughput.half_width.has_value());
    expect_equal(result.rounds[0], result.throughput);
    expect_equal(result.value, result.throughput);
    scenario.threads[0].worth = 4;
    const SimulationResult dear = run(scenario, "jsq", options);
    expect_equal(dear.value, {4 * result.value.mean, 4 * *result.value.half_width});
    scenario.threads[0].worth = 1;
  }
}

TEST(Rounds, AreNoneWhereNothingWasMeasured) {
  const StopFlag stop{true};
  SimulateOptions options = quick();
  options.stop.flag = &stop;
  const SimulationResult result = run(tandem({1, 1}, 2, 3), "best-fit", options);
  ASSERT_EQ(result.rounds.size(), 1U);
  EXPECT_EQ(result.rounds[0].mean, 0);
  EXPECT_EQ(result.value.mean, 0);
}

/// One resource is shared by types that are worth little and much. By throughput the reference wins, by value
/// it loses: significance is said of each.
TEST(Value, HasPairedDifferencesOfItsOwn) {
  std::vector<Resource> resources(2);
  resources[0].name = "a";
  resources[1].name = "b";
  std::vector<TaskClass> tasks(2);
  tasks[0] = {"cheap", 3, std::nullopt, std::nullopt, std::nullopt, 1.0};
  tasks[1] = {"dear", 3, std::nullopt, std::nullopt, std::nullopt, 50.0};
  const Scenario scenario{
      "", System(std::move(resources), std::move(tasks), Rates(2, 2, {10, 8, 1, 2})), {}, {}, {}};
  const std::vector<const PolicyInfo*> policies = {find_policy("jsq"), find_policy("optimal")};
  const Comparison comparison = compare(scenario, policies, *make_distribution("exponential"), quick(20'000));
  ASSERT_EQ(comparison.differences.size(), 1U);
  const Difference& difference = comparison.differences[0];
  const SimulationResult& jsq = comparison.policies[0];
  const SimulationResult& optimal = comparison.policies[1];
  EXPECT_NEAR(difference.value.mean, optimal.value.mean - jsq.value.mean, 1e-9);
  EXPECT_NEAR(difference.throughput.mean, optimal.throughput.mean - jsq.throughput.mean, 1e-9);
  EXPECT_GT(difference.value.mean, 0);
  EXPECT_LT(difference.throughput.mean, 0);
  EXPECT_TRUE(difference.significant);
  EXPECT_TRUE(difference.value_significant);
  std::vector<double> pairs;
  for (std::size_t r = 0; r < jsq.value_by_replication.size(); ++r)
    pairs.push_back(optimal.value_by_replication[r] - jsq.value_by_replication[r]);
  const Estimate interval = mean_interval(pairs);
  expect_equal(difference.value, {interval.mean, interval.half_width});
}

TEST(Value, DiffersFromTheReferenceOnlyWhereWorthsDo) {
  const std::vector<const PolicyInfo*> policies = {find_policy("best-fit"), find_policy("jsq")};
  const Comparison comparison =
      compare(small_scenario(), policies, *make_distribution("exponential"), quick());
  const Difference& difference = comparison.differences.at(0);
  expect_equal(difference.value, difference.throughput);
  EXPECT_EQ(difference.value_significant, difference.significant);
}

}  // namespace
}  // namespace allot
