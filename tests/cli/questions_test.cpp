// The answers of solve, certify, check, pareto, whatif, generate and list: the JSON that scripts rely on, and
// what people read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/asking.hpp"
#include "tests/cli/process.hpp"

namespace allot::testing::questions_test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

const std::string kWorkstation = ALLOT_SOURCE_DIR "/examples/workstation.toml";
const std::string kNoPriorities = ALLOT_SOURCE_DIR "/examples/biglittle.toml";

TEST(Command, PlansServiceWhereNothingElseWillDo) {
  const TemporaryFile capped(".json", with_work(R"("power_cap": 100)"));
  EXPECT_THAT(run_allot({"solve", capped.path()}).out,
              HasSubstr("Note: planned service, because there is a power_cap."));
  EXPECT_EQ(json_of({"solve", capped.path()}).at("service"), "planned");
  expect_usage_error({"solve", capped.path(), "--solver", "map"}, "'map' does not plan service");
  expect_usage_error({"solve", capped.path(), "--service", "even"}, "there is a power_cap");
  expect_usage_error({"solve", kWorkstation, "--keep", "0.5"}, "objective 'energy'");
  expect_usage_error({"solve", kWorkstation, "--objective", "energy", "--keep", "2"}, "from 0 to 1");
  EXPECT_EQ(json_of({"pareto", capped.path()}).at("service"), "planned");
  const TemporaryFile tight(".json", with_work(R"("power_cap": 0.5, "name": "tight")"));
  // An idle server takes nothing, a busy one 1 W: half of the time it may work.
  EXPECT_NEAR(json_of({"solve", tight.path()}).at("value").get<double>(), 0.5, 1e-9);
  const TemporaryFile proof(".json", "");
  EXPECT_EQ(run_allot({"certify", capped.path(), "--proof", proof.path()}).status, 0);
}

TEST(Command, SolveAnswersInJsonForEverySolverAndObjective) {
  for (const Json& solver : json_of({"list"}).at("solvers")) {
    for (const Json& objective : solver.at("objectives")) {
      SCOPED_TRACE(solver.at("name").get<std::string>() + " " + objective.get<std::string>());
      const Json answer =
          json_of({"solve", kWorkstation, "--solver", solver.at("name"), "--objective", objective});
      expect_solution(answer, 4, 3);
      EXPECT_EQ(answer.at("solver"), solver.at("name"));
      EXPECT_EQ(answer.at("objective"), objective);
      if (answer.at("solver") == "slsqp") {
        EXPECT_EQ(answer.at("relaxed_assignment").size(), 4U);
        EXPECT_TRUE(answer.at("relaxed_throughput").is_number());
      }
      if (answer.at("solver") == "weighted") {
        EXPECT_EQ(answer.at("time_shares").size(), 4U);
      }
    }
  }
}

TEST(Command, SolveTakesTheObjectiveThatTheSolverHas) {
  EXPECT_EQ(json_of({"solve", kWorkstation}).at("solver"), "best");
  EXPECT_EQ(json_of({"solve", kWorkstation, "--objective", "priority"}).at("solver"), "mis");
  EXPECT_EQ(json_of({"solve", kWorkstation, "--solver", "mis"}).at("objective"), "priority");
  EXPECT_EQ(json_of({"solve", kWorkstation, "--solver", "weighted"}).at("objective"), "priority");
  EXPECT_EQ(json_of({"solve", kWorkstation, "--solver", "exhaustive"}).at("objective"), "throughput");
}

TEST(Command, SolveExplainsEveryPlacementInJson) {
  const Json answer = json_of({"solve", kWorkstation, "--explain"});
  std::size_t placements = 0;
  for (const Json& row : answer.at("assignment")) {
    for (const Json& count : row) placements += count.get<int>() > 0 ? 1 : 0;
  }
  ASSERT_EQ(answer.at("explanation").size(), placements);
  for (const Json& placement : answer.at("explanation")) {
    EXPECT_TRUE(placement.at("task").is_string());
    EXPECT_TRUE(placement.at("resource").is_string());
    EXPECT_GT(placement.at("count").get<int>(), 0);
    for (const Json& alternative : placement.at("alternatives")) {
      EXPECT_TRUE(alternative.at("resource").is_string());
      EXPECT_TRUE(alternative.at("gain").is_number());
      EXPECT_TRUE(alternative.at("error_change").is_number());
      EXPECT_TRUE(alternative.at("allowed").is_boolean());
    }
  }
}

