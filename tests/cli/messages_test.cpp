// What the command says when something was probably meant otherwise: the right thing, or nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/process.hpp"

namespace allot::testing::messages_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kWorkstation = ALLOT_SOURCE_DIR "/examples/workstation.toml";

void expect_said(std::vector<std::string> arguments, int status, const std::string& said,
                 const std::string& input = "") {
  const std::string line = ::testing::PrintToString(arguments);
  const Finished finished = Process(allot_words(std::move(arguments))).input(input).run();
  EXPECT_EQ(finished.status, status) << line << "\n" << finished.err;
  EXPECT_THAT(finished.err, HasSubstr(said)) << line;
  EXPECT_THAT(finished.out, IsEmpty()) << line;
}

const std::string kJob =
    R"({"resources": [{"name": "cpu"}], "tasks": [{"name": "t", "repeat": 1, "command": "true"}]})";
const std::string kScenario =
    R"({"resources": [{"name": "cpu"}], "tasks": [{"name": "t", "count": 1, "rates": {"cpu": 1}}]})";

TEST(Messages, SayWhichFileIsForWhichCommand) {
  expect_said({"solve", "-"}, 3, "is a job file, for 'allot run'", kJob);
  expect_said({"simulate", "-", "--policy", "map"}, 3, "is a job file", kJob);
  expect_said({"sweep", "-"}, 3, "is a job file", kJob);
  expect_said({"run", "-"}, 3, "is a scenario, for 'allot solve'", kScenario);
  expect_said({"sweep", "-"}, 3, "is a scenario", kScenario);
  expect_said({"solve", "-"}, 3, "is a sweep, for 'allot sweep'",
              R"({"scenario": "a.toml", "policies": ["map"], "vary": []})");
}

/// GPU tasks that a core feeds, and tasks that are slow everywhere.
std::string fed_gpu(const std::string& discipline, const std::string& count, const std::string& memory) {
  return R"({"resources": [{"name": "cpu", "servers": 2, "discipline": ")" + discipline +
         R"("}, {"name": "gpu", "servers": 2}], "capacities": [{"name": "memory", "amount": 80}], "tasks": [
    {"name": "a", "priority": 1, "rates": {"cpu": 2, "gpu": 9}, "count": )" +
         count + R"(, "needs": {"gpu": {"cpu": 1, "memory": )" + memory + R"(}}},
    {"name": "b", "priority": 1, "rates": {"cpu": 0.1, "gpu": 0.1}, "count": )" +
         count + "}]}";
}

TEST(Messages, SayWhatIsForTasksWithNeeds) {
  const std::string queued = fed_gpu("fcfs", "3", "40");
  for (const char* command : {"solve", "certify", "whatif", "pareto"})
    expect_said({command, "-"}, 3,
                "'cpu' is fcfs and 'a' needs it on 'gpu', for which even sharing has no formula; use planned",
                queued);
  EXPECT_EQ(Process(allot_words({"solve", "-", "--service", "planned"})).input(queued).run().status, 0);
  const std::string shared = fed_gpu("ps", "3", "40");
  expect_said({"solve", "-", "--solver", "slsqp"}, 2, "use 'local' or 'exact'", shared);
  expect_said({"solve", "-", "--solver", "weighted"}, 2, "use 'planned'", shared);
  expect_said({"certify", "-", "--proof", "never.json"}, 3, "--service planned", shared);
  const auto certified = [](const std::string& count, const std::string& memory) {
    return Process(allot_words({"certify", "-"})).input(fed_gpu("ps", count, memory)).run().out;
  };
  EXPECT_THAT(certified("1", "40"), HasSubstr("Proven optimal"));
  EXPECT_THAT(certified("5", "41"), HasSubstr("counted in the same way"));
  EXPECT_THAT(certified("90000", "40"),
              AllOf(HasSubstr("of the optimum, proven"), HasSubstr("planned service")));
}

TEST(Messages, SayWherePartsOfTasksAreCounted) {
  const std::string needs = ALLOT_SOURCE_DIR "/examples/plans/needs.toml";
  EXPECT_THAT(run_allot({"certify", needs}).out,
              AllOf(HasSubstr("of value per second, proven"), Not(HasSubstr("tasks/s, proven"))));
  EXPECT_THAT(run_allot({"solve", needs, "--service", "planned"}).out,
              HasSubstr("That is approximate: it counts"));
  const std::vector<std::string> few = {"--completions", "500", "--replications", "2"};
  const auto noted = [&](std::vector<std::string> words) {
    words.insert(words.end(), few.begin(), few.end());
    return run_allot(std::move(words)).err;
  };
  EXPECT_THAT(noted({"simulate", needs, "--policy", "map"}),
              HasSubstr("approximate: this counts fractions of tasks"));
  EXPECT_THAT(noted({"simulate", needs, "--policy", "planned"}), Not(HasSubstr("approximate")));
  EXPECT_THAT(noted({"compare", needs, "--policies", "map,planned"}), HasSubstr("map: approximate"));
}

