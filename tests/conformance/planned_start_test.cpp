// Planning again from the former basis gives what planning anew gives, whatever has changed; and what is
// stopped early is feasible, with a true bound.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <vector>

#include "allot/model/generate.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/planning.hpp"
#include "tests/support/service_witness.hpp"

namespace allot::planned_start_test {
namespace {

using testing::planned;
using testing::random_scenario;

constexpr Objective kObjectives[] = {Objective::kThroughput, Objective::kPriority, Objective::kMaxMin,
                                     Objective::kProportional, Objective::kEnergy};

/// Rates, counts, worths and floors a little different.
Scenario drifted(const Scenario& scenario, std::uint64_t seed) {
  RandomStream random(seed, 0xd7);
  const System& system = scenario.system;
  std::vector<TaskClass> tasks = system.tasks();
  std::vector<double> rates;
  for (const TaskType i : system.types()) {
    TaskClass& task = tasks[index(i)];
    if (task.count > 0 && random.below(3) == 0) ++task.count;
    if (scenario.threads.empty()) task.worth *= random.uniform(0.9, 1.1);
    if (task.floor) *task.floor *= random.uniform(0.8, 1.05);
    for (const ResourceId j : system.resource_ids())
      rates.push_back(system.rate(i, j) * random.uniform(0.9, 1.1));
  }
  Scenario out = scenario;
  out.system =
      System(system.resources(), std::move(tasks),
             Rates(system.type_count(), system.resource_count(), std::move(rates)), system.capacities());
  return out;
}

TEST(PlannedStart, PlanningAgainGivesWhatPlanningAnewGives) {
  int compared = 0;
  int infeasible = 0;
  for (const Objective objective : kObjectives) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      SCOPED_TRACE(::testing::Message() << to_string(objective) << " seed=" << seed);
      Scenario scenario = random_scenario(seed);
      if (objective == Objective::kPriority && scenario.system.shares().empty()) continue;
      if (scenario.system.population() == 0 && scenario.threads.empty()) continue;
      SolveOptions warm;
      warm.plan_basis = std::make_shared<PlanBasis>();
      for (std::uint64_t step = 0; step < 4; ++step) {
        const Problem problem = planned_problem(scenario, objective);
        const Solution again = planned(problem, warm);
        const Solution anew = planned(problem);
        ASSERT_EQ(again.outcome == Outcome::kInfeasible, anew.outcome == Outcome::kInfeasible)
            << again.reason;
        if (anew.outcome == Outcome::kInfeasible) {
          ++infeasible;
        } else {
          EXPECT_NEAR(again.objective_value, anew.objective_value,
                      1e-6 * (1 + std::abs(anew.objective_value)));
          EXPECT_EQ(again.proven_optimal, anew.proven_optimal);
          ++compared;
        }
        scenario = drifted(scenario, 10 * seed + step);
      }
    }
  }
  EXPECT_GT(compared, 1000);
  EXPECT_GT(infeasible, 100);
}

/// A basis of another problem, or of none, is no harm.
TEST(PlannedStart, ABasisThatDoesNotFitIsIgnored) {
  SolveOptions warm;
  warm.plan_basis = std::make_shared<PlanBasis>();
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Scenario scenario = random_scenario(seed);
    if (scenario.system.population() == 0 && scenario.threads.empty()) continue;
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    if (seed % 7 == 0) std::fill(warm.plan_basis->states.begin(), warm.plan_basis->states.end(), 1);
    const Problem problem = planned_problem(scenario, Objective::kThroughput);
    const Solution again = planned(problem, warm);
    const Solution anew = planned(problem);
    ASSERT_EQ(again.outcome, anew.outcome);
    EXPECT_NEAR(again.objective_value, anew.objective_value, 1e-7 * (1 + std::abs(anew.objective_value)));
  }
}

/// Equal rates everywhere: most steps of the simplex method change nothing.
TEST(PlannedStart, TiesAreNoTrouble) {
  const std::size_t size = 40;
  std::vector<Resource> resources(size);
  std::vector<TaskClass> tasks(size);
  for (std::size_t at = 0; at < size; ++at) {
    resources[at].name = "r" + std::to_string(at);
    resources[at].servers = 2;
    tasks[at].name = "t" + std::to_string(at);
    tasks[at].count = 2;
  }
  SolveOptions warm;
  warm.plan_basis = std::make_shared<PlanBasis>();
  for (int step = 0; step < 3; ++step) {
    const System system(resources, tasks, Rates(size, size, std::vector<double>(size * size, 3.0)));
    const Solution found = planned({system, Objective::kThroughput}, warm);
    EXPECT_TRUE(found.proven_optimal);
    double most = 0;
    for (const TaskClass& task : tasks) most += 3.0 * static_cast<double>(task.count);
    EXPECT_NEAR(found.objective_value, std::min(most, 240.0), 1e-6);
    --tasks[0].count;
  }
}

TEST(PlannedStart, StoppedEarlyItKeepsEveryRowAndBoundsTheOptimum) {
  const Scenario scenario = generate({.general = 40, .specialized = 10, .threads = 800, .seed = 5});
  const Problem problem{scenario.system, Objective::kThroughput};
  const Solution best = planned(problem);
  ASSERT_TRUE(best.proven_optimal);
  StopFlag flag{true};
  for (const int microseconds : {-1, 0, 100, 300, 1000, 3000}) {  // -1: the flag
    SolveOptions options;
    if (microseconds < 0) {
      options.stop.flag = &flag;
    } else {
      options.stop.deadline = Clock::now() + std::chrono::microseconds(microseconds);
    }
    const Solution found = planned(problem, options);
    if (microseconds < 0) {
      EXPECT_EQ(found.outcome, Outcome::kInterrupted);
    }
    if (found.outcome == Outcome::kOptimal) continue;
    EXPECT_FALSE(found.proven_optimal);
    ASSERT_TRUE(found.upper_bound.has_value());
    EXPECT_GE(*found.upper_bound, best.objective_value * (1 - 1e-9));
    EXPECT_LE(found.performance.value, best.objective_value * (1 + 1e-9));
    for (const ResourceId j : scenario.system.resource_ids()) {
      double used = 0;
      for (const TaskType i : scenario.system.types())
        used += found.time_shares[index(i) * scenario.system.resource_count() + index(j)];
      EXPECT_LE(used, static_cast<double>(scenario.system.resource(j).servers) * (1 + 1e-6));
    }
  }
}

}  // namespace
}  // namespace allot::planned_start_test
