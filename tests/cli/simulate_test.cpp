// `allot simulate` and `allot compare` from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/process.hpp"

namespace allot::testing::simulate_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;
namespace fs = std::filesystem;

const std::string kWorkstation = ALLOT_SOURCE_DIR "/examples/workstation.toml";  // with priorities
const std::string kBigLittle = ALLOT_SOURCE_DIR "/examples/biglittle.toml";      // without

/// A path that is gone after the test.
class TemporaryPath {
 public:
  explicit TemporaryPath(const std::string& extension, const std::string& text = "")
      : path_(fs::temp_directory_path() /
              ("allot-simulate-" + std::to_string(::getpid()) + "-" + std::to_string(next_++) + extension)) {
    if (!text.empty()) std::ofstream(path_) << text;
  }
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;
  ~TemporaryPath() { fs::remove(path_); }
  std::string str() const { return path_.string(); }
  std::string content() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  static inline int next_ = 0;
  fs::path path_;
};

/// Short runs; the defaults are for people.
std::vector<std::string> quick(std::vector<std::string> arguments) {
  for (const char* const word : {"--completions", "2000", "--replications", "4"})
    arguments.emplace_back(word);
  return arguments;
}

Json json_of(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const Finished finished = run_allot(std::move(arguments));
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, StartsWith("{"));
  return Json::parse(finished.out);
}

void expect_refused(const std::vector<std::string>& arguments, int status, const std::string& says) {
  const Finished finished = run_allot(arguments);
  EXPECT_EQ(finished.status, status) << finished.err;
  EXPECT_THAT(finished.out, IsEmpty());
  EXPECT_THAT(finished.err, HasSubstr(says));
}

void expect_estimate(const Json& estimate) {
  EXPECT_TRUE(estimate.at("mean").is_number());
  EXPECT_TRUE(estimate.at("half_width").is_number() || estimate.at("half_width").is_null());
}

/// The fields that scripts rely on.
void expect_result(const Json& result, std::size_t types, std::size_t resources) {
  EXPECT_TRUE(result.at("policy").is_string());
  EXPECT_TRUE(result.at("distribution").is_string());
  for (const char* const field : {"seed", "replications", "completions", "warmup"})
    EXPECT_TRUE(result.at(field).is_number_unsigned()) << field;
  EXPECT_TRUE(result.at("partial").is_boolean());
  expect_estimate(result.at("throughput"));
  expect_estimate(result.at("response_time"));
  const Json& response = result.at("response_time");
  EXPECT_LT(response.at("p50").get<double>(), response.at("p95").get<double>());
  EXPECT_LT(response.at("p95").get<double>(), response.at("p99").get<double>());
  ASSERT_EQ(result.at("throughput_by_task").size(), types);
  double sum = 0;
  for (const Json& estimate : result.at("throughput_by_task")) {
    expect_estimate(estimate);
    sum += estimate.at("mean").get<double>();
  }
  EXPECT_NEAR(sum, result.at("throughput").at("mean").get<double>(), 1e-9 * sum);
  ASSERT_EQ(result.at("utilization").size(), resources);
  for (const Json& busy : result.at("utilization")) {
    EXPECT_GE(busy.get<double>(), 0);
    EXPECT_LE(busy.get<double>(), 1 + 1e-9);
  }
  for (const char* const field : {"energy_per_task", "edp", "little", "population", "wall_seconds"})
    EXPECT_GT(result.at(field).get<double>(), 0) << field;
  EXPECT_GT(result.at("completions_per_second").get<double>(), 0);
  // Tasks that a plan leaves out are there, and never complete.
  if (result.at("policy") != "planned") {
    EXPECT_NEAR(result.at("little").get<double>(), result.at("population").get<double>(),
                0.1 * result.at("population").get<double>());
  }
  EXPECT_LT(result.at("little_residual").get<double>(), 1e-9);
}

std::string without_times(Json result) {
  for (Json* entry : {&result}) {
    entry->erase("wall_seconds");
    entry->erase("completions_per_second");
  }
  if (result.contains("policies")) {
    for (Json& policy : result["policies"]) {
      policy.erase("wall_seconds");
      policy.erase("completions_per_second");
    }
  }
  return result.dump();
}

