// The shape that scripts rely on: fields, nulls, exact numbers, and text that always parses.
#include "allot/io/result_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "allot/solve/solver.hpp"

namespace allot {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

/// Counts and rates are powers of two, so that the throughputs have no rounding in them.
System two_by_two(std::optional<double> priority, Count count = 4) {
  std::vector<Resource> resources(2);
  resources[0].name = "cpu";
  resources[1].name = "gpu";
  std::vector<TaskClass> tasks(2);
  tasks[0] = {"sort", count, std::nullopt, priority, std::nullopt};
  tasks[1] = {"scan", count, std::nullopt, priority, std::nullopt};
  return System(std::move(resources), std::move(tasks), Rates(2, 2, {8, 2, 0, 4}));
}

Solution answer(const System& system) {
  Solution solution;
  solution.solver = "map";
  solution.assignment = home_assignment(system);
  solution.performance = evaluate(system, solution.assignment);
  solution.seconds = 1.5e-6;
  return solution;
}

TEST(ResultJson, HasEveryFieldOfASolution) {
  const System system = two_by_two(0.5);
  const Json json = Json::parse(solution_json(system, answer(system)));
  EXPECT_EQ(json.at("solver"), "map");
  EXPECT_EQ(json.at("objective"), "throughput");
  EXPECT_EQ(json.at("outcome"), "converged");
  EXPECT_EQ(json.at("tasks"), Json({"sort", "scan"}));
  EXPECT_EQ(json.at("resources"), Json({"cpu", "gpu"}));
  EXPECT_EQ(json.at("population"), 8);
  EXPECT_EQ(json.at("assignment"), Json::parse("[[4, 0], [0, 4]]"));
  EXPECT_EQ(json.at("throughput"), 12.0);
  EXPECT_EQ(json.at("throughput_by_task"), Json({8.0, 4.0}));
  EXPECT_EQ(json.at("throughput_by_resource"), Json({8.0, 4.0}));
  EXPECT_EQ(json.at("response_time"), 8.0 / 12.0);
  EXPECT_EQ(json.at("response_time_by_task"), Json({0.5, 1.0}));
  EXPECT_EQ(json.at("shares"), Json({8.0 / 12.0, 4.0 / 12.0}));
  EXPECT_DOUBLE_EQ(json.at("priority_error").get<double>(),
                   *evaluate(system, home_assignment(system)).priority_error);
  EXPECT_NEAR(json.at("priority_error").get<double>(), 2.0 / 36.0, 1e-15);
  EXPECT_EQ(json.at("proven_optimal"), false);
  EXPECT_EQ(json.at("approximate"), false);
  EXPECT_EQ(json.at("seconds"), 1.5e-6);
  for (const char* const absent :
       {"relaxed_assignment", "relaxed_throughput", "time_shares", "binding", "explanation"}) {
    EXPECT_FALSE(json.contains(absent)) << absent;
  }
}

TEST(ResultJson, WritesNullForWhatIsNotKnown) {
  const System system = two_by_two(std::nullopt, 0);
  const Json json = Json::parse(solution_json(system, answer(system)));
  for (const char* const field :
       {"reason", "response_time", "upper_bound", "gap", "shares", "priority_error"}) {
    EXPECT_TRUE(json.at(field).is_null()) << field;
  }
  EXPECT_EQ(json.at("throughput"), 0.0);
  EXPECT_EQ(json.at("response_time_by_task"), Json({nullptr, nullptr}));
}

TEST(ResultJson, WritesNullForABoundThatIsNotFinite) {
  const System system = two_by_two(std::nullopt);
  Solution solution = answer(system);
  solution.upper_bound = std::numeric_limits<double>::infinity();
  const std::string text = solution_json(system, solution);
  EXPECT_TRUE(Json::parse(text).at("upper_bound").is_null());
  EXPECT_TRUE(Json::parse(text).at("gap").is_null());
  EXPECT_THAT(text, Not(HasSubstr("inf")));
}

TEST(ResultJson, NumbersReadBackAsTheSameDoubles) {
  const System system = two_by_two(std::nullopt);
  Solution solution = answer(system);
  for (const double value : {0.1, 1.0 / 3.0, 1e-300, 123456789.123456789, 5e-324}) {
    solution.performance.throughput = value;
    const double back = Json::parse(solution_json(system, solution)).at("throughput").get<double>();
    EXPECT_EQ(std::memcmp(&back, &value, sizeof value), 0) << value;
  }
}

TEST(ResultJson, AddsWhatIsSpecialToASolver) {
  const System system = two_by_two(0.5);
  Solution solution = answer(system);
  solution.relaxed_assignment = {2.5, 0.5, 0, 3};
  solution.relaxed_throughput = 16.5;
  solution.time_shares = {1, 0, 0, 0.5};
  solution.binding = {"cpu is busy all the time"};
  solution.upper_bound = 15;
  solution.outcome = Outcome::kTimeLimit;
  solution.reason = "because";
  const Json json = Json::parse(solution_json(system, solution));
  EXPECT_EQ(json.at("relaxed_assignment"), Json::parse("[[2.5, 0.5], [0.0, 3.0]]"));
  EXPECT_EQ(json.at("relaxed_throughput"), 16.5);
  EXPECT_EQ(json.at("time_shares"), Json::parse("[[1.0, 0.0], [0.0, 0.5]]"));
  EXPECT_EQ(json.at("binding"), Json({"cpu is busy all the time"}));
  EXPECT_EQ(json.at("upper_bound"), 15.0);
  EXPECT_EQ(json.at("gap"), 0.2);
  EXPECT_EQ(json.at("outcome"), "time_limit");
  EXPECT_EQ(json.at("reason"), "because");
}

TEST(ResultJson, NamesThePlacesOfAnExplanation) {
  const System system = two_by_two(0.5);
  const std::vector<Placement> placements = {
      {task_type(0), resource_id(0), 3, {{resource_id(1), -0.25, 0.01, false}}}};
  const Json json = Json::parse(solution_json(system, answer(system), &placements));
  EXPECT_EQ(json.at("explanation"),
            Json::parse(R"([{"task": "sort", "resource": "cpu", "count": 3, "alternatives":
      [{"resource": "gpu", "gain": -0.25, "error_change": 0.01, "allowed": false}]}])"));
}

