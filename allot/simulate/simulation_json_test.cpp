// The shape that scripts rely on: fields, nulls and exact numbers.
#include "allot/simulate/simulation_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace allot {
namespace {

using Json = nlohmann::json;

/// Counts and rates are powers of two, so that the throughputs have no rounding in them.
System two_by_two() {
  std::vector<Resource> resources(2);
  resources[0].name = "cpu";
  resources[1].name = "gpu";
  std::vector<TaskClass> tasks(2);
  tasks[0] = {"sort", 4, std::nullopt, std::nullopt, std::nullopt};
  tasks[1] = {"scan", 4, std::nullopt, std::nullopt, std::nullopt};
  return System(std::move(resources), std::move(tasks), Rates(2, 2, {8, 2, 0, 4}));
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
  result.value = {2 * throughput, 1};
  result.value_by_replication = {2 * throughput};
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

TEST(SimulationJson, HasEveryFieldOfASimulation) {
  const Json json = Json::parse(simulation_json(two_by_two(), measured("map", 16)));
  EXPECT_EQ(json.at("policy"), "map");
  EXPECT_EQ(json.at("distribution"), "exponential");
  EXPECT_EQ(json.at("seed"), 18446744073709551615U);
  EXPECT_EQ(json.at("replications"), 2);
  EXPECT_EQ(json.at("completions"), 100);
  EXPECT_EQ(json.at("warmup"), 7);
  EXPECT_EQ(json.at("partial"), false);
  EXPECT_EQ(json.at("population"), 6.0);
  EXPECT_EQ(json.at("throughput"), Json::parse(R"({"mean": 16.0, "half_width": 0.5})"));
  EXPECT_EQ(json.at("value"), Json::parse(R"({"mean": 32.0, "half_width": 1.0})"));
  EXPECT_EQ(json.at("value_by_replication"), Json({32.0}));
  EXPECT_FALSE(json.contains("rounds"));
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

TEST(SimulationJson, HasRoundsWhereThereAreGroupsOfThreads) {
  SimulationResult result = measured("map", 16);
  result.rounds = {{4, 0.25}, {0, std::nullopt}};
  EXPECT_EQ(Json::parse(simulation_json(two_by_two(), result)).at("rounds"),
            Json::parse(R"([{"mean": 4.0, "half_width": 0.25}, {"mean": 0.0, "half_width": null}])"));
}

TEST(SimulationJson, HasNoResponseTimesWhereNothingCompleted) {
  SimulationResult nothing = measured("map", 0);
  nothing.throughput = {0, std::nullopt};
  const Json json = Json::parse(simulation_json(two_by_two(), nothing));
  EXPECT_EQ(json.at("throughput").at("mean"), 0.0);
  for (const char* const field : {"mean", "half_width", "p50", "p95", "p99"})
    EXPECT_TRUE(json.at("response_time").at(field).is_null()) << field;
  EXPECT_TRUE(json.at("energy_per_task").is_null());
  EXPECT_TRUE(json.at("edp").is_null());
}

TEST(SimulationJson, HasThePoliciesAndTheirDifferences) {
  const System system = two_by_two();
  Comparison comparison;
  comparison.policies = {measured("jsq", 12), measured("map", 16)};
  comparison.differences = {{"map", "jsq", {4, 0.5}, true, {-1, 2}, false}};
  const Json json = Json::parse(comparison_json(system, comparison));
  ASSERT_EQ(json.at("policies").size(), 2U);
  EXPECT_EQ(json.at("policies").at(1).at("policy"), "map");
  EXPECT_EQ(json.at("differences"), Json::parse(R"([{"policy": "map", "against": "jsq",
      "throughput": {"mean": 4.0, "half_width": 0.5}, "significant": true,
      "value": {"mean": -1.0, "half_width": 2.0}, "value_significant": false}])"));
  EXPECT_TRUE(json.at("best_assignment_throughput").is_null());
  EXPECT_TRUE(json.at("best_assignment_value").is_null());
  EXPECT_EQ(json.at("best_assignment_proven"), false);
  Solution best;
  best.performance = evaluate(system, home_assignment(system));
  best.proven_optimal = true;
  const Json with_best = Json::parse(comparison_json(system, comparison, &best));
  EXPECT_EQ(with_best.at("best_assignment_throughput"), best.performance.throughput);
  EXPECT_EQ(with_best.at("best_assignment_value"), best.performance.value);
  EXPECT_EQ(with_best.at("best_assignment_proven"), true);
}

}  // namespace
}  // namespace allot