TEST(SimulateCommand, PrintsTheFieldsThatScriptsRelyOn) {
  const Json result = json_of(quick({"simulate", kWorkstation, "--policy", "map", "--seed", "7"}));
  expect_result(result, 4, 3);
  EXPECT_EQ(result.at("policy"), "map");
  EXPECT_EQ(result.at("distribution"), "exponential");
  EXPECT_EQ(result.at("seed"), 7);
  EXPECT_EQ(result.at("replications"), 4);
  EXPECT_EQ(result.at("completions"), 2000);
  EXPECT_EQ(result.at("partial"), false);
  EXPECT_NEAR(result.at("population").get<double>(), 22, 1e-6);
}

TEST(SimulateCommand, DependsOnInputAndSeedAlone) {
  const std::vector<std::string> words = quick({"simulate", kWorkstation, "--policy", "random"});
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return without_times(json_of(all));
  };
  const std::string once = with({});
  EXPECT_EQ(with({"--jobs", "1"}), once);
  EXPECT_EQ(with({"--jobs", "7"}), once);
  EXPECT_EQ(with({"--threads", "7"}), once);  // its old name
  EXPECT_NE(with({"--seed", "2"}), once);
  EXPECT_NE(with({"--start", "listed"}), once);
}

TEST(SimulateCommand, TakesEveryPolicyAndDistribution) {
  const Json list = json_of({"list"});
  EXPECT_EQ(list.at("distributions").size(), 8U);
  EXPECT_GE(list.at("policies").size(), 11U);
  const TemporaryPath sizes(".txt", "1\n2\n3.5\n");
  const Json solved = json_of({"solve", kWorkstation});
  const TemporaryPath assignment(".json", solved.dump());
  for (const Json& policy : list.at("policies")) {
    std::vector<std::string> words = quick({"simulate", kWorkstation, "--policy", policy.at("name")});
    if (policy.at("name") == "fixed") words.insert(words.end(), {"--assignment", assignment.str()});
    expect_result(json_of(words), 4, 3);
  }
  for (const Json& kind : list.at("distributions")) {
    std::string spec = kind.at("name");
    if (spec == "trace") spec += ":" + sizes.str();
    const Json result = json_of(quick({"simulate", kWorkstation, "--policy", "jsq", "--distribution", spec}));
    expect_result(result, 4, 3);
    EXPECT_THAT(result.at("distribution").get<std::string>(), StartsWith(kind.at("name").get<std::string>()));
  }
}

/// `fixed` on the assignment of `solve` completes what `solve` said.
TEST(SimulateCommand, HoldsAGivenAssignment) {
  const Json solved = json_of({"solve", kWorkstation});
  const TemporaryPath assignment(".json", solved.dump());
  const Json result = json_of({"simulate", kWorkstation, "--policy", "fixed", "--assignment",
                               assignment.str(), "--completions", "20000"});
  EXPECT_NEAR(result.at("throughput").at("mean").get<double>(), solved.at("throughput").get<double>(),
              3 * result.at("throughput").at("half_width").get<double>());
}

TEST(SimulateCommand, PrintsATableForPeople) {
  const Finished finished = run_allot(quick({"simulate", kWorkstation, "--policy", "map"}));
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.err, IsEmpty());
  EXPECT_THAT(finished.out, AllOf(HasSubstr(" ± "), HasSubstr("decode"), HasSubstr("jpeg"), HasSubstr("busy"),
                                  HasSubstr("95% up to"), HasSubstr("J a task")));
}

TEST(SimulateCommand, ReadsThePrecisionEitherWay) {
  for (const char* const precision : {"1%", "0.01"}) {
    const Json result = json_of(
        {"simulate", kBigLittle, "--policy", "best-fit", "--completions", "500", "--precision", precision});
    EXPECT_EQ(result.at("precise"), true);
    EXPECT_LE(result.at("throughput").at("half_width").get<double>(),
              0.01 * result.at("throughput").at("mean").get<double>());
  }
  for (const char* const precision : {"0", "-1%", "100%", "1", "x", "%", "nan"}) {
    expect_refused({"simulate", kBigLittle, "--policy", "best-fit", "--precision", precision}, 2,
                   "--precision");
  }
}

