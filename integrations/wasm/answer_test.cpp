// The page's questions, asked without a page.
#include "integrations/wasm/answer.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace allot::wasm {
namespace {

using Json = nlohmann::json;

std::string example(const std::string& name) {
  std::ifstream file(ALLOT_SOURCE_DIR "/examples/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Json ask(const std::string& command, const std::string& scenario, const Json& options = Json::object(),
         bool is_json = false) {
  const std::string text = options.dump();
  return Json::parse(answer({command, scenario, is_json, text, {}}));
}

TEST(Answer, SolvesAsTheCommandDoes) {
  const std::string scenario = example("priorities.toml");
  const Json best = ask("solve", scenario, {{"explain", true}});
  EXPECT_EQ(best["solver"], "best");
  EXPECT_NEAR(best["throughput"].get<double>(), 24.3, 1e-9);
  EXPECT_FALSE(best["explanation"].empty());
  const Json proof = ask("certify", scenario);
  EXPECT_TRUE(proof["proven_optimal"].get<bool>());
  EXPECT_NEAR(proof["upper_bound"].get<double>(), 24.3, 1e-7);
  const Json pareto = ask("pareto", scenario, {{"points", 5}});
  EXPECT_EQ(pareto["points"].size(), 5u);
  EXPECT_NEAR(pareto["weighted"]["throughput"].get<double>(), 13.2496, 1e-4);
  const Json mis = ask("solve", scenario, {{"objective", "priority"}});
  EXPECT_EQ(mis["solver"], "mis");
}

TEST(Answer, ReadsAndWritesBothFormats) {
  const Json read = ask("read", example("workstation.toml"));
  const Json again = ask("read", read["json"], Json::object(), true);
  EXPECT_EQ(again["toml"], read["toml"]);
  EXPECT_EQ(ask("read", read["toml"])["json"], read["json"]);
  EXPECT_TRUE(read["static"].get<bool>());
}

TEST(Answer, NamesEverythingThatIsWrongWithAScenario) {
  const Json bad =
      ask("solve", R"({"resources": [{"name": "a", "servers": 0}], "tasks": [{"name": "t", "count": -1}]})",
          Json::object(), true);
  ASSERT_TRUE(bad.contains("diagnostics"));
  EXPECT_GE(bad["diagnostics"].size(), 2u);
  EXPECT_EQ(bad["diagnostics"][0]["place"], "resources[0].servers");
  const Json varying =
      ask("solve", example("paper-2gp1sa.toml") + "[[population]]\nat = 1\ntask = \"t1\"\nchange = 1\n");
  EXPECT_EQ(varying["diagnostics"][0]["place"], "population");
}

TEST(Answer, RefusesOptionsThatMakeNoSense) {
  const std::string scenario = example("paper-2gp1sa.toml");
  const auto refused = [&](const std::string& command, const Json& options) {
    return ask(command, scenario, options).contains("diagnostics");
  };
  EXPECT_TRUE(refused("fly", Json::object()));
  EXPECT_TRUE(refused("solve", {{"solver", "none such"}}));
  EXPECT_TRUE(refused("solve", {{"solver", "map"}, {"objective", "priority"}}));
  EXPECT_TRUE(refused("solve", {{"objective", 3}}));
  EXPECT_TRUE(refused("solve", {{"seed", -1}}));
  EXPECT_TRUE(refused("pareto", {{"points", 1}}));
  EXPECT_TRUE(refused("simulate", {{"policy", "none such"}}));
  EXPECT_TRUE(refused("simulate", {{"policy", "fixed"}}));
  EXPECT_TRUE(refused("simulate", {{"completions", 0}}));
  EXPECT_TRUE(refused("simulate", {{"distribution", "lognormal:cv=-1"}}));
  EXPECT_TRUE(refused("compare", {{"policies", Json::array()}}));
  EXPECT_TRUE(refused("compare", {{"policies", "map"}}));
  EXPECT_TRUE(refused("evaluate", Json::object()));
  EXPECT_TRUE(refused("evaluate", {{"assignment", {{1, 2}, {3, 4}}}}));
  EXPECT_TRUE(refused("evaluate", {{"assignment", {{10, 0, 0}, {0, 4, 0}, {0, 0, 3}}}}));
  EXPECT_TRUE(refused("evaluate", {{"assignment", {{9, 0, 1}, {0, 4, 0}, {0, 0, 4}}}}));
  EXPECT_TRUE(refused("generate", {{"gps", 0}, {"sas", 0}}));
  EXPECT_TRUE(Json::parse(answer({"solve", scenario, false, "[1", {}})).contains("diagnostics"));
  EXPECT_TRUE(Json::parse(answer({"solve", scenario, false, "[]", {}})).contains("diagnostics"));
  EXPECT_FALSE(refused("evaluate", {{"assignment", {{10, 0, 0}, {0, 4, 0}, {0, 0, 4}}}}));
}

TEST(Answer, FlowsSumToTheThroughputs) {
  for (const char* name : {"paper-2gp1sa.toml", "fcfs-differs.toml", "biglittle.toml", "plans/needs.toml"}) {
    const std::string scenario = example(name);
    const Json solution = ask("solve", scenario);
    const Json flows = ask("flows", scenario, {{"assignment", solution["assignment"]}});
    for (std::size_t i = 0; i < flows.size(); ++i) {
      double sum = 0;
      for (const Json& x : flows[i]) sum += x.get<double>();
      EXPECT_NEAR(sum, solution["throughput_by_task"][i].get<double>(), 1e-12) << name;
    }
  }
  const std::string scenario = example("priorities.toml");
  const Json weighted = ask("solve", scenario, {{"objective", "priority"}, {"solver", "weighted"}});
  const Json flows = ask("flows", scenario, {{"time_shares", weighted["time_shares"]}});
  for (std::size_t j = 0; j < 3; ++j) {
    double sum = 0;
    for (const Json& row : flows) sum += row[j].get<double>();
    EXPECT_NEAR(sum, weighted["throughput_by_resource"][j].get<double>(), 1e-12);
  }
}

TEST(Answer, PlansServiceAsTheCommandDoes) {
  const std::string stages = example("plans/stages.toml");
  const Json plan = ask("solve", stages, {{"service", "planned"}, {"explain", true}});
  EXPECT_NEAR(plan["rounds"][0].get<double>(), 220, 1e-7);
  EXPECT_EQ(ask("flows", stages, {{"time_shares", plan["time_shares"]}}).size(), 3u);
  const Json energy = ask("solve", example("plans/power.toml"), {{"objective", "energy"}, {"keep", 0.5}});
  EXPECT_TRUE(energy["proven_optimal"].get<bool>());
  EXPECT_LT(energy["mean_power"].get<double>(), 220);
  EXPECT_TRUE(ask("solve", stages, {{"service", "even"}}).contains("diagnostics"));
  EXPECT_FALSE(ask("solve", example("plans/conflict.toml"))["conflict"].empty());
}

TEST(Answer, SaysWhyServiceMustBePlanned) {
  EXPECT_TRUE(ask("read", example("workstation.toml"))["planned"].is_null());
  const auto why = [](const char* name) { return ask("read", example(name))["planned"].get<std::string>(); };
  EXPECT_NE(why("plans/stages.toml").find("[[threads]]"), std::string::npos);
  EXPECT_NE(why("plans/load.toml").find("[[arrivals]]"), std::string::npos);
  EXPECT_NE(why("plans/power.toml").find("power_cap"), std::string::npos);
}

// The ends of the trade are the plans with the most value and with the most for the least-served.
TEST(Answer, TradesValueForFairness) {
  const std::string scenario = example("workstation.toml");
  const Json points = ask("fairness", scenario, {{"points", 4}})["points"];
  ASSERT_EQ(points.size(), 4u);
  const Json most = ask("solve", scenario, {{"service", "planned"}});
  EXPECT_NEAR(points[0]["value"].get<double>(), most["value"].get<double>(), 1e-6);
  const Json fairest = ask("solve", scenario, {{"objective", "max-min"}});
  EXPECT_NEAR(points[3]["least"].get<double>(), fairest["objective_value"].get<double>(), 1e-6);
  const Json least = ask("least", scenario, {{"completions", fairest["throughput_by_task"]}});
  EXPECT_NEAR(least["least"].get<double>(), fairest["objective_value"].get<double>(), 1e-6);
  EXPECT_TRUE(ask("least", scenario).contains("diagnostics"));
  EXPECT_TRUE(ask("least", scenario, {{"completions", {1, 2}}}).contains("diagnostics"));
  EXPECT_TRUE(ask("fairness", scenario, {{"points", 1}}).contains("diagnostics"));
}

TEST(Answer, SimulatesAndTellsItsProgress) {
  std::vector<double> shares;
  const std::string scenario = example("paper-2gp1sa.toml");
  const Json result = Json::parse(
      answer({"compare", scenario, false,
              R"({"policies": ["map", "jsq"], "completions": 20000, "replications": 2, "warmup": 100})",
              [&](double share) { shares.push_back(share); }}));
  EXPECT_EQ(result["policies"].size(), 2u);
  EXPECT_EQ(result["policies"][0]["warmup"], 100);
  ASSERT_FALSE(shares.empty());
  EXPECT_NEAR(shares.back(), 1, 1e-9);
}

// From the first moment on: every thread is somewhere, a task is completed where it was placed, and MAP never
// leaves its target.
TEST(Answer, ReplaysWhatHappened) {
  const std::string scenario = example("paper-2gp1sa.toml");
  const Json solution = ask("solve", scenario);
  const Json replay = ask("replay", scenario, {{"policy", "map"}, {"completions", 500}});
  EXPECT_EQ(replay["target"], solution["assignment"]);
  std::map<int, std::pair<int, int>> where;  // thread: type, resource
  int completed = 0;
  double time = 0;
  for (const Json& event : replay["events"]) {
    EXPECT_GE(event[1].get<double>(), time);
    time = event[1];
    const int thread = event[3];
    const std::pair<int, int> place(event[4], event[5]);
    if (event[0] == 0) {
      EXPECT_FALSE(where.contains(thread));
      where[thread] = place;
    } else if (event[0] == 2) {
      EXPECT_EQ(where[thread], place);
      where.erase(thread);
      ++completed;
    }
  }
  EXPECT_EQ(completed, 500);
  EXPECT_EQ(where.size(), solution["population"].get<std::size_t>());
  EXPECT_TRUE(ask("replay", scenario, {{"policy", "jsq"}, {"completions", 10}})["target"].is_null());
}

TEST(Answer, ListsAndGenerates) {
  EXPECT_GT(ask("list", "")["policies"].size(), 5u);
  const Json large =
      ask("generate", "", {{"gps", 6}, {"sas", 2}, {"threads", 128}, {"priorities", true}, {"seed", 3}});
  EXPECT_EQ(large["resources"].size(), 8u);
  EXPECT_FALSE(ask("solve", large.dump(), Json::object(), true).contains("diagnostics"));
}

}  // namespace
}  // namespace allot::wasm
