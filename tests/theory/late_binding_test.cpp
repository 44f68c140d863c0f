// Late binding against what no policy can exceed: the program of planned service, and optimal control.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/simulate/simulate.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/service_witness.hpp"
#include "tests/support/staged_control.hpp"

namespace allot::testing::late_binding_test {
namespace {

SimulationResult run(const Scenario& scenario, std::string_view policy, Objective objective,
                     std::uint64_t completions) {
  SimulateOptions options;
  options.completions = completions;
  options.replications = 4;
  options.policy.objective = objective;
  return simulate(scenario, *find_policy(policy), *make_distribution("exponential"), options);
}

Solution plan_of(const Scenario& scenario, Objective objective = Objective::kThroughput) {
  return solve(*find_solver("planned"), planned_problem(scenario, objective));
}

/// Types with 1 to 16 threads on resources with 1 to 4 servers.
Scenario random_box(std::uint64_t seed, bool with_shares, bool with_floors) {
  RandomStream random(seed, 0x1a7e);
  const std::size_t types = 2 + random.below(4);
  const std::size_t resources = 2 + random.below(3);
  std::vector<Resource> machine(resources);
  for (std::size_t j = 0; j < resources; ++j) {
    machine[j].name = "r" + std::to_string(j);
    machine[j].servers = 1 + static_cast<Count>(random.below(4));
    machine[j].discipline = random.below(2) == 0 ? Discipline::kPs : Discipline::kFcfs;
  }
  std::vector<TaskClass> tasks(types);
  PerPair<double> rates(types, resources, 0.0);
  for (std::size_t i = 0; i < types; ++i) {
    tasks[i].name = "t" + std::to_string(i);
    tasks[i].count = 1 + static_cast<Count>(random.below(16));
    tasks[i].worth = random.uniform(0.1, 10);
    if (with_shares) tasks[i].priority = random.uniform(0.05, 1);
    for (std::size_t j = 0; j < resources; ++j) {
      if (j == i % resources || random.below(4) != 0)
        rates(task_type(i), resource_id(j)) = random.uniform(0.1, 1) * (i % 2 == 0 ? 1 : 5);
    }
    if (with_floors && i % 2 == 0)
      tasks[i].floor = random.uniform(0.05, 0.5) * rates(task_type(i), resource_id(i % resources)) /
                       static_cast<double>(types);
  }
  return {"", System(std::move(machine), std::move(tasks), Rates(std::move(rates))), {}, {}, {}, {}, {}};
}

double value_of(const Scenario& scenario, const SimulationResult& result) {
  double value = 0;
  for (const TaskType i : scenario.system.types())
    value += scenario.system.worth(i) * result.throughput_by_task[index(i)].mean;
  return value;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double twentieth_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 20];
}

TEST(LateBinding, ReachesTheMostValue) {
  std::vector<double> parts;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Scenario scenario = random_box(seed, false, seed % 2 == 0);
    const Solution plan = plan_of(scenario);
    if (plan.outcome == Outcome::kInfeasible) continue;
    const SimulationResult result = run(scenario, "planned", Objective::kThroughput, 10'000);
    parts.push_back(value_of(scenario, result) / plan.objective_value);
    for (const TaskType i : scenario.system.types()) {
      const Estimate& x = result.throughput_by_task[index(i)];
      EXPECT_GE(x.mean + 2 * x.half_width.value_or(0), 0.97 * scenario.system.floor(i)) << "seed=" << seed;
    }
  }
  ASSERT_GE(parts.size(), 30U);
  EXPECT_GE(mean_of(parts), 0.99);
  EXPECT_GE(twentieth_of(parts), 0.97);
  // A bound: what is above it is chance, and averages out.
  EXPECT_LE(mean_of(parts), 1.005);
}

TEST(LateBinding, KeepsTheShares) {
  std::vector<double> parts;
  for (std::uint64_t seed = 101; seed <= 130; ++seed) {
    const Scenario scenario = random_box(seed, true, false);
    const Solution plan = plan_of(scenario, Objective::kPriority);
    const SimulationResult result = run(scenario, "planned", Objective::kPriority, 20'000);
    double completions = 0;
    for (const Estimate& x : result.throughput_by_task) completions += x.mean;
    parts.push_back(completions / plan.performance.throughput);
    for (const TaskType i : scenario.system.types()) {
      EXPECT_NEAR(result.throughput_by_task[index(i)].mean / completions, scenario.system.shares()[index(i)],
                  0.015)
          << "seed=" << seed;
    }
  }
  EXPECT_GE(mean_of(parts), 0.985);
}

/// One group of jobs of 2 or 3 stages on two or three servers.
Scenario tiny_pipeline(std::uint64_t seed) {
  RandomStream random(seed, 0x717);
  const std::size_t stages = 2 + random.below(2);
  const std::size_t resources = 2;
  std::vector<Resource> machine(resources);
  for (std::size_t j = 0; j < resources; ++j) {
    machine[j].name = "r" + std::to_string(j);
    machine[j].servers = 1 + static_cast<Count>(j == 0 ? random.below(2) : 0);
  }
  std::vector<TaskClass> tasks(stages);
  PerPair<double> rates(stages, resources, 0.0);
  ThreadGroup jobs;
  jobs.count = 2 + static_cast<Count>(random.below(5));
  for (std::size_t i = 0; i < stages; ++i) {
    tasks[i].name = "s" + std::to_string(i);
    tasks[i].count = 0;
    jobs.sequence.push_back(task_type(i));
    for (std::size_t j = 0; j < resources; ++j) {
      if (j == i % resources || random.below(3) != 0)
        rates(task_type(i), resource_id(j)) = random.uniform(0.2, 2);
    }
  }
  Scenario scenario{"", System(std::move(machine), std::move(tasks), Rates(std::move(rates))), {}, {}, {}, {},
                    {}};
  scenario.threads = {jobs};
  return scenario;
}

TEST(LateBinding, OfStagesComesCloseToOptimalControl) {
  std::vector<double> parts;
  std::vector<double> rivals;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Scenario scenario = tiny_pipeline(seed);
    const StagedControl control(scenario);
    const double most = control.rounds();
    ASSERT_GT(most, 0) << "seed=" << seed << ", " << control.states() << " states";
    EXPECT_LE(most, plan_of(scenario).plan.rounds[0] * (1 + 1e-6)) << "seed=" << seed;
    parts.push_back(run(scenario, "planned", Objective::kThroughput, 20'000).throughput_by_task[0].mean /
                    most);
    rivals.push_back(
        run(scenario, "min-completion-time", Objective::kThroughput, 20'000).throughput_by_task[0].mean /
        most);
    EXPECT_LE(parts.back(), 1.02) << "seed=" << seed;
  }
  std::printf("planned %.4f (19 of 20: %.4f), min-completion-time %.4f of optimal control\n", mean_of(parts),
              twentieth_of(parts), mean_of(rivals));
  EXPECT_GE(mean_of(parts), 0.95);
}

Scenario one_pool(Count servers, std::vector<TaskClass> tasks) {
  std::vector<Resource> machine(1);
  machine[0].name = "cpu";
  machine[0].servers = servers;
  machine[0].power = 10;
  const std::size_t types = tasks.size();
  return {"", System(std::move(machine), std::move(tasks), Rates(types, 1, std::vector<double>(types, 10.0))),
          {}, {},
          {}, {},
          {}};
}

std::vector<TaskClass> types_named(std::vector<std::pair<const char*, Count>> types) {
  std::vector<TaskClass> tasks;
  for (const auto& [name, count] : types) {
    tasks.emplace_back();
    tasks.back().name = name;
    tasks.back().count = count;
  }
  return tasks;
}

// Idling is all that keeps the power down.
TEST(LateBinding, OfStagesKeepsAPowerCap) {
  Scenario scenario = one_pool(4, types_named({{"a", 0}, {"b", 0}}));
  scenario.power_cap = 20;
  scenario.threads = {{16, {task_type(0), task_type(1)}}};
  const SimulationResult result = run(scenario, "planned", Objective::kThroughput, 20'000);
  EXPECT_NEAR(result.utilization[0], 0.5, 0.02);
  EXPECT_NEAR(result.throughput_by_task[0].mean, plan_of(scenario).plan.rounds[0], 0.4);
}

TEST(LateBinding, TellsGroupsApartThatVisitTheSameType) {
  Scenario scenario = one_pool(1, types_named({{"a", 0}}));
  scenario.threads = {{4, {task_type(0)}, 10.0, {}, "gold"}, {4, {task_type(0)}, 1.0, {}, "tin"}};
  SimulationResult result = run(scenario, "planned", Objective::kThroughput, 20'000);
  EXPECT_NEAR(result.rounds[0].mean, 10, 0.3);
  EXPECT_EQ(result.rounds[1].mean, 0);
  ASSERT_FALSE(result.notes.empty());
  EXPECT_NE(result.notes[0].find("tin"), std::string::npos);
  scenario.threads[1].max_response = 2;  // at least 2 rounds a second
  result = run(scenario, "planned", Objective::kThroughput, 20'000);
  EXPECT_NEAR(result.rounds[0].mean, 8, 0.3);
  EXPECT_NEAR(result.rounds[1].mean, 2, 0.1);
}

TEST(LateBinding, OfALoadThatIsTooMuchCarriesWhatItCan) {
  Scenario scenario = one_pool(2, types_named({{"a", 0}, {"b", 4}}));
  scenario.arrivals = {{task_type(0), 25}};
  const SimulationResult result = run(scenario, "planned", Objective::kThroughput, 20'000);
  EXPECT_NEAR(result.throughput_by_task[0].mean, 20, 0.5);
  ASSERT_FALSE(result.notes.empty());
  EXPECT_NE(result.notes[0].find("as much of the arrivals as can be carried"), std::string::npos);
}

TEST(LateBinding, SaysThatTasksPileUpOnlyWhereTheyDo) {
  std::vector<TaskClass> tasks = types_named({{"a", 3}, {"b", 0}});
  tasks[0].worth = 0;
  Scenario scenario = one_pool(2, std::move(tasks));
  scenario.arrivals = {{task_type(1), 1}};
  const SimulationResult result = run(scenario, "planned", Objective::kThroughput, 20'000);
  for (const std::string& note : result.notes) EXPECT_EQ(note.find("pile up"), std::string::npos) << note;
}

TEST(LateBinding, CarriesALoadBelowItsHeadroomAndNoMore) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Scenario scenario = random_box(seed, false, false);
    RandomStream random(seed, 0x10ad);
    std::vector<TaskClass> tasks = scenario.system.tasks();
    for (TaskClass& task : tasks) task.count = 0;
    scenario.system = System(scenario.system.resources(), std::move(tasks), scenario.system.rates());
    for (const TaskType i : scenario.system.types()) scenario.arrivals.push_back({i, random.uniform(0.1, 1)});
    const double headroom = plan_of(scenario).plan.headroom.value();
    const auto at = [&](double part) {
      Scenario loaded = scenario;
      for (Arrivals& stream : loaded.arrivals) stream.rate *= headroom * part;
      return run(loaded, "planned", Objective::kThroughput, 40'000);
    };
    const SimulationResult below = at(0.95);
    const SimulationResult above = at(1.05);
    double arrive = 0;
    for (const Arrivals& stream : scenario.arrivals) arrive += stream.rate * headroom;
    EXPECT_NEAR(below.throughput.mean, 0.95 * arrive, 0.02 * arrive) << "seed=" << seed;
    EXPECT_GT(above.population, 3 * below.population) << "seed=" << seed;
    EXPECT_FALSE(above.notes.empty()) << "seed=" << seed << ": tasks pile up, and nobody says so";
  }
}

}  // namespace
}  // namespace allot::testing::late_binding_test