TEST(SimulateCommand, CountsAGivenWarmup) {
  EXPECT_EQ(json_of(quick({"simulate", kBigLittle, "--policy", "jsq", "--warmup", "123"})).at("warmup"), 123);
  EXPECT_EQ(json_of(quick({"simulate", kBigLittle, "--policy", "jsq", "--warmup", "0"})).at("warmup"), 0);
  json_of(quick({"simulate", kBigLittle, "--policy", "jsq", "--warmup", "auto"}));
  expect_refused({"simulate", kBigLittle, "--policy", "jsq", "--warmup", "soon"}, 2, "--warmup");
}

TEST(SimulateCommand, SaysWhatWasMeant) {
  expect_refused({"simulate", kBigLittle, "--policy", "jqs"}, 2, "Did you mean 'jsq'?");
  expect_refused({"simulate", kBigLittle, "--policy", "jqs"}, 2, "'power-of-two'");
  expect_refused({"simulate", kBigLittle, "--policy", "jsq", "--distribution", "exponentail"}, 2,
                 "Did you mean 'exponential'?");
  expect_refused({"simulate", kBigLittle, "--policy", "jsq", "--distribution", "what:x=1"}, 2,
                 "'hyperexponential'");
  expect_refused({"simulate", kBigLittle, "--policy", "jsq", "--distribution", "weibull:bad=1"}, 2, "bad");
  expect_refused({"simulate", kBigLittle}, 2, "--policy");
  expect_refused({"simulate", kBigLittle, "--policy", "jsq", "--completions", "0"}, 2, "--completions");
  expect_refused({"simulate", kBigLittle, "--policy", "jsq", "--replications", "0"}, 2, "--replications");
  expect_refused({"simulate", kBigLittle, "--policy", "fixed"}, 2, "--assignment");
  const std::string held = ::testing::TempDir() + "allot-held-" + std::to_string(::getpid()) + ".json";
  std::ofstream(held) << run_allot({"solve", kBigLittle, "--json"}).out;
  expect_refused({"simulate", kBigLittle, "--policy", "map", "--assignment", held}, 2, "fixed");
  expect_refused({"compare", kBigLittle, "--policies", "map,jqs"}, 2, "Did you mean 'jsq'?");
  expect_refused({"compare", kBigLittle, "--policies", "map,map"}, 2, "twice");
  expect_refused({"compare", kBigLittle, "--policies", "map,"}, 2, "policy");
  expect_refused({"compare", kBigLittle, "--policies", "fixed"}, 2, "--assignment");
}

TEST(SimulateCommand, RefusesInputThatCannotBe) {
  const TemporaryPath bad(".txt", "1\n-2\nx\n");
  const Finished finished =
      run_allot({"simulate", kBigLittle, "--policy", "jsq", "--distribution", "trace:" + bad.str()});
  EXPECT_EQ(finished.status, 3);
  EXPECT_THAT(finished.out, IsEmpty());
  EXPECT_THAT(finished.err, AllOf(HasSubstr("line 2"), HasSubstr("line 3")));
  expect_refused({"simulate", kBigLittle, "--policy", "jsq", "--distribution", "trace:/nonexistent"}, 3,
                 "opened");
  expect_refused({"simulate", kBigLittle, "--policy", "mis"}, 3, "priorit");
  expect_refused({"simulate", "/nonexistent.toml", "--policy", "mis"}, 3, "nonexistent");
  const TemporaryPath wrong(".json", "[[1]]");
  expect_refused({"simulate", kBigLittle, "--policy", "fixed", "--assignment", wrong.str()}, 3, "");
}

TEST(SimulateCommand, TakesWorkThatVaries) {
  const std::string machine =
      "[[resources]]\nname = \"cpu\"\n[[resources]]\nname = \"gpu\"\n"
      "[[tasks]]\nname = \"a\"\n#counts\nrates = { cpu = 4, gpu = 1 }\n"
      "[[tasks]]\nname = \"b\"\nrates = { cpu = 1, gpu = 6 }\n";
  const std::string counts = std::string(machine).replace(machine.find("#counts"), 7, "count = 2");
  const TemporaryPath threads(".toml", machine + "[[threads]]\ncount = 4\nsequence = [\"a\", \"b\"]\n");
  const TemporaryPath plan(".toml", counts + "[[population]]\nat = 50\ntask = \"b\"\nchange = 3\n");
  const TemporaryPath arrivals(".toml", counts + "[[arrivals]]\ntask = \"b\"\nrate = 2.5\n");
  for (const TemporaryPath* file : {&threads, &plan, &arrivals}) {
    for (const char* const policy : {"map", "jsq", "load-balance"}) {
      const Json result = json_of(quick({"simulate", file->str(), "--policy", policy}));
      expect_result(result, 2, 2);
    }
  }
  EXPECT_NEAR(json_of(quick({"simulate", threads.str(), "--policy", "map"})).at("population").get<double>(),
              4, 1e-6);
  EXPECT_THAT(run_allot(quick({"simulate", threads.str(), "--policy", "map"})).out,
              HasSubstr("4 threads repeat a, b"));
  EXPECT_THAT(run_allot(quick({"simulate", plan.str(), "--policy", "map"})).out,
              HasSubstr("at 50 s: +3 'b'"));
  EXPECT_THAT(run_allot(quick({"simulate", arrivals.str(), "--policy", "map"})).out,
              HasSubstr("'b' tasks arrive, 2.5 a second"));
  EXPECT_TRUE(json_of(quick({"compare", plan.str(), "--policies", "map,jsq"}))
                  .at("best_assignment_throughput")
                  .is_null());
}

