// The shape that scripts rely on: fields, nulls, exact numbers, and text that always parses.
#include "allot/solve/solution_json.hpp"

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

TEST(SolutionJson, HasEveryFieldOfASolution) {
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

TEST(SolutionJson, WritesNullForWhatIsNotKnown) {
  const System system = two_by_two(std::nullopt, 0);
  const Json json = Json::parse(solution_json(system, answer(system)));
  for (const char* const field :
       {"reason", "response_time", "upper_bound", "gap", "shares", "priority_error"}) {
    EXPECT_TRUE(json.at(field).is_null()) << field;
  }
  EXPECT_EQ(json.at("throughput"), 0.0);
  EXPECT_EQ(json.at("response_time_by_task"), Json({nullptr, nullptr}));
}

TEST(SolutionJson, WritesNullForABoundThatIsNotFinite) {
  const System system = two_by_two(std::nullopt);
  Solution solution = answer(system);
  solution.upper_bound = std::numeric_limits<double>::infinity();
  const std::string text = solution_json(system, solution);
  EXPECT_TRUE(Json::parse(text).at("upper_bound").is_null());
  EXPECT_TRUE(Json::parse(text).at("gap").is_null());
  EXPECT_THAT(text, Not(HasSubstr("inf")));
}

TEST(SolutionJson, NumbersReadBackAsTheSameDoubles) {
  const System system = two_by_two(std::nullopt);
  Solution solution = answer(system);
  for (const double value : {0.1, 1.0 / 3.0, 1e-300, 123456789.123456789, 5e-324}) {
    solution.performance.throughput = value;
    const double back = Json::parse(solution_json(system, solution)).at("throughput").get<double>();
    EXPECT_EQ(std::memcmp(&back, &value, sizeof value), 0) << value;
  }
}

TEST(SolutionJson, AddsWhatIsSpecialToASolver) {
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

TEST(SolutionJson, NamesThePlacesOfAnExplanation) {
  const System system = two_by_two(0.5);
  const std::vector<Placement> placements = {
      {task_type(0), resource_id(0), 3, {{resource_id(1), -0.25, 0.01, false}}}};
  const Json json = Json::parse(solution_json(system, answer(system), &placements));
  EXPECT_EQ(json.at("explanation"),
            Json::parse(R"([{"task": "sort", "resource": "cpu", "count": 3, "alternatives":
      [{"resource": "gpu", "gain": -0.25, "error_change": 0.01, "allowed": false}]}])"));
}

TEST(SolutionJson, HoldsTheFrontierAndTheWeightedAnswerBesideIt) {
  const System system = two_by_two(0.5);
  ParetoFrontier frontier;
  frontier.points = {{home_assignment(system), 32, 0.01, 16}};
  frontier.exhaustive = true;
  const Solution weighted = answer(system);
  const Json json = Json::parse(pareto_json(system, frontier, &weighted));
  EXPECT_EQ(
      json.at("points"),
      Json::parse(
          R"([{"throughput": 16.0, "value": 32.0, "priority_error": 0.01, "assignment": [[4, 0], [0, 4]]}])"));
  EXPECT_EQ(json.at("weighted").at("throughput"), 12.0);
  EXPECT_EQ(json.at("exhaustive"), true);
  EXPECT_TRUE(Json::parse(pareto_json(system, frontier)).at("weighted").is_null());
}

TEST(SolutionJson, NamesWhatEachChangeConcerns) {
  const System system = two_by_two(std::nullopt);
  WhatIf what_if;
  what_if.base = answer(system);
  what_if.changes = {{Change::What::kServer, std::nullopt, resource_id(1), 20, 40, 0.25, false},
                     {Change::What::kThread, task_type(0), std::nullopt, 16, 16, 0, false},
                     {Change::What::kRate, task_type(1), resource_id(1), 16.7, 16.7, 0.04375, true}};
  const Json json = Json::parse(what_if_json(system, what_if));
  EXPECT_EQ(json.at("base"), 12.0);
  EXPECT_EQ(json.at("changes").at(0), Json::parse(R"({"change": "server", "resource": "gpu", "task": null,
      "throughput": 20.0, "value": 40.0, "gain": 0.25, "approximate": false})"));
  EXPECT_EQ(json.at("changes").at(1).at("change"), "thread");
  EXPECT_TRUE(json.at("changes").at(1).at("resource").is_null());
  EXPECT_EQ(json.at("changes").at(2).at("task"), "scan");
}

TEST(SolutionJson, NamesCapacitiesAndTheirPrices) {
  const System plain = two_by_two(std::nullopt);
  const System system(plain.resources(), plain.tasks(), plain.rates(), {{.name = "bus"}});
  WhatIf what_if;
  what_if.base = answer(system);
  what_if.changes = {{.what = Change::What::kCapacity,
                      .throughput = 20,
                      .value = 40,
                      .gain = 0.25,
                      .capacity = capacity_id(2),
                      .price = 4.5}};
  const Json json = Json::parse(what_if_json(system, what_if));
  EXPECT_EQ(json.at("changes").at(0),
            Json::parse(R"({"change": "capacity", "resource": null, "capacity": "bus",
      "task": null, "throughput": 20.0, "value": 40.0, "gain": 0.25, "price": 4.5, "approximate": false})"));
}

TEST(SolutionJson, ParsesWhateverTheNamesAre) {
  std::vector<Resource> resources(1);
  resources[0].name = "quote \" backslash \\ slash /";
  std::vector<TaskClass> tasks(1);
  tasks[0].name = "not UTF-8: \xff\xfe";
  tasks[0].count = 1;
  const System system(std::move(resources), std::move(tasks), Rates(1, 1, {1}));
  const Json json = Json::parse(solution_json(system, answer(system)));
  EXPECT_EQ(json.at("resources").at(0), system.resource(resource_id(0)).name);
}

TEST(SolutionJson, KeepsARowOfAMatrixOnOneLine) {
  const System system = two_by_two(std::nullopt);
  const std::string text = solution_json(system, answer(system));
  EXPECT_THAT(text, HasSubstr("  \"assignment\": [\n    [4, 0],\n    [0, 4]\n  ],\n"));
  EXPECT_TRUE(text.ends_with("}\n"));
}

}  // namespace
}  // namespace allot
