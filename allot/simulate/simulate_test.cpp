#include "allot/simulate/simulate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <thread>

#include "allot/base/error.hpp"
#include "allot/model/generate.hpp"
#include "allot/model/throughput.hpp"
#include "allot/simulate/trace.hpp"
#include "allot/solve/solver.hpp"

namespace allot {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Two types, two resources, with powers; home is where a type is fast.
Scenario small_scenario(Discipline discipline = Discipline::kPs, bool priorities = false) {
  std::vector<Resource> resources(2);
  resources[0] = {"cpu", Kind::kGeneral, 2, discipline, 1, 10.0, 3.0};
  resources[1] = {"gpu", Kind::kGeneral, 1, discipline, 1, 50.0, 7.0};
  std::vector<TaskClass> tasks(2);
  tasks[0] = {"sort", 3, std::nullopt, priorities ? std::optional(0.7) : std::nullopt, std::nullopt};
  tasks[1] = {"scan", 2, std::nullopt, priorities ? std::optional(0.3) : std::nullopt, std::nullopt};
  return {"small", System(std::move(resources), std::move(tasks), Rates(2, 2, {4, 1, 1, 6})), {}, {}, {}};
}

/// The same machine with its work in motion.
Scenario changing_scenario(Discipline discipline, bool priorities = false) {
  Scenario scenario = small_scenario(discipline, priorities);
  scenario.threads = {{2, {task_type(0), task_type(1), task_type(1)}}};
  scenario.population = {
      {10, task_type(0), 2}, {20, task_type(1), -1}, {20, task_type(0), -3}, {30, task_type(1), 3}};
  scenario.arrivals = {{task_type(1), 0.7}};
  return scenario;
}

/// One resource, one type, so many threads.
Scenario single_scenario(Count threads, double rate, Count servers = 1) {
  std::vector<Resource> resources(1);
  resources[0].name = "r";
  resources[0].servers = servers;
  std::vector<TaskClass> tasks(1);
  tasks[0].name = "t";
  tasks[0].count = threads;
  return {"", System(std::move(resources), std::move(tasks), Rates(1, 1, {rate})), {}, {}, {}};
}

SimulateOptions quick(std::uint64_t completions = 2000) {
  SimulateOptions options;
  options.completions = completions;
  options.replications = 3;
  options.threads = 1;
  return options;
}

SimulationResult run(const Scenario& scenario, std::string_view policy, const SimulateOptions& options,
                     std::string_view sizes = "exponential") {
  return simulate(scenario, *find_policy(policy), *make_distribution(sizes), options);
}

class Recorder final : public TraceSink {
 public:
  void begin(std::string_view policy) override { policies.emplace_back(policy); }
  void event(const TraceEvent& event) override { events.push_back(event); }
  std::vector<std::string> policies;
  std::vector<TraceEvent> events;
};

void expect_same(const SimulationResult& a, const SimulationResult& b) {
  const auto expect_same_estimates = [](const std::vector<Estimate>& x, const std::vector<Estimate>& y) {
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t at = 0; at < x.size(); ++at) {
      EXPECT_EQ(x[at].mean, y[at].mean);
      EXPECT_EQ(x[at].half_width, y[at].half_width);
    }
  };
  EXPECT_EQ(a.replications, b.replications);
  EXPECT_EQ(a.warmup, b.warmup);
  EXPECT_EQ(a.throughput_by_replication, b.throughput_by_replication);
  expect_same_estimates({a.throughput, a.response_time}, {b.throughput, b.response_time});
  expect_same_estimates(a.throughput_by_task, b.throughput_by_task);
  expect_same_estimates(a.throughput_by_resource, b.throughput_by_resource);
  expect_same_estimates(a.response_time_by_task, b.response_time_by_task);
  EXPECT_EQ(a.utilization, b.utilization);
  EXPECT_EQ(a.p50, b.p50);
  EXPECT_EQ(a.p95, b.p95);
  EXPECT_EQ(a.p99, b.p99);
  EXPECT_EQ(a.energy_per_task, b.energy_per_task);
  EXPECT_EQ(a.edp, b.edp);
  EXPECT_EQ(a.little, b.little);
  EXPECT_EQ(a.population, b.population);
  EXPECT_EQ(a.notes, b.notes);
}

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

