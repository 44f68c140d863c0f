// The command from the outside: exit statuses, what goes to which stream, and what it does on a terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/asking.hpp"
#include "tests/cli/process.hpp"

namespace allot::testing::command_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

const std::string kWorkstation = ALLOT_SOURCE_DIR "/examples/workstation.toml";
const std::string kNoPriorities = ALLOT_SOURCE_DIR "/examples/biglittle.toml";

/// A scenario too large for anything to be quick on it.
std::string large_scenario() {
  return run_allot({"generate", "--gps", "5", "--sas", "1", "--threads", "120"}).out;
}

std::string invalid_scenario() {
  return "[[resources]]\nname = \"cpu\"\nservers = 0\n\n[[tasks]]\nname = \"a\"\ncount = -1\nrates = { cpu = "
         "1, gpu = 2 }\n";
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
