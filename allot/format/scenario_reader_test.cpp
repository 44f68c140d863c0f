#include "allot/format/scenario_reader.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "allot/format/assignment_reader.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr const char* kFull = R"(name = "cpu + gpu"

[[resources]]
name = "cpu"
kind = "gp"
servers = 2
discipline = "fcfs"
min_depth = 3
power = 65
idle_power = 5.5

[[resources]]
name = "gpu"

[[resources]]
name = "conv"
kind = "sa"

[[tasks]]
name = "sort"
count = 6
home = "gpu"
priority = 2
floor = 0.25
rates = { cpu = 9, gpu = 2.0, conv = 0 }

[[tasks]]
name = "filter"
count = 4
priority = 1
rates.cpu = 1.5
rates.conv = 20.0

[[population]]
at = 100
task = "sort"
change = -2

[[arrivals]]
task = "filter"
rate = 3
)";

constexpr const char* kFullJson = R"({"name": "cpu + gpu",
  "resources": [
    {"name": "cpu", "kind": "gp", "servers": 2, "discipline": "fcfs", "min_depth": 3.0, "power": 65, "idle_power": 5.5},
    {"name": "gpu"}, {"kind": "sa", "name": "conv"}],
  "tasks": [
    {"name": "sort", "count": 6.0, "home": "gpu", "priority": 2, "floor": 0.25, "rates": {"cpu": 9, "gpu": 2.0}},
    {"name": "filter", "count": 4, "priority": 1, "rates": {"conv": 20, "cpu": 1.5, "gpu": -0.0}}],
  "threads": [],
  "population": [{"at": 100, "task": "sort", "change": -2}],
  "arrivals": [{"task": "filter", "rate": 3}]})";

Scenario read_toml(const std::string& text) {
  const auto read = read_scenario_text(text, FileFormat::kToml, "text");
  if (!read) throw std::runtime_error(to_string(read.diagnostics().front()));
  return *read;
}

/// A folder that goes away with the test.
class ScenarioFiles : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  fs::path folder_ = fs::temp_directory_path() / ("allot-scenario-" + std::to_string(::getpid()));
};

TEST(ScenarioReader, ReadsEveryKey) {
  const Scenario scenario = read_toml(kFull);
  const System& system = scenario.system;
  EXPECT_EQ(scenario.name, "cpu + gpu");
  ASSERT_EQ(system.resource_count(), 3u);
  EXPECT_EQ(system.resources()[0], (Resource{"cpu", Kind::kGeneral, 2, Discipline::kFcfs, 3, 65.0, 5.5}));
  EXPECT_EQ(system.resources()[1], Resource{"gpu"});
  EXPECT_EQ(system.resources()[2], (Resource{"conv", Kind::kSpecialized}));
  ASSERT_EQ(system.type_count(), 2u);
  EXPECT_EQ(system.tasks()[0], (TaskClass{"sort", 6, resource_id(1), 2.0, 0.25}));
  EXPECT_EQ(system.tasks()[1], (TaskClass{"filter", 4, std::nullopt, 1.0, std::nullopt}));
  EXPECT_THAT(system.rates().values(), ElementsAre(9, 2, 0, 1.5, 0, 20));
  EXPECT_THAT(scenario.population, ElementsAre(PopulationChange{100, task_type(0), -2}));
  EXPECT_THAT(scenario.arrivals, ElementsAre(Arrivals{task_type(1), 3}));
  EXPECT_TRUE(scenario.threads.empty());
}

TEST(ScenarioReader, ReadsTheSameFromJson) {
  const auto read = read_scenario_text(kFullJson, FileFormat::kJson);
  ASSERT_TRUE(read) << to_string(read.diagnostics().front());
  EXPECT_EQ(*read, read_toml(kFull));
}

