#include "allot/report/simulation_trace.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "allot/base/error.hpp"

namespace allot::simulation_trace_test {
namespace {

using nlohmann::json;

const std::string kHeader = std::string(kSimulationTraceHeader) + "\n";

std::vector<json> trace_of(const std::string& text) {
  std::istringstream in(text);
  return json::parse(simulation_trace(in))["traceEvents"].get<std::vector<json>>();
}

std::string problem_with(const std::string& text) {
  try {
    trace_of(text);
  } catch (const InvalidModel& error) {
    return error.what();
  }
  return "";
}

TEST(SimulationTrace, ShowsServiceOnTheFirstFreeSlotAndCountsWhoWaits) {
  const std::vector<json> events = trace_of(kHeader +
                                            "1,place,0,0,\"so,rt\",cpu,1,\n1,start,0,0,\"so,rt\",cpu,1,\n"
                                            "1,place,1,1,\"so,rt\",cpu,2,\n1.5,start,1,1,\"so,rt\",cpu,2,\n"
                                            "2,complete,0,0,\"so,rt\",cpu,1,1\n2,place,2,0,\"so,rt\",cpu,1,\n"
                                            "2.5,start,2,0,\"so,rt\",cpu,1,\n3,place,3,1,\"so,rt\",cpu,1,\n");
  std::map<std::string, std::string> threads;
  std::vector<json> slices;
  std::map<std::string, std::vector<int>> counters;
  for (const json& event : events) {
    if (event["name"] == "thread_name") threads[event["tid"].dump()] = event["args"]["name"];
    if (event["ph"] == "X") slices.push_back(event);
    if (event["ph"] == "C") counters[event["name"]].push_back(event["args"]["tasks"]);
  }
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(threads[slices[0]["tid"].dump()], "cpu:0");
  EXPECT_EQ(slices[0]["name"], "so,rt");
  EXPECT_EQ(slices[0]["ts"], 0.0);
  EXPECT_EQ(slices[0]["dur"], 1e6);
  EXPECT_EQ(slices[1]["args"]["task"], 2);  // on the slot that was free again
  EXPECT_EQ(threads[slices[1]["tid"].dump()], "cpu:0");
  EXPECT_EQ(slices[1]["args"]["status"], "started");
  EXPECT_EQ(slices[1]["dur"], 0.5e6);  // until the recording ended
  EXPECT_EQ(threads[slices[2]["tid"].dump()], "cpu:1");
  EXPECT_EQ(slices[2]["args"]["waited_s"], 0.5);
  EXPECT_EQ(counters["waiting: so,rt"], (std::vector{1, 0, 1, 0}));  // the last comes as the recording ends
  EXPECT_EQ(counters["running: so,rt"], (std::vector{1, 2, 1, 2, 0}));
}

TEST(SimulationTrace, PoliciesStandApart) {
  const std::string header = std::string(kSimulationTraceHeader) + ",policy\n";
  std::string text = header;
  for (const std::string policy : {"map", "jsq"})
    text += "0,place,0,0,t,cpu,1,," + policy + "\n0,start,0,0,t,cpu,1,," + policy +
            "\n1,complete,0,0,t,cpu,1,1," + policy + "\n";
  std::vector<std::string> names;
  std::vector<int> pids;
  for (const json& event : trace_of(text)) {
    if (event["name"] == "process_name") names.push_back(event["args"]["name"]);
    if (event["ph"] == "X") pids.push_back(event["pid"]);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"map: tasks", "map: cpu", "jsq: tasks", "jsq: cpu"}));
  EXPECT_EQ(pids, (std::vector{2, 4}));
}

TEST(SimulationTrace, DamagedFilesAreRefusedOrGiveATrace) {
  std::string good = kHeader;
  for (int k = 0; k < 8; ++k) {
    const std::string task = std::to_string(k) + ",0,\"t\"\"y,pe\",cpu,1,";
    good += "1," + ("place," + task) + "\n1,start," + task + "\n2,complete," + task + "1\n";
  }
  ASSERT_EQ(problem_with(good), "");
  std::size_t taken = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    std::mt19937 random(seed);
    std::string text = good;
    for (unsigned change = 0; change < 1 + seed % 4; ++change) {
      const std::size_t at = kHeader.size() + random() % (text.size() - kHeader.size());
      if (random() % 2 == 0) {
        text[at] = static_cast<char>(random());
      } else {
        text.erase(at, 1 + random() % 5);
      }
    }
    std::istringstream in(text);
    try {
      const json document = json::parse(simulation_trace(in));  // which has only valid UTF-8
      ++taken;
      for (const json& event : document["traceEvents"]) {
        EXPECT_TRUE(event["ph"] != "X" || event["dur"] >= 0.0) << event;
      }
    } catch (const InvalidModel& error) {
      EXPECT_EQ(std::string(error.what()).rfind("line ", 0), 0U) << error.what();
    }
  }
  EXPECT_GT(taken, 100U);
  EXPECT_LT(taken, 1900U);
}

TEST(SimulationTrace, RefusesWhatIsNone) {
  EXPECT_EQ(problem_with(kHeader), "");
  EXPECT_NE(problem_with("").find("line 1: must be"), std::string::npos);
  EXPECT_NE(problem_with("time,event\n").find("line 1: must be"), std::string::npos);
  EXPECT_NE(problem_with(kHeader + "1,place,0\n").find("line 2: has 3 fields"), std::string::npos);
  EXPECT_NE(problem_with(kHeader + "nan,place,0,0,t,cpu,1,\n").find("line 2: 'time'"), std::string::npos);
  EXPECT_NE(problem_with(kHeader + "-1,place,0,0,t,cpu,1,\n").find("'time'"), std::string::npos);
  EXPECT_NE(problem_with(kHeader + "1,place,-1,0,t,cpu,1,\n").find("'task'"), std::string::npos);
  EXPECT_NE(problem_with(kHeader + "1,leave,0,0,t,cpu,1,\n").find("task 0 is in no place"),
            std::string::npos);
  const std::string placed = kHeader + "1,place,0,0,t,cpu,1,\n";
  EXPECT_NE(problem_with(placed + "1,leave,0,0,t,cpu,1,\n").find("'event'"), std::string::npos);
  EXPECT_NE(problem_with(placed + "1,place,0,0,t,cpu,1,\n").find("placed already"), std::string::npos);
  EXPECT_NE(problem_with(placed + "1,complete,0,0,t,cpu,1,\n").find("not been started"), std::string::npos);
  EXPECT_NE(problem_with(placed + "1,\"start,0,0,t,cpu,1,\n").find("line 3: a quote"), std::string::npos);
}

}  // namespace
}  // namespace allot::simulation_trace_test
