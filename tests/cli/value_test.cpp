// What worths and rounds change in what commands say: value in JSON always, in text where it differs from
// throughput.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/process.hpp"

namespace allot::testing::value_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

const std::string kBigLittle = ALLOT_SOURCE_DIR "/examples/biglittle.toml";  // neither worths nor threads
const std::string kWorth = ALLOT_SOURCE_DIR "/examples/plans/worth.toml";    // resize 1, detect 10
const std::string kStages = ALLOT_SOURCE_DIR "/examples/plans/stages.toml";  // group "frame"
const std::string kLoad = ALLOT_SOURCE_DIR "/examples/plans/load.toml";      // arrivals alone
const std::string kPriorities = ALLOT_SOURCE_DIR "/examples/priorities.toml";

std::vector<std::string> quick(std::vector<std::string> arguments) {
  for (const char* const word : {"--completions", "5000", "--replications", "4"})
    arguments.emplace_back(word);
  return arguments;
}

std::string text_of(const std::vector<std::string>& arguments) {
  const Finished finished = run_allot(arguments);
  EXPECT_EQ(finished.status, 0) << finished.err;
  return finished.out;
}

Json json_of(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  return Json::parse(text_of(arguments));
}

/// The example with worths given to its types, as JSON.
std::string priorities_with_worths() {
  return R"({"resources": [{"name": "cpu"}, {"name": "gpu"}],
    "tasks": [{"name": "a", "count": 3, "priority": 0.5, "worth": 7, "rates": {"cpu": 2, "gpu": 3}},
              {"name": "b", "count": 3, "priority": 0.5, "rates": {"cpu": 9, "gpu": 5}}]})";
}

TEST(ValueInCommands, IsWorthTimesThroughputInSimulate) {
  const Json run = json_of(quick({"simulate", kWorth, "--policy", "jsq"}));
  const double resize = run.at("throughput_by_task").at(0).at("mean").get<double>();
  const double detect = run.at("throughput_by_task").at(1).at("mean").get<double>();
  EXPECT_NEAR(run.at("value").at("mean").get<double>(), resize + 10 * detect, 1e-9 * (resize + 10 * detect));
  EXPECT_GT(run.at("value").at("half_width").get<double>(), 0);
  EXPECT_FALSE(run.contains("rounds"));
  EXPECT_THAT(text_of(quick({"simulate", kWorth, "--policy", "jsq"})),
              AllOf(HasSubstr("\nvalue "), HasSubstr(" per second, ")));
}

TEST(ValueInCommands, IsOfRoundsWhereThereAreStages) {
  const Json run = json_of(quick({"simulate", kStages, "--policy", "jsq"}));
  ASSERT_EQ(run.at("rounds").size(), 1U);
  EXPECT_EQ(run.at("value"), run.at("rounds").at(0));  // a round is worth 1
  EXPECT_NEAR(run.at("rounds").at(0).at("mean").get<double>(),
              run.at("throughput").at("mean").get<double>() / 3,
              0.02 * run.at("throughput").at("mean").get<double>());
  EXPECT_THAT(text_of(quick({"simulate", kStages, "--policy", "jsq"})),
              AllOf(HasSubstr("\nframe: "), HasSubstr(" rounds/s\n")));
}

TEST(ValueInCommands, IsAColumnOfCompareWhereItDiffers) {
  const std::vector<std::string> words = {"compare", kWorth, "--policies", "jsq,map"};
  const std::string text = text_of(quick(words));
  EXPECT_THAT(text, AllOf(HasSubstr("value/s"), HasSubstr("* differs from jsq in value beyond chance"),
                          HasSubstr("no constant assignment has more value, proven")));
  EXPECT_LT(text.find("\n  map"), text.find("\n  jsq"));  // by value
  const Json both = json_of(quick(words));
  const Json& difference = both.at("differences").at(0);
  EXPECT_LT(difference.at("throughput").at("mean").get<double>(), 0);
  EXPECT_GT(difference.at("value").at("mean").get<double>(), 0);
  EXPECT_EQ(difference.at("significant"), true);
  EXPECT_EQ(difference.at("value_significant"), true);
  EXPECT_NEAR(difference.at("value").at("mean").get<double>(),
              both.at("policies").at(1).at("value").at("mean").get<double>() -
                  both.at("policies").at(0).at("value").at("mean").get<double>(),
              1e-6);
  EXPECT_GE(both.at("best_assignment_value").get<double>(),
            both.at("best_assignment_throughput").get<double>());
}

