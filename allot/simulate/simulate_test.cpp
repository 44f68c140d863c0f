#include "allot/simulate/simulate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/model/generate.hpp"
#include "allot/model/throughput.hpp"
#include "tests/support/small_scenarios.hpp"

namespace allot {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// With every task at home the state never changes, so the closed form is the truth.
TEST(Simulate, BestFitGivesTheClosedForm) {
  const Scenario scenario = generate({});
  const SimulationResult result = run(scenario, "best-fit", {});
  const double expected = evaluate(scenario.system, home_assignment(scenario.system)).throughput;
  ASSERT_TRUE(result.throughput.half_width.has_value());
  EXPECT_NEAR(result.throughput.mean, expected, 2 * *result.throughput.half_width);
  EXPECT_NEAR(result.population, 18, 1e-9);
  EXPECT_NEAR(result.little, 18, 0.01);
  EXPECT_EQ(result.replications, 10U);
  EXPECT_EQ(result.completions, 100'000U);
  EXPECT_FALSE(result.partial);
}

/// Little's law is an identity over any window: sum of T over completions = integral of the population + ages
/// at the start - ages at the end. In every run, under every policy and discipline, with constant and
/// changing work.
TEST(Simulate, KeepsLittlesIdentityInEveryRun) {
  int runs = 0;
  for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
    for (const bool changing : {false, true}) {
      const Scenario scenario =
          changing ? changing_scenario(discipline, true) : small_scenario(discipline, true);
      for (const PolicyInfo* policy : suitable_policies(scenario.system)) {
        for (const char* const sizes : {"exponential", "deterministic", "bounded-pareto"}) {
          for (const ShareReading shares : {ShareReading::kExact, ShareReading::kFloor}) {
            if (shares == ShareReading::kFloor && policy->name != "weighted") continue;
            SCOPED_TRACE(::testing::Message() << policy->name << " " << sizes << (changing ? " changing" : "")
                                              << (discipline == Discipline::kPs ? " ps" : " fcfs"));
            SimulateOptions options = quick(1500);
            options.warmup = 100;
            options.policy.shares = shares;
            const SimulationResult result = run(scenario, policy->name, options, sizes);
            EXPECT_LT(result.little_residual, 1e-9);
            EXPECT_GT(result.throughput.mean, 0);
            ++runs;
          }
        }
      }
    }
  }
  EXPECT_GE(runs, 4 * 10 * 3);
}

TEST(Simulate, DoesNotDependOnTheNumberOfWorkers) {
  for (const bool changing : {false, true}) {
    const Scenario scenario = changing ? changing_scenario(Discipline::kPs) : generate({});
    for (const char* const policy : {"map", "random", "load-balance"}) {
      SCOPED_TRACE(policy);
      SimulateOptions options = quick(3000);
      options.replications = 9;
      const SimulationResult one = run(scenario, policy, options);
      for (const unsigned threads : {2U, 7U}) {
        options.threads = threads;
        expect_same(run(scenario, policy, options), one);
      }
      options.seed = 2;
      EXPECT_NE(run(scenario, policy, options).throughput.mean, one.throughput.mean);
    }
  }
}

/// Best Fit on the small machine: three tasks on the cpu's two units, two on the gpu's one: all units are
/// always busy. With one thread, one of the cpu's units idles, and so does the gpu.
TEST(Simulate, MeasuresUtilisationAndEnergy) {
  const Scenario busy = small_scenario();
  const SimulationResult full = run(busy, "best-fit", quick());
  EXPECT_NEAR(full.utilization[0], 1, 1e-9);
  EXPECT_NEAR(full.utilization[1], 1, 1e-9);
  double seconds_per_task = 0;
  for (const double x : full.throughput_by_replication) seconds_per_task += 1 / x / 3;
  EXPECT_NEAR(full.energy_per_task, (2 * 10.0 + 50.0) * seconds_per_task, 1e-9);
  EXPECT_NEAR(full.edp, full.energy_per_task * full.response_time.mean, 1e-9);
  const std::vector<Count> counts = {1, 0};
  const Scenario idle = {"", busy.system.with_counts(counts), {}, {}, {}};
  const SimulationResult one = run(idle, "best-fit", quick());
  EXPECT_NEAR(one.utilization[0], 0.5, 1e-9);
  EXPECT_EQ(one.utilization[1], 0);
  seconds_per_task = 0;
  for (const double x : one.throughput_by_replication) seconds_per_task += 1 / x / 3;
  EXPECT_NEAR(one.energy_per_task, (10.0 + 3.0 + 7.0) * seconds_per_task, 1e-9);
}

/// One thread alone: response times are the sizes over the rate, so their percentiles are known. 1% from the
/// histogram and four standard errors of a sample percentile, sqrt(q (1 - q) / n) / density.
TEST(Simulate, GivesThePercentilesOfASingleThread) {
  const double rate = 5;
  const SimulationResult result = run(single_scenario(1, rate), "best-fit", quick(100'000));
  const auto expect = [&](double q, double measured) {
    const double exact = -std::log(1 - q) / rate;
    const double error = 4 * std::sqrt(q * (1 - q) / 300'000) / (rate * (1 - q));
    EXPECT_NEAR(measured, exact, 0.01 * exact + error) << q;
  };
  expect(0.50, result.p50);
  expect(0.95, result.p95);
  expect(0.99, result.p99);
  EXPECT_NEAR(result.response_time.mean, 1 / rate, 3 * *result.response_time.half_width);
}

/// More threads than units: with even sharing each thread gets its part, and types do not matter.
TEST(Simulate, SharesEvenlyAmongManyThreads) {
  const SimulationResult result =
      run(single_scenario(200, 3, 4), "best-fit", quick(20'000));  // the heap's side
  EXPECT_NEAR(result.throughput.mean, 12, 0.3);
  EXPECT_NEAR(result.population, 200, 1e-9);
  EXPECT_LT(result.little_residual, 1e-9);
}

TEST(Simulate, ReplicatesUntilItIsPreciseEnough) {
  SimulateOptions options = quick(1000);
  options.precision = 0.005;
  const SimulationResult result = run(small_scenario(), "best-fit", options);
  EXPECT_TRUE(result.precise);
  EXPECT_GT(result.replications, 3U);
  EXPECT_LE(*result.throughput.half_width, 0.005 * result.throughput.mean);
  options.replications = 1;  // an interval from one replication is none to rely on
  EXPECT_GE(run(small_scenario(), "best-fit", options).replications, 2U);
  options.precision = 1e-9;
  options.max_replications = 7;
  const SimulationResult hopeless = run(small_scenario(), "best-fit", options);
  EXPECT_FALSE(hopeless.precise);
  EXPECT_EQ(hopeless.replications, 7U);
  EXPECT_THAT(hopeless.notes, Contains(HasSubstr("precision was not reached")));
}

TEST(Simulate, MakesAnIntervalFromBatchesOfASingleReplication) {
  SimulateOptions options = quick(100'000);
  options.replications = 1;
  const SimulationResult result = run(small_scenario(), "best-fit", options);
  ASSERT_TRUE(result.throughput.half_width.has_value());
  EXPECT_NEAR(result.throughput.mean, 14, 2 * *result.throughput.half_width);
  EXPECT_LT(*result.throughput.half_width, 0.3);
}

TEST(Simulate, SaysWhenTheTailWasNotSampled) {
  SimulateOptions options = quick(500);
  const char* const heavy = "bounded-pareto:alpha=1.1,ratio=1000000";
  EXPECT_THAT(run(small_scenario(), "best-fit", options, heavy).notes, Contains(HasSubstr("tail")));
  options.completions = 50'000;
  EXPECT_THAT(run(small_scenario(), "best-fit", options, "uniform").notes, IsEmpty());
}

TEST(Simulate, SaysWhenTasksPileUp) {
  Scenario scenario = single_scenario(0, 1);
  scenario.arrivals = {{task_type(0), 1.5}};
  EXPECT_THAT(run(scenario, "best-fit", quick()).notes, Contains(HasSubstr("pile up")));
  scenario.arrivals = {{task_type(0), 0.5}};
  EXPECT_THAT(run(scenario, "best-fit", quick()).notes, IsEmpty());
}

TEST(Simulate, PassesOnWhatThePolicySays) {
  const std::vector<Count> counts = {3, 0};
  const Scenario scenario = {
      "", small_scenario(Discipline::kPs, true).system.with_counts(counts), {}, {}, {}};
  EXPECT_THAT(run(scenario, "weighted", quick()).notes, Contains(HasSubstr("'scan'")));
}

TEST(Simulate, TakesASingleCompletion) {
  SimulateOptions options = quick(1);
  options.warmup = 0;
  const SimulationResult result = run(small_scenario(), "best-fit", options);
  EXPECT_EQ(result.completions, 1U);
  EXPECT_GT(result.throughput.mean, 0);
  EXPECT_TRUE(std::isfinite(result.energy_per_task));
  options.replications = 1;
  EXPECT_FALSE(run(small_scenario(), "best-fit", options).throughput.half_width.has_value());
  // Two threads that finish at the same moment: the window has no length.
  options.warmup = 1;
  const SimulationResult moment = run(single_scenario(2, 1, 2), "best-fit", options, "deterministic");
  EXPECT_TRUE(std::isfinite(moment.throughput.mean));
  EXPECT_TRUE(std::isfinite(moment.utilization[0]));
}

TEST(Simulate, HasAnEmptyResultWithoutThreads) {
  const std::vector<Count> nobody = {0, 0};
  const Scenario scenario = {"", small_scenario().system.with_counts(nobody), {}, {}, {}};
  for (const PolicyInfo* policy : suitable_policies(scenario.system)) {
    SCOPED_TRACE(policy->name);
    const SimulationResult result = run(scenario, policy->name, quick());
    EXPECT_FALSE(result.partial);
    EXPECT_EQ(result.throughput.mean, 0);
    EXPECT_EQ(result.population, 0);
    EXPECT_EQ(result.throughput_by_task.size(), 2U);
    EXPECT_EQ(result.throughput_by_resource.size(), 2U);
    EXPECT_EQ(result.utilization, (std::vector<double>{0, 0}));
    EXPECT_THAT(result.notes, Contains(HasSubstr("no thread")));
  }
}

/// Work that ends is measured to its end, not for ever: five threads, all gone after 10 seconds.
TEST(Simulate, EndsWithTheWork) {
  Scenario scenario = small_scenario();
  scenario.population = {{10, task_type(0), -3}, {10, task_type(1), -2}};
  const SimulationResult result = run(scenario, "best-fit", quick(1'000'000));
  EXPECT_FALSE(result.partial);
  EXPECT_EQ(result.warmup, 0U);
  EXPECT_NEAR(result.throughput.mean, 14, 2);
  EXPECT_LT(result.completions, 1000U);
  EXPECT_LT(result.little_residual, 1e-9);
  EXPECT_THAT(result.notes, Contains(HasSubstr("the work ended")));
}

/// Types that exist but have no thread, and pairs that cannot run.
TEST(Simulate, LeavesOutWhatCannotRun) {
  std::vector<Resource> resources(2);
  resources[0].name = "a";
  resources[1].name = "b";
  std::vector<TaskClass> tasks(3);
  for (std::size_t i = 0; i < 3; ++i) tasks[i].name = "t" + std::to_string(i);
  tasks[0].count = 2;
  tasks[1].count = 2;
  const Scenario scenario = {
      "", System(std::move(resources), std::move(tasks), Rates(3, 2, {2, 0, 0, 3, 0, 0})), {}, {}, {}};
  for (const PolicyInfo* policy : suitable_policies(scenario.system)) {
    SCOPED_TRACE(policy->name);
    const SimulationResult result = run(scenario, policy->name, quick(20'000));
    EXPECT_NEAR(result.throughput_by_task[0].mean, 2, 0.1);
    EXPECT_NEAR(result.throughput_by_task[1].mean, 3, 0.15);
    EXPECT_EQ(result.throughput_by_task[2].mean, 0);
  }
}

TEST(Simulate, RefusesWorkThatCannotRun) {
  Scenario scenario = {
      "",
      System({{"a"}}, {{"t", 1, {}, {}, {}}, {"nowhere", 0, {}, {}, {}}}, Rates(2, 1, {1, 0})),
      {},
      {},
      {}};
  const Scenario good = scenario;
  EXPECT_NO_THROW(run(good, "jsq", quick(10)));
  scenario.threads = {{1, {task_type(1)}}};
  EXPECT_THROW(run(scenario, "jsq", quick(10)), InvalidModel);
  scenario = good;
  scenario.threads = {{1, {}}};
  EXPECT_THROW(run(scenario, "jsq", quick(10)), InvalidModel);
  scenario = good;
  scenario.population = {{1.0, task_type(1), 1}};
  EXPECT_THROW(run(scenario, "jsq", quick(10)), InvalidModel);
  scenario = good;
  scenario.arrivals = {{task_type(7), 1}};
  EXPECT_THROW(run(scenario, "jsq", quick(10)), InvalidModel);
  scenario = good;
  scenario.arrivals = {{task_type(0), std::nan("")}};
  EXPECT_THROW(run(scenario, "jsq", quick(10)), InvalidModel);
  EXPECT_THROW(run(good, "fixed", quick(10)), InvalidModel);
}

/// Under fcfs the perfectly informed policy must see those who wait where a task has just left: of two equal
/// resources with one long queue, it chooses the other.
TEST(Simulate, LoadBalanceSeesTheQueueThatATaskHasLeft) {
  std::vector<Resource> resources(2);
  for (std::size_t j = 0; j < 2; ++j)
    resources[j] = {"r" + std::to_string(j), Kind::kGeneral, 1, Discipline::kFcfs};
  std::vector<TaskClass> tasks(1);
  tasks[0].name = "t";
  tasks[0].count = 10;
  const Scenario scenario = {
      "", System(std::move(resources), std::move(tasks), Rates(1, 2, {1, 1})), {}, {}, {}};
  Recorder recorder;
  SimulateOptions options = quick(5000);
  options.trace = &recorder;
  run(scenario, "load-balance", options, "uniform");
  std::array<int, 2> present{};
  int most = 0;
  for (const TraceEvent& event : recorder.events) {
    int& here = present[index(event.resource)];
    if (event.what == TraceEvent::What::kPlace) most = std::max(most, ++here);
    if (event.what == TraceEvent::What::kComplete) --here;
  }
  EXPECT_LE(most, 8);  // it would be 10: every task back to where it came from
  EXPECT_GE(most, 5);
}

TEST(Simulate, ReportsProgressUpToTheEnd) {
  SimulateOptions options = quick(20'000);
  double last = 0;
  int calls = 0;
  options.progress = [&](double share) {
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
    last = share;
    ++calls;
  };
  run(small_scenario(), "jsq", options);
  EXPECT_EQ(last, 1);
  EXPECT_GT(calls, 3);
}

/// Arrivals between completions end a call of the engine early, which must not end the work.
TEST(Simulate, GoesOnWhenManyArriveBetweenCompletions) {
  Scenario scenario = single_scenario(1, 1);
  scenario.arrivals = {{task_type(0), 2000}};
  SimulateOptions options = quick(50);
  options.warmup = 0;
  const SimulationResult result = run(scenario, "best-fit", options);
  EXPECT_FALSE(result.partial);
  EXPECT_EQ(result.completions, 50U);
}

TEST(Simulate, SaysWhichReplicationsItsValuesAreOf) {
  const SimulationResult result = run(small_scenario(), "jsq", quick());
  ASSERT_EQ(result.replication_marks.size(), result.throughput_by_replication.size());
  for (std::uint32_t r = 0; r < 3; ++r) {
    EXPECT_EQ(result.replication_marks[r].number, r);
    EXPECT_TRUE(result.replication_marks[r].complete);
  }
}

/// A target must not depend on how fast the machine is: with an effort far too small, twice the same.
TEST(Simulate, TakesTargetsThatDoNotDependOnTheClock) {
  const Scenario scenario = generate({.general = 16, .specialized = 8, .threads = 1152, .seed = 3});
  SimulateOptions options = quick(500);
  options.warmup = 0;
  options.policy.solve.steps = 30'000;
  const SimulationResult once = run(scenario, "optimal", options);
  EXPECT_THAT(once.notes, Contains(HasSubstr("ended early")));
  expect_same(run(scenario, "optimal", options), once);
}

/// Sends everything to the resource with the highest index that can run it.
class LastResource final : public Policy {
 public:
  ResourceId place(TaskType i, const Situation& situation, PolicyMemory,
                   RandomStream&) const noexcept override {
    return situation.system->resources_for(i).back();
  }
};

TEST(Simulate, TakesAPolicyThatIsNotBuiltIn) {
  const Scenario scenario = small_scenario();
  const NamedPolicy last{
      "last", [](const System&, const PolicyOptions&) { return std::make_unique<LastResource>(); }};
  const auto sizes = make_distribution("exponential");
  const SimulationResult result = simulate(scenario, last, *sizes, quick());
  EXPECT_EQ(result.policy, "last");
  EXPECT_EQ(result.throughput_by_resource[0].mean, 0);
  Assignment all_last(2, 2);
  all_last(task_type(0), resource_id(1)) = 3;
  all_last(task_type(1), resource_id(1)) = 2;
  SimulateOptions options = quick();
  options.policy.assignment = all_last;
  expect_same(result, run(scenario, "fixed", options));
}

}  // namespace
}  // namespace allot
