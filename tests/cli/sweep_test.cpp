// `allot reproduce` and `allot sweep` from the outside: the same bytes however often they are broken off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "allot/sweep/encoding.hpp"
#include "allot/sweep/store.hpp"
#include "tests/cli/process.hpp"

namespace allot::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;
namespace fs = std::filesystem;
using Milliseconds = std::chrono::milliseconds;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class SweepCommand : public ::testing::Test {
 protected:
  SweepCommand() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~SweepCommand() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return path(name);
  }

  /// All data but measured times, by file.
  static std::map<std::string, std::string> data(const std::string& out) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(fs::path(out) / "data")) {
      const std::string name = entry.path().filename();
      if (name.find("-timing.") == std::string::npos) files[name] = content(entry.path());
    }
    return files;
  }

  static Finished run(std::vector<std::string> words) {
    Finished finished = run_allot(std::move(words));
    EXPECT_EQ(finished.status, 0) << finished.err;
    return finished;
  }

  static Json json_of(std::vector<std::string> words) {
    words.emplace_back("--json");
    return Json::parse(run(std::move(words)).out);
  }

  fs::path folder_ = fs::temp_directory_path() / ("allot-sweeps-" + std::to_string(::getpid()));
};

const std::string kBox = R"(
policies = ["map", "jsq"]
replications = 2
completions = 500
[scenario]
resources = [{ name = "cpu", servers = 2 }, { name = "gpu" }]
tasks = [{ name = "sort", count = 3, rates = { cpu = 9, gpu = 2 } }, { name = "search", count = 4, rates = { cpu = 1, gpu = 7 } }]
)";

std::string box(const std::string& values) {
  return kBox + "[[vary]]\nfield = 'resources.gpu.servers'\nlabel = 'cards'\nvalues = " + values + "\n";
}

#ifdef ALLOT_HAS_REPRODUCE

TEST_F(SweepCommand, ReproduceGivesTheSameBytesForTheSameSeed) {
  const Json first = json_of({"reproduce", "--runs", "2", "--out", path("a")});
  run({"reproduce", "--runs", "2", "--out", path("b"), "--jobs", "1"});
  run({"reproduce", "--runs", "2", "--out", path("c"), "--seed", "2", "--figure", "2"});
  EXPECT_EQ(data(path("a")), data(path("b")));
  EXPECT_NE(data(path("a"))["figure-2-runs.csv"], data(path("c"))["figure-2-runs.csv"]);
  EXPECT_EQ(first.at("runs"), 2);
  EXPECT_EQ(first.at("seed"), 1);
  EXPECT_EQ(first.at("resumed"), 0);
  EXPECT_EQ(first.at("failed"), 0);
  EXPECT_TRUE(fs::exists(first.at("report").get<std::string>()));
  EXPECT_GT(first.at("experiments").size(), 3u);
  for (const Json& experiment : first.at("experiments")) {
    EXPECT_FALSE(experiment.at("claims").empty()) << experiment.at("name");
    for (const Json& table : experiment.at("tables"))
      EXPECT_TRUE(fs::exists(fs::path(path("a")) / table.get<std::string>())) << table;
  }
  // All done: only the report is written again.
  fs::remove_all(path("a") + "/data");
  EXPECT_EQ(json_of({"reproduce", "--runs", "2", "--out", path("a")}).at("resumed"), first.at("units"));
  EXPECT_EQ(data(path("a")), data(path("b")));
}

TEST_F(SweepCommand, ReproduceSaysHowManyRunsAVerdictNeeds) {
  const auto said = [&](const char* runs) {
    return run_allot({"reproduce", "--figure", "2", "--runs", runs, "--out", path("a")}).out;
  };
  EXPECT_THAT(said("2"), HasSubstr("Undecided claims need at least 30 runs: '--runs 30'."));
  EXPECT_THAT(said("30"), AllOf(HasSubstr("units in"), Not(HasSubstr("need at least"))));
}

TEST_F(SweepCommand, ALargerRunExtendsASmallerOne) {
  run({"reproduce", "--figure", "2", "--runs", "2", "--out", path("a")});
  const Json larger = json_of({"reproduce", "--figure", "2", "--runs", "9", "--out", path("a")});
  EXPECT_EQ(larger.at("resumed"), 2);
  run({"reproduce", "--figure", "2", "--runs", "9", "--out", path("b")});
  EXPECT_EQ(data(path("a")), data(path("b")));
}