TEST(ScenarioReader, ThreadsTakeThePlaceOfTheCounts) {
  const Scenario scenario = read_toml(R"(
resources = [{ name = "cpu" }]
tasks = [{ name = "a", rates = { cpu = 1 } }, { name = "b", count = 0, rates = { cpu = 2 } }]
[[threads]]
count = 4
sequence = ["a", "b", "a"]
[[threads]]
sequence = ["b"]
)");
  EXPECT_EQ(scenario.system.population(), 0);
  const TaskType a = task_type(0), b = task_type(1);
  EXPECT_THAT(scenario.threads, ElementsAre(ThreadGroup{4, {a, b, a}}, ThreadGroup{1, {b}}));
}

TEST(ScenarioReader, NeedsNoCountWhereArrivalsOrChangesBringTheWork) {
  const Scenario scenario = read_toml(R"(
resources = [{ name = "cpu" }]
tasks = [{ name = "a", rates.cpu = 1 }, { name = "b", rates.cpu = 1 }, { name = "c", count = 0 }]
arrivals = [{ task = "a", rate = 0 }]
population = [{ at = 20, task = "b", change = -3 }, { at = 10, task = "b", change = 3 }]
)");
  EXPECT_EQ(scenario.system.population(), 0);
  EXPECT_FALSE(scenario.system.home(task_type(2)));
}

TEST(ScenarioReader, TakesTheLimitsThemselves) {
  const Scenario scenario = read_toml(R"(
resources = [{ name = "cpu", servers = 1_000_000_000, power = 1e100 }]
tasks = [{ name = "a", count = 0x3B9ACA00, rates.cpu = 1e-100, floor = -0.0 }]
)");
  EXPECT_EQ(scenario.system.population(), kMaxCount);
}

TEST(ScenarioReader, NamesAreAnyTextWithoutControlCharacters) {
  const Scenario scenario = read_toml(R"(
resources = [{ name = "a.b" }, { name = "é \"ü\"" }, { name = " " }]
tasks = [{ name = """x \
    éy""", count = 1, rates = { "a.b" = 1, " " = 0, "é \"ü\"" = 2 } }]
)");
  EXPECT_EQ(scenario.system.tasks()[0].name, "x éy");
  EXPECT_THAT(scenario.system.rates().values(), ElementsAre(1, 2, 0));
}

TEST(ScenarioReader, AnOversizedMatrixIsRefusedBeforeItIsMade) {
  std::string json = R"({"resources": [)";
  for (int j = 0; j < 5000; ++j) json += (j ? ",{\"name\":\"r" : "{\"name\":\"r") + std::to_string(j) + "\"}";
  json += R"(], "tasks": [)";
  for (int i = 0; i < 5000; ++i)
    json += (i ? ",{\"count\":0,\"name\":\"t" : "{\"count\":0,\"name\":\"t") + std::to_string(i) + "\"}";
  const auto read = read_scenario_text(json + "]}", FileFormat::kJson);
  ASSERT_FALSE(read);
  EXPECT_THAT(to_string(read.diagnostics().front()),
              "$: is too large: 5000 task types times 5000 resources are more than 16777216 rates");
}

TEST(ScenarioReader, CountsTheProblemsBeyondTenThousand) {
  std::string json = "{";
  for (int k = 0; k < 10'050; ++k) json += "\"k" + std::to_string(k) + "\":0,";
  const auto read = read_scenario_text(
      json + R"("resources":[{"name":"r"}],"tasks":[{"name":"t","count":0}]})", FileFormat::kJson);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.diagnostics().size(), 10'001u);
  EXPECT_EQ(to_string(read.diagnostics().back()), "$: and 50 more problems");
}

TEST(ScenarioReader, NotesTypesThatAreNotAtHomeWhereTheyAreFastest) {
  EXPECT_THAT(
      notes(read_toml(kFull)),
      ElementsAre(
          "task 'sort' has its home on 'gpu' (2.0 per second) but is fastest on 'cpu' (9.0 per second)"));
  std::string text = "resources = [{ name = \"a\" }, { name = \"b\" }]\n";
  for (int i = 0; i < 8; ++i) {
    text += "[[tasks]]\ncount = 1\nhome = \"a\"\nrates = { a = 1, b = 2 }\nname = \"t" + std::to_string(i) +
            "\"\n";
  }
  const auto lines = notes(read_toml(text));
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines.back(), "and 3 more task types do not have their home where they are fastest");
}

