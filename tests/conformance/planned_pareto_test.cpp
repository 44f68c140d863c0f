// The frontier of planned service against the tests' own linear program, and against what every frontier must
// be.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/solve/pareto.hpp"
#include "allot/solve/solution_json.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/random_systems.hpp"
#include "tests/support/service_witness.hpp"

namespace allot::planned_pareto_test {
namespace {

using testing::random_scenario;
using testing::random_system;
using testing::SystemShape;
using testing::witness_of;

bool has_threads(const Scenario& scenario) {
  return scenario.system.population() > 0 || !scenario.threads.empty();
}

ParetoFrontier frontier_of(const Scenario& scenario, std::size_t points = 8) {
  return pareto_planned(planned_problem(scenario, Objective::kThroughput), points);
}

/// The scenario with its types required to complete at least so much.
Scenario with_floors(const Scenario& scenario, const std::vector<double>& least,
                     const std::vector<double>& worths) {
  Scenario out = scenario;
  std::vector<TaskClass> tasks = scenario.system.tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].floor = std::max(tasks[i].floor.value_or(0), least[i]);
    if (!worths.empty()) tasks[i].worth = worths[i];
  }
  out.system = scenario.system.with_tasks(std::move(tasks));
  return out;
}

TEST(PlannedPareto, BeginsAtTheMostValueAndFallsInBoth) {
  int proven = 0;
  int several = 0;
  int staged = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const Scenario scenario = random_scenario(seed);
    if (!has_threads(scenario) || scenario.power_cap) continue;
    const ParetoFrontier frontier = frontier_of(scenario);
    const auto most = witness_of(scenario).value;
    ASSERT_EQ(frontier.outcome == Outcome::kInfeasible, !most.has_value());
    if (!most) continue;
    ASSERT_FALSE(frontier.points.empty());
    EXPECT_NEAR(frontier.points.front().value, *most, 1e-6 * *most + 1e-9);
    EXPECT_LE(frontier.points.size(), 8u);
    for (std::size_t at = 1; at < frontier.points.size(); ++at) {
      EXPECT_LT(frontier.points[at].value, frontier.points[at - 1].value);
      EXPECT_LT(frontier.points[at].priority_error, frontier.points[at - 1].priority_error);
    }
    proven += frontier.exhaustive ? 1 : 0;
    several += frontier.points.size() > 2 ? 1 : 0;
    staged += !scenario.threads.empty() && frontier.points.size() > 2 ? 1 : 0;
  }
  EXPECT_GT(proven, 120);
  EXPECT_GT(several, 50);
  EXPECT_GT(staged, 5);
}