TEST(Messages, SayByHowMuchALimitIsMissedAndPromiseNothingBetter) {
  const auto asked = [](std::vector<std::string> words) {
    const Finished finished =
        Process(allot_words(std::move(words)))
            .input(R"({"resources": [{"name": "cpu", "servers": 8}, {"name": "gpu"}], "tasks": [
        {"name": "search", "count": 6, "max_response": "50ms", "rates": {"cpu": 2, "gpu": 100}},
        {"name": "resize", "count": 8, "rates": {"cpu": 45, "gpu": 480}}]})")
            .run();
    EXPECT_EQ(finished.status, 1) << finished.err;
    std::string line = finished.out;  // wrapped anywhere
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
  };
  EXPECT_THAT(
      asked({"solve", "-", "--explain"}),
      AllOf(HasSubstr("no assignment meets the max_response of 'search' (0.05 s): its 6 threads need 120 "
                      "tasks/s, and the nearest answer reaches"),
            Not(HasSubstr("A single move would do better"))));
  EXPECT_THAT(asked({"whatif", "-"}),
              AllOf(HasSubstr("There is no feasible answer today. Proven: no assignment meets"),
                    HasSubstr("The nearest reaches"), Not(HasSubstr("Today at best"))));
}

TEST(Messages, SayHowSharesAreMetAndWherePrioritiesDoNothing) {
  const std::string way = "'--solver weighted' meets the shares exactly";
  const std::string priorities = ALLOT_SOURCE_DIR "/examples/priorities.toml";
  EXPECT_THAT(run_allot({"solve", priorities, "--objective", "priority"}).out, HasSubstr(way));
  EXPECT_THAT(run_allot({"solve", priorities, "--solver", "weighted"}).out, Not(HasSubstr(way)));
  EXPECT_THAT(run_allot({"solve", priorities}).out, Not(HasSubstr(way)));
  for (const char* command : {"solve", "whatif"})
    EXPECT_THAT(run_allot({command, priorities}).out,
                HasSubstr("The priorities have no effect on this answer"));
  EXPECT_THAT(run_allot({"whatif", ALLOT_SOURCE_DIR "/examples/biglittle.toml"}).out,
              Not(HasSubstr("priorities")));
}

TEST(Messages, TakeTimesWithUnitsAndPartsInPercent) {
  EXPECT_EQ(run_allot({"solve", kWorkstation, "--time-limit", "10m"}).status, 0);
  EXPECT_EQ(run_allot({"certify", kWorkstation, "--time-limit", "1.5h", "--gap", "5%"}).status, 0);
  expect_said({"solve", kWorkstation, "--time-limit", "10 minutes"}, 2, "such as '500ms', '90s', '10m'");
  expect_said({"solve", kWorkstation, "--time-limit", "0"}, 2, "must be above 0");
  expect_said({"solve", kWorkstation, "--time-limit", "-3"}, 2, "must be above 0");
  expect_said({"certify", kWorkstation, "--gap", "5"}, 2, "for percent write '5%'");
}

TEST(Messages, TakeTimesWithUnitsInFiles) {
  const auto scenario = [](const std::string& at) {
    return R"({"resources": [{"name": "cpu"}], "tasks": [{"name": "t", "count": 1, "rates": {"cpu": 1}}],
      "population": [{"at": )" +
           at + R"(, "task": "t", "change": 1}]})";
  };
  const auto simulate = [](const std::string& text) {
    return Process(allot_words({"simulate", "-", "--policy", "jsq", "--completions", "200", "--json"}))
        .input(text)
        .run();
  };
  const Finished minutes = simulate(scenario("\"1m\""));
  EXPECT_EQ(minutes.status, 0) << minutes.err;
  expect_said({"simulate", "-", "--policy", "jsq"}, 3, "a text such as \"500ms\"", scenario("\"1 minute\""));
}

TEST(Messages, NameWhatWasMeant) {
  expect_said({"solve", kWorkstation, "--solver", "exat"}, 2, "Did you mean 'exact'?");
  expect_said({"solve", kWorkstation, "--solvr", "exact"}, 2, "Did you mean '--solver'?");
  expect_said({"solve", kWorkstation, "--policy", "map"}, 2, "It is an option of 'allot simulate'");
  expect_said({"slove", kWorkstation}, 2, "Did you mean 'allot solve'?");
  expect_said({"compare", kWorkstation, "--policies", "map;jsq"}, 2, "commas separate the names: map,jsq");
  expect_said({"compare", kWorkstation, "--policies", "map jsq"}, 2, "commas separate the names: map,jsq");
  expect_said({"generate", "--rates", "1-10"}, 2, "with a comma between, as in 1,10");
}

TEST(Messages, GuessNothingThatIsNotClose) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"do"},
                                             {"pin"},
                                             {"xyz"},
                                             {"solve", kWorkstation, "--solver", "cat"},
                                             {"solve", kWorkstation, "--frob"}}) {
    const Finished finished = run_allot(arguments);
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err, Not(HasSubstr("Did you mean"))) << ::testing::PrintToString(arguments);
  }
}

TEST(Messages, HelpListsEveryExitStatus) {
  const std::string help = run_allot({"--help"}).out;
  for (const char* const status :
       {"  0 ", "  1 ", "  2 ", "  3 ", "  4 ", "  5 ", "  6 ", "  7 ", "129", "130", "143"})
    EXPECT_THAT(help, HasSubstr(status));
}

TEST(Messages, HelpForProgramsNamesEveryOptionThatHelpForPeopleDoes) {
  const Finished all = run_allot({"help", "--json"});
  ASSERT_EQ(all.status, 0) << all.err;
  const auto commands = nlohmann::json::parse(all.out);
  EXPECT_GE(commands.size(), 10U);
  for (const auto& command : commands) {
    const std::string name = command.at("command");
    const std::string help = run_allot({name, "--help"}).out;
    for (const auto& option : command.at("options")) {
      const std::string word = option.at("option");
      EXPECT_NE(help.find(word), std::string::npos) << name << " " << word;
      EXPECT_FALSE(option.at("help").get<std::string>().empty()) << name << " " << word;
    }
  }
}

}  // namespace
}  // namespace allot::testing::messages_test