TEST(Simulate, DoesNotChangeWhenWatched) {
  for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
    for (const char* const policy : {"jsq", "load-balance", "random"}) {
      Recorder recorder;
      SimulateOptions options = quick();
      const SimulationResult unwatched = run(small_scenario(discipline), policy, options);
      options.trace = &recorder;
      expect_same(run(small_scenario(discipline), policy, options), unwatched);
      EXPECT_EQ(recorder.policies, std::vector<std::string>{policy});
    }
  }
}

/// A trace tells a whole story: events in order of time, every task placed once and completed at most once,
/// at one resource, and its response is what the times say.
TEST(Trace, TellsEveryTasksStory) {
  for (const bool changing : {false, true}) {
    for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
      const Scenario scenario = changing ? changing_scenario(discipline) : small_scenario(discipline);
      Recorder recorder;
      SimulateOptions options = quick(1000);
      options.warmup = 50;
      options.trace = &recorder;
      run(scenario, "jsq", options);
      std::map<std::uint64_t, TraceEvent> placed;
      double last = 0;
      int completions = 0;
      for (const TraceEvent& event : recorder.events) {
        EXPECT_GE(event.time, last);
        last = event.time;
        if (event.what == TraceEvent::What::kPlace) {
          EXPECT_TRUE(placed.emplace(event.task, event).second)
              << "task " << event.task << " was placed twice";
          EXPECT_TRUE(scenario.system.can_run(event.type, event.resource));
          EXPECT_GT(event.size, 0);
          continue;
        }
        ASSERT_TRUE(placed.contains(event.task)) << "task " << event.task << " was never placed";
        const TraceEvent& place = placed.at(event.task);
        EXPECT_EQ(place.thread, event.thread);
        EXPECT_EQ(place.type, event.type);
        EXPECT_EQ(place.resource, event.resource);
        EXPECT_EQ(place.size, event.size);
        if (event.what != TraceEvent::What::kComplete) continue;
        EXPECT_NEAR(event.response, event.time - place.time, 1e-9);
        placed.erase(event.task);
        ++completions;
      }
      EXPECT_EQ(completions, 1000);
      if (!changing) {
        EXPECT_EQ(placed.size(), 5U);  // the threads' present tasks
      }
    }
  }
}

/// From a trace that begins in the middle, too, it can be seen at any time who is served: under fcfs as many
/// as there are servers or tasks.
TEST(Trace, TellsWhoWasServedWhenItBegan) {
  for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
    for (const char* const policy : {"jsq", "weighted"}) {
      Recorder recorder;
      SimulateOptions options = quick(300);
      options.warmup = 100;
      options.policy.shares = ShareReading::kFloor;  // nothing idles on purpose
      options.trace = &recorder;
      const Scenario scenario = small_scenario(discipline, true);
      run(scenario, policy, options);
      std::vector<Count> present(2);
      std::vector<Count> served(2);
      std::map<std::uint64_t, double> started;
      for (std::size_t at = 0; at < recorder.events.size(); ++at) {
        const TraceEvent& event = recorder.events[at];
        const std::size_t j = index(event.resource);
        if (event.what == TraceEvent::What::kPlace) ++present[j];
        if (event.what == TraceEvent::What::kStart) {
          ++served[j];
          EXPECT_TRUE(started.emplace(event.task, event.time).second);
        }
        if (event.what == TraceEvent::What::kComplete) {
          --present[j];
          --served[j];
          ASSERT_TRUE(started.contains(event.task)) << "task " << event.task << " never began";
          if (discipline == Discipline::kFcfs) {
            EXPECT_NEAR(event.time - started.at(event.task),
                        event.size * scenario.system.seconds_per_task(event.type, event.resource), 1e-9);
          }
        }
        const bool last_of_moment =
            at + 1 == recorder.events.size() || recorder.events[at + 1].time != event.time;
        if (!last_of_moment || at < 20) continue;  // by then all who were there have been told
        for (std::size_t r = 0; r < 2; ++r) {
          const Count servers = scenario.system.resource(resource_id(r)).servers;
          EXPECT_EQ(served[r], discipline == Discipline::kPs ? present[r] : std::min(servers, present[r]));
        }
      }
    }
  }
}