TEST(SimulateCommand, HasAnEmptyResultWithoutThreads) {
  const TemporaryPath file(
      ".json", R"({"resources": [{"name": "r"}], "tasks": [{"name": "t", "count": 0, "rates": {"r": 1}}]})");
  const Json result = json_of(quick({"simulate", file.str(), "--policy", "map"}));
  EXPECT_EQ(result.at("throughput").at("mean"), 0);
  EXPECT_EQ(result.at("population"), 0);
  EXPECT_TRUE(result.at("response_time").at("mean").is_null());
  EXPECT_TRUE(result.at("energy_per_task").is_null());
  EXPECT_EQ(result.at("throughput_by_task").size(), 1U);
  EXPECT_THAT(run_allot(quick({"simulate", file.str(), "--policy", "map"})).out,
              HasSubstr("Nothing was completed."));
  EXPECT_THAT(run_allot(quick({"compare", file.str()})).out, HasSubstr("Nothing was completed."));
}

TEST(SimulateCommand, WritesATrace) {
  const TemporaryPath trace(".csv");
  json_of({"simulate", kWorkstation, "--policy", "map", "--completions", "500", "--replications", "2",
           "--warmup", "0", "--trace", trace.str()});
  const std::string text = trace.content();
  EXPECT_THAT(text, StartsWith("time,event,task,thread,type,resource,size,response\n0,place,"));
  std::size_t completions = 0;
  for (std::size_t at = 0; (at = text.find(",complete,", at)) != std::string::npos; ++at) ++completions;
  EXPECT_EQ(completions, 500U);
  const TemporaryPath several(".csv");
  json_of(
      {"compare", kWorkstation, "--policies", "map,jsq", "--completions", "50", "--trace", several.str()});
  EXPECT_THAT(several.content(),
              AllOf(StartsWith("time,event,task,thread,type,resource,size,response,policy\n"),
                    HasSubstr(",map\n"), HasSubstr(",jsq\n")));
}

TEST(SimulateCommand, FailsWhenTheTraceCannotBeWritten) {
  expect_refused(quick({"simulate", kWorkstation, "--policy", "map", "--trace", "/nonexistent/t.csv"}), 1,
                 "/nonexistent/t.csv");
  if (fs::exists("/dev/full")) {
    expect_refused(quick({"simulate", kWorkstation, "--policy", "map", "--trace", "/dev/full"}), 1,
                   "No space");
  }
  const TemporaryPath scenario(".toml",
                               "[[resources]]\nname = \"r\"\n[[tasks]]\nname = \"t\"\ncount = 1\n"
                               "rates = { r = 1 }\n");
  const std::string before = scenario.content();
  expect_refused({"simulate", scenario.str(), "--policy", "map", "--trace", scenario.str()}, 2,
                 "overwritten");
  EXPECT_EQ(scenario.content(), before);
}

TEST(SimulateCommand, PrintsWhatThereIsWhenInterrupted) {
  for (const char* const command : {"simulate", "compare"}) {
    for (const bool json : {false, true}) {
      std::vector<std::string> words = {command, kWorkstation, "--completions", "1000000000000"};
      if (std::string(command) == "simulate") words.insert(words.end(), {"--policy", "map"});
      if (json) words.emplace_back("--json");
      Process process(allot_words(words));
      process.start();
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      process.send(SIGINT);
      const Finished finished = process.finish();
      EXPECT_EQ(finished.status, 130) << finished.err;
      if (!json) {
        EXPECT_THAT(finished.out, HasSubstr("Interrupted"));
        continue;
      }
      const Json answer = Json::parse(finished.out);
      const Json& result = answer.contains("policies") ? answer.at("policies").back() : answer;
      EXPECT_EQ(result.at("partial"), true);
    }
  }
}

