#include "integrations/starpu/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace allot::starpu {
namespace {

Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  };
}

TEST(StarpuStatistics, EveryContextAndRankHasAFileOfItsOwn) {
  const Environment alone = variables({});
  EXPECT_EQ(report_path("out.json", alone, 7, 0, 1), "out.json");
  EXPECT_EQ(report_path("a/b.c/out.json", alone, 7, 2, 1), "a/b.c/out.ctx2.json");
  EXPECT_EQ(report_path("out", alone, 7, 1, 3), "out.ctx1.3");
  EXPECT_EQ(report_path("out-%p.json", alone, 7, 0, 2), "out-7.2.json");
  const Environment ranks = variables({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}});
  EXPECT_EQ(report_path("out.json", ranks, 7, 0, 1), "out.rank3.json");
  EXPECT_EQ(report_path("out.json", ranks, 7, 1, 1), "out.rank3.ctx1.json");
  const Environment single = variables({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}});
  EXPECT_EQ(report_path("out.json", single, 7, 0, 1), "out.json");
}

TEST(StarpuStatistics, SaysAllOfIt) {
  Report report;
  report.policy = "allot-map";
  report.types = {"A", "B\xff"};
  report.resources = {"cpu", "opencl0"};
  report.workers = {2, 1};
  const System system({{.name = "cpu", .servers = 2}, {.name = "opencl0"}},
                      {{.name = "A", .count = 2}, {.name = "B", .count = 1}}, Rates(2, 2, {1, 2, 3, 4}));
  Assignment target(2, 2);
  target(task_type(0), resource_id(1)) = 2;
  target(task_type(1), resource_id(0)) = 1;
  Plan plan{3, system, target, {}, {}, {}, 0};
  plan.predicted = evaluate(system, target);
  report.plan = std::make_shared<const Plan>(plan);
  report.plans = {{0.25, report.plan}};
  report.rates.resize(4);
  report.rates[1].completions = 9;
  report.rates[1].seconds_high = std::numeric_limits<double>::infinity();
  report.placements = {2, 7, 4, 0};
  report.seen.completions = {0, 9, 4, 0};
  report.seen.in_flight = {0, 0, 0, 0};
  report.seen.little = 1;
  report.solves = 5;

  const auto json = nlohmann::json::parse(report_json(report));
  EXPECT_EQ(json["policy"], "allot-map");
  EXPECT_EQ(json["plan"]["target"], nlohmann::json::parse("[[0, 2], [1, 0]]"));
  EXPECT_EQ(json["plan"]["counts"], nlohmann::json::parse("[2, 1]"));
  EXPECT_DOUBLE_EQ(json["plan"]["predicted_throughput"], 2 + 3);
  ASSERT_EQ(json["plans"].size(), 1U);
  EXPECT_EQ(json["plans"][0]["number"], 3);
  EXPECT_EQ(json["plans"][0]["seconds"], 0.25);
  EXPECT_EQ(json["plans"][0]["parts"], nlohmann::json::parse("[[0, 2], [1, 0]]"));
  EXPECT_EQ(json["plans"][0]["task_seconds"][1], nlohmann::json::parse("[0.3333333333333333, 0.25]"));
  EXPECT_EQ(json["placements"], nlohmann::json::parse("[[2, 7], [4, 0]]"));
  EXPECT_EQ(json["completions"], nlohmann::json::parse("[[0, 9], [4, 0]]"));
  EXPECT_EQ(json["rates"][0][1]["completions"], 9);
  EXPECT_TRUE(json["rates"][0][1]["seconds_high"].is_null());
  EXPECT_EQ(json["in_flight"], nlohmann::json::parse("[[0, 0], [0, 0]]"));
  EXPECT_EQ(json["solves"], 5);
  EXPECT_EQ(json["little"], 1);
}

TEST(StarpuStatistics, AContextWithoutTasksHasAReportToo) {
  EXPECT_EQ(nlohmann::json::parse(report_json(Report()))["placed"], 0);
}

TEST(StarpuStatistics, AFileIsReplacedAsAWholeOrNotAtAll) {
  const auto folder = std::filesystem::temp_directory_path() / "allot_starpu_statistics_test";
  std::filesystem::create_directories(folder);
  const std::string path = folder / "out.json";
  EXPECT_TRUE(write_file(path, "first"));
  EXPECT_TRUE(write_file(path, "second"));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "second");
  EXPECT_FALSE(write_file(folder / "not" / "there.json", "x"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "nothing is left beside it";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace allot::starpu