TEST(ResultJson, HoldsTheFrontierAndTheWeightedAnswerBesideIt) {
  const System system = two_by_two(0.5);
  ParetoFrontier frontier;
  frontier.points = {{home_assignment(system), 16, 0.01}};
  frontier.exhaustive = true;
  const Solution weighted = answer(system);
  const Json json = Json::parse(pareto_json(system, frontier, &weighted));
  EXPECT_EQ(json.at("points"),
            Json::parse(R"([{"throughput": 16.0, "priority_error": 0.01, "assignment": [[4, 0], [0, 4]]}])"));
  EXPECT_EQ(json.at("weighted").at("throughput"), 12.0);
  EXPECT_EQ(json.at("exhaustive"), true);
  EXPECT_TRUE(Json::parse(pareto_json(system, frontier)).at("weighted").is_null());
}

TEST(ResultJson, NamesWhatEachChangeConcerns) {
  const System system = two_by_two(std::nullopt);
  WhatIf what_if;
  what_if.base = answer(system);
  what_if.changes = {{Change::What::kServer, std::nullopt, resource_id(1), 20, 0.25, false},
                     {Change::What::kThread, task_type(0), std::nullopt, 16, 0, false},
                     {Change::What::kRate, task_type(1), resource_id(1), 16.7, 0.04375, true}};
  const Json json = Json::parse(what_if_json(system, what_if));
  EXPECT_EQ(json.at("base"), 12.0);
  EXPECT_EQ(json.at("changes").at(0), Json::parse(R"({"change": "server", "resource": "gpu", "task": null,
      "throughput": 20.0, "gain": 0.25, "approximate": false})"));
  EXPECT_EQ(json.at("changes").at(1).at("change"), "thread");
  EXPECT_TRUE(json.at("changes").at(1).at("resource").is_null());
  EXPECT_EQ(json.at("changes").at(2).at("task"), "scan");
}

TEST(ResultJson, ListsTheTablesOfBuiltIns) {
  const Json json = Json::parse(list_json(builtin_listing()));
  ASSERT_EQ(json.at("solvers").size(), builtin_solvers().size());
  for (std::size_t at = 0; at < builtin_solvers().size(); ++at) {
    EXPECT_EQ(json.at("solvers").at(at).at("name"), builtin_solvers()[at]->name);
    EXPECT_FALSE(json.at("solvers").at(at).at("objectives").empty());
  }
  EXPECT_EQ(json.at("policies").size(), builtin_policies().size());
  ASSERT_EQ(json.at("distributions").size(), builtin_distributions().size());
  for (std::size_t at = 0; at < builtin_distributions().size(); ++at) {
    const DistributionInfo& kind = *builtin_distributions()[at];
    EXPECT_EQ(json.at("distributions").at(at).at("name"), kind.name);
    EXPECT_EQ(json.at("distributions").at(at).contains("parameters"), !kind.parameters.empty());
  }
  EXPECT_EQ(json.at("disciplines").size(), 2U);
}

SimulationResult measured(std::string policy, double throughput) {
  SimulationResult result;
  result.policy = std::move(policy);
  result.distribution = "exponential";
  result.seed = 18446744073709551615U;
  result.replications = 2;
  result.completions = 100;
  result.warmup = 7;
  result.population = 6;
  result.throughput = {throughput, 0.5};
  result.response_time = {0.25, std::nullopt};
  result.p50 = 0.125;
  result.p95 = 0.5;
  result.p99 = 0.75;
  result.throughput_by_task = {{throughput, 0.5}, {0, std::nullopt}};
  result.throughput_by_resource = {{throughput, 0.5}, {0, std::nullopt}};
  result.response_time_by_task = {{0.25, 0.125}, {0, std::nullopt}};
  result.utilization = {1, 0};
  result.energy_per_task = 0.0625;
  result.notes = {"a \"note\""};
  return result;
}

