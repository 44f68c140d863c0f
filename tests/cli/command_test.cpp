// The command from the outside: exit statuses, what goes to which stream, and the JSON that scripts rely on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/process.hpp"

namespace allot::testing::command_test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

const std::string kWorkstation = ALLOT_SOURCE_DIR "/examples/workstation.toml";
const std::string kNoPriorities = ALLOT_SOURCE_DIR "/examples/biglittle.toml";

/// A file that is gone after the test.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& extension, const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("allot-cli-" + std::to_string(::getpid()) + "-" + std::to_string(next_++) + extension)) {
    std::ofstream(path_) << text;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  static inline int next_ = 0;
  std::filesystem::path path_;
};

/// One document, nothing else on either stream, status 0.
Json json_of(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const Finished finished = run_allot(arguments);
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, IsEmpty());
  EXPECT_THAT(finished.out, Not(HasSubstr("nan")));
  EXPECT_THAT(finished.out, Not(HasSubstr("inf,")));
  return Json::parse(finished.out);
}

/// A scenario too large for anything to be quick on it.
std::string large_scenario() {
  return run_allot({"generate", "--gps", "5", "--sas", "1", "--threads", "120"}).out;
}

std::string invalid_scenario() {
  return "[[resources]]\nname = \"cpu\"\nservers = 0\n\n[[tasks]]\nname = \"a\"\ncount = -1\nrates = { cpu = "
         "1, gpu = 2 }\n";
}

void expect_usage_error(const std::vector<std::string>& arguments, const std::string& says) {
  const Finished finished = run_allot(arguments);
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.out, IsEmpty());
  EXPECT_THAT(finished.err, HasSubstr(says));
}

void expect_invalid_input(const std::vector<std::string>& arguments, const std::string& says) {
  const Finished finished = run_allot(arguments);
  EXPECT_EQ(finished.status, 3);
  EXPECT_THAT(finished.out, IsEmpty());
  EXPECT_THAT(finished.err, HasSubstr(says));
}

/// The fields that every answer of a solver has, of the right kind and shape.
void expect_solution(const Json& answer, std::size_t types, std::size_t resources) {
  EXPECT_TRUE(answer.at("solver").is_string());
  EXPECT_THAT(answer.at("objective").get<std::string>(), AnyOf("throughput", "priority"));
  EXPECT_THAT(answer.at("outcome").get<std::string>(),
              AnyOf("optimal", "converged", "time_limit", "budget", "interrupted", "infeasible"));
  EXPECT_EQ(answer.at("tasks").size(), types);
  EXPECT_EQ(answer.at("resources").size(), resources);
  ASSERT_EQ(answer.at("assignment").size(), types);
  for (const Json& row : answer.at("assignment")) {
    EXPECT_EQ(row.size(), resources);
    for (const Json& count : row) EXPECT_TRUE(count.is_number_unsigned());
  }
  EXPECT_TRUE(answer.at("throughput").is_number());
  double by_task = 0;
  double by_resource = 0;
  for (const Json& x : answer.at("throughput_by_task")) by_task += x.get<double>();
  for (const Json& x : answer.at("throughput_by_resource")) by_resource += x.get<double>();
  EXPECT_NEAR(by_task, answer.at("throughput").get<double>(), 1e-9 * by_task);
  EXPECT_NEAR(by_resource, answer.at("throughput").get<double>(), 1e-9 * by_resource);
  for (const char* const field : {"response_time", "upper_bound", "gap", "priority_error"}) {
    EXPECT_TRUE(answer.at(field).is_number() || answer.at(field).is_null()) << field;
  }
  EXPECT_EQ(answer.at("upper_bound").is_null(), answer.at("gap").is_null());
  EXPECT_TRUE(answer.at("shares").is_array() || answer.at("shares").is_null());
  EXPECT_TRUE(answer.at("proven_optimal").is_boolean());
  EXPECT_TRUE(answer.at("approximate").is_boolean());
  EXPECT_GE(answer.at("seconds").get<double>(), 0);
}