/// Common random numbers: the k-th task of a thread has the same size under every policy.
TEST(Compare, GivesThreadsTheSameSizesUnderEveryPolicy) {
  for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
    const Scenario scenario = small_scenario(discipline, true);
    std::map<std::uint64_t, std::vector<double>> expected;
    for (const PolicyInfo* policy : suitable_policies(scenario.system)) {
      SCOPED_TRACE(policy->name);
      Recorder recorder;
      SimulateOptions options = quick(500);
      options.warmup = 0;
      options.trace = &recorder;
      run(scenario, policy->name, options, "bounded-pareto");
      std::map<std::uint64_t, std::vector<double>> sizes;
      for (const TraceEvent& event : recorder.events) {
        if (event.what == TraceEvent::What::kPlace) sizes[event.thread].push_back(event.size);
      }
      EXPECT_EQ(sizes.size(), 5U);
      for (const auto& [thread, values] : sizes) {
        std::vector<double>& reference = expected[thread];
        for (std::size_t k = 0; k < std::min(values.size(), reference.size()); ++k) {
          ASSERT_EQ(values[k], reference[k]) << "thread " << thread << ", task " << k;
        }
        if (values.size() > reference.size()) reference = values;
      }
    }
  }
}

/// Paired differences: their mean is the difference of the means, and the pairing makes the interval of two
/// policies that do the same here vanish.
TEST(Compare, PairsTheReplications) {
  const Scenario scenario = small_scenario();
  const std::vector<const PolicyInfo*> policies = {find_policy("best-fit"), find_policy("jsq"),
                                                   find_policy("fixed")};
  SimulateOptions options = quick();
  options.policy.assignment = home_assignment(scenario.system);
  const Comparison comparison = compare(scenario, policies, *make_distribution("exponential"), options);
  ASSERT_EQ(comparison.policies.size(), 3U);
  ASSERT_EQ(comparison.differences.size(), 2U);
  EXPECT_EQ(comparison.differences[0].policy, "jsq");
  EXPECT_EQ(comparison.differences[0].against, "best-fit");
  EXPECT_NEAR(comparison.differences[0].throughput.mean,
              comparison.policies[1].throughput.mean - comparison.policies[0].throughput.mean, 1e-12);
  EXPECT_TRUE(comparison.differences[0].significant);
  EXPECT_EQ(comparison.differences[1].throughput.mean, 0);
  EXPECT_EQ(comparison.differences[1].throughput.half_width, 0);
  EXPECT_FALSE(comparison.differences[1].significant);
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

TEST(Simulate, StopsWhenAskedWithWhatItHas) {
  StopFlag flag{false};
  SimulateOptions options;
  options.completions = 1'000'000'000'000;
  options.replications = 4;
  options.threads = 2;
  options.warmup = 100;
  options.stop.flag = &flag;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    flag = true;
  });
  const SimulationResult result = run(small_scenario(), "best-fit", options);
  stopper.join();
  EXPECT_TRUE(result.partial);
  EXPECT_GE(result.replications, 1U);
  EXPECT_GT(result.completions, 0U);
  EXPECT_LT(result.completions, 1'000'000'000'000U);
  EXPECT_NEAR(result.throughput.mean, 4 * 2 + 6, 1);
}