TEST(Command, SolveWithoutThreadsHasNullTimesAndShares) {
  const TemporaryFile file(
      ".toml", "[[resources]]\nname = \"a\"\n[[tasks]]\nname = \"t\"\ncount = 0\nrates = { a = 1 }\n");
  const Json answer = json_of({"solve", file.path()});
  EXPECT_EQ(answer.at("throughput"), 0);
  EXPECT_TRUE(answer.at("response_time").is_null());
  EXPECT_TRUE(answer.at("shares").is_null());
  EXPECT_TRUE(answer.at("priority_error").is_null());
  EXPECT_EQ(run_allot({"solve", file.path(), "--explain"}).status, 0);
}

TEST(Command, SolveFailsWhenEnumerationIsRefused) {
  const Finished text = run_allot({"solve", kWorkstation, "--solver", "exhaustive", "--max-states", "10"});
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.out, IsEmpty());
  EXPECT_THAT(text.err, HasSubstr("--max-states"));
  const Finished json =
      run_allot({"solve", kWorkstation, "--solver", "exhaustive", "--max-states", "10", "--json"});
  EXPECT_EQ(json.status, 1);
  EXPECT_EQ(Json::parse(json.out).at("outcome"), "budget");
}

TEST(Command, SolveFailsWhenAFloorCannotBeMet) {
  const TemporaryFile file(
      ".toml",
      "[[resources]]\nname = \"a\"\n[[tasks]]\nname = \"t\"\ncount = 1\nfloor = 5\nrates = { a = 1 }\n");
  const Finished finished = run_allot({"solve", file.path(), "--solver", "exhaustive", "--json"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(Json::parse(finished.out).at("outcome"), "infeasible");
  EXPECT_TRUE(Json::parse(finished.out).at("reason").is_string());
}

TEST(Command, CertifyProvesTheOptimum) {
  const Json answer = json_of({"certify", kWorkstation});
  expect_solution(answer, 4, 3);
  EXPECT_EQ(answer.at("solver"), "exact");
  EXPECT_TRUE(answer.at("proven_optimal").get<bool>());
  EXPECT_NEAR(answer.at("gap").get<double>(), 0, 1e-6);
  const Json enumerated = json_of({"solve", kWorkstation, "--solver", "exhaustive"});
  EXPECT_NEAR(answer.at("throughput").get<double>(), enumerated.at("throughput").get<double>(), 1e-6);
  EXPECT_THAT(run_allot({"certify", kWorkstation}).out,
              HasSubstr("Proven optimal: no assignment completes more than"));
}

TEST(Command, CertifySaysWhyNothingCanBeProven) {
  const TemporaryFile file(".toml",
                           "[[resources]]\nname = \"gpu\"\nservers = 2\ndiscipline = \"fcfs\"\n"
                           "[[tasks]]\nname = \"t\"\ncount = 5\nrates = { gpu = 1 }\n"
                           "[[tasks]]\nname = \"u\"\ncount = 5\nrates = { gpu = 2 }\n");
  const Finished finished = run_allot({"certify", file.path()});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("Nothing can be proven about this assignment: 'gpu' is fcfs with 2"));
  // But two servers never complete more than twice the faster rate.
  EXPECT_THAT(finished.out, HasSubstr("No assignment completes more than 4 tasks/s, proven."));
  const Json answer = json_of({"certify", file.path()});
  EXPECT_NEAR(answer.at("upper_bound").get<double>(), 4, 1e-8);
  EXPECT_FALSE(answer.at("proven_optimal").get<bool>());
  EXPECT_TRUE(answer.at("approximate").get<bool>());
}

TEST(Command, ChecksCertificatesAndRejectsWhatTheyDoNotProve) {
  if (run_allot({"--help"}).out.find("  check ") == std::string::npos) GTEST_SKIP() << "no GMP in this build";
  const TemporaryFile proof(".json", "");
  EXPECT_EQ(run_allot({"certify", kWorkstation, "--proof", proof.path()}).status, 0);
  const Json verdict = json_of({"check", proof.path(), "--scenario", kWorkstation});
  EXPECT_TRUE(verdict.at("accepted").get<bool>());
  EXPECT_EQ(verdict.at("claim"), "optimal");
  EXPECT_LE(verdict.at("gap").get<double>(), 1e-9);
  EXPECT_THAT(run_allot({"check", proof.path()}).out, StartsWith("Accepted: optimal."));

  const Finished other = run_allot({"check", proof.path(), "--scenario", kNoPriorities});
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.out, HasSubstr("not about the system of the scenario"));

  std::ifstream file(proof.path());
  Json certificate = Json::parse(file);
  certificate["claim"]["at_least"] = certificate["claim"]["at_least"].get<double>() * 1.001;
  const TemporaryFile raised(".json", certificate.dump());
  const Finished rejected = run_allot({"check", raised.path()});
  EXPECT_EQ(rejected.status, 1);
  EXPECT_THAT(rejected.out, StartsWith("Rejected: the assignment has a value of"));

  certificate["claim"].erase("at_most");
  const TemporaryFile broken(".json", certificate.dump());
  const Finished invalid = run_allot({"check", broken.path()});
  EXPECT_EQ(invalid.status, 3);
  EXPECT_THAT(invalid.err, HasSubstr("certificate.claim: 'at_most' is missing"));
  EXPECT_EQ(run_allot({"check", "/nowhere/proof.json"}).status, 3);
  const Finished folder = run_allot({"check", "/"});
  EXPECT_EQ(folder.status, 3);
  EXPECT_THAT(folder.err, HasSubstr("is a directory, not a file"));
  const Finished unwritten = run_allot({"certify", kWorkstation, "--proof", "/nowhere/proof.json"});
  EXPECT_EQ(unwritten.status, 1);
  EXPECT_THAT(unwritten.err, HasSubstr("cannot write '/nowhere/proof.json': No such file"));

  const TemporaryFile shares(".json", "");
  EXPECT_EQ(run_allot({"solve", kWorkstation, "--solver", "weighted", "--proof", shares.path()}).status, 0);
  EXPECT_EQ(json_of({"check", shares.path()}).at("objective"), "shares");
  const Finished nothing = run_allot({"solve", kWorkstation, "--solver", "map", "--proof", shares.path()});
  EXPECT_EQ(nothing.status, 1);
  EXPECT_THAT(nothing.err, HasSubstr("nothing is proven"));
}