TEST(SimulateCommand, ShowsProgressOnATerminalOnly) {
  const std::vector<std::string> words = allot_words(
      {"simulate", kWorkstation, "--policy", "map", "--completions", "3000000", "--replications", "2"});
  EXPECT_THAT(Process(words).on_terminal(100).run().out, HasSubstr("simulating: "));
  EXPECT_THAT(Process(words).run().err, IsEmpty());
}

TEST(CompareCommand, ComparesWhatTheScenarioSupports) {
  const auto names = [](const Json& answer) {
    std::vector<std::string> result;
    for (const Json& policy : answer.at("policies")) result.push_back(policy.at("policy"));
    return result;
  };
  const Json plain = json_of(quick({"compare", kBigLittle}));
  EXPECT_THAT(names(plain), Not(::testing::Contains("mis")));
  EXPECT_THAT(names(plain), Not(::testing::Contains("fixed")));
  EXPECT_THAT(names(plain), ::testing::IsSupersetOf({"best-fit", "map", "jsq", "random", "load-balance"}));
  for (const Json& policy : plain.at("policies")) expect_result(policy, 3, 2);
  const Json with_priorities = json_of(quick({"compare", kWorkstation}));
  EXPECT_THAT(names(with_priorities), ::testing::Contains("mis"));
  const TemporaryPath assignment(".json", json_of({"solve", kBigLittle}).dump());
  EXPECT_THAT(names(json_of(quick({"compare", kBigLittle, "--assignment", assignment.str()}))),
              ::testing::Contains("fixed"));
}

TEST(CompareCommand, GivesDifferencesAgainstTheFirst) {
  const Json answer = json_of(quick({"compare", kBigLittle, "--policies", "jsq,map,best-fit"}));
  ASSERT_EQ(answer.at("policies").size(), 3U);
  ASSERT_EQ(answer.at("differences").size(), 2U);
  const double reference = answer.at("policies")[0].at("throughput").at("mean").get<double>();
  for (std::size_t at = 0; at < 2; ++at) {
    const Json& difference = answer.at("differences")[at];
    EXPECT_EQ(difference.at("against"), "jsq");
    EXPECT_EQ(difference.at("policy"), answer.at("policies")[at + 1].at("policy"));
    EXPECT_NEAR(difference.at("throughput").at("mean").get<double>(),
                answer.at("policies")[at + 1].at("throughput").at("mean").get<double>() - reference,
                1e-9 * reference);
    EXPECT_TRUE(difference.at("significant").is_boolean());
  }
  EXPECT_TRUE(answer.at("differences")[1].at("significant").get<bool>());  // best-fit is far worse here
}

TEST(CompareCommand, SortsForPeopleAndNamesTheBest) {
  const std::string out = run_allot(quick({"compare", kBigLittle, "--policies", "best-fit,map"})).out;
  EXPECT_THAT(out, AllOf(HasSubstr("against best-fit"), HasSubstr("* differs from best-fit")));
  EXPECT_LT(out.find("\n  map"), out.find("\n  best-fit"));
  if (json_of({"list"}).dump().find("\"exact\"") == std::string::npos) return;
  EXPECT_THAT(out, HasSubstr("no constant assignment completes more, proven"));
}

/// Apart from times, what is printed depends on the input and the seed alone, the reference line included: on
/// a system where it is cut short, twice the same.
TEST(CompareCommand, HasAReferenceThatDoesNotDependOnTheClock) {
  const TemporaryPath large(
      ".toml", run_allot({"generate", "--gps", "43", "--sas", "21", "--threads", "8192", "--seed", "1"}).out);
  const std::vector<std::string> words = {"compare",        large.str(), "--policies", "best-fit,jsq",
                                          "--completions",  "1000",      "--warmup",   "0",
                                          "--replications", "2"};
  const Json once = json_of(words);
  EXPECT_EQ(once.at("best_assignment_proven"), false);
  EXPECT_GT(once.at("best_assignment_throughput").get<double>(),
            0.9 * once.at("policies")[0].at("throughput").at("mean").get<double>());
  EXPECT_EQ(without_times(json_of(words)), without_times(once));
}