TEST(Simulate, StopsAtADeadlineAndBeforeItBegins) {
  SimulateOptions options;
  options.completions = 1'000'000'000'000;
  options.stop.deadline = Clock::now() + std::chrono::milliseconds(100);
  EXPECT_TRUE(run(small_scenario(), "jsq", options).partial);
  const StopFlag flag{true};
  options.stop = {std::nullopt, &flag};
  const SimulationResult nothing = run(small_scenario(), "jsq", options);
  EXPECT_TRUE(nothing.partial);
  EXPECT_EQ(nothing.replications, 0U);
  EXPECT_EQ(nothing.throughput.mean, 0);
  EXPECT_EQ(nothing.throughput_by_task.size(), 2U);
}

TEST(Compare, StopsWithThePoliciesThatItReached) {
  StopFlag flag{false};
  SimulateOptions options = quick(5000);
  options.stop.flag = &flag;
  options.progress = [&](double share) {
    if (share > 0.55) flag = true;
  };
  const std::vector<const PolicyInfo*> policies = {find_policy("best-fit"), find_policy("jsq"),
                                                   find_policy("random"), find_policy("map")};
  const Comparison comparison =
      compare(small_scenario(), policies, *make_distribution("exponential"), options);
  ASSERT_GE(comparison.policies.size(), 2U);
  EXPECT_LT(comparison.policies.size(), 4U);
  EXPECT_FALSE(comparison.policies.front().partial);
  EXPECT_TRUE(comparison.policies.back().partial);
  // The last may have no replication that is complete, and then nothing to compare.
  EXPECT_GE(comparison.differences.size(), comparison.policies.size() - 2);
  EXPECT_LE(comparison.differences.size(), comparison.policies.size() - 1);
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

/// Tasks that take for ever, and more of them all the time: events, but no completions.
Scenario arrivals_without_end() {
  Scenario scenario = single_scenario(0, 1e-12);
  scenario.arrivals = {{task_type(0), 1e6}};
  return scenario;
}

TEST(Simulate, StopsAtADeadlineWhileTasksOnlyArrive) {
  for (const bool warm : {false, true}) {
    SimulateOptions options;
    if (warm) options.warmup = 0;  // else the pilot run is what must stop
    options.stop.deadline = Clock::now() + std::chrono::milliseconds(50);
    const SimulationResult result = run(arrivals_without_end(), "best-fit", options);
    EXPECT_TRUE(result.partial);
    EXPECT_EQ(result.throughput.mean, 0);
  }
}

TEST(Simulate, StopsByFlagWhileTasksOnlyArrive) {
  StopFlag flag{false};
  SimulateOptions options;
  options.warmup = 0;
  options.stop.flag = &flag;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    flag = true;
  });
  EXPECT_TRUE(run(arrivals_without_end(), "jsq", options).partial);
  stopper.join();
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

/// Hand-made results, as interrupted runs leave them: only replications that both completed make a pair.
TEST(Compare, PairsOnlyWhatBothCompleted) {
  SimulationResult first;
  first.policy = "first";
  first.throughput_by_replication = {10, 20, 30, 40};
  first.replication_marks = {{0, true}, {1, true}, {2, true}, {3, false}};
  SimulationResult other;
  other.policy = "other";
  other.throughput_by_replication = {11, 33, 77};
  other.replication_marks = {{0, true}, {2, true}, {3, true}};
  const std::optional<Difference> difference = paired_difference(other, first);
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->policy, "other");
  EXPECT_EQ(difference->against, "first");
  EXPECT_EQ(difference->throughput.mean, 2);  // (11 - 10 + 33 - 30) / 2
  other.replication_marks = {{0, false}, {2, false}, {4, true}};
  EXPECT_FALSE(paired_difference(other, first).has_value());
}

TEST(Simulate, SaysWhichReplicationsItsValuesAreOf) {
  const SimulationResult result = run(small_scenario(), "jsq", quick());
  ASSERT_EQ(result.replication_marks.size(), result.throughput_by_replication.size());
  for (std::uint32_t r = 0; r < 3; ++r) {
    EXPECT_EQ(result.replication_marks[r].number, r);
    EXPECT_TRUE(result.replication_marks[r].complete);
  }
}