/// The store as it lies there, by unit.
std::map<std::size_t, std::string> stored(const std::string& out) {
  std::map<std::size_t, std::string> units;
  if (!fs::exists(out + "/store.sqlite")) return units;
  const Store store(out + "/store.sqlite");
  Experiment experiment;
  experiment.name = "figure-2";
  for (experiment.version = 1; units.empty() && experiment.version < 20; ++experiment.version) {
    for (const StoredUnit& unit : store.load(experiment, 1, 1'000'000))
      units[unit.unit] = encode_result(unit.result) + std::to_string(unit.seconds);
  }
  return units;
}

// Killed at twenty random moments, while units are done and while the report is written, the run loses
// nothing, does nothing twice and ends in the bytes of an undisturbed one.
TEST_F(SweepCommand, SurvivesBeingKilledAtAnyMoment) {
  const std::vector<std::string> words = {"reproduce", "--figure", "2", "--runs", "150", "--json", "--out"};
  const auto to = [&](const std::string& out) {
    std::vector<std::string> all = words;
    all.push_back(path(out));
    return allot_words(all);
  };
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(Process(to("undisturbed")).run().status, 0);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed=" << seed << ", an undisturbed run takes " << seconds << " s");
  std::mt19937 random(seed);
  // So that twenty kills are spread over the whole of it. Sooner once a run has ended before it was killed:
  // the machine may have become faster.
  double longest = 0.1 * seconds;
  std::uniform_real_distribution<double> moment(0, 1);
  std::map<std::size_t, std::string> kept;
  int kills = 0;
  int rounds = 0;
  while (kills < 20 && ++rounds < 200) {
    Process process(to("killed"));
    process.start();
    std::this_thread::sleep_for(std::chrono::duration<double>(longest * moment(random)));
    process.send(SIGKILL);
    const bool was_killed = process.finish().status == 128 + SIGKILL;
    kills += was_killed ? 1 : 0;
    if (!was_killed) longest *= 0.8;
    const std::map<std::size_t, std::string> now = stored(path("killed"));
    for (const auto& [unit, bytes] : kept) {
      ASSERT_TRUE(now.contains(unit)) << "unit " << unit << " was lost in round " << rounds;
      ASSERT_EQ(now.at(unit), bytes) << "unit " << unit << " was done again in round " << rounds;
    }
    kept = now;
  }
  EXPECT_EQ(kills, 20);
  const Finished last = Process(to("killed")).run();
  ASSERT_EQ(last.status, 0) << last.err;
  EXPECT_EQ(Json::parse(last.out).at("resumed"), kept.size());
  EXPECT_EQ(data(path("killed")), data(path("undisturbed")));
  RecordProperty("seed", static_cast<int>(seed));
  std::cout << "killed " << kills << " times in " << rounds << " rounds (seed " << seed << "); "
            << kept.size() << " of 150 units were done by then\n";
}

TEST_F(SweepCommand, CtrlCKeepsWhatIsDone) {
  Process process(allot_words({"reproduce", "--figure", "2", "--runs", "100000", "--out", path("a")}));
  process.start();
  for (int tries = 0; tries < 500 && !fs::exists(path("a") + "/store.sqlite-wal"); ++tries)
    std::this_thread::sleep_for(Milliseconds(20));
  std::this_thread::sleep_for(Milliseconds(1500));
  process.send(SIGINT);
  const Finished finished = process.finish();
  EXPECT_EQ(finished.status, 130);
  EXPECT_THAT(finished.out, IsEmpty());
  EXPECT_THAT(finished.err, HasSubstr("run the same command to resume"));
  EXPECT_FALSE(stored(path("a")).empty());
}

TEST_F(SweepCommand, ReproduceRefusesWhatItDoesNotKnow) {
  const auto refused = [&](std::vector<std::string> words, int status, const std::string& says) {
    const Finished finished = run_allot(std::move(words));
    EXPECT_EQ(finished.status, status);
    EXPECT_THAT(finished.out, IsEmpty());
    EXPECT_THAT(finished.err, HasSubstr(says));
  };
  refused({"reproduce", "--figure", "99"}, 2, "there is no experiment '99'");
  refused({"reproduce", "--figure", ""}, 2, "--figure: needs a number or a name");
  refused({"compare", "-", "--policies", ""}, 2, "--policies: needs at least one policy");
  refused({"reproduce", "--runs", "0"}, 2, "--runs");
  refused({"reproduce", "extra"}, 2, "did not expect");
  fs::create_directories(path("other"));
  file("other/store.sqlite", "This is a text that somebody wrote, and no store of anything at all.\n");
  refused({"reproduce", "--out", path("other")}, 1, "not a store of allot");
  refused({"reproduce", "--out", file("plain", "x")}, 1, "plain");
}

#endif

