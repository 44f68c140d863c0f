// Even sharing where tasks have needs: against scenarios that were solved elsewhere, and against all states
// of random systems with a filling of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/format/scenario_reader.hpp"
#include "allot/solve/pareto.hpp"
#include "allot/solve/solver.hpp"
#include "allot/solve/whatif.hpp"
#include "tests/support/needs_oracle.hpp"

namespace allot::needs_test {
namespace {

using testing::NeedsOracle;
using testing::NeedsShape;
using testing::random_needs;
using testing::with_limits;

/// Brute force is slow, in long double all the more.
constexpr double kMostStates = 20'000;

Solution found_by(const char* solver, const System& system, Objective objective = Objective::kThroughput) {
  return solve(*find_solver(solver), Problem{system, objective});
}

/// Systems with needs that are small enough, each from the seed that it is shown with.
template <typename Visit>
void for_each_system(int systems, std::uint64_t stream, const NeedsShape& shape, double least_states,
                     Visit&& visit) {
  for (std::uint64_t seed = 0; systems > 0; ++seed) {
    RandomStream random(seed, stream);
    const System system = with_limits(random_needs(random, shape), random);
    const double states = testing::states_of(system);
    if (!system.has_needs() || system.population() == 0 || states < least_states || states > kMostStates)
      continue;
    --systems;
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    visit(system, random);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Needs, TheBestStatesOfCasesSolvedElsewhereAreFound) {
  int checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ALLOT_SOURCE_DIR "/tests/cases2")) {
    if (!entry.path().stem().string().starts_with("needs-")) continue;
    SCOPED_TRACE(entry.path().stem().string());
    std::ifstream file(entry.path());
    const nlohmann::json json = nlohmann::json::parse(file);
    const auto scenario = read_scenario_text(json.at("scenario").dump(), FileFormat::kJson, "case");
    ASSERT_TRUE(scenario.has_value());
    const double value = json.at("expect").at("even").at("value").get<double>();
    EXPECT_NEAR(found_by("exhaustive", scenario->system).performance.value, value, 1e-9 * value);
    for (const char* solver : {"exact", "best"}) {
      const Solution proven = found_by(solver, scenario->system);
      EXPECT_NEAR(proven.performance.value, value, 1e-9 * value);
      EXPECT_GE(*proven.upper_bound, value * (1 - 1e-12));
    }
    EXPECT_GE(found_by("local", scenario->system).performance.value, value * (1 - 2e-3));
    ++checked;
  }
  EXPECT_EQ(checked, 6);
}

/// Gaps to the best state, relative.
struct Gaps {
  double sum = 0;
  double worst = 0;
  int hits = 0;
  int missed = 0;  ///< a floor that can be met
  int systems = 0;
  void add(const Solution& solution, double most) {
    ++systems;
    if (solution.outcome == Outcome::kInfeasible) {
      ++missed;
      return;
    }
    const double gap = most > 0 ? std::max(0.0, 1 - solution.performance.value / most) : 0;
    sum += gap;
    worst = std::max(worst, gap);
    hits += gap < 1e-9;
  }
  double mean() const { return sum / std::max(1, systems - missed); }
  void print(const char* name) const {
    std::printf("%-6s mean gap %.4f%%, worst %.2f%%, optimal in %d of %d, floors missed in %d\n", name,
                100 * mean(), 100 * worst, hits, systems, missed);
  }
};

void expect_near_the_best_of_all_states(std::uint64_t stream, double least_states) {
  Gaps map;
  Gaps local;
  std::vector<double> loose;
  for_each_system(500, stream, {}, least_states, [&](const System& system, RandomStream&) {
    const NeedsOracle oracle(system);
    const std::optional<double> most = oracle.most_value();
    const Solution all = found_by("exhaustive", system);
    const Solution exact = found_by("exact", system);
    if (!most) {
      EXPECT_EQ(all.outcome, Outcome::kInfeasible);
      EXPECT_EQ(exact.outcome, Outcome::kInfeasible);
      return;
    }
    EXPECT_NEAR(all.performance.value, *most, 1e-9 * *most);
    const std::vector<double> by_task = oracle.throughput_by_task(all.assignment);
    for (std::size_t i = 0; i < by_task.size(); ++i)
      EXPECT_NEAR(all.performance.throughput_by_task[i], by_task[i], 1e-9 * by_task[i]);
    ASSERT_TRUE(all.upper_bound && exact.upper_bound);
    EXPECT_EQ(all.proven_optimal, !all.performance.approximate);
    EXPECT_GE(*exact.upper_bound, *most * (1 - 1e-12));
    EXPECT_NEAR(exact.performance.value, *most, 1e-9 * *most);
    EXPECT_LE(*exact.upper_bound, *most * (1 + 1e-9));
    const Solution planned = found_by("planned", system);
    EXPECT_GE(*planned.upper_bound, *most * (1 - 1e-12));
    if (*most > 0) loose.push_back(*planned.upper_bound / *most - 1);
    map.add(found_by("map", system), *most);
    local.add(found_by("local", system), *most);
  });
  map.print("map");
  local.print("local");
  std::sort(loose.begin(), loose.end());
  std::printf("planned service above the best state: %.2f%% in the median, %.1f%% at the 90th percentile\n",
              100 * loose[loose.size() / 2], 100 * loose[loose.size() * 9 / 10]);
  EXPECT_LE(map.mean(), 0.01);
  EXPECT_LE(local.mean(), 0.002);
  EXPECT_LE(map.missed, 10);
  EXPECT_LE(local.missed, 2);
}

TEST(Needs, SolversAreCloseToTheBestOfAllStatesAndNoBoundIsBelowIt) {
  expect_near_the_best_of_all_states(1, 1);
}

// Most random systems have few states. Here is something to choose from.
TEST(Needs, SolversAreCloseToTheBestOfManyStates) { expect_near_the_best_of_all_states(6, 200); }

TEST(Needs, BranchAndPriceIsExactWhereNothingIsJoined) {
  NeedsShape shape;
  shape.joined = false;
  int tables = 0;
  for_each_system(200, 2, shape, 1, [&](const System& system, RandomStream&) {
    ASSERT_FALSE(system.is_joined());
    const Solution all = found_by("exhaustive", system);
    const Solution exact = found_by("exact", system);
    ASSERT_EQ(exact.outcome == Outcome::kInfeasible, all.outcome == Outcome::kInfeasible);
    if (exact.outcome == Outcome::kInfeasible) return;
    EXPECT_NEAR(exact.performance.value, all.performance.value, 1e-9 * all.performance.value);
    EXPECT_NEAR(*exact.upper_bound, all.performance.value, 1e-9 * all.performance.value);
    ++tables;
  });
  EXPECT_GE(tables, 150);
}

/// Resources on which nothing but single servers is drawn become fcfs.
System with_queues(const System& system) {
  std::vector<Resource> machine = system.resources();
  for (const ResourceId j : system.resource_ids()) {
    bool plain = true;
    for (const TaskType i : system.types()) {
      const auto draws = system.needs(i, j);
      plain = plain && (draws.empty() || (draws.size() == 1 && draws.front().amount == 1));
    }
    if (plain) machine[index(j)].discipline = Discipline::kFcfs;
  }
  return system.with_resources(std::move(machine));
}

TEST(Needs, StandBesideQueuesThatTheyDoNotMeet) {
  NeedsShape shape{.extreme = false, .joined = false};
  int queues = 0;
  for_each_system(150, 7, shape, 2, [&](const System& shared, RandomStream&) {
    const System system = with_queues(shared);
    if (system == shared) return;
    ++queues;
    std::optional<double> most;
    NeedsOracle(system).visit([&](const Assignment& state) {
      const Performance here = evaluate(system, state);
      if (floor_shortfall(system, here.throughput_by_task) == 0)
        most = std::max(most.value_or(0), here.value);
    });
    const Solution exact = found_by("exact", system);
    if (!most) {
      EXPECT_EQ(exact.outcome, Outcome::kInfeasible);
      return;
    }
    EXPECT_NEAR(found_by("exhaustive", system).performance.value, *most, 1e-9 * *most);
    EXPECT_NEAR(exact.performance.value, *most, 1e-9 * *most);
    EXPECT_GE(*exact.upper_bound, *most * (1 - 1e-12));
    EXPECT_GE(found_by("local", system).performance.value, *most * 0.9);
  });
  EXPECT_GE(queues, 20);
}

TEST(Needs, PrioritiesAreMatchedAsWellAsEnumerationMatchesThem) {
  double mis = 0;
  double local = 0;
  double least = 0;
  for_each_system(100, 3, {}, 1, [&](const System& system, RandomStream&) {
    if (system.shares().empty() || system.has_floors()) return;
    const Solution all = found_by("exhaustive", system, Objective::kPriority);
    if (!all.performance.priority_error) return;
    // Against the definition, as well.
    const NeedsOracle oracle(system);
    double smallest = 4;
    oracle.visit([&](const Assignment& state) {
      const std::vector<double> by_task = oracle.throughput_by_task(state);
      double x = 0;
      for (const double one : by_task) x += one;
      if (x > 0) smallest = std::min(smallest, priority_error(by_task, x, system.shares()));
    });
    EXPECT_NEAR(*all.performance.priority_error, smallest, 1e-9);
    least += smallest;
    mis += found_by("mis", system, Objective::kPriority).performance.priority_error.value_or(4);
    local += found_by("local", system, Objective::kPriority).performance.priority_error.value_or(4);
  });
  std::printf("sum of priority errors: least %.4f, mis %.4f, local %.4f\n", least, mis, local);
  EXPECT_LE(mis, least * 1.02);
  EXPECT_LE(local, least * 1.005);
}

TEST(Needs, NoStateBeatsAPointOfTheFrontier) {
  for_each_system(40, 4, {}, 1, [&](const System& system, RandomStream&) {
    if (system.shares().empty()) return;
    const ParetoFrontier frontier = pareto(system, 1'000'000);
    const NeedsOracle oracle(system);
    oracle.visit([&](const Assignment& state) {
      const std::vector<double> by_task = oracle.throughput_by_task(state);
      double x = 0;
      for (const double one : by_task) x += one;
      if (!(x > 0) || floor_shortfall(system, by_task) > 0) return;
      const double value = oracle.value(by_task);
      const double error = priority_error(by_task, x, system.shares());
      EXPECT_TRUE(std::any_of(frontier.points.begin(), frontier.points.end(), [&](const ParetoPoint& point) {
        return point.value >= value * (1 - 1e-9) && point.priority_error <= error + 1e-9;
      }));
    });
  });
}

// Far more states than can be looked at: branch and price still says what is best, and how far the rest is.
TEST(Needs, LargerSystemsAreProvenWhereNothingIsJoined) {
  NeedsShape shape{
      .most_types = 4, .most_resources = 4, .most_threads = 12, .extreme = false, .joined = false};
  int proven = 0;
  int systems = 0;
  for (std::uint64_t seed = 0; systems < 25; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed, 5);
    const System system = random_needs(random, shape);
    if (!system.has_needs() || testing::states_of(system) < 1e5) continue;
    ++systems;
    const Solution exact = found_by("exact", system);
    const double value = exact.performance.value;
    EXPECT_GE(*exact.upper_bound, value * (1 - 1e-12));
    EXPECT_LE(*exact.upper_bound, found_by("planned", system).upper_bound.value() * (1 + 1e-9));
    EXPECT_GE(value, found_by("local", system).performance.value * (1 - 1e-12));
    proven += *exact.upper_bound <= value * (1 + 1e-9);
  }
  EXPECT_EQ(proven, systems);
}

