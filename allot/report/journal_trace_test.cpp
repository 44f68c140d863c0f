#include "allot/report/journal_trace.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace allot::journal_trace_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kBegin = 1'700'000'000;

class JournalTraceTest : public ::testing::Test {
 protected:
  JournalTraceTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~JournalTraceTest() override { fs::remove_all(folder_); }

  std::vector<json> trace() const {
    return json::parse(journal_trace(JournalReader(path_)))["traceEvents"].get<std::vector<json>>();
  }
  static std::vector<json> of(const std::vector<json>& events, const std::string& phase,
                              const std::string& category = "") {
    std::vector<json> out;
    for (const json& event : events) {
      if (event["ph"] == phase && (category.empty() || event["cat"] == category)) out.push_back(event);
    }
    return out;
  }

  fs::path folder_ = fs::temp_directory_path() / ("allot-journal-trace-" + std::to_string(::getpid()));
  std::string path_ = (folder_ / "a.journal").string();
};

/// What whoever opens a trace relies on.
void expect_well_formed(const std::vector<json>& events) {
  std::map<std::pair<int, int>, std::vector<std::pair<std::int64_t, std::int64_t>>> tracks;
  std::map<int, std::string> processes;
  for (const json& event : events) {
    ASSERT_TRUE(event["pid"].is_number_integer() && event["tid"].is_number_integer()) << event;
    ASSERT_TRUE(event["name"].is_string() && event["ph"].is_string()) << event;
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["ph"] == "M") continue;
    ASSERT_TRUE(event["ts"].is_number() && event["ts"] >= 0.0) << event;
    if (event["ph"] != "X") continue;
    ASSERT_TRUE(event["dur"].is_number() && event["dur"] >= 0.0) << event;
    const std::int64_t begin = std::llround(event["ts"].get<double>() * 1000);
    tracks[{event["pid"], event["tid"]}].emplace_back(
        begin, begin + std::llround(event["dur"].get<double>() * 1000));
  }
  for (auto& [track, slices] : tracks) {
    EXPECT_TRUE(processes.contains(track.first));
    std::sort(slices.begin(), slices.end());
    for (std::size_t k = 1; k < slices.size(); ++k) {
      const std::int64_t precision = slices[k].first >> 51;  // of the doubles that this test reads
      EXPECT_LE(slices[k - 1].second, slices[k].first + precision);
    }
  }
}

TEST_F(JournalTraceTest, HasASlicePerAttemptAndCountersOfWhatRunsAndWaits) {
  const std::vector<std::string> types = {"decode", "sum"};
  std::vector<JobItem> items;
  for (std::size_t k = 0; k < 4; ++k) items.push_back({task_type(k / 3), k, "t:" + std::to_string(k)});
  {
    Journal journal(path_);
    journal.register_tasks(items, types, {});
    journal.begin_run({"id", "a.toml", "finish", "map", "1", kBegin});
    for (std::size_t k = 0; k < 3;
         ++k) {  // one after the other, a second each; the second fails and may be tried again
      AttemptEnd end;
      end.task = k;
      end.resource = "cpu";
      end.start_unix = kBegin + static_cast<double>(k);
      end.queue_s = static_cast<double>(k);
      end.wall_s = 1;
      end.status = k == 1 ? AttemptStatus::kFailed : AttemptStatus::kOk;
      journal.start(end);
      journal.finish(end, k != 1);
    }
    AttemptStart open;
    open.task = 3;
    open.resource = "runs";  // as the trace calls something else
    open.slot = 5;
    open.start_unix = kBegin + 0.5;
    journal.start(open);
    journal.note_event(kBegin + 2.5, "lane", "a worker \"has\" gone");
    journal.flush();
  }
  const std::vector<json> events = trace();
  expect_well_formed(events);
  const std::vector<json> attempts = of(events, "X", "attempt");
  ASSERT_EQ(attempts.size(), 4U);
  EXPECT_EQ(attempts[1]["ts"], 1e6);
  EXPECT_EQ(attempts[1]["dur"], 1e6);
  EXPECT_EQ(attempts[1]["args"]["status"], "failed");
  EXPECT_EQ(attempts[1]["args"]["task"], "t:1");
  EXPECT_EQ(attempts[2]["args"]["waited_s"], 2.0);
  EXPECT_EQ(attempts[3]["args"]["status"], "started");
  EXPECT_EQ(attempts[3]["dur"], 2.5e6);  // until the last that is known
  EXPECT_NE(attempts[3]["pid"], of(events, "X", "run").at(0)["pid"]);
  EXPECT_EQ(of(events, "i").at(0)["args"]["text"], "a worker \"has\" gone");
  std::map<std::string, std::vector<int>> counters;
  for (const json& event : of(events, "C")) counters[event["name"]].push_back(event["args"]["tasks"]);
  EXPECT_EQ(counters["running: decode"], (std::vector{1, 0}));  // one after the other, without a gap
  EXPECT_EQ(counters["waiting: decode"], (std::vector{2, 1}));  // the second is back as the third starts
  EXPECT_EQ(counters["waiting: sum"], (std::vector{1, 0, 1}));
}