const char* const kTwoByTwo =
    "[[resources]]\nname = \"cpu\"\n[[resources]]\nname = \"gpu\"\n"
    "[[tasks]]\nname = \"a\"\nrates = { cpu = 4, gpu = 1 }\n"
    "[[tasks]]\nname = \"b\"\nrates = { cpu = 1, gpu = 6 }\n"
    "[[threads]]\ncount = 4\nsequence = [\"a\", \"b\"]\n";

/// Where types change, an assignment is a pattern: a task goes where the most tasks of its type are missing.
/// One with room for all at home is Best Fit.
TEST(SimulateCommand, HoldsAPatternWhereTypesChange) {
  const TemporaryPath file(".toml", kTwoByTwo);
  const TemporaryPath home(".json", "[[4, 0], [0, 4]]");
  const Json fixed =
      json_of(quick({"simulate", file.str(), "--policy", "fixed", "--assignment", home.str()}));
  const Json best_fit = json_of(quick({"simulate", file.str(), "--policy", "best-fit"}));
  EXPECT_EQ(fixed.at("throughput"), best_fit.at("throughput"));
  EXPECT_EQ(fixed.at("response_time"), best_fit.at("response_time"));
  const TemporaryPath swapped(".json", "[[0, 4], [4, 0]]");
  const Finished away = run_allot(
      quick({"simulate", file.str(), "--policy", "fixed", "--assignment", swapped.str(), "--json"}));
  ASSERT_EQ(away.status, 0) << away.err;
  EXPECT_LT(Json::parse(away.out).at("throughput").at("mean").get<double>(),
            0.7 * best_fit.at("throughput").at("mean").get<double>());
  EXPECT_THAT(away.err, HasSubstr("a task goes where the most tasks"));
  // What cannot run is still refused.
  const TemporaryPath wrong(".json", "[[-1, 0], [4]]");
  expect_refused({"simulate", file.str(), "--policy", "fixed", "--assignment", wrong.str()}, 3, "'b'");
}

/// Placed by a table that sends everything home, random is Best Fit.
TEST(SimulateCommand, PlacesByGivenProbabilities) {
  const TemporaryPath file(".toml", kTwoByTwo);
  const TemporaryPath home(".json", "[[1, 0], [0, 1]]");
  const Json random =
      json_of(quick({"simulate", file.str(), "--policy", "random", "--probabilities", home.str()}));
  EXPECT_EQ(random.at("throughput"),
            json_of(quick({"simulate", file.str(), "--policy", "best-fit"})).at("throughput"));
  expect_refused({"simulate", file.str(), "--policy", "jsq", "--probabilities", home.str()}, 2,
                 "only the policy 'random'");
  expect_refused({"compare", file.str(), "--policies", "jsq,map", "--probabilities", home.str()}, 2,
                 "'random'");
  expect_refused({"compare", file.str(), "--policies", "jsq,map", "--assignment", home.str()}, 2, "'fixed'");
  const TemporaryPath wrong(".json", "[[0.5, 0.4], [0, 1]]");
  expect_refused({"simulate", file.str(), "--policy", "random", "--probabilities", wrong.str()}, 3,
                 "must sum to 1, sums to 0.9");
  expect_refused({"simulate", file.str(), "--policy", "random", "--probabilities", "no-such.json"}, 3,
                 "no-such.json");
}

/// The first Ctrl-C asks for what there is, the second does not wait for it: here it would take for ever,
/// because nobody reads the trace.
TEST(SimulateCommand, EndsAtOnceWhenInterruptedTwice) {
  const TemporaryPath trace(".fifo");
  ASSERT_EQ(::mkfifo(trace.str().c_str(), 0600), 0);
  const int reader = ::open(trace.str().c_str(), O_RDWR | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  Process process(allot_words({"simulate", kWorkstation, "--policy", "map", "--completions", "1000000000000",
                               "--warmup", "0", "--trace", trace.str(), "--json"}));
  process.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  process.send(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(process.running());
  process.send(SIGINT);
  const Finished finished = process.finish();
  ::close(reader);
  EXPECT_EQ(finished.status, 130);
  EXPECT_THAT(finished.out, IsEmpty());
}

}  // namespace
}  // namespace allot::testing::simulate_test