TEST(Command, PrintsNameVersionAndCommit) {
  const Finished finished = run_allot({"--version"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.out, ::testing::MatchesRegex("allot [0-9]+\\.[0-9]+\\.[0-9]+ \\(.+\\)\n"));
  EXPECT_THAT(finished.err, IsEmpty());
}

TEST(Command, ExplainsEveryCommandWithAnExampleWithin100Columns) {
  const Finished general = run_allot({"--help"});
  EXPECT_EQ(general.status, 0);
  for (const std::string command : {"solve", "certify", "pareto", "whatif", "generate", "list"}) {
    EXPECT_THAT(general.out, HasSubstr("  " + command + " "));
    const Finished help = run_allot({command, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.err, IsEmpty());
    EXPECT_THAT(help.out, HasSubstr("$ allot " + command));
    EXPECT_EQ(run_allot({"help", command}).out, help.out);
    for (std::size_t at = 0; at < help.out.size();) {
      const std::size_t end = help.out.find('\n', at);
      EXPECT_LE(end - at, 100U) << help.out.substr(at, end - at);
      at = end + 1;
    }
  }
}

TEST(Command, SuggestsTheNearestCommandAndOption) {
  expect_usage_error({"slove"}, "'allot solve'");
  expect_usage_error({"gen"}, "'allot generate'");
  expect_usage_error({"solve", kWorkstation, "--solvr", "map"}, "'--solver'");
}

TEST(Command, RefusesWrongUsage) {
  expect_usage_error({}, "Usage");
  expect_usage_error({"solve"}, "FILE");
  expect_usage_error({"solve", kWorkstation, "another"}, "another");
  expect_usage_error({"solve", kWorkstation, "--seed", "-1"}, "--seed");
  expect_usage_error({"solve", kWorkstation, "--seed", "1x"}, "--seed");
  expect_usage_error({"solve", kWorkstation, "--time-limit", "0"}, "--time-limit");
  expect_usage_error({"solve", kWorkstation, "--time-limit", "nan"}, "--time-limit");
  expect_usage_error({"solve", kWorkstation, "--objective", "speed"},
                     "throughput, priority, max-min, proportional or energy");
  expect_usage_error({"pareto", kWorkstation, "--points", "1"}, "--points");
  expect_usage_error({"generate", "--rates", "3"}, "--rates");
  expect_usage_error({"generate", "--rates", "3,2"}, "LO < HI");
  expect_usage_error({"generate", "--threads", "2"}, "--threads");
  expect_usage_error({"generate", "--gps", "0", "--sas", "0"}, "--gps");
}

TEST(Command, NamesTheSolversThatSupportAnObjective) {
  expect_usage_error({"solve", kWorkstation, "--solver", "nosuch"}, "'map'");
  expect_usage_error({"solve", kWorkstation, "--solver", "map", "--objective", "priority"}, "'mis'");
  expect_usage_error({"solve", kWorkstation, "--solver", "mis", "--objective", "throughput"}, "'map'");
}

TEST(Command, ReportsEveryProblemOfAnInvalidFile) {
  const TemporaryFile file(".toml", invalid_scenario());
  for (const char* const command : {"solve", "certify", "pareto", "whatif"}) {
    const Finished finished = run_allot({command, file.path()});
    EXPECT_EQ(finished.status, 3);
    EXPECT_THAT(finished.out, IsEmpty());
    EXPECT_THAT(finished.err, HasSubstr(file.path() + ":3: "));
    EXPECT_THAT(finished.err, HasSubstr(file.path() + ":7: "));
    EXPECT_THAT(finished.err, HasSubstr(file.path() + ":8: "));
    EXPECT_EQ(run_allot({command, file.path(), "--json"}).out, "");
  }
  expect_invalid_input({"solve", "/nonexistent.toml"}, "/nonexistent.toml");
}

std::string with_work(const std::string& work) {
  return R"({"resources": [{"name": "cpu"}], "tasks": [{"name": "a", "count": 1, "rates": {"cpu": 1}}], )" +
         work + "}";
}

TEST(Command, RefusesWorkThatVariesOverTimeAndSaysWhatTakesIt) {
  const TemporaryFile arrivals(".json", with_work(R"("arrivals": [{"task": "a", "rate": 0.5}])"));
  const std::vector<std::string> analyze = {"analyze", arrivals.path(), "--policy", "jsq"};
  expect_invalid_input(analyze, "simulate");
  expect_invalid_input(analyze, "[[arrivals]]");
  const TemporaryFile population(".json",
                                 with_work(R"("population": [{"at": 1, "task": "a", "change": 1}])"));
  for (const char* const command : {"solve", "certify", "pareto", "whatif"}) {
    expect_invalid_input({command, population.path()}, "simulate");
    expect_invalid_input({command, population.path()}, "[[population]]");
  }
  for (const char* const command : {"solve", "certify", "pareto", "whatif"}) {
    EXPECT_EQ(run_allot({command, arrivals.path()}).status, 0) << command;
    expect_usage_error({command, arrivals.path(), "--service", "even"}, "[[arrivals]]");
  }
}

TEST(Command, PlansServiceWhereNothingElseWillDo) {
  const TemporaryFile capped(".json", with_work(R"("power_cap": 100)"));
  EXPECT_THAT(run_allot({"solve", capped.path()}).out,
              HasSubstr("Note: planned service, as there is a power_cap."));
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

TEST(Command, ParetoOfPlansTradesValueForSharesOrForTheLeastServed) {
  const Json shares = json_of({"pareto", kWorkstation, "--service", "planned", "--points", "5"});
  EXPECT_EQ(shares.at("points").size(), 5u);
  EXPECT_TRUE(shares.at("exhaustive").get<bool>());
  EXPECT_LT(shares.at("points").back().at("priority_error").get<double>(), 1e-6);
  EXPECT_EQ(shares.at("points").front().at("time_shares").size(), shares.at("tasks").size());
  const std::string worth = ALLOT_SOURCE_DIR "/examples/plans/worth.toml";
  const Json least = json_of({"pareto", worth, "--service", "planned", "--points", "3"});
  EXPECT_TRUE(least.at("points").front().at("priority_error").is_null());
  EXPECT_LT(least.at("points").front().at("least_served").get<double>(),
            least.at("points").back().at("least_served").get<double>());
  const std::string stages = ALLOT_SOURCE_DIR "/examples/plans/stages.toml";
  EXPECT_THAT(run_allot({"pareto", stages}).out, HasSubstr("220 rounds/s"));
  EXPECT_EQ(run_allot({"pareto", ALLOT_SOURCE_DIR "/examples/plans/conflict.toml"}).status, 1);
}

TEST(Command, AsksForPrioritiesWhereThePriorityObjectiveHasNone) {
  expect_invalid_input({"solve", kNoPriorities, "--objective", "priority"}, "priority");
  expect_invalid_input({"solve", kNoPriorities, "--solver", "mis"}, "priority");
  expect_invalid_input({"pareto", kNoPriorities}, "priority");
}

TEST(Command, ReadsJsonFromStandardInput) {
  const std::string scenario = run_allot({"generate", "--json"}).out;
  const Finished finished = Process(allot_words({"solve", "-", "--json"})).input(scenario).run();
  EXPECT_EQ(finished.status, 0) << finished.err;
  expect_solution(Json::parse(finished.out), 3, 3);
}

TEST(Command, NotesAViolatedAffinityRuleOnStandardErrorOnly) {
  const TemporaryFile file(
      ".toml",
      "[[resources]]\nname = \"a\"\n[[resources]]\nname = \"b\"\n[[tasks]]\nname = \"t\"\ncount = 2\n"
      "home = \"a\"\nrates = { a = 1, b = 2 }\n");
  const Finished finished = run_allot({"solve", file.path(), "--json"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.err, StartsWith("note: "));
  expect_solution(Json::parse(finished.out), 1, 2);
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
  EXPECT_THAT(run_allot({"pareto", kWorkstation}).out, HasSubstr("of the throughput to cut the error by"));
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

/// A proof that takes a while shows how far it has come, on a terminal only, and leaves nothing behind.
TEST(Command, ShowsTheProgressOfAProofOnATerminalOnly) {
  const TemporaryFile large(
      ".toml", run_allot({"generate", "--gps", "43", "--sas", "21", "--threads", "8192", "--seed", "1"}).out);
  const std::vector<std::string> words = allot_words({"certify", large.path(), "--time-limit", "1.5"});
  const std::string out = Process(words).on_terminal(100).environment("NO_COLOR", "1").run().out;
  EXPECT_THAT(out, AllOf(HasSubstr("\rcertifying: "), HasSubstr(", best "), HasSubstr(" tasks/s, bound "),
                         HasSubstr(", gap ")));
  EXPECT_THAT(out, HasSubstr(" \r"));  // the line is wiped before the answer
  EXPECT_THAT(Process(words).run().err, Not(HasSubstr("certifying")));
}

TEST(Command, PrintsTheBestSoFarWhenInterrupted) {
  const TemporaryFile file(".toml", large_scenario());
  for (const bool json : {false, true}) {
    std::vector<std::string> arguments = {"solve",      file.path(),    "--solver",
                                          "exhaustive", "--max-states", "1e300"};
    if (json) arguments.emplace_back("--json");
    Process process(allot_words(arguments));
    process.start();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    process.send(SIGINT);
    const Finished finished = process.finish();
    EXPECT_EQ(finished.status, 130) << finished.err;
    if (json) {
      EXPECT_EQ(Json::parse(finished.out).at("outcome"), "interrupted");
    } else {
      EXPECT_THAT(finished.out, HasSubstr(", the best so far"));
    }
  }
}

TEST(Command, StopsAtTheTimeLimitWithTheBestSoFar) {
  const TemporaryFile file(".toml", large_scenario());
  const Json answer = json_of(
      {"solve", file.path(), "--solver", "exhaustive", "--max-states", "1e300", "--time-limit", "0.2"});
  EXPECT_EQ(answer.at("outcome"), "time_limit");
  EXPECT_LT(answer.at("seconds").get<double>(), 5);
}

TEST(Command, EndsQuietlyWhenTheReaderHasGone) {
  const Finished finished = Process(allot_words({"list"})).output_unread().run();
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, IsEmpty());
}

TEST(Command, FailsWhenItsOutputCannotBeWritten) {
  for (const char* const command : {"list", "generate"}) {
    const Finished full = Process(allot_words({command})).output_to("/dev/full").run();
    EXPECT_EQ(full.status, 1);
    EXPECT_THAT(full.err, HasSubstr("cannot write to standard output"));
    const Finished closed = Process(allot_words({command})).output_closed().run();
    EXPECT_EQ(closed.status, 1);
    EXPECT_THAT(closed.err, HasSubstr("cannot write to standard output"));
  }
}

TEST(Command, ColoursOnATerminalOnly) {
  EXPECT_THAT(run_allot({"solve", kWorkstation}).out, Not(HasSubstr("\x1b[")));
  const std::vector<std::string> words = allot_words({"solve", kWorkstation});
  EXPECT_THAT(Process(words).on_terminal(100).environment("TERM", "xterm").run().out, HasSubstr("\x1b["));
  EXPECT_THAT(Process(words).on_terminal(100).environment("TERM", "dumb").run().out, Not(HasSubstr("\x1b[")));
  EXPECT_THAT(
      Process(words).on_terminal(100).environment("TERM", "xterm").environment("NO_COLOR", "1").run().out,
      Not(HasSubstr("\x1b[")));
  const Finished json = Process(allot_words({"solve", kWorkstation, "--json"})).on_terminal(100).run();
  expect_solution(Json::parse(json.out), 4, 3);
}

TEST(Command, StaysWithinANarrowTerminal) {
  const TemporaryFile file(".toml",
                           run_allot({"generate", "--gps", "32", "--sas", "32", "--threads", "200"}).out);
  const Finished finished =
      Process(allot_words({"solve", file.path()})).on_terminal(80).environment("NO_COLOR", "1").run();
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.out, HasSubstr("gp32"));
  for (std::size_t at = 0; at < finished.out.size();) {
    const std::size_t end = std::min(finished.out.find("\r\n", at), finished.out.size());
    EXPECT_LE(end - at, 80U) << finished.out.substr(at, end - at);
    at = end + 2;
  }
}

TEST(Command, RefusesControlCharactersInNamesWithoutPrintingThem) {
  const TemporaryFile file(".json", R"({"name": "evil \u001b[31m", "resources": [{"name": "a\u0007"}],
      "tasks": [{"name": "t\u009b31m", "count": 1, "rates": {"a\u0007": 1}}]})");
  const Finished finished = run_allot({"solve", file.path(), "--explain"});
  EXPECT_EQ(finished.status, 3);
  EXPECT_THAT(finished.err, HasSubstr("control characters"));
  EXPECT_EQ(finished.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(finished.err.find('\x07'), std::string::npos);
  EXPECT_EQ(finished.err.find("\xc2\x9b"), std::string::npos);
}

}  // namespace
}  // namespace allot::testing::command_test
