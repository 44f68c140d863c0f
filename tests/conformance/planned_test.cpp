// Planned service against scenarios that were solved elsewhere, against a linear program of our own making in
// long double, and against what every optimum of value and of power must satisfy.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/format/scenario_reader.hpp"
#include "allot/solve/solver.hpp"
#include "allot/solve/whatif.hpp"
#include "tests/support/planning.hpp"
#include "tests/support/random_systems.hpp"
#include "tests/support/service_witness.hpp"

namespace allot::planned_test {
namespace {

using testing::has_closed_work;
using testing::planned;
using testing::problem_of;
using testing::random_scenario;
using testing::random_system;
using testing::SystemShape;
using testing::Witness;
using testing::witness_of;

// ---- solved elsewhere

struct SolvedCase {
  std::string name;
  nlohmann::json json;
};

std::vector<SolvedCase> solved_cases() {
  std::vector<SolvedCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(ALLOT_SOURCE_DIR "/tests/cases2")) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    cases.push_back({entry.path().stem().string(), nlohmann::json::parse(file)});
  }
  std::sort(cases.begin(), cases.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return cases;
}

TEST(Planned, HasTheValueOfCasesSolvedElsewhere) {
  int checked = 0;
  for (const SolvedCase& one : solved_cases()) {
    SCOPED_TRACE(one.name);
    const auto scenario = read_scenario_text(one.json.at("scenario").dump(), FileFormat::kJson, one.name);
    ASSERT_TRUE(scenario.has_value()) << scenario.diagnostics().front().message;
    const nlohmann::json& expected = one.json.at("expect");
    const Solution found = planned(problem_of(*scenario));
    if (expected.at("planned").contains("infeasible")) {
      EXPECT_EQ(found.outcome, Outcome::kInfeasible);
      continue;
    }
    const double value = expected.at("planned").at("value").get<double>();
    EXPECT_NEAR(found.performance.value, value, 1e-6 * value);
    EXPECT_TRUE(found.proven_optimal);
    EXPECT_GE(*found.upper_bound, value * (1 - 1e-12));
    if (expected.at("planned").contains("rounds")) {
      const auto rounds = expected.at("planned").at("rounds").get<std::vector<double>>();
      ASSERT_EQ(found.plan.rounds.size(), rounds.size());
    }
    ++checked;
    if (expected.contains("state")) {
      const nlohmann::json& state = expected.at("state");
      const auto rows = state.at("assignment").get<std::vector<std::vector<Count>>>();
      Assignment placed(scenario->system.type_count(), scenario->system.resource_count());
      for (const TaskType i : scenario->system.types()) {
        for (const ResourceId j : scenario->system.resource_ids()) placed(i, j) = rows[index(i)][index(j)];
      }
      const Performance there = evaluate(scenario->system, placed);
      for (const TaskType i : scenario->system.types()) {
        const double x = state.at("throughput_by_task").at(index(i)).get<double>();
        EXPECT_NEAR(there.throughput_by_task[index(i)], x, 1e-9 * (1 + x));
      }
    }
    if (!expected.contains("even") || one.name.starts_with("needs")) continue;
    const double even = expected.at("even").at("value").get<double>();
    for (const char* name : {"exhaustive", "exact"}) {
      const Solution state = solve(*find_solver(name), {scenario->system, Objective::kThroughput});
      EXPECT_NEAR(state.performance.value, even, 1e-9 * even) << name;
      EXPECT_TRUE(state.proven_optimal) << name;
    }
  }
  EXPECT_GT(checked, 18);
}

// ---- the program once more

/// Idle power above the cap is a case of its own: tasks that take less than an idle server could help.
bool cap_is_below_idle(const Scenario& scenario) {
  double idle = 0;
  for (const Resource& resource : scenario.system.resources())
    idle += resource.idle_power * static_cast<double>(resource.servers);
  return scenario.power_cap && *scenario.power_cap < idle;
}

TEST(Planned, HasTheValueOfAProgramWrittenDownAnew) {
  int feasible = 0;
  int infeasible = 0;
  for (std::uint64_t seed = 0; seed < 700; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const Scenario scenario = random_scenario(seed);
    if (!has_closed_work(scenario) || cap_is_below_idle(scenario)) continue;
    const Witness witness = witness_of(scenario);
    const Solution found = planned(problem_of(scenario));
    ASSERT_EQ(found.outcome == Outcome::kInfeasible, !witness.value.has_value()) << found.reason;
    ++(witness.value ? feasible : infeasible);
    if (!witness.value) {
      EXPECT_FALSE(found.plan.conflict.empty());
      continue;
    }
    EXPECT_NEAR(found.performance.value, *witness.value, 1e-6 * *witness.value + 1e-9);
    EXPECT_GE(*found.upper_bound, *witness.value * (1 - 1e-12) - 1e-12);
    EXPECT_TRUE(found.proven_optimal);
  }
  EXPECT_GT(feasible, 400);
  EXPECT_GT(infeasible, 50);
}

TEST(Planned, IsNeverBelowTheBestState) {
  SystemShape shape{.max_types = 3, .max_resources = 3, .max_count = 4, .floors = true, .worths = true};
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, shape);
    const Solution state = solve(*find_solver("exhaustive"), {system, Objective::kThroughput});
    if (state.outcome != Outcome::kOptimal) continue;
    const Solution plan = planned({system, Objective::kThroughput});
    ASSERT_NE(plan.outcome, Outcome::kInfeasible);
    EXPECT_GE(*plan.upper_bound, state.performance.value * (1 - 1e-12));
  }
}

