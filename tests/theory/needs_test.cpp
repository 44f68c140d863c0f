// Tasks that need several things: the simulator against a naive replay of its events, against the formula and
// the exact chain; and late binding against what packings allow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "allot/analyze/analyze.hpp"
#include "allot/base/random.hpp"
#include "allot/model/filling.hpp"
#include "allot/model/throughput.hpp"
#include "allot/simulate/simulate.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/naive_needs.hpp"
#include "tests/support/packing_rows.hpp"
#include "tests/support/random_needs.hpp"
#include "tests/support/small_scenarios.hpp"

namespace allot::testing {
namespace {

Scenario scenario_of(System system) { return {"", std::move(system), {}, {}, {}, {}, {}}; }

System with_disciplines(const System& system, RandomStream& random, std::uint64_t fcfs_in) {
  std::vector<Resource> machine = system.resources();
  for (Resource& resource : machine) {
    if (random.below(fcfs_in) == 0) resource.discipline = Discipline::kFcfs;
  }
  return system.with_resources(std::move(machine));
}

System with_depths(const System& system, RandomStream& random) {
  std::vector<Resource> machine = system.resources();
  for (Resource& resource : machine) {
    if (random.below(3) == 0) resource.min_depth = 2 + static_cast<Count>(random.below(2));
  }
  return system.with_resources(std::move(machine));
}

/// The system's work in motion: threads of several stages, arrivals, and changes of the population.
Scenario in_motion(const System& system, RandomStream& random) {
  Scenario scenario = scenario_of(system);
  const auto any_type = [&] { return task_type(random.below(system.type_count())); };
  std::vector<TaskClass> tasks = system.tasks();
  for (TaskClass& task : tasks) task.worth = 1;
  scenario.system = system.with_tasks(std::move(tasks));
  if (random.below(2) == 0) scenario.threads = {{2, {any_type(), any_type()}}};
  if (random.below(2) == 0) scenario.arrivals = {{any_type(), random.uniform(0.1, 1)}};
  if (random.below(2) == 0) {
    const TaskType i = any_type();
    scenario.population = {{random.uniform(0, 2), i, 3}, {random.uniform(2, 4), i, -2}};
  }
  return scenario;
}

struct Replay {
  std::size_t completions = 0;
  double most_held = 0;
  double most_wanted = 0;
};

/// Simulates from the start, and replays what was traced.
Replay expect_replay(const Scenario& scenario, const char* policy, const char* sizes, std::uint64_t seed,
                     std::uint64_t completions = 600) {
  Recorder trace;
  SimulateOptions options = quick(completions);
  options.replications = 1;
  options.warmup = 0;
  options.seed = seed;
  options.trace = &trace;
  const SimulationResult result = run(scenario, policy, options, sizes);
  EXPECT_LT(result.little_residual, 1e-9);
  NaiveNeeds naive(scenario.system, find_policy(policy)->binds_late);
  EXPECT_EQ(naive.replay(trace.events), "") << "policy=" << policy << " sizes=" << sizes << " seed=" << seed;
  return {naive.completions(), naive.most_held(), naive.most_wanted()};
}

TEST(Needs, EvenSharingIsReplayedEventByEvent) {
  std::size_t completions = 0;
  double wanted = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomStream random(seed, 0xe7e7);
    const System system = random_needs(random);
    if (!system.has_needs()) continue;
    const char* policies[] = {"jsq", "random", "round-robin", "load-balance", "min-completion-time"};
    const Scenario scenario = seed % 3 == 0 ? in_motion(system, random) : scenario_of(system);
    const Replay replay =
        expect_replay(scenario, policies[seed % 5], seed % 2 == 0 ? "exponential" : "uniform", seed);
    completions += replay.completions;
    wanted = std::max(wanted, replay.most_wanted);
  }
  EXPECT_GT(completions, 20'000U);
  EXPECT_GT(wanted, 1.5);
}

TEST(Needs, WhoeverIsFirstInLineWaitsUntilItsNeedsAreFree) {
  std::size_t completions = 0;
  double held = 0;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    RandomStream random(seed, 0xfcf5);
    const System system = with_disciplines(random_needs(random), random, seed % 2 == 0 ? 1 : 2);
    if (!system.has_needs()) continue;
    const char* policies[] = {"jsq", "random", "round-robin", "load-balance", "best-fit"};
    const Scenario scenario = seed % 3 == 0 ? in_motion(system, random) : scenario_of(system);
    const Replay replay =
        expect_replay(scenario, policies[seed % 5], seed % 2 == 0 ? "exponential" : "uniform", seed);
    completions += replay.completions;
    held = std::max(held, replay.most_held);
  }
  EXPECT_GT(completions, 20'000U);
  EXPECT_GT(held, 0.99);
}

TEST(Needs, LateBindingNeverOverdrawsWhatIsHeld) {
  std::size_t completions = 0;
  double held = 0;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    RandomStream random(seed, 0x1a7e);
    const System system = with_depths(random_needs(random), random);
    if (!system.has_needs()) continue;
    const Scenario scenario = seed % 3 == 0 ? in_motion(system, random) : scenario_of(system);
    const Replay replay = expect_replay(scenario, "planned", seed % 2 == 0 ? "exponential" : "uniform", seed);
    completions += replay.completions;
    held = std::max(held, replay.most_held);
  }
  EXPECT_GT(completions, 20'000U);
  EXPECT_GT(held, 0.99);
}

TEST(Needs, ThePartReachedOfWhatPackingsAllow) {
  const char* only = std::getenv("ALLOT_NEEDS_EACH");
  std::vector<double> parts;
  std::vector<double> of_program;
  double above = 0;
  for (std::uint64_t seed = 1; parts.size() < 200; ++seed) {
    RandomStream random(seed, 0x9ac4);
    NeedsShape shape;
    shape.most_threads = 16;
    const System system = random_needs(random, shape);
    if (!system.has_needs() || system.population() == 0) continue;
    const Solution plan =
        solve(*find_solver("planned"), planned_problem(scenario_of(system), Objective::kThroughput));
    const double program = plan.objective_value;
    const double bound = plan.plan.packing_bound.value();
    if (!(bound > 0)) continue;
    EXPECT_LE(bound, packing_value(system, true) * (1 + 1e-6)) << "seed=" << seed;
    SimulateOptions options = quick(4000);
    const SimulationResult result = run(scenario_of(system), "planned", options);
    parts.push_back(result.value.mean / bound);
    of_program.push_back(bound / program);
    above = std::max(above, (result.value.mean - 3 * result.value.half_width.value_or(0)) / bound);
    if (only != nullptr) std::printf("seed %lu part %.4f bound/program %.4f\n", seed, parts.back(), of_program.back());
  }
  double sum = 0;
  double programs = 0;
  for (const double part : parts) sum += part;
  for (const double part : of_program) programs += part;
  std::sort(parts.begin(), parts.end());
  std::printf("planned with needs: %.4f of the packing bound on average, 19 of 20 above %.4f, worst %.4f; the bound is %.4f of the program\n",
              sum / 200, parts[10], parts[0], programs / 200);
  EXPECT_GE(sum / 200, 0.97);
  EXPECT_LE(above, 1.0);
}

}  // namespace
}  // namespace allot::testing