TEST(ValueInCommands, IsThroughputWhereNothingHasAWorth) {
  const std::vector<std::string> words = {"compare", kBigLittle, "--policies", "jsq,map"};
  EXPECT_THAT(text_of(quick(words)), Not(HasSubstr("value")));
  EXPECT_THAT(text_of(quick({"simulate", kBigLittle, "--policy", "jsq"})), Not(HasSubstr("value")));
  EXPECT_THAT(text_of({"analyze", kBigLittle, "--policy", "jsq", "--optimal-control"}),
              Not(HasSubstr("value")));
  EXPECT_THAT(text_of({"whatif", kBigLittle}), Not(HasSubstr("value")));
  EXPECT_THAT(text_of({"pareto", kPriorities}), Not(HasSubstr("value")));
  const Json both = json_of(quick(words));
  for (const Json& run : both.at("policies")) EXPECT_EQ(run.at("value"), run.at("throughput"));
  EXPECT_EQ(both.at("differences").at(0).at("value"), both.at("differences").at(0).at("throughput"));
  EXPECT_EQ(both.at("best_assignment_value"), both.at("best_assignment_throughput"));
  const Json exact = json_of({"analyze", kBigLittle, "--policy", "jsq", "--optimal-control"});
  EXPECT_EQ(exact.at("value"), exact.at("throughput"));
  EXPECT_EQ(exact.at("best_state_value"), exact.at("best_state_throughput"));
  EXPECT_EQ(exact.at("optimal_control_value"), exact.at("optimal_control_throughput"));
  const Json changes = json_of({"whatif", kBigLittle});
  EXPECT_EQ(changes.at("value"), changes.at("base"));
  for (const Json& change : changes.at("changes")) EXPECT_EQ(change.at("value"), change.at("throughput"));
}

TEST(ValueInCommands, IsMaximisedByAnalyze) {
  const Json exact = json_of({"analyze", kWorth, "--policy", "jsq", "--optimal-control"});
  const double value = exact.at("value").get<double>();
  EXPECT_NEAR(value,
              exact.at("throughput_by_task").at(0).get<double>() +
                  10 * exact.at("throughput_by_task").at(1).get<double>(),
              1e-9 * value);
  const Json best = json_of({"solve", kWorth});
  EXPECT_NEAR(exact.at("optimal_control_value").get<double>(), best.at("value").get<double>(), 1e-5);
  EXPECT_NEAR(exact.at("best_state_value").get<double>(), best.at("value").get<double>(), 1e-9);
  EXPECT_NEAR(exact.at("optimal_control_throughput").get<double>(), best.at("throughput").get<double>(),
              1e-3);
  EXPECT_THAT(
      text_of({"analyze", kWorth, "--policy", "jsq", "--optimal-control"}),
      AllOf(HasSubstr("The best state is worth"), HasSubstr(" per second, the\nsame as the best state")));
}

TEST(ValueInCommands, IsTradedForSharesByPareto) {
  const Finished finished =
      Process({ALLOT_COMMAND, "pareto", "-", "--json"}).input(priorities_with_worths()).run();
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json points = Json::parse(finished.out).at("points");
  ASSERT_GE(points.size(), 2U);
  for (std::size_t at = 1; at < points.size(); ++at) {
    EXPECT_LT(points[at].at("value").get<double>(), points[at - 1].at("value").get<double>());
    EXPECT_LT(points[at].at("priority_error").get<double>(),
              points[at - 1].at("priority_error").get<double>());
  }
  const Finished text = Process({ALLOT_COMMAND, "pareto", "-"}).input(priorities_with_worths()).run();
  EXPECT_THAT(text.out, AllOf(HasSubstr("Value against priority error"), HasSubstr("value/s")));
}

TEST(ValueInCommands, IsWhatWhatifGains) {
  EXPECT_THAT(text_of({"whatif", kWorth}), HasSubstr("value/s"));
  EXPECT_THAT(text_of({"whatif", kStages}), HasSubstr("value/s"));
  EXPECT_THAT(text_of({"whatif", kLoad}), AllOf(HasSubstr("times the load"), Not(HasSubstr("tasks/s"))));
  const Json changes = json_of({"whatif", kWorth});
  for (const Json& change : changes.at("changes"))
    EXPECT_NEAR(change.at("gain").get<double>(),
                change.at("value").get<double>() / changes.at("value").get<double>() - 1, 1e-9);
}

}  // namespace
}  // namespace allot::testing::value_test