// ---- what optima must satisfy

TEST(Planned, TakesTheLeastPowerThatKeepsThePartAskedFor) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    Scenario scenario = random_scenario(seed);
    scenario.power_cap.reset();
    scenario.arrivals.clear();
    if (!has_closed_work(scenario)) continue;
    const Solution most = planned(problem_of(scenario));
    if (most.outcome == Outcome::kInfeasible || !(most.performance.value > 0)) continue;
    double before = most.plan.mean_power.value();
    for (const double keep : {1.0, 0.9, 0.5}) {
      const Solution found =
          planned(problem_of(scenario, Objective::kEnergy), {.settings = {{"keep", keep}}});
      ASSERT_NE(found.outcome, Outcome::kInfeasible);
      EXPECT_GE(found.performance.value, keep * most.performance.value * (1 - 1e-6));
      EXPECT_LE(found.plan.mean_power.value(), before * (1 + 1e-9));
      EXPECT_NEAR(found.objective_value, found.plan.mean_power.value(), 1e-9 * found.plan.mean_power.value());
      before = found.plan.mean_power.value();
      // No plan with less power keeps as much value.
      Scenario capped = scenario;
      capped.power_cap = found.plan.mean_power.value() * (1 - 1e-4);
      const Solution less = planned(problem_of(capped));
      if (less.outcome != Outcome::kInfeasible && found.plan.mean_power.value() > 1e-3) {
        EXPECT_LT(less.performance.value, keep * most.performance.value * (1 + 1e-9));
      }
    }
  }
}

double largest_need(const System& system, CapacityId r) {
  double largest = 0;
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      for (const Draw& draw : system.needs(i, j)) {
        if (draw.capacity == r) largest = std::max(largest, draw.amount);
      }
    }
  }
  return largest;
}

/// The optimum is concave in each capacity: a price lies between what one unit more adds and what one less
/// takes.
TEST(Planned, PricesAreWhatCapacitiesAdd) {
  int dear = 0;
  int dear_others = 0;  // than servers
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const Scenario scenario = random_scenario(seed);
    if (scenario.power_cap || !has_closed_work(scenario)) continue;  // idle servers take power
    const Solution found = planned(problem_of(scenario));
    if (found.outcome == Outcome::kInfeasible) continue;
    const System& system = scenario.system;
    for (const CapacityId r : system.capacity_ids()) {
      const double price = found.plan.capacities[index(r)].price;
      const double slack = 1e-6 * (1 + found.performance.value);
      const double step = system.is_servers(r) ? 1 : 0.1 * system.amount(r);
      Scenario other = scenario;
      other.system = system.with_amount(r, system.amount(r) + step);
      EXPECT_LE(planned(problem_of(other)).performance.value, found.performance.value + price * step + slack);
      dear += price > slack ? 1 : 0;
      dear_others += price > slack && !system.is_servers(r) ? 1 : 0;
      if (largest_need(system, r) > system.amount(r) - step || !(system.amount(r) > step)) continue;
      other.system = system.with_amount(r, system.amount(r) - step);
      const Solution less = planned(problem_of(other));
      if (less.outcome != Outcome::kInfeasible) {
        EXPECT_LE(price * step, found.performance.value - less.performance.value + slack);
      }
    }
  }
  EXPECT_GT(dear_others, 20);
  EXPECT_GT(dear, 100);
}