/// Without priorities: at the value of a point, nobody can give the least served more. By the tests' program:
/// with everybody at a level a little above, less value is left.
TEST(PlannedPareto, GivesTheLeastServedTheMostThatAValueLeaves) {
  int checked = 0;
  for (std::uint64_t seed = 1; seed < 200; seed += 2) {  // odd seeds have no priorities
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    Scenario scenario = random_scenario(seed);
    if (scenario.system.population() == 0 || !scenario.threads.empty() || scenario.power_cap) continue;
    const ParetoFrontier frontier = frontier_of(scenario, 4);
    EXPECT_FALSE(frontier.has_priorities);
    for (const ParetoPoint& point : frontier.points) {
      std::vector<double> least;
      std::vector<double> below;
      for (const TaskClass& task : scenario.system.tasks()) {
        least.push_back(task.count > 0 ? point.least_served * (1 + 1e-3) + 1e-4 : 0.0);
        below.push_back(task.count > 0 ? point.least_served * (1 - 1e-7) : 0.0);
      }
      if (scenario.arrivals
              .empty()) {  // a floor counts all completions of a type, the level its threads' alone
        const auto more = witness_of(with_floors(scenario, least, {})).value;
        EXPECT_LT(more.value_or(-1), point.value * (1 + 1e-9));
        const auto same = witness_of(with_floors(scenario, below, {})).value;
        ASSERT_TRUE(same.has_value());
        EXPECT_GE(*same, point.value * (1 - 1e-6));
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 60);
}

/// From a point on towards plans that give more to types below their shares: where the value stays, the error
/// does not fall. As the set of plans is convex, that would show any better one nearby.
TEST(PlannedPareto, NoPlanWithAsMuchValueIsCloserToTheShares) {
  int checked = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    SystemShape shape{.min_types = 2, .max_count = 6, .priorities = true, .worths = true};
    const System system = random_system(seed, shape);
    if (system.population() == 0) continue;
    Scenario scenario{"", system, {}, {}, {}, {}, {}};
    const ParetoFrontier frontier = frontier_of(scenario, 5);
    for (const ParetoPoint& point : frontier.points) {
      const Performance performance = evaluate_time_shares(system, point.time_shares);
      EXPECT_NEAR(performance.value, point.value, 1e-9 * (1 + point.value));
      EXPECT_NEAR(*performance.priority_error, point.priority_error, 1e-12);
      if (performance.shares.empty()) continue;  // nothing completes
      // Random plans of as much value: the vertices of random directions, mixed with the point.
      RandomStream random(seed, 7);
      for (int direction = 0; direction < 6; ++direction) {
        Scenario other = scenario;
        std::vector<double> worths;
        for (std::size_t i = 0; i < system.type_count(); ++i)
          worths.push_back(system.shares()[i] > performance.shares[i] ? random.uniform(0.5, 3)
                                                                      : random.uniform(0, 0.3));
        other.system = system.with_worths(worths);
        const Solution vertex = solve(*find_solver("planned"), {other.system, Objective::kThroughput});
        for (const double part : {1.0, 0.3, 0.03, 0.003}) {
          std::vector<double> mixed = point.time_shares;
          for (std::size_t at = 0; at < mixed.size(); ++at)
            mixed[at] += part * (vertex.time_shares[at] - mixed[at]);
          const Performance found = evaluate_time_shares(system, mixed);
          if (found.value < point.value || !found.priority_error) continue;
          EXPECT_GE(*found.priority_error, point.priority_error * (1 - 1e-4) - 1e-9);
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 150);
}

TEST(PlannedPareto, EndsWithExactSharesWhereTheyCanBeHad) {
  int exact = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    SystemShape shape{.min_types = 2, .max_count = 6, .priorities = true, .worths = true};
    const System system = random_system(seed, shape);
    if (system.population() == 0) continue;
    const Solution shares = solve(*find_solver("planned"), {system, Objective::kPriority});
    if (!(shares.performance.throughput > 1e-3)) continue;
    const ParetoFrontier frontier = pareto_planned({system, Objective::kThroughput}, 6);
    EXPECT_LT(frontier.points.back().priority_error, 1e-6);
    EXPECT_GE(frontier.points.back().value, shares.performance.value * (1 - 1e-6));
    ++exact;
  }
  EXPECT_GT(exact, 20);
}

/// Group 1 has all of the value and none of the shares: the fairest plan leaves next to nothing of the value.
TEST(PlannedPareto, EndsWhereNothingIsLeftOfTheValue) {
  Scenario scenario{
      "",
      System({{.name = "cpu"}}, {{.name = "a", .priority = 1.0}, {.name = "b", .priority = 0.0}},
             Rates(2, 1, {10.0, 10.0})),
      {},
      {},
      {},
      {},
      {}};
  scenario.threads = {{2, {task_type(1)}}, {2, {task_type(1), task_type(0)}, 0.0}};
  const ParetoFrontier frontier = frontier_of(scenario, 20);
  ASSERT_EQ(frontier.points.size(), 20u);
  for (const ParetoPoint& point : frontier.points) {
    EXPECT_TRUE(std::isfinite(point.value) && std::isfinite(point.throughput));
    // Value v leaves (10 - v) / 2 rounds of group 2, and so this share of a.
    const double a = (10 - point.value) / 20;
    EXPECT_NEAR(point.priority_error, 2 * (1 - a) * (1 - a), 1e-3);
  }
  EXPECT_NEAR(frontier.points.back().priority_error, 0.5, 1e-4);
  const std::string json = pareto_json(scenario.system, frontier, nullptr);
  EXPECT_NE(json.find("\"assignment\": null"), std::string::npos);
  EXPECT_EQ(json.find("nan"), std::string::npos);
}

/// No priorities in odd seeds; worths and rates many powers of ten apart.
TEST(PlannedPareto, PointsAreNumbersWhateverTheScenario) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    Scenario scenario = random_scenario(seed);
    if (!has_threads(scenario)) continue;
    RandomStream random(seed, 0x9a);
    for (ThreadGroup& group : scenario.threads) group.worth *= random.below(2) == 0 ? 0 : 1e6;
    std::vector<double> worths;
    for (std::size_t i = 0; i < scenario.system.type_count(); ++i)
      worths.push_back(random.below(3) == 0 ? 0 : std::pow(10.0, random.uniform(-6, 6)));
    if (scenario.threads.empty()) scenario.system = scenario.system.with_worths(worths);
    const ParetoFrontier frontier = frontier_of(scenario);
    for (const ParetoPoint& point : frontier.points) {
      EXPECT_TRUE(std::isfinite(point.value) && std::isfinite(point.throughput) &&
                  std::isfinite(point.priority_error) && std::isfinite(point.least_served));
      const System& system = scenario.system;
      std::vector<double> used(system.capacity_count(), 0.0);
      for (std::size_t at = 0; at < point.time_shares.size(); ++at) {
        const auto [i, j] = std::div(static_cast<long>(at), static_cast<long>(system.resource_count()));
        for (const Draw& draw :
             system.needs(task_type(static_cast<std::size_t>(i)), resource_id(static_cast<std::size_t>(j))))
          used[index(draw.capacity)] += draw.amount * point.time_shares[at];
      }
      for (const CapacityId r : system.capacity_ids())
        EXPECT_LE(used[index(r)], system.amount(r) * (1 + 1e-3));
    }
  }
}

TEST(PlannedPareto, RefusesWhereNothingHasThreads) {
  const System system({{.name = "r"}}, {{.name = "t"}}, Rates(1, 1, {1.0}));
  EXPECT_THROW(pareto_planned({system, Objective::kThroughput}, 5), InvalidModel);
}

TEST(PlannedPareto, StopsWhenItMust) {
  const Scenario scenario = random_scenario(2);
  StopFlag flag{true};
  SolveOptions options;
  options.stop.flag = &flag;
  const ParetoFrontier frontier =
      pareto_planned(planned_problem(scenario, Objective::kThroughput), 8, options);
  EXPECT_EQ(frontier.outcome, Outcome::kInterrupted);
  EXPECT_FALSE(frontier.exhaustive);
}

}  // namespace
}  // namespace allot::planned_pareto_test
