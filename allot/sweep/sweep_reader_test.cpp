#include "allot/sweep/sweep_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace allot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kFolder = ALLOT_SOURCE_DIR "/examples";

/// A sweep over a small scenario in the same file.
const std::string kBox = R"(
policies = ["map", "jsq"]
[scenario]
resources = [{ name = "cpu", servers = 2 }, { name = "gpu" }]
tasks = [{ name = "sort", count = 3, rates = { cpu = 9, gpu = 2 } },
         { name = "big.search", count = 4, rates = { cpu = 1, gpu = 7.5 } }]
)";

ReadResult<SweepPlan> read(const std::string& text) {
  return read_sweep_text(text, FileFormat::kToml, "s.toml", kFolder);
}

SweepPlan plan_of(const std::string& text) {
  ReadResult<SweepPlan> result = read(text);
  if (!result) {
    for (const Diagnostic& diagnostic : result.diagnostics()) ADD_FAILURE() << to_string(diagnostic);
    return {};
  }
  return std::move(result).value();
}

std::vector<std::string> problems_of(const std::string& text) {
  const ReadResult<SweepPlan> result = read(text);
  if (result) return {};
  std::vector<std::string> problems;
  for (const Diagnostic& diagnostic : result.diagnostics()) problems.push_back(to_string(diagnostic));
  return problems;
}

std::vector<std::string> texts(const SweepAxis& axis) {
  std::vector<std::string> out;
  for (const Cell& cell : axis.values) out.push_back(cell.text);
  return out;
}

std::vector<std::string> range(const std::string& keys) {
  return texts(plan_of(kBox + "[[vary]]\nfield = 'rates.sort.gpu'\n" + keys).axes.at(0));
}

TEST(SweepReader, TakesAScenarioFromAFileBesideIt) {
  const SweepPlan plan =
      plan_of("title = 'Cards'\nscenario = 'workstation.toml'\nsolvers = ['map', 'mis']\n");
  EXPECT_EQ(plan.title, "Cards");
  ASSERT_EQ(plan.points.size(), 1u);
  EXPECT_EQ(scenario_of(plan.points[0], 1).name, "workstation");
  EXPECT_THAT(plan.solvers, ElementsAre("map", "mis"));
  EXPECT_TRUE(plan.policies.empty());
  EXPECT_EQ(plan.size(), 2u);
}

TEST(SweepReader, MakesEveryCombinationOfValues) {
  const SweepPlan plan = plan_of(kBox + R"(
[[vary]]
field = "resources.gpu.servers"
values = [1, 2, 4]
[[vary]]
field = ["tasks.sort.count", "tasks.\"big.search\".count"]
label = "threads"
from = 2
to = 4
step = 2
)");
  ASSERT_EQ(plan.points.size(), 6u);
  EXPECT_EQ(plan.size(), 12u);
  EXPECT_EQ(plan.axes[1].label, "threads");
  EXPECT_THAT(plan.points[3].values, ElementsAre(1, 1));
  const Scenario scenario = scenario_of(plan.points[3], 1);
  EXPECT_EQ(scenario.system.resource(ResourceId{1}).servers, 2);
  EXPECT_EQ(scenario.system.count(TaskType{0}), 4);
  EXPECT_EQ(scenario.system.count(TaskType{1}), 4);
  EXPECT_EQ(scenario.system.rate(TaskType{0}, ResourceId{0}), 9);
}

TEST(SweepReader, KnowsRangesAndLists) {
  EXPECT_THAT(range("from = 0.1\nto = 0.5\nstep = 0.1"), ElementsAre("0.1", "0.2", "0.3", "0.4", "0.5"));
  EXPECT_THAT(range("from = 5\nto = 1\nstep = -2"), ElementsAre("5", "3", "1"));
  EXPECT_THAT(range("from = 1\nto = 2\npoints = 3"), ElementsAre("1", "1.5", "2"));
  EXPECT_THAT(range("from = 1\nto = 1000\npoints = 4\nscale = 'log'"), ElementsAre("1", "10", "100", "1000"));
  EXPECT_THAT(range("from = 1\nto = 8\npoints = 6\nscale = 'log'\nwhole = true"),
              ElementsAre("1", "2", "3", "5", "8"));
  EXPECT_THAT(range("from = 3\nto = 9\npoints = 1"), ElementsAre("3"));
  EXPECT_THAT(range("values = [3, 0.25, 1e-3]"), ElementsAre("3", "0.25", "0.001"));
}

TEST(SweepReader, VariesWordsToo) {
  const SweepPlan plan =
      plan_of(kBox + "[[vary]]\nfield = 'resources.cpu.discipline'\nvalues = ['ps', 'fcfs']\n");
  EXPECT_FALSE(plan.axes[0].is_numeric());
  EXPECT_EQ(scenario_of(plan.points[1], 1).system.resource(ResourceId{0}).discipline, Discipline::kFcfs);
}