/// A GPU whose streams a core feeds.
System fed_gpu(Discipline cores) {
  return System(
      {{.name = "cpu", .servers = 4, .discipline = cores}, {.name = "gpu", .servers = 2}},
      {{.name = "a", .count = 3, .priority = 1, .needs = {{ResourceId{1}, servers_of(ResourceId{0}), 1}}}},
      Rates(1, 2, {1, 5}));
}

TEST(Needs, AreRefusedWhereTheyMeetFcfsByAllThatShareEvenly) {
  const System system = fed_gpu(Discipline::kFcfs);
  const auto expect_refusal = [](auto&& ask) {
    try {
      ask();
      ADD_FAILURE() << "taken";
    } catch (const InvalidModel& refused) {
      EXPECT_THAT(refused.what(), ::testing::HasSubstr("'cpu' is fcfs"));
    }
  };
  for (const SolverInfo* solver : builtin_solvers()) {
    SCOPED_TRACE(solver->name);
    const Objective objective =
        supports(*solver, Objective::kThroughput) ? Objective::kThroughput : Objective::kPriority;
    if (solver->plans_service) {
      EXPECT_GT(solve(*solver, Problem{system, objective}).performance.value, 0);
    } else {
      expect_refusal([&] { solve(*solver, Problem{system, objective}); });
    }
  }
  expect_refusal([&] { pareto(system, 10); });
  expect_refusal([&] { what_if(system); });
}