TEST(Command, CertificatesOfPlansAreAcceptedForTheirScenarioAlone) {
  const TemporaryFile proof(".json", "");
  const std::string folder = ALLOT_SOURCE_DIR "/examples/plans/";
  for (const char* const name : {"worth", "fair", "latency", "power", "stages", "load"}) {
    SCOPED_TRACE(name);
    const std::string scenario = folder + name + ".toml";
    ASSERT_EQ(run_allot({"certify", scenario, "--service", "planned", "--proof", proof.path()}).status, 0);
    const Json verdict = json_of({"check", proof.path(), "--scenario", scenario});
    EXPECT_EQ(verdict.at("claim"), "optimal");
    const auto other = run_allot({"check", proof.path(), "--scenario", kWorkstation});
    EXPECT_EQ(other.status, 1);
    EXPECT_THAT(other.out, HasSubstr("not about the system of the scenario"));
  }
  const std::string conflict = folder + "conflict.toml";
  EXPECT_EQ(run_allot({"certify", conflict, "--proof", proof.path()}).status, 1);
  EXPECT_THAT(run_allot({"check", proof.path(), "--scenario", conflict}).out,
              HasSubstr("no policy can meet the max_response of 'search' and the power_cap"));
  for (const char* const objective : {"priority", "max-min", "proportional", "energy"}) {
    SCOPED_TRACE(objective);
    ASSERT_EQ(run_allot({"solve", kWorkstation, "--service", "planned", "--objective", objective, "--proof",
                         proof.path()})
                  .status,
              0);
    EXPECT_EQ(json_of({"check", proof.path()}).at("objective"), objective);
  }
}

TEST(Command, ExplanationsOfEvenSharingSayWhatALimitCosts) {
  const std::string latency = ALLOT_SOURCE_DIR "/examples/plans/latency.toml";
  EXPECT_THAT(run_allot({"solve", latency, "--explain"}).out,
              HasSubstr("Without the max_response of 'search' (0.05 s): 769.1 tasks/s, 60% more."));
  EXPECT_THAT(run_allot({"solve", latency}).out, Not(HasSubstr("Without")));
}

TEST(Command, ParetoGoesFromTheLargestThroughputToTheSmallestError) {
  const Json answer = json_of({"pareto", kWorkstation, "--points", "7"});
  const Json& points = answer.at("points");
  ASSERT_GE(points.size(), 2U);
  EXPECT_LE(points.size(), 7U);
  for (std::size_t at = 0; at < points.size(); ++at) {
    EXPECT_EQ(points[at].at("assignment").size(), 4U);
    if (at == 0) continue;
    EXPECT_LT(points[at].at("throughput").get<double>(), points[at - 1].at("throughput").get<double>());
    EXPECT_LT(points[at].at("priority_error").get<double>(),
              points[at - 1].at("priority_error").get<double>());
  }
  expect_solution(answer.at("weighted"), 4, 3);
  EXPECT_THAT(run_allot({"pareto", kWorkstation}).out, HasSubstr("of the throughput cuts the error by"));
}