TEST(Planned, WhatIfPlansEachChangeAnew) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const Scenario scenario = random_scenario(seed);
    const Problem problem = problem_of(scenario);
    const Solution base = planned(problem);
    if (base.outcome == Outcome::kInfeasible || !(base.objective_value > 0)) continue;
    const WhatIf found = what_if_planned(problem);
    EXPECT_EQ(found.base.objective_value, base.objective_value);
    double before = std::numeric_limits<double>::infinity();
    std::size_t servers = 0;
    std::size_t others = 0;
    for (const Change& change : found.changes) {
      EXPECT_LE(change.gain, before);
      before = change.gain;
      if (!change.capacity) continue;
      ++(change.what == Change::What::kServer ? servers : others);
      Problem other = problem;
      other.system =
          problem.system.with_amount(*change.capacity, problem.system.amount(*change.capacity) + 1);
      EXPECT_EQ(*change.price, base.plan.capacities[index(*change.capacity)].price);
      EXPECT_NEAR(change.gain, planned(other).objective_value / base.objective_value - 1, 1e-9);
      // Idle servers take power, too.
      if (!problem.power_cap) {
        EXPECT_GE(change.gain, -1e-9);
        EXPECT_LE(change.gain * base.objective_value, *change.price + 1e-6 * (1 + base.objective_value));
      }
    }
    if (!problem.power_cap) {
      EXPECT_EQ(servers, problem.system.resource_count());
      EXPECT_EQ(others, problem.system.capacities().size());
    }
  }
}

TEST(Planned, RefusesWhatCannotBeMeant) {
  const System system({{.name = "a"}}, {{.name = "x", .count = 1}}, Rates(1, 1, {1}));
  EXPECT_THROW(planned({system, Objective::kEnergy}, {.settings = {{"keep", 2}}}), InvalidModel);
  EXPECT_THROW(planned({system, Objective::kThroughput}, {.settings = {{"keep", 0.5}}}), InvalidModel);
  const Problem open{
      system.with_counts(std::vector<Count>{0}), Objective::kMaxMin, {}, {{task_type(0), 1.0}}, {}};
  EXPECT_THROW(planned(open), InvalidModel);
  EXPECT_THROW(solve(*find_solver("map"), {system, Objective::kThroughput, {}, {}, 100.0}), InvalidModel);
}

TEST(Planned, AMachineWithoutWorkTakesWhatItTakesWhenIdle) {
  const System system({{.name = "cpu", .servers = 3, .idle_power = 50}}, {{.name = "a"}}, Rates(1, 1, {1.0}));
  const Solution found = planned({system, Objective::kEnergy});
  EXPECT_EQ(found.outcome, Outcome::kOptimal);
  EXPECT_NEAR(found.objective_value, 150, 1e-9);
}

TEST(Planned, TellsWhatRelaxingALimitBrings) {
  const auto scenario = read_scenario_text(
      "[[resources]]\nname = \"cpu\"\n[[tasks]]\nname = \"a\"\ncount = 4\nrates = { cpu = 10.0 }\n"
      "[[tasks]]\nname = \"b\"\ncount = 4\nfloor = 1.0\nrates = { cpu = 2.0 }\n",
      FileFormat::kToml, "floors");
  ASSERT_TRUE(scenario.has_value());
  const Solution found = planned(problem_of(*scenario), {.price_limits = true});
  EXPECT_NEAR(found.performance.value, 6, 1e-9);  // half of the time for b
  ASSERT_EQ(found.plan.limits.size(), 1U);
  EXPECT_EQ(found.plan.limits[0].what, "the floor of 'b'");
  EXPECT_NEAR(found.plan.limits[0].relaxed, 0.4, 1e-9);  // 0.1 of b less is 0.05 s more for a: 0.5
  EXPECT_NEAR(found.plan.capacities[0].price, 10, 1e-9);
  const Solution free =
      planned({scenario->system.with_counts(std::vector<Count>{4, 0}), Objective::kThroughput});
  EXPECT_EQ(free.outcome, Outcome::kInfeasible);  // b has no threads, but a floor
  EXPECT_EQ(free.plan.conflict, std::vector<std::string>{"the floor of 'b'"});
}

}  // namespace
}  // namespace allot::planned_test