TEST(Needs, SolversWithoutAFormForThemSayWhatToUse) {
  const System system = fed_gpu(Discipline::kPs);
  for (const SolverInfo* solver : builtin_solvers()) {
    SCOPED_TRACE(solver->name);
    const Objective objective =
        supports(*solver, Objective::kThroughput) ? Objective::kThroughput : Objective::kPriority;
    if (solver->instead_with_needs.empty()) {
      const Solution solution = solve(*solver, Problem{system, objective});
      EXPECT_GT(solution.performance.value, 0);
    } else {
      EXPECT_THROW(solve(*solver, Problem{system, objective}), InvalidModel);
    }
  }
  SolveOptions options;
  options.keep_proof = true;
  EXPECT_THROW(solve(*find_solver("exact"), Problem{system}, options), InvalidModel);
}

TEST(Needs, WhatLumpyNeedsLeaveInServiceIsMarkedAndNotCalledProven) {
  // 41 of 80 GB each: one fits, where levels say 1.95.
  const System system({{.name = "gpu", .servers = 4}},
                      {{.name = "a", .count = 2, .needs = {{ResourceId{0}, capacity_id(1), 41}}}},
                      Rates(1, 1, {1}), {{.name = "memory", .amount = 80}});
  for (const char* solver : {"exact", "best", "exhaustive"}) {
    SCOPED_TRACE(solver);
    const Solution solution = found_by(solver, system);
    EXPECT_NEAR(solution.performance.value, 80.0 / 41, 1e-12);
    EXPECT_TRUE(solution.performance.approximate);
    EXPECT_FALSE(solution.proven_optimal);
    EXPECT_NEAR(*solution.upper_bound, 80.0 / 41, 1e-9);
    EXPECT_THAT(solution.reason, ::testing::HasSubstr("fractions of tasks"));
  }
}

}  // namespace
}  // namespace allot::needs_test
