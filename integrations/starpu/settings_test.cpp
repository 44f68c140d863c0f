#include "integrations/starpu/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "allot/format/scenario_reader.hpp"

namespace allot::starpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

struct Reading {
  Settings settings;
  std::vector<std::string> problems;
};

Reading read(const std::map<std::string, std::string>& variables) {
  Reading reading;
  reading.settings = read_settings(
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      reading.problems);
  return reading;
}

TEST(StarpuSettings, NothingSaidIsAllDefaults) {
  const auto [settings, problems] = read({});
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_THAT(settings.shares, IsEmpty());
  EXPECT_FALSE(settings.scenario);
  EXPECT_EQ(settings.types, TypesBy::kCodelet);
  EXPECT_EQ(settings.depth, 1);
  EXPECT_EQ(settings.statistics, "");
  EXPECT_FALSE(settings.verbose);
}

TEST(StarpuSettings, EveryVariableIsRead) {
  const auto [settings, problems] = read({{"ALLOT_SHARES", "A=0.5,chol_model_11=2e-1,x=y=0"},
                                          {"ALLOT_WORTHS", "A=3,B=0"},
                                          {"ALLOT_TYPES", "footprint"},
                                          {"ALLOT_DEPTH", "2"},
                                          {"ALLOT_STATS", "out.json"},
                                          {"ALLOT_VERBOSE", "1"},
                                          {"ALLOT_SCENARIO", ALLOT_SOURCE_DIR "/examples/workstation.toml"}});
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_THAT(settings.shares, ElementsAre(Pair("A", 0.5), Pair("chol_model_11", 0.2), Pair("x=y", 0.0)));
  EXPECT_THAT(settings.worths, ElementsAre(Pair("A", 3.0), Pair("B", 0.0)));
  EXPECT_EQ(settings.types, TypesBy::kFootprint);
  EXPECT_EQ(settings.depth, 2);
  EXPECT_EQ(settings.statistics, "out.json");
  EXPECT_TRUE(settings.verbose);
  ASSERT_TRUE(settings.scenario);
}

TEST(StarpuSettings, WhatCannotBeReadIsNamedAndKeepsItsDefault) {
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"ALLOT_SHARES", "A"},
                                                        {"ALLOT_SHARES", "A=x"},
                                                        {"ALLOT_SHARES", "A=-1"},
                                                        {"ALLOT_SHARES", "=1"},
                                                        {"ALLOT_SHARES", "A=0,B=0"},
                                                        {"ALLOT_SHARES", "A=inf"},
                                                        {"ALLOT_SHARES", "A=1e200"},
                                                        {"ALLOT_WORTHS", "A"},
                                                        {"ALLOT_WORTHS", "A=-1"},
                                                        {"ALLOT_TYPES", "codelets"},
                                                        {"ALLOT_DEPTH", "0"},
                                                        {"ALLOT_DEPTH", "65"},
                                                        {"ALLOT_DEPTH", "2x"},
                                                        {"ALLOT_DEPTH", "-1"},
                                                        {"ALLOT_SCENARIO", "not/there.toml"}}) {
    SCOPED_TRACE(name + "=" + value);
    const auto [settings, problems] = read({{name, value}});
    ASSERT_FALSE(problems.empty());
    EXPECT_THAT(problems.front(), HasSubstr(name + "=" + value + " is ignored"));
    EXPECT_THAT(settings.shares, IsEmpty());
    EXPECT_EQ(settings.types, TypesBy::kCodelet);
    EXPECT_EQ(settings.depth, 1);
    EXPECT_FALSE(settings.scenario);
  }
}

TEST(StarpuSettings, TypesWithoutAShareDivideWhatIsLeft) {
  Settings settings;
  EXPECT_THAT(shares_of(settings, {"A", "B"}), ElementsAre(1.0, 1.0));
  settings.shares = {{"A", 0.5}, {"B", 0.3}};
  EXPECT_THAT(shares_of(settings, {"A", "B"}), ElementsAre(0.5, 0.3));
  const std::vector<double> four = shares_of(settings, {"C", "A", "D", "B"});
  EXPECT_NEAR(four[0], 0.1, 1e-12);
  EXPECT_NEAR(four[2], 0.1, 1e-12);
  settings.shares = {{"A", 3}, {"B", 1}};  // weights: nothing is left of 1
  EXPECT_THAT(shares_of(settings, {"A", "C"}), ElementsAre(3.0, 0.04));
  settings.shares.assign(200, {"A", kMaxNumber});
  EXPECT_THAT(shares_of(settings, {"A", "C"}), ElementsAre(kMaxNumber, kMaxNumber));
  settings.shares = {{"A", 0}, {"B", 1}};  // B has not come yet
  EXPECT_THAT(shares_of(settings, {"A"}), ElementsAre(1.0));
}

TEST(StarpuSettings, AScenarioGivesRatesAndPriorities) {
  Settings settings;
  EXPECT_FALSE(scenario_rate(settings, "A", "cpu"));
  auto scenario = read_scenario_text(R"([[resources]]
name = "cpu"
[[resources]]
name = "opencl0"
[[tasks]]
name = "A"
count = 1
priority = 3
rates = { cpu = 10, opencl0 = 20 }
[[tasks]]
name = "B"
count = 1
priority = 1
rates = { cpu = 5 }
)",
                                     FileFormat::kToml);
  ASSERT_TRUE(scenario) << scenario.diagnostics().front().message;
  settings.scenario = *scenario;
  EXPECT_EQ(scenario_rate(settings, "A", "opencl0"), 20);
  EXPECT_FALSE(scenario_rate(settings, "B", "opencl0"));
  EXPECT_FALSE(scenario_rate(settings, "C", "cpu"));
  EXPECT_THAT(shares_of(settings, {"B", "A"}), ElementsAre(1.0, 3.0));
  EXPECT_TRUE(names_shares(settings));
  settings.shares = {{"A", 0.25}};  // which go before the scenario's
  EXPECT_THAT(shares_of(settings, {"B", "A"}), ElementsAre(0.75, 0.25));
}

TEST(StarpuSettings, WorthsAndLimitsAreByName) {
  Settings settings;
  EXPECT_FALSE(names_shares(settings));
  auto scenario = read_scenario_text(R"([[resources]]
name = "cpu"
[[tasks]]
name = "A"
count = 1
priority = 3
worth = 2
floor = 0.5
rates = { cpu = 10 }
[[tasks]]
name = "B"
count = 1
priority = 1
max_response = 4
rates = { cpu = 5 }
)",
                                     FileFormat::kToml);
  ASSERT_TRUE(scenario) << scenario.diagnostics().front().message;
  settings.scenario = *scenario;
  EXPECT_FALSE(names_shares(settings)) << "worths say what is wanted";
  TaskClass a{.name = "A"};
  TaskClass b{.name = "B"};
  TaskClass c{.name = "C"};
  for (TaskClass* type : {&a, &b, &c}) say_wishes(settings, *type);
  EXPECT_EQ(a.worth, 2);
  EXPECT_EQ(a.floor, 0.5);
  EXPECT_EQ(b.worth, 1);
  EXPECT_EQ(b.max_response, 4);
  EXPECT_EQ(c, TaskClass{.name = "C"});
  settings.worths = {{"B", 7}};  // which go before the scenario's
  say_wishes(settings, b);
  EXPECT_EQ(b.worth, 7);
  settings.shares = {{"A", 1}};
  EXPECT_TRUE(names_shares(settings));
}

}  // namespace
}  // namespace allot::starpu