TEST(ResultJson, HasEveryFieldOfASimulation) {
  const Json json = Json::parse(simulation_json(two_by_two(std::nullopt), measured("map", 16)));
  EXPECT_EQ(json.at("policy"), "map");
  EXPECT_EQ(json.at("distribution"), "exponential");
  EXPECT_EQ(json.at("seed"), 18446744073709551615U);
  EXPECT_EQ(json.at("replications"), 2);
  EXPECT_EQ(json.at("completions"), 100);
  EXPECT_EQ(json.at("warmup"), 7);
  EXPECT_EQ(json.at("partial"), false);
  EXPECT_EQ(json.at("population"), 6.0);
  EXPECT_EQ(json.at("throughput"), Json::parse(R"({"mean": 16.0, "half_width": 0.5})"));
  EXPECT_EQ(json.at("response_time"),
            Json::parse(R"({"mean": 0.25, "half_width": null, "p50": 0.125, "p95": 0.5,
      "p99": 0.75})"));
  EXPECT_EQ(json.at("throughput_by_task").at(1), Json::parse(R"({"mean": 0.0, "half_width": null})"));
  EXPECT_EQ(json.at("throughput_by_resource").size(), 2U);
  EXPECT_EQ(json.at("response_time_by_task").at(0), Json::parse(R"({"mean": 0.25, "half_width": 0.125})"));
  EXPECT_TRUE(json.at("response_time_by_task").at(1).is_null());
  EXPECT_EQ(json.at("utilization"), Json({1.0, 0.0}));
  EXPECT_EQ(json.at("energy_per_task"), 0.0625);
  for (const char* const field :
       {"edp", "little", "little_residual", "wall_seconds", "completions_per_second"})
    EXPECT_TRUE(json.at(field).is_number()) << field;
  EXPECT_EQ(json.at("notes"), Json({"a \"note\""}));
  EXPECT_EQ(json.at("tasks"), Json({"sort", "scan"}));
}

TEST(ResultJson, HasNoResponseTimesWhereNothingCompleted) {
  SimulationResult nothing = measured("map", 0);
  nothing.throughput = {0, std::nullopt};
  const Json json = Json::parse(simulation_json(two_by_two(std::nullopt), nothing));
  EXPECT_EQ(json.at("throughput").at("mean"), 0.0);
  for (const char* const field : {"mean", "half_width", "p50", "p95", "p99"})
    EXPECT_TRUE(json.at("response_time").at(field).is_null()) << field;
  EXPECT_TRUE(json.at("energy_per_task").is_null());
  EXPECT_TRUE(json.at("edp").is_null());
}

TEST(ResultJson, HasThePoliciesAndTheirDifferences) {
  const System system = two_by_two(std::nullopt);
  Comparison comparison;
  comparison.policies = {measured("jsq", 12), measured("map", 16)};
  comparison.differences = {{"map", "jsq", {4, 0.5}, true}};
  const Json json = Json::parse(comparison_json(system, comparison));
  ASSERT_EQ(json.at("policies").size(), 2U);
  EXPECT_EQ(json.at("policies").at(1).at("policy"), "map");
  EXPECT_EQ(json.at("differences"), Json::parse(R"([{"policy": "map", "against": "jsq",
      "throughput": {"mean": 4.0, "half_width": 0.5}, "significant": true}])"));
  EXPECT_TRUE(json.at("best_assignment_throughput").is_null());
  EXPECT_EQ(json.at("best_assignment_proven"), false);
  Solution best = answer(system);
  best.proven_optimal = true;
  const Json with_best = Json::parse(comparison_json(system, comparison, &best));
  EXPECT_EQ(with_best.at("best_assignment_throughput"), best.performance.throughput);
  EXPECT_EQ(with_best.at("best_assignment_proven"), true);
}

TEST(ResultJson, ParsesWhateverTheNamesAre) {
  std::vector<Resource> resources(1);
  resources[0].name = "quote \" backslash \\ slash /";
  std::vector<TaskClass> tasks(1);
  tasks[0].name = "not UTF-8: \xff\xfe";
  tasks[0].count = 1;
  const System system(std::move(resources), std::move(tasks), Rates(1, 1, {1}));
  const Json json = Json::parse(solution_json(system, answer(system)));
  EXPECT_EQ(json.at("resources").at(0), system.resource(resource_id(0)).name);
}

TEST(ResultJson, KeepsARowOfAMatrixOnOneLine) {
  const System system = two_by_two(std::nullopt);
  const std::string text = solution_json(system, answer(system));
  EXPECT_THAT(text, HasSubstr("  \"assignment\": [\n    [4, 0],\n    [0, 4]\n  ],\n"));
  EXPECT_TRUE(text.ends_with("}\n"));
}

}  // namespace
}  // namespace allot
