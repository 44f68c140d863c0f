// `allot analyze` from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/process.hpp"

namespace allot::testing::analyze_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

const std::string kPaper = ALLOT_SOURCE_DIR "/examples/paper-2gp1sa.toml";
const std::string kBigLittle = ALLOT_SOURCE_DIR "/examples/biglittle.toml";

void expect_refused(const std::vector<std::string>& arguments, int status, const std::string& says) {
  const Finished finished = run_allot(arguments);
  EXPECT_EQ(finished.status, status);
  EXPECT_THAT(finished.out, IsEmpty());
  EXPECT_THAT(finished.err, HasSubstr(says));
}

Finished run_on(const std::string& scenario, std::vector<std::string> options) {
  std::vector<std::string> words = {ALLOT_COMMAND, "analyze", "-"};
  words.insert(words.end(), options.begin(), options.end());
  return Process(words).input(scenario).run();
}

TEST(AnalyzeCommand, PrintsTheFieldsThatScriptsRelyOn) {
  const Finished finished =
      run_allot({"analyze", kPaper, "--policy", "random", "--optimal-control", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, IsEmpty());
  const Json answer = Json::parse(finished.out);
  EXPECT_EQ(answer.at("policy"), "random");
  EXPECT_EQ(answer.at("states"), 825);
  EXPECT_EQ(answer.at("classes"), 1);
  EXPECT_EQ(answer.at("throughput_by_task").size(), 3U);
  EXPECT_EQ(answer.at("throughput_by_resource").size(), 3U);
  EXPECT_EQ(answer.at("occupancy").size(), 3U);
  const double x = answer.at("throughput").get<double>();
  EXPECT_NEAR(answer.at("response_time").get<double>(), 18 / x, 1e-9);
  EXPECT_GT(answer.at("best_state_throughput").get<double>(), x);
  EXPECT_NEAR(answer.at("optimal_control_throughput").get<double>(),
              answer.at("best_state_throughput").get<double>(), 1e-6);
  EXPECT_GE(answer.at("best_state_probability").get<double>(), 0);
}

TEST(AnalyzeCommand, LeavesTheOptimalControlOutUnlessAsked) {
  const Json answer = Json::parse(run_allot({"analyze", kBigLittle, "--policy", "jsq", "--json"}).out);
  EXPECT_TRUE(answer.at("optimal_control_throughput").is_null());
}

TEST(AnalyzeCommand, TheStartDecidesUnderJsq) {
  const Json random = Json::parse(run_allot({"analyze", kPaper, "--policy", "jsq", "--json"}).out);
  const Json listed =
      Json::parse(run_allot({"analyze", kPaper, "--policy", "jsq", "--start", "listed", "--json"}).out);
  EXPECT_GT(random.at("classes"), 1);
  EXPECT_LE(listed.at("classes"), random.at("classes"));
  EXPECT_LT(random.at("lowest_throughput").get<double>(), random.at("highest_throughput").get<double>());
}

TEST(AnalyzeCommand, HoldsAnAssignmentThatSolveHasFound) {
  const std::string path = ::testing::TempDir() + "allot-analyze-" + std::to_string(::getpid()) + ".json";
  const Finished solved = run_allot({"solve", kPaper, "--json"});
  std::FILE* file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs(solved.out.c_str(), file);
  std::fclose(file);
  const Finished finished =
      run_allot({"analyze", kPaper, "--policy", "fixed", "--assignment", path, "--json"});
  std::remove(path.c_str());
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_NEAR(Json::parse(finished.out).at("throughput").get<double>(),
              Json::parse(solved.out).at("throughput").get<double>(), 1e-9);
}

/// One thread that goes to a (rate 4) with probability 1/4 and to b (rate 1) else: a task takes 1/4 * 1/4 +
/// 3/4 * 1 = 13/16 seconds on average, and the thread is at b 12 of 13 parts of its time.
TEST(AnalyzeCommand, PlacesByGivenProbabilities) {
  const std::string path = ::testing::TempDir() + "allot-analyze-p-" + std::to_string(::getpid()) + ".json";
  std::ofstream(path) << "[[0.25, 0.75]]";
  const std::string machine =
      R"({"resources": [{"name": "a"}, {"name": "b"}],
          "tasks": [{"name": "t", "count": 1, "rates": {"a": 4, "b": 1}}]})";
  const Finished finished =
      run_on(machine, {"--policy", "random", "--probabilities", path, "--optimal-control", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json analysis = Json::parse(finished.out);
  EXPECT_NEAR(analysis.at("throughput").get<double>(), 16.0 / 13, 1e-9);
  EXPECT_NEAR(analysis.at("best_state_probability").get<double>(), 1.0 / 13, 1e-9);
  EXPECT_NEAR(analysis.at("optimal_control_throughput").get<double>(), 4, 1e-6);
  // On a larger machine the simulator must agree.
  std::ofstream(path) << "[[0.9, 0.1, 0], [0.3, 0.7, 0], [0, 0.2, 0.8]]";
  const Json exact = Json::parse(
      run_allot({"analyze", kPaper, "--policy", "random", "--probabilities", path, "--json"}).out);
  const Json measured = Json::parse(
      run_allot({"simulate", kPaper, "--policy", "random", "--probabilities", path, "--json"}).out);
  EXPECT_NEAR(measured.at("throughput").at("mean").get<double>(), exact.at("throughput").get<double>(),
              3 * measured.at("throughput").at("half_width").get<double>());
  expect_refused({"analyze", kPaper, "--policy", "jsq", "--probabilities", path}, 2,
                 "only the policy 'random'");
  std::ofstream(path) << "[[1, 0, 0], [0, 1, 0], [0, 0, 2]]";
  expect_refused({"analyze", kPaper, "--policy", "random", "--probabilities", path}, 3, "must sum to 1");
  std::remove(path.c_str());
}

TEST(AnalyzeCommand, RefusesWhatItCannotAnswer) {
  expect_refused({"analyze", kPaper}, 2, "--policy is required");
  expect_refused({"analyze", kPaper, "--policy", "best"}, 2, "there is no policy 'best'");
  expect_refused({"analyze", kPaper, "--policy", "load-balance"}, 2, "looks at task sizes");
  expect_refused({"analyze", kPaper, "--policy", "fixed"}, 2, "--assignment");
  const std::string held = ::testing::TempDir() + "allot-held-" + std::to_string(::getpid()) + ".json";
  std::ofstream(held) << run_allot({"solve", kPaper, "--json"}).out;
  expect_refused({"analyze", kPaper, "--policy", "jsq", "--assignment", held}, 2, "only the policy 'fixed'");
  expect_refused({"analyze", kPaper, "--policy", "fixed", "--assignment", "no-such.json"}, 3, "no-such.json");
  expect_refused({"analyze", kPaper, "--policy", "random", "--max-states", "800"}, 1, "more than 800 states");
  expect_refused({"analyze", kBigLittle, "--policy", "mis"}, 3, "needs a priority");
  expect_refused({"analyze", kPaper, "--policy", "jsq", "--start", "late"}, 2, "--start");
}

TEST(AnalyzeCommand, RefusesWorkThatVaries) {
  const std::string machine = R"("resources": [{"name": "cpu"}], "tasks": [{"name": "a", "count": )";
  const std::string rates = R"(, "rates": {"cpu": 1}}])";
  const Finished threads =
      run_on("{" + machine + "0" + rates + R"(, "threads": [{"count": 1, "sequence": ["a"]}]})",
             {"--policy", "jsq"});
  EXPECT_EQ(threads.status, 3);
  EXPECT_THAT(threads.err, HasSubstr("[[threads]]"));
  const Finished arrivals = run_on(
      "{" + machine + "1" + rates + R"(, "arrivals": [{"task": "a", "rate": 1}]})", {"--policy", "jsq"});
  EXPECT_EQ(arrivals.status, 3);
  EXPECT_THAT(arrivals.err, HasSubstr("[[arrivals]]"));
  const Finished population =
      run_on("{" + machine + "1" + rates + R"(, "population": [{"at": 1, "task": "a", "change": 1}]})",
             {"--policy", "jsq"});
  EXPECT_EQ(population.status, 3);
  EXPECT_THAT(population.err, HasSubstr("[[population]]"));
}

TEST(AnalyzeCommand, ASystemWithoutThreadsHasNoResponseTime) {
  const Finished finished =
      run_on(R"({"resources": [{"name": "cpu"}], "tasks": [{"name": "a", "count": 0, "rates": {"cpu": 1}}]})",
             {"--policy", "jsq", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_TRUE(Json::parse(finished.out).at("response_time").is_null());
}

}  // namespace
}  // namespace allot::testing::analyze_test