/// Two policies that place alike must have differences of exactly 0, also when the second was stopped while
/// its replications were under way.
TEST(Compare, KeepsPairsTogetherWhenStopped) {
  StopFlag flag{false};
  SimulateOptions options = quick(20'000);
  options.replications = 12;
  options.threads = 3;
  options.warmup = 0;
  options.stop.flag = &flag;
  options.policy.assignment = home_assignment(small_scenario().system);
  options.progress = [&](double share) {
    if (share > 0.8) flag = true;
  };
  const std::vector<const PolicyInfo*> policies = {find_policy("best-fit"), find_policy("fixed")};
  const Comparison comparison =
      compare(small_scenario(), policies, *make_distribution("exponential"), options);
  ASSERT_EQ(comparison.policies.size(), 2U);
  EXPECT_TRUE(comparison.policies[1].partial);
  for (const Difference& difference : comparison.differences) EXPECT_EQ(difference.throughput.mean, 0);
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

/// A user who wants to stop does not wait for a target.
TEST(Simulate, StopsWhileAPolicySolves) {
  const Scenario scenario = generate({.general = 43, .specialized = 21, .threads = 8192, .seed = 1});
  StopFlag flag{false};
  SimulateOptions options;
  options.stop.flag = &flag;
  options.policy.solve.steps = std::numeric_limits<std::uint64_t>::max();
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    flag = true;
  });
  const SimulationResult result = run(scenario, "optimal", options);
  stopper.join();
  EXPECT_TRUE(result.partial);
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

TEST(ReferenceAssignment, IsTheBestOfConstantWork) {
  const Scenario scenario = small_scenario();
  const std::optional<Solution> best = reference_assignment(scenario);
  ASSERT_TRUE(best.has_value());
  EXPECT_TRUE(best->proven_optimal);
  const Solution exact = solve(*find_solver("exact"), Problem{scenario.system, Objective::kThroughput});
  EXPECT_EQ(best->performance.throughput, exact.performance.throughput);
  EXPECT_FALSE(reference_assignment(changing_scenario(Discipline::kPs)).has_value());
  EXPECT_FALSE(reference_assignment(single_scenario(0, 1)).has_value());
}

/// Takes half a millisecond for each decision, as a policy of somebody else's may.
class Slow final : public Policy {
 public:
  ResourceId place(TaskType i, const Situation& situation, PolicyMemory,
                   RandomStream&) const noexcept override {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    return situation.system->resources_for(i)[0];
  }
};

const NamedPolicy kSlow{"slow", [](const System&, const PolicyOptions&) -> std::unique_ptr<Policy> {
                          return std::make_unique<Slow>();
                        }};

TEST(Simulate, MeasuresASlowPolicyWithinTheTimeThereIs) {
  SimulateOptions options;
  options.threads = 1;
  options.stop.deadline = Clock::now() + std::chrono::seconds(3);
  const SimulationResult result =
      simulate(small_scenario(), kSlow, *make_distribution("exponential"), options);
  EXPECT_TRUE(result.partial);
  EXPECT_GT(result.throughput.mean, 0);
  EXPECT_LT(result.wall_seconds,
            60);  // a chunk of as many completions as a fast policy has would take longer
}

TEST(Simulate, SaysSoWhenNothingWasMeasured) {
  const StopFlag flag{true};
  SimulateOptions options = quick();
  options.stop.flag = &flag;
  const SimulationResult result =
      simulate(small_scenario(), *find_policy("jsq"), *make_distribution("exponential"), options);
  EXPECT_TRUE(result.partial);
  EXPECT_FALSE(result.precise);
  EXPECT_THAT(result.notes, Contains(HasSubstr("before anything was measured")));
}

}  // namespace
}  // namespace allot