TEST(SweepReader, GeneratesSystemsBySeed) {
  const SweepPlan plan = plan_of(R"(
policies = ["map"]
distributions = ["exponential", "bounded-pareto"]
seeds = 3
completions = 1000
replications = 2
warmup = 50
start = "listed"
generate = { gps = 3, sas = 2, rates = [1, 10], priorities = true }
[[vary]]
field = "generate.threads"
values = [18, 36]
)");
  EXPECT_THAT(plan.seeds, ElementsAre(1, 2, 3));
  EXPECT_EQ(plan.size(), 12u);
  EXPECT_EQ(plan.completions, 1000u);
  EXPECT_EQ(plan.replications, 2u);
  EXPECT_EQ(plan.warmup, 50u);
  EXPECT_FALSE(plan.random_start);
  const Scenario a = scenario_of(plan.points[1], 2);
  EXPECT_EQ(a.system.population(), 36);
  EXPECT_EQ(a.system.resource_count(), 5u);
  EXPECT_NE(a, scenario_of(plan.points[1], 3));
  EXPECT_EQ(a, scenario_of(plan.points[1], 2));
}

TEST(SweepReader, NamesEveryProblemAtOnce) {
  const auto problems = problems_of(R"(polcies = ["map"]
policies = ["map", "maap", "map"]
distributions = ["exponential", "normal"]
scenario = 3
seeds = []
completions = 0
[[vary]]
values = []
[[vary]]
field = "a..b"
from = 1
to = 2
)");
  const std::string all = ::testing::PrintToString(problems);
  for (const char* const wanted :
       {"s.toml:1: unknown key 'polcies'; did you mean 'policies'?", "there is no policy 'maap'",
        "is given twice", "normal", "'scenario' must be the path", "'seeds' must not be empty",
        "'completions' must be", "needs 'field'", "'values' must not be empty",
        "names with dots between them", "either 'step' or 'points'"}) {
    EXPECT_THAT(all, HasSubstr(wanted));
  }
}

TEST(SweepReader, BlamesTheValueThatMakesNoSystem) {
  const auto problems = problems_of(kBox + R"(
[[vary]]
field = "resources.gpu.servers"
values = [1, 0]
[[vary]]
field = "tasks.sort.count"
values = [1, 2.5, 3]
)");
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_THAT(problems[0], HasSubstr("s.toml:8: with resources.gpu.servers = 0: "));
  EXPECT_THAT(problems[0], HasSubstr("'servers' must be a whole number"));
  EXPECT_THAT(problems[1], HasSubstr("with tasks.sort.count = 2.5: "));
}

TEST(SweepReader, SaysWhatAPathMayName) {
  const auto field = [](const std::string& path) {
    return ::testing::PrintToString(problems_of(kBox + "[[vary]]\nvalues = [1]\nfield = '" + path + "'\n"));
  };
  EXPECT_THAT(field("resources.gpuu.servers"), HasSubstr("there is no 'gpuu'; did you mean 'gpu'?"));
  EXPECT_THAT(field("resources.gpu.server"), HasSubstr("unknown key 'server'; did you mean 'servers'?"));
  EXPECT_THAT(field("rates.sort.tpu"), HasSubstr("tpu"));
  EXPECT_THAT(field("resources.gpu"), HasSubstr("is a table"));
  EXPECT_THAT(field("generate.gps"), HasSubstr("there is no 'generate'"));
}

TEST(SweepReader, RefusesWhatDoesNotGoTogether) {
  const auto all = [](const std::string& text) { return ::testing::PrintToString(problems_of(text)); };
  EXPECT_THAT(all("policies = ['map']"), HasSubstr("needs 'scenario'"));
  EXPECT_THAT(all("policies = ['map']\nscenario = 'workstation.toml'\n[generate]"), HasSubstr("not both"));
  EXPECT_THAT(all("scenario = 'workstation.toml'"), HasSubstr("needs 'policies'"));
  EXPECT_THAT(all("scenario = 'workstation.toml'\npolicies = ['fixed']"), HasSubstr("'fixed'"));
  EXPECT_THAT(all("scenario = 'no.toml'\npolicies = ['map']"), HasSubstr("no.toml"));
  EXPECT_THAT(all("scenario = 'biglittle.toml'\npolicies = ['mis']"), HasSubstr("priorit"));
  EXPECT_THAT(all("scenario = 'biglittle.toml'\nsolvers = ['mis']"), HasSubstr("priorit"));
  EXPECT_THAT(all("generate = { gps = 0, sas = 0 }\npolicies = ['map']"), HasSubstr("gps"));
  EXPECT_THAT(all("generate = {}\npolicies = ['map']\n[[vary]]\nfield='tasks.a.count'\nvalues=[1]"),
              HasSubstr("generate.threads"));
  EXPECT_THAT(
      all("generate = {}\nsolvers = ['map']\nseeds = 10000\n[[vary]]\nfield='generate.threads'\nfrom=10\n"
          "to=1000\nstep=1"),
      HasSubstr("more than 200000 rows"));
}

TEST(SweepReader, ReadsJsonAsWell) {
  const ReadResult<SweepPlan> plan = read_sweep_text(
      R"({"scenario": "workstation.toml", "policies": ["map"], "vary": [{"field": "rates.resize.gpu", "values": [1, 2]}]})",
      FileFormat::kJson, "s.json", kFolder);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->points.size(), 2u);
}

}  // namespace
}  // namespace allot