TEST_F(SweepCommand, ShowsProgressOnATerminalOnly) {
  std::string values = "[1";
  for (int value = 2; value < 400; ++value) values += ", " + std::to_string(value);
  const std::string sweep = file("box.toml", box(values + "]"));
  const Finished seen = Process(allot_words({"sweep", sweep, "--out", path("a")})).on_terminal(100).run();
  EXPECT_EQ(seen.status, 0);
  EXPECT_THAT(seen.out, HasSubstr("of 798 units"));
  const Finished unseen = run({"sweep", sweep, "--out", path("b")});
  EXPECT_THAT(unseen.err, IsEmpty());
}

TEST_F(SweepCommand, TwoRunsDoNotShareAStore) {
  const std::string sweep = file("box.toml", box("[1]"));
  fs::create_directories(path("a"));
  const Store store(path("a") + "/store.sqlite");
  const Finished finished = run_allot({"sweep", sweep, "--out", path("a")});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("in use by another run"));
}

TEST_F(SweepCommand, GivesOneTidyRowPerPointAndPolicy) {
  const Json result =
      json_of({"sweep", file("box.toml", "title = 'Cards'\n" + box("[1, 2]")), "--out", path("a")});
  EXPECT_EQ(result.at("title"), "Cards");
  ASSERT_EQ(result.at("rows").size(), 4u);
  const Json& row = result.at("rows")[3];
  EXPECT_EQ(row.at("cards"), 2);
  EXPECT_EQ(row.at("name"), "jsq");
  EXPECT_EQ(row.at("distribution"), "exponential");
  EXPECT_GT(row.at("throughput").get<double>(), 0);
  EXPECT_NEAR(row.at("throughput[sort]").get<double>() + row.at("throughput[search]").get<double>(),
              row.at("throughput").get<double>(), 1e-9);
  const std::string csv = content(path("a") + "/data/sweep.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
  EXPECT_THAT(csv, ::testing::StartsWith("cards,seed,kind,name,distribution,throughput,"));
  EXPECT_TRUE(fs::exists(path("a") + "/index.html"));
  // It makes no claims.
  EXPECT_FALSE(fs::exists(path("a") + "/claims.md"));
  EXPECT_THAT(content(path("a") + "/index.html"), Not(HasSubstr("Claims and verdicts")));
}

// The digest of a row covers what it depends on and nothing else.
TEST_F(SweepCommand, AChangedSweepDoesOnlyWhatIsNew) {
  const auto resumed = [&](const std::string& text) {
    return json_of({"sweep", file("box.toml", text), "--out", path("a")}).at("resumed").get<int>();
  };
  EXPECT_EQ(resumed(box("[1, 2]")), 0);
  EXPECT_EQ(resumed(box("[1, 2]")), 4);
  EXPECT_EQ(resumed(box("[4, 2, 1]")), 4);
  EXPECT_EQ(resumed("seeds = [2, 1]\n" + box("[1, 2]")), 4);
  EXPECT_EQ(resumed("distributions = ['uniform', 'exponential']\nsolvers = ['map']\n" + box("[1, 2]")), 4);
  std::string longer = box("[1, 2]");
  longer.replace(longer.find("500"), 3, "600");
  EXPECT_EQ(resumed(longer), 0);
  std::string faster = box("[1, 2]");
  faster.replace(faster.find("gpu = 7"), 7, "gpu = 8");
  EXPECT_EQ(resumed(faster), 0);
}

TEST_F(SweepCommand, ThreadsChangeNothing) {
  const std::string sweep = file("box.toml", "seeds = 5\n" + box("[1, 2, 3]"));
  run({"sweep", sweep, "--out", path("a"), "--jobs", "1"});
  run({"sweep", sweep, "--out", path("b"), "--threads", "5"});
  EXPECT_EQ(data(path("a")), data(path("b")));
}

TEST_F(SweepCommand, NamesEveryProblemOfItsFile) {
  const Finished finished = run_allot({"sweep", file("bad.toml", "policies = ['mapp']\nscenrio = 'x'\n")});
  EXPECT_EQ(finished.status, 3);
  EXPECT_THAT(finished.out, IsEmpty());
  EXPECT_THAT(finished.err, AllOf(HasSubstr("did you mean 'map'?"), HasSubstr("unknown key 'scenrio'"),
                                  HasSubstr("needs 'scenario'")));
}

TEST_F(SweepCommand, RunsTheExamples) {
  for (const auto& entry : fs::directory_iterator(ALLOT_SOURCE_DIR "/examples/sweeps")) {
    const std::string name = entry.path().stem();
    const Finished finished = run({"sweep", entry.path(), "--out", path(name)});
    EXPECT_THAT(finished.out, HasSubstr("index.html")) << name;
    EXPECT_GT(content(path(name) + "/data/sweep.csv").size(), 1000u) << name;
  }
}

}  // namespace
}  // namespace allot::testing
