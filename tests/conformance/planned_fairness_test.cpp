// Planned service with the objectives max-min, proportional and priority: what every optimum of them must
// satisfy.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "allot/format/scenario_reader.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/planning.hpp"
#include "tests/support/random_systems.hpp"
#include "tests/support/service_witness.hpp"

namespace allot::planned_fairness_test {
namespace {

using testing::planned;
using testing::problem_of;
using testing::random_system;
using testing::SystemShape;
using testing::with_random_needs;
using testing::witness_of;

/// The most of sum of weights times X_i over all plans, where X_i >= least_i. Counts and servers only.
double most_of(const System& system, const std::vector<double>& weights, const std::vector<double>& least) {
  std::vector<TaskClass> tasks = system.tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].worth = weights[i];
    tasks[i].floor = least[i];
    tasks[i].max_response.reset();
  }
  Scenario scenario{"", system.with_tasks(std::move(tasks)), {}, {}, {}, {}, {}};
  return witness_of(scenario).value.value_or(-1);
}

std::vector<double> weights_of(const System& system) {
  std::vector<double> weights;
  for (const TaskClass& task : system.tasks())
    weights.push_back(task.count == 0 ? 0.0 : task.priority.value_or(1));
  return weights;
}

System plain_system(std::uint64_t seed) {
  SystemShape shape{
      .min_types = 2, .max_count = 6, .priorities = seed % 2 == 0, .zero_priorities = seed % 4 == 0};
  const System system = random_system(seed, shape);
  RandomStream random(seed, 0x9a9);
  // What rounding gives up of one type must not be much for another.
  return random.below(2) == 0 ? with_random_needs(system, random, false) : system;
}

TEST(Planned, MaxMinGivesNobodyMoreAtTheExpenseOfWhoHasLess) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = plain_system(seed);
    if (system.population() == 0) continue;
    const Solution found = planned({system, Objective::kMaxMin});
    ASSERT_EQ(found.outcome, Outcome::kOptimal) << found.reason;
    const std::vector<double>& x = found.performance.throughput_by_task;
    const std::vector<double> weights = weights_of(system);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!(weights[i] > 0)) continue;
      // Whoever has no more than i keeps what it has: then i cannot have more.
      std::vector<double> least(x.size(), 0.0);
      for (std::size_t k = 0; k < x.size(); ++k) {
        if (weights[k] > 0 && x[k] / weights[k] <= x[i] / weights[i] * (1 + 1e-6))
          least[k] = x[k] * (1 - 1e-8);
      }
      std::vector<double> wanted(x.size(), 0.0);
      wanted[i] = 1;
      EXPECT_LE(most_of(system, wanted, least), x[i] * (1 + 1e-5) + 1e-9) << "type " << i;
    }
  }
}

TEST(Planned, ProportionalFairnessIsProvenToAPartInTenMillion) {
  int checked = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = plain_system(seed);
    const std::vector<double> weights = weights_of(system);
    double sum = 0;
    for (const double weight : weights) sum += weight;
    if (!(sum > 0)) continue;
    const Solution found = planned({system, Objective::kProportional});
    ASSERT_TRUE(found.proven_optimal) << found.objective_value << " " << *found.objective_bound;
    double logarithms = 0;
    std::vector<double> gradient(weights.size(), 0.0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!(weights[i] > 0)) continue;
      logarithms += weights[i] * std::log(found.performance.throughput_by_task[i]);
      gradient[i] = weights[i] / found.performance.throughput_by_task[i];
    }
    EXPECT_NEAR(found.objective_value, logarithms, 1e-9 * (1 + std::abs(logarithms)));
    // Along no direction does the sum of logarithms rise: sum of p_i X'_i / X_i <= sum of p_i for all plans.
    EXPECT_LE(most_of(system, gradient, std::vector<double>(weights.size(), 0.0)), sum * (1 + 5e-3));
    ++checked;
  }
  EXPECT_GT(checked, 100);
}

TEST(Planned, KeepsSharesExactly) {
  for (std::uint64_t seed = 0; seed < 150; seed += 2) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = plain_system(seed);
    const Solution found = planned({system, Objective::kPriority});
    const double x = found.performance.throughput;
    if (!(x > 0)) continue;
    EXPECT_LT(*found.performance.priority_error, 1e-14);
    if (system.has_needs()) continue;
    // Whole numbers of threads cannot do better.
    const Solution weighted = solve(*find_solver("weighted"), {system, Objective::kPriority});
    if (weighted.outcome == Outcome::kOptimal) {
      EXPECT_LE(weighted.performance.throughput, *found.objective_bound * (1 + 1e-9));
    }
  }
}

TEST(Planned, FairnessAmongNobodyLeavesTheValue) {
  const auto scenario = read_scenario_text(
      "[[resources]]\nname = \"cpu\"\nservers = 2\n"
      "[[tasks]]\nname = \"a\"\ncount = 3\npriority = 0\nrates = { cpu = 10.0 }\n"
      "[[tasks]]\nname = \"b\"\npriority = 1\nrates = { cpu = 10.0 }\n"
      "[[arrivals]]\ntask = \"b\"\nrate = 1\n",
      FileFormat::kToml, "nobody");
  ASSERT_TRUE(scenario.has_value());
  for (const Objective objective : {Objective::kMaxMin, Objective::kProportional}) {
    const Solution found = planned(planned_problem(*scenario, objective));
    EXPECT_NEAR(found.performance.throughput_by_task[0], 19, 1e-8);
    EXPECT_NEAR(found.performance.throughput_by_task[1], 1, 1e-8);
    EXPECT_NEAR(found.plan.capacities[0].price, 10, 1e-8);
    EXPECT_NEAR(found.plan.headroom.value(), 20, 1e-8);
  }
}

TEST(Planned, MaxMinRaisesTheLeastHoweverFarApartRatesLie) {
  for (const double quick : {1e3, 1e6, 1e8, 1e9, 1e10, 1e12}) {
    SCOPED_TRACE(quick);
    const System system({{.name = "cpu"}, {.name = "gpu"}},
                        {{.name = "slow", .count = 4}, {.name = "quick", .count = 4}},
                        Rates(2, 2, {0.01, 0, 10, quick}));
    const Solution found = planned({system, Objective::kMaxMin});
    EXPECT_TRUE(found.proven_optimal) << found.reason;
    EXPECT_NEAR(found.performance.throughput_by_task[0], 0.01, 1e-10);
    EXPECT_NEAR(found.performance.throughput_by_task[1], quick, 1e-6 * quick);
  }
}

TEST(Planned, SaysThatAFloorCannotBeMetBecauseOfTheShares) {
  const auto scenario = read_scenario_text(
      "[[resources]]\nname = \"cpu\"\n"
      "[[tasks]]\nname = \"a\"\ncount = 2\npriority = 1\nfloor = 6\nrates = { cpu = 10.0 }\n"
      "[[tasks]]\nname = \"b\"\ncount = 2\npriority = 1\nrates = { cpu = 10.0 }\n",
      FileFormat::kToml, "shares");
  ASSERT_TRUE(scenario.has_value());
  EXPECT_EQ(planned(problem_of(*scenario)).outcome, Outcome::kOptimal);
  const Solution found = planned(planned_problem(*scenario, Objective::kPriority));
  EXPECT_EQ(found.outcome, Outcome::kInfeasible);
  EXPECT_EQ(found.reason,
            "the floor of 'a' (6.0 tasks/s) cannot be met while the shares are matched: "
            "at most 5 tasks/s");
}

}  // namespace
}  // namespace allot::planned_fairness_test