TEST(Command, ParetoOfPlansTradesValueForSharesOrForTheLeastServed) {
  const Json shares = json_of({"pareto", kWorkstation, "--service", "planned", "--points", "5"});
  EXPECT_EQ(shares.at("points").size(), 5u);
  EXPECT_TRUE(shares.at("exhaustive").get<bool>());
  EXPECT_LT(shares.at("points").back().at("priority_error").get<double>(), 1e-6);
  EXPECT_EQ(shares.at("points").front().at("time_shares").size(), shares.at("tasks").size());
  const std::string by_throughput = run_allot({"pareto", kWorkstation, "--service", "planned"}).out;
  EXPECT_THAT(by_throughput, HasSubstr("tasks/s  given up"));
  EXPECT_THAT(by_throughput, Not(HasSubstr("value")));
  const std::string worth = ALLOT_SOURCE_DIR "/examples/plans/worth.toml";
  EXPECT_THAT(run_allot({"pareto", worth, "--service", "planned"}).out, HasSubstr("value/s  given up"));
  const Json least = json_of({"pareto", worth, "--service", "planned", "--points", "3"});
  EXPECT_TRUE(least.at("points").front().at("priority_error").is_null());
  EXPECT_LT(least.at("points").front().at("least_served").get<double>(),
            least.at("points").back().at("least_served").get<double>());
  const std::string stages = ALLOT_SOURCE_DIR "/examples/plans/stages.toml";
  EXPECT_THAT(run_allot({"pareto", stages}).out, HasSubstr("220 rounds/s"));
  EXPECT_EQ(run_allot({"pareto", ALLOT_SOURCE_DIR "/examples/plans/conflict.toml"}).status, 1);
}

TEST(Command, WhatifSortsTheChangesByGain) {
  const Json answer = json_of({"whatif", kWorkstation});
  const double base = answer.at("base").get<double>();
  const Json& changes = answer.at("changes");
  EXPECT_EQ(changes.size(), 3U + 4U + 8U);  // servers, threads, pairs
  double last = INFINITY;
  for (const Json& change : changes) {
    const std::string what = change.at("change");
    EXPECT_THAT(what, AnyOf("server", "thread", "rate"));
    EXPECT_EQ(change.at("resource").is_null(), what == "thread");
    EXPECT_EQ(change.at("task").is_null(), what == "server");
    EXPECT_NEAR(change.at("throughput").get<double>(), base * (1 + change.at("gain").get<double>()),
                1e-9 * base);
    EXPECT_LE(change.at("gain").get<double>(), last);
    last = change.at("gain");
  }
}

TEST(Command, GenerateIsAFunctionOfItsOptions) {
  const std::string once = run_allot({"generate", "--seed", "7", "--priorities", "--powers"}).out;
  EXPECT_EQ(run_allot({"generate", "--seed", "7", "--priorities", "--powers"}).out, once);
  EXPECT_NE(run_allot({"generate", "--seed", "8", "--priorities", "--powers"}).out, once);
  const Json scenario = json_of(
      {"generate", "--gps", "3", "--sas", "2", "--threads", "40", "--rule", "none", "--rates", "2,9"});
  EXPECT_EQ(scenario.at("resources").size(), 5U);
  int threads = 0;
  for (const Json& task : scenario.at("tasks")) {
    threads += task.at("count").get<int>();
    for (const Json& rate : task.at("rates")) {
      EXPECT_GT(rate.get<double>(), 2);
      EXPECT_LT(rate.get<double>(), 9);
    }
  }
  EXPECT_EQ(threads, 40);
}

TEST(Command, ListsEverythingInJson) {
  const Json list = json_of({"list"});
  for (const char* const key : {"solvers", "policies", "distributions", "disciplines"}) {
    ASSERT_TRUE(list.at(key).is_array()) << key;
    for (const Json& entry : list.at(key)) {
      EXPECT_FALSE(entry.at("name").get<std::string>().empty());
      EXPECT_FALSE(entry.at("summary").get<std::string>().empty());
    }
  }
  EXPECT_EQ(list.at("disciplines").size(), 2U);
}

TEST(Command, ListsOneKindOnly) {
  const Json list = json_of({"list"});
  const Json policies = json_of({"list", "policies"});
  EXPECT_EQ(policies, Json({{"policies", list.at("policies")}}));
  EXPECT_THAT(run_allot({"list", "disciplines"}).out, StartsWith("Disciplines\n  ps "));
  EXPECT_EQ(run_allot({"list", "police"}).status, 2);
}

}  // namespace
}  // namespace allot::testing::questions_test
