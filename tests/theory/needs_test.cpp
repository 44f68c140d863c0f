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

namespace allot::testing::needs_test {
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

/// Throughput of a state where whole tasks take turns in short slices: in each, those that have been in
/// service least come first, and whoever fits starts.
double in_slices(const System& system, const Assignment& state) {
  struct Turn {
    TaskType type;
    ResourceId resource;
    double in_service = 0;
    double done = 0;
  };
  constexpr int kSlices = 3000;
  std::vector<Turn> tasks;
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      for (Count n = 0; n < state(i, j); ++n) tasks.push_back({i, j});
    }
  }
  std::vector<double> shared;
  for (const CapacityId r : system.capacity_ids())
    shared.push_back(system.is_shared(r) ? system.amount(r) : 1e300);
  for (int slice = 0; slice < kSlices; ++slice) {
    std::stable_sort(tasks.begin(), tasks.end(),
                     [](const Turn& a, const Turn& b) { return a.in_service < b.in_service; });
    std::vector<double> left;
    for (const CapacityId r : system.capacity_ids()) left.push_back(system.amount(r) * (1 + 1e-9));
    std::vector<NaiveDrawer> drawers;
    std::vector<Turn*> running;
    for (Turn& task : tasks) {
      const auto needs = system.needs(task.type, task.resource);
      if (!std::all_of(needs.begin(), needs.end(), [&](const Draw& draw) {
            return system.is_shared(draw.capacity) || draw.amount <= left[index(draw.capacity)];
          }))
        continue;
      NaiveDrawer drawer{std::vector<double>(shared.size(), 0.0), 1};
      for (const Draw& draw : needs) {
        if (system.is_shared(draw.capacity)) {
          drawer.draws[index(draw.capacity)] = draw.amount;
        } else {
          left[index(draw.capacity)] -= draw.amount;
        }
      }
      drawers.push_back(std::move(drawer));
      running.push_back(&task);
    }
    naive_fill(drawers, shared);
    for (std::size_t at = 0; at < running.size(); ++at) {
      running[at]->in_service += 1;
      running[at]->done += drawers[at].level;
    }
  }
  double throughput = 0;
  for (const Turn& task : tasks) throughput += system.rate(task.type, task.resource) * task.done / kSlices;
  return throughput;
}

struct Errors {
  std::vector<double> found;
  void add(double error) { found.push_back(std::abs(error)); }
  double mean() const {
    double sum = 0;
    for (const double error : found) sum += error;
    return sum / static_cast<double>(std::max<std::size_t>(1, found.size()));
  }
  double worst() const { return found.empty() ? 0 : *std::max_element(found.begin(), found.end()); }
};

// Under a fixed assignment the counts, and with them the speeds, never change: the formula is exact for every
// distribution of sizes. How far tasks that take turns as a whole are from it is printed.
TEST(Needs, TheFormulaIsExactForAFixedAssignment) {
  Errors exponential;
  Errors deterministic;
  Errors lumps;
  Errors smooth;
  for (std::uint64_t seed = 1; deterministic.found.size() < 100; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed, 0xf1c5);
    const System system = random_needs(random);
    if (!system.has_needs() || system.population() == 0) continue;
    const Assignment state = random_placement(system, random);
    const Performance formula = evaluate(system, state);
    std::vector<double> tasks(state.values().begin(), state.values().end());
    const auto error_with = [&](const char* sizes) {
      SimulateOptions options = quick(10'000);
      options.replications = 5;
      options.policy.assignment = state;
      const SimulationResult result = run(scenario_of(system), "fixed", options, sizes);
      EXPECT_NEAR(result.throughput.mean, formula.throughput,
                  5 * result.throughput.half_width.value_or(0) + 1e-3 * formula.throughput);
      for (const CapacityId r : system.capacity_ids())
        EXPECT_LE(result.capacity_use[index(r)], system.amount(r) * (1 + 1e-9));
      return result.throughput.mean / formula.throughput - 1;
    };
    exponential.add(error_with("exponential"));
    deterministic.add(error_with("deterministic"));
    (has_lumps(system, tasks) ? lumps : smooth).add(in_slices(system, state) / formula.throughput - 1);
  }
  std::printf(
      "simulated against the formula: exponential %.3f%% (worst %.3f%%), deterministic %.4f%% (%.4f%%)\n",
      100 * exponential.mean(), 100 * exponential.worst(), 100 * deterministic.mean(),
      100 * deterministic.worst());
  std::printf(
      "whole tasks in slices against the formula: %zu lumpy states %.2f%% (worst %.1f%%), %zu others "
      "%.3f%% (%.2f%%)\n",
      lumps.found.size(), 100 * lumps.mean(), 100 * lumps.worst(), smooth.found.size(), 100 * smooth.mean(),
      100 * smooth.worst());
  EXPECT_LT(deterministic.mean(), 5e-4);
  EXPECT_LT(exponential.mean(), 1e-2);
}

