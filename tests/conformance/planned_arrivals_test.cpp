// Planned service where tasks arrive: as many complete as arrive, and limits hold at that load.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allot/format/scenario_reader.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/planning.hpp"

namespace allot::planned_arrivals_test {
namespace {

using testing::planned;
using testing::problem_of;

TEST(Planned, SaysHowMuchOfTheArrivalsCanBeCarried) {
  const auto scenario = read_scenario_text(
      "[[resources]]\nname = \"cpu\"\nservers = 2\n[[tasks]]\nname = \"a\"\nworth = 3\nrates = { cpu = 2.0 "
      "}\n"
      "[[tasks]]\nname = \"b\"\nrates = { cpu = 1.0 }\n"
      "[[arrivals]]\ntask = \"a\"\nrate = 1.0\n[[arrivals]]\ntask = \"b\"\nrate = 0.5\n",
      FileFormat::kToml, "open");
  ASSERT_TRUE(scenario.has_value());
  const Solution found = planned(problem_of(*scenario));
  EXPECT_NEAR(found.plan.headroom.value(), 2.0, 1e-9);  // the load keeps 1 of 2 servers busy
  EXPECT_NEAR(found.performance.value, 3.5, 1e-9);
  EXPECT_NEAR(found.plan.capacities[0].used, 1.0, 1e-9);
}

/// 4 servers of 10 tasks/s each: 1 a/s arrives, b has 4 threads.
Scenario with_arrivals(const std::string& limits_of_a, double rate) {
  const auto scenario = read_scenario_text(
      "[[resources]]\nname = \"cpu\"\nservers = 4\n"
      "[[tasks]]\nname = \"a\"\npriority = 1\nrates = { cpu = 10.0 }\n" +
          limits_of_a +
          "[[tasks]]\nname = \"b\"\ncount = 4\npriority = 1\nrates = { cpu = 10.0 }\n"
          "[[arrivals]]\ntask = \"a\"\nrate = " +
          std::to_string(rate) + "\n",
      FileFormat::kToml, "arrivals");
  return scenario.value();
}

TEST(Planned, CompletesOfArrivalsWhatArrivesAndNoMore) {
  for (const Objective objective : {Objective::kThroughput, Objective::kPriority, Objective::kMaxMin,
                                    Objective::kProportional, Objective::kEnergy}) {
    SCOPED_TRACE(to_string(objective));
    const Scenario scenario = with_arrivals("", 1);
    const Solution found = planned(planned_problem(scenario, objective));
    EXPECT_NEAR(found.performance.throughput_by_task[0], 1, 1e-8);
    EXPECT_TRUE(found.proven_optimal);
  }
  const Solution shares = planned(planned_problem(with_arrivals("", 1), Objective::kPriority));
  EXPECT_NEAR(shares.objective_value, 2, 1e-8);  // as many of b as of a
  // A floor that arrivals keep, and one that they cannot.
  EXPECT_EQ(planned(problem_of(with_arrivals("floor = 1\n", 1))).outcome, Outcome::kOptimal);
  const Solution floor = planned(problem_of(with_arrivals("floor = 10\n", 1)));
  EXPECT_EQ(floor.outcome, Outcome::kInfeasible);
  EXPECT_EQ(floor.plan.conflict, std::vector<std::string>{"the floor of 'a'"});
  EXPECT_NE(floor.reason.find("more than the 1.0 tasks/s that arrive"), std::string::npos) << floor.reason;
  const Solution nothing = planned(problem_of(with_arrivals("", 0)));
  EXPECT_EQ(nothing.performance.throughput_by_task[0], 0);
}

TEST(Planned, WithNothingButArrivalsLimitsHoldAtTheLoadItself) {
  const auto with = [](const std::string& limits_of_a, const std::string& head) {
    return read_scenario_text(head +
                                  "[[resources]]\nname = \"cpu\"\nservers = 2\nidle_power = 20\npower = 5\n"
                                  "[[tasks]]\nname = \"a\"\nrates = { cpu = 10.0 }\n" +
                                  limits_of_a + "[[arrivals]]\ntask = \"a\"\nrate = 1\n",
                              FileFormat::kToml, "open")
        .value();
  };
  EXPECT_NEAR(planned(problem_of(with("floor = 1\n", ""))).plan.headroom.value(), 20, 1e-8);
  const Solution floor = planned(problem_of(with("floor = 10\n", "")));
  EXPECT_EQ(floor.outcome, Outcome::kInfeasible);
  EXPECT_EQ(floor.plan.conflict, std::vector<std::string>{"the floor of 'a'"});
  // Idle servers take more than those at work: 40 W, at the load 38.5 W, at twenty times the load 10 W.
  EXPECT_EQ(planned(problem_of(with("", "power_cap = 39\n"))).outcome, Outcome::kOptimal);
  const Solution capped = planned(problem_of(with("", "power_cap = 30\n")));
  EXPECT_EQ(capped.outcome, Outcome::kInfeasible);
  EXPECT_EQ(capped.plan.conflict, std::vector<std::string>{"the power_cap"});
}

}  // namespace
}  // namespace allot::planned_arrivals_test