TEST_F(JournalTraceTest, AttemptsThatWereLostWithTheirRunEndWithIt) {
  const std::vector<std::string> types = {"t"};
  const std::vector<JobItem> items = {{task_type(0), 0, "t:0"}};
  AttemptEnd end;
  end.resource = "cpu";
  for (int run = 0; run < 2; ++run) {
    Journal journal(path_);
    journal.register_tasks(items, types, {});
    journal.begin_run({"id", "a.toml", "finish", "map", "1", kBegin + 100 * run});
    end.start_unix = kBegin + 100 * run + 1;
    end.attempt = run + 1;
    journal.start(end);
    journal.note_event(kBegin + 100 * run + 4, "x", "");
    journal.flush();
  }
  const std::vector<json> attempts = of(trace(), "X", "attempt");
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0]["args"]["status"], "lost");
  EXPECT_EQ(attempts[0]["dur"], 3e6);
  EXPECT_TRUE(attempts[0]["args"].contains("end"));
  EXPECT_FALSE(attempts[0]["args"].contains("wall_s"));
  EXPECT_EQ(attempts[1]["args"]["status"], "started");
}

TEST_F(JournalTraceTest, IsWellFormedWhateverClocksAndNamesSay) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> odd = {0,          -1,     1e300, -1e300, kInfinity,
                                   -kInfinity, 5e-324, 4e12,  kBegin, kBegin + 1};
  const std::vector<std::string> names = {"",        "\"},{", "\xFF\xC3", "</script>",
                                          "\x1b[2J", "runs",  "\\",       "gpu\n"};
  for (unsigned seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    fs::remove(path_);
    std::mt19937 random(seed);
    const auto one_of = [&](const auto& list) { return list[random() % list.size()]; };
    std::vector<JobItem> items;
    for (std::size_t k = 0; k < 50; ++k)
      items.push_back({task_type(k % 2), k, one_of(names) + std::to_string(k)});
    {
      Journal journal(path_);
      journal.register_tasks(items, std::vector<std::string>{"a\"", "\xFF"}, {});
      journal.begin_run({one_of(names), one_of(names), "finish", "map", "1", one_of(odd)});
      for (std::size_t k = 0; k < 50; ++k) {
        AttemptEnd end;
        end.task = k;
        end.resource = one_of(names);
        end.slot = static_cast<std::int64_t>(random() % 3) - 1;
        end.start_unix = random() % 2 == 0 ? kBegin + static_cast<double>(random() % 1000) / 10 : one_of(odd);
        end.wall_s = random() % 2 == 0 ? static_cast<double>(random() % 100) / 3 : one_of(odd);
        end.queue_s = one_of(odd);
        end.error = one_of(names);
        end.status = static_cast<AttemptStatus>(1 + random() % 5);
        journal.start(end);
        if (random() % 4 != 0) journal.finish(end, random() % 2 == 0);
      }
      journal.flush();
    }
    const std::vector<json> events = trace();
    expect_well_formed(events);
    EXPECT_EQ(of(events, "X", "attempt").size(), 50U);
    EXPECT_EQ(journal_trace(JournalReader(path_)), journal_trace(JournalReader(path_)));
  }
}

}  // namespace
}  // namespace allot::journal_trace_test