TEST(ScenarioReader, ReadsEveryPublishedCase) {
  std::size_t cases = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(ALLOT_SOURCE_DIR) / "tests/cases")) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const auto document = read_document(entry.path().string());
    ASSERT_TRUE(document);
    const Node* const node = document->root().find("scenario");
    ASSERT_NE(node, nullptr);
    const auto scenario = read_scenario_node(*document, *node);
    ASSERT_TRUE(scenario) << to_string(scenario.diagnostics().front());
    EXPECT_GT(scenario->system.population(), 0);
    ++cases;
  }
  EXPECT_GE(cases, 30u);
}

TEST(ScenarioReader, ReadsTheExamplesOfItsReference) {
  std::ifstream in(fs::path(ALLOT_SOURCE_DIR) / "docs/reference/scenario.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const auto block = [&](const std::string& language) {
    const std::size_t begin = page.find("```" + language + "\n") + language.size() + 4;
    return page.substr(begin, page.find("```", begin) - begin);
  };
  const Scenario toml = read_toml(block("toml"));
  const auto json = read_scenario_text(block("json"), FileFormat::kJson);
  ASSERT_TRUE(json) << to_string(json.diagnostics().front());
  EXPECT_EQ(*json, toml);
  EXPECT_EQ(toml.system.population(), 18);

  const std::size_t begin = page.find("{\"tasks\": [\"sort\"");
  const auto assignment =
      read_assignment_text(page.substr(begin, page.find('\n', begin) - begin), toml.system);
  EXPECT_TRUE(assignment) << to_string(assignment.diagnostics().front());
}

TEST_F(ScenarioFiles, AreTomlOrJsonByTheirExtension) {
  EXPECT_EQ(*read_scenario(write("s.toml", kFull)), read_toml(kFull));
  EXPECT_EQ(*read_scenario(write("s.JSON", kFullJson)), read_toml(kFull));
  const auto other = read_scenario(write("s.yaml", "name: x\n"));
  ASSERT_FALSE(other);
  EXPECT_THAT(to_string(other.diagnostics().front()), HasSubstr("must be a file named *.toml or *.json"));
}

TEST_F(ScenarioFiles, ThatCannotBeReadSayWhy) {
  const auto only = [](const ReadResult<Scenario>& read) {
    return read ? "was read" : to_string(read.diagnostics().front());
  };
  EXPECT_THAT(only(read_scenario((folder_ / "none.toml").string())),
              EndsWith("cannot be read: No such file or directory"));
  fs::create_directory(folder_ / "folder.toml");
  EXPECT_THAT(only(read_scenario((folder_ / "folder.toml").string())),
              EndsWith("is a directory, not a file"));
  EXPECT_THAT(only(read_scenario(write("empty.toml", ""))), EndsWith("is empty"));
  EXPECT_THAT(only(read_scenario(write("large.toml", std::string(kMaxFileBytes + 1, '#')))),
              EndsWith("is larger than 16 MiB; at most 16 MiB are read"));
  EXPECT_THAT(only(read_scenario(write("full.toml", std::string(kMaxFileBytes, '#')))),
              HasSubstr("needs 'resources'"));
  const std::string locked = write("locked.toml", kFull);
  fs::permissions(locked, fs::perms::none);
  if (!std::ifstream(locked)) {
    EXPECT_THAT(only(read_scenario(locked)), EndsWith("cannot be read: Permission denied"));
  }
}

}  // namespace
}  // namespace allot
