// Limits that cannot be met together: each set is irreducible, no two have a limit in common, and without all
// of them there is a plan.
#include "allot/solve/detail/limit_conflict.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "allot/format/scenario_reader.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/planning.hpp"
#include "tests/support/service_witness.hpp"

namespace allot {
namespace {

using testing::has_closed_work;
using testing::planned;
using testing::problem_of;
using testing::random_scenario;

/// The scenario with none of its limits but those that are named.
Scenario with_limits(const Scenario& scenario, const std::vector<std::string>& names) {
  const auto keeps = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  Scenario out = scenario;
  std::vector<TaskClass> tasks = scenario.system.tasks();
  for (TaskClass& task : tasks) {
    if (!keeps("the floor of '" + task.name + "'")) task.floor.reset();
    if (!keeps("the max_response of '" + task.name + "'")) task.max_response.reset();
  }
  for (std::size_t k = 0; k < out.threads.size(); ++k) {
    if (!keeps("the max_response of group " + std::to_string(k + 1) + " of threads"))
      out.threads[k].max_response.reset();
  }
  if (!keeps("the power_cap")) out.power_cap.reset();
  if (!keeps("the arrivals")) out.arrivals.clear();
  out.system = scenario.system.with_tasks(std::move(tasks));
  return out;
}

/// Without arrivals, floors that they were to meet cannot be met: no limit that could be given up alone.
bool needs_arrivals(const Scenario& scenario, const std::vector<std::string>& names) {
  return std::any_of(scenario.arrivals.begin(), scenario.arrivals.end(), [&](const Arrivals& stream) {
    const std::string floor = "the floor of '" + scenario.system.task(stream.task).name + "'";
    return std::find(names.begin(), names.end(), floor) != names.end();
  });
}

TEST(LimitConflict, HoldsLimitsThatCannotHoldTogetherAndNoneTooMany) {
  int conflicts = 0;
  int joint = 0;
  for (std::uint64_t seed = 0; seed < 700; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const Scenario scenario = random_scenario(seed);
    if (!has_closed_work(scenario)) continue;
    const Solution found = planned(problem_of(scenario));
    if (found.outcome != Outcome::kInfeasible) continue;
    ++conflicts;
    const std::vector<std::string>& named = found.plan.conflict;
    joint += named.size() > 1 ? 1 : 0;
    EXPECT_EQ(planned(problem_of(with_limits(scenario, named))).outcome, Outcome::kInfeasible)
        << found.reason;
    for (std::size_t out = 0; out < named.size() && !needs_arrivals(scenario, named); ++out) {
      std::vector<std::string> others = named;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(out));
      EXPECT_NE(planned(problem_of(with_limits(scenario, others))).outcome, Outcome::kInfeasible)
          << found.reason << " without " << named[out];
    }
  }
  EXPECT_GT(conflicts, 50);
  EXPECT_GT(joint, 10);
}

/// The scenario with another amount of one of its limits.
Scenario with_amount(const Scenario& scenario, const PlanLimit& limit, double amount) {
  Scenario out = scenario;
  std::vector<TaskClass> tasks = scenario.system.tasks();
  switch (limit.kind) {
    case PlanLimit::Kind::kFloor:
      tasks[limit.at].floor = amount;
      break;
    case PlanLimit::Kind::kResponse:
      tasks[limit.at].max_response = amount;
      break;
    case PlanLimit::Kind::kRoundResponse:
      out.threads[limit.at].max_response = amount;
      break;
    case PlanLimit::Kind::kPower:
      out.power_cap = amount;
      break;
    case PlanLimit::Kind::kArrivals:
      break;
  }
  out.system = scenario.system.with_tasks(std::move(tasks));
  return out;
}

TEST(LimitConflict, IsFoundOneAfterTheOtherWithHowFarTheLastLimitCanGo) {
  int conflicts = 0;
  int further = 0;
  int reaches = 0;
  for (std::uint64_t seed = 0; seed < 700; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const Scenario scenario = random_scenario(seed);
    if (!has_closed_work(scenario) || planned(problem_of(scenario)).outcome != Outcome::kInfeasible) continue;
    const Problem problem = problem_of(scenario);
    detail::ServiceProgram service(problem);
    const auto all = service.limits();
    StopPoll poll({});
    const std::vector<detail::LimitConflict> found = detail::find_conflicts(service, poll);
    ASSERT_FALSE(found.empty());
    conflicts += static_cast<int>(found.size());
    further += found.size() > 1 ? 1 : 0;
    std::vector<std::string> in_any;
    for (const detail::LimitConflict& conflict : found) {
      std::vector<std::string> named;
      for (const auto& limit : conflict.limits) {
        named.push_back(service.name_of(limit));
        EXPECT_EQ(std::count(in_any.begin(), in_any.end(), named.back()), 0) << named.back();
      }
      in_any.insert(in_any.end(), named.begin(), named.end());
      const Scenario alone = with_limits(scenario, named);
      EXPECT_EQ(planned(problem_of(alone)).outcome, Outcome::kInfeasible);
      if (!conflict.reach || !(*conflict.reach > 0) || needs_arrivals(scenario, named)) continue;
      ++reaches;
      const auto& last = conflict.limits.back();
      const double easier = last.kind == PlanLimit::Kind::kFloor ? 1 - 1e-6 : 1 + 1e-6;
      const auto outcome_at = [&](double amount) {
        return planned(problem_of(with_amount(alone, last, amount))).outcome;
      };
      EXPECT_NE(outcome_at(*conflict.reach * easier), Outcome::kInfeasible)
          << planned(problem_of(scenario)).reason;
      EXPECT_EQ(outcome_at(*conflict.reach / easier), Outcome::kInfeasible) << named.back();
    }
    std::vector<std::string> others;
    for (const auto& limit : all) {
      if (std::count(in_any.begin(), in_any.end(), service.name_of(limit)) == 0)
        others.push_back(service.name_of(limit));
    }
    EXPECT_NE(planned(problem_of(with_limits(scenario, others))).outcome, Outcome::kInfeasible);
  }
  EXPECT_GT(conflicts, 50);
  EXPECT_GT(further, 10);
  EXPECT_GT(reaches, 40);
}

TEST(LimitConflict, AllAreNamedAtOnce) {
  const auto scenario = read_scenario_text(
      "power_cap = 30\n"
      "[[resources]]\nname = \"cpu\"\npower = 50\nidle_power = 10\n"
      "[[resources]]\nname = \"npu\"\n"
      "[[tasks]]\nname = \"a\"\ncount = 2\nmax_response = \"0.25s\"\nrates = { cpu = 10 }\n"
      "[[tasks]]\nname = \"b\"\ncount = 2\nfloor = 7\nrates = { npu = 3 }\n",
      FileFormat::kToml, "twice");
  ASSERT_TRUE(scenario.has_value());
  EXPECT_EQ(
      planned(problem_of(*scenario)).reason,
      "the floor of 'b' (7.0 tasks/s) is more than the machine can complete, whatever else is given up: "
      "at most 3 tasks/s; besides, the max_response of 'a' (0.25 s) and the power_cap (30.0 W) cannot be "
      "met together: each could be met without the other; with the other met, the power_cap can be at "
      "least 42 W");
}

TEST(LimitConflict, AResponseTimeThatIsTooShortMayNeedFewerThreads) {
  const auto reason = [](const std::string& limit) {
    const auto scenario = read_scenario_text(
        "[[resources]]\nname = \"cpu\"\n"
        "[[tasks]]\nname = \"a\"\ncount = 8\nmax_response = " +
            limit + "\nrates = { cpu = 10 }\n",
        FileFormat::kToml, "late");
    return planned(problem_of(scenario.value())).reason;
  };
  EXPECT_EQ(reason("0.2"),
            "the max_response of 'a' (0.2 s) is shorter than the machine can achieve, whatever else is given "
            "up: at least 0.8 s; fewer threads of 'a' may help");
  EXPECT_EQ(reason("0.05").find("fewer threads"), std::string::npos) << "one task takes 0.1 s";
}

}  // namespace
}  // namespace allot