/// The most value of any placement, by looking at all of them.
double best_by_enumeration(const System& system, Assignment state, std::size_t type = 0) {
  if (type == system.type_count()) return evaluate(system, state).value;
  const TaskType i = task_type(type);
  const auto allowed = system.resources_for(i);
  double best = 0;
  const auto place = [&](auto& self, std::size_t at, Count left) -> void {
    if (at + 1 == allowed.size()) {
      state(i, allowed[at]) = left;
      best = std::max(best, best_by_enumeration(system, state, type + 1));
      return;
    }
    for (Count n = 0; n <= left; ++n) {
      state(i, allowed[at]) = n;
      self(self, at + 1, left - n);
    }
  };
  place(place, 0, system.count(i));
  return best;
}

TEST(Needs, TheExactChainAgreesWithTheSimulator) {
  std::size_t checked = 0;
  for (std::uint64_t seed = 1; checked < 30; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed, 0xc4a1);
    NeedsShape shape{.most_types = 3, .most_resources = 3, .most_threads = 3, .extreme = false};
    const System system = random_needs(random, shape);
    if (!system.has_needs() || system.population() < 2) continue;
    const char* policy = checked % 2 == 0 ? "random" : "round-robin";
    const Analysis chain = analyze(system, *find_policy(policy));
    SimulateOptions options = quick(20'000);
    options.replications = 8;
    const SimulationResult result = run(scenario_of(system), policy, options);
    EXPECT_NEAR(result.throughput.mean, chain.throughput, 5 * result.throughput.half_width.value());
    EXPECT_NEAR(result.value.mean, chain.value, 5 * result.value.half_width.value() + 1e-9);
    ++checked;
  }
}

// Lemma 1 holds with needs: in a state n value comes at the rate V(n), and the best state can be held.
TEST(Needs, NoPlacementPolicyBeatsTheBestState) {
  std::size_t checked = 0;
  for (std::uint64_t seed = 1; checked < 30; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed, 0x1e44);
    NeedsShape shape{.most_types = 3, .most_resources = 3, .most_threads = 3, .extreme = false};
    const System system = random_needs(random, shape);
    if (!system.has_needs() || system.population() == 0) continue;
    const double best = best_by_enumeration(system, Assignment(system.type_count(), system.resource_count()));
    const OptimalControl control = solve_optimal_control(system);
    if (control.stopped != StopReason::kNone) continue;
    EXPECT_NEAR(control.value, best, 1e-6 * best);
    ++checked;
  }
}

TEST(Needs, ThePartReachedOfWhatPackingsAllow) {
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
    if (std::getenv("ALLOT_TEST_EACH") != nullptr)
      std::printf("seed %llu part %.4f bound/program %.4f\n", static_cast<unsigned long long>(seed),
                  parts.back(), of_program.back());
  }
  double sum = 0;
  double programs = 0;
  for (const double part : parts) sum += part;
  for (const double part : of_program) programs += part;
  std::sort(parts.begin(), parts.end());
  std::printf(
      "planned with needs: %.4f of the packing bound on average, 19 of 20 above %.4f, worst %.4f; the bound "
      "is %.4f of the program\n",
      sum / 200, parts[10], parts[0], programs / 200);
  EXPECT_GE(sum / 200, 0.97);
  EXPECT_LE(above, 1.0);
}

}  // namespace
}  // namespace allot::testing::needs_test
