// Whatever is written reads back equal, in both formats.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/format/scenario_reader.hpp"
#include "allot/format/scenario_writer.hpp"
#include "allot/model/generate.hpp"
#include "tests/support/random_needs.hpp"

namespace allot {
namespace {

/// Draws everything that generate() leaves at its default.
class Decorator {
 public:
  explicit Decorator(std::uint64_t seed) : random_(seed, 77) {}

  Scenario operator()(const Scenario& plain) {
    std::vector<Resource> resources = plain.system.resources();
    std::vector<TaskClass> tasks = plain.system.tasks();
    for (std::size_t j = 0; j < resources.size(); ++j) {
      Resource& resource = resources[j];
      resource.name = name(j);
      if (coin()) resource.servers = 1 + static_cast<Count>(random_.below(kMaxCount));
      if (coin()) resource.min_depth = 1 + static_cast<Count>(random_.below(5));
      if (coin()) resource.discipline = Discipline::kFcfs;
      if (coin()) resource.power = number();
      if (coin()) resource.idle_power = number();
    }
    const bool has_threads = coin();
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].name = name(i);
      if (coin()) tasks[i].home.reset();
      if (coin()) tasks[i].floor = number();
      if (has_threads) tasks[i].count = 0;
    }
    std::vector<double> rates = plain.system.rates().values();
    for (double& rate : rates) {
      if (rate > 0 && coin()) rate = number();
    }
    Scenario out{coin() ? "" : name(1000),
                 System(std::move(resources), std::move(tasks),
                        Rates(plain.system.type_count(), plain.system.resource_count(), std::move(rates))),
                 {},
                 {},
                 {},
                 {}};
    const auto type = [&] { return task_type(random_.below(out.system.type_count())); };
    for (std::uint64_t k = has_threads ? 1 + random_.below(3) : 0; k > 0; --k) {
      ThreadGroup group{1 + static_cast<Count>(random_.below(1000)), {type()}};
      while (coin()) group.sequence.push_back(type());
      out.threads.push_back(group);
    }
    while (coin()) out.population.push_back({number(), type(), 1 + static_cast<Count>(random_.below(1000))});
    while (coin()) out.arrivals.push_back({type(), coin() ? number() : 0.0});
    while (coin()) {
      MeasuredRate& rate = out.measured.emplace_back();
      rate.task = type();
      rate.resource = resource_id(random_.below(out.system.resource_count()));
      rate.low = number();
      rate.high = rate.low * 2;
      rate.runs = static_cast<Count>(random_.below(1000));
      if (coin()) rate.alone = number();
      if (coin()) rate.mixed = number();
      rate.converged = coin();
    }
    return out;
  }

 private:
  bool coin() { return random_.below(2) == 0; }

  /// Any positive double that a file may hold, over the whole range.
  double number() {
    switch (random_.below(4)) {
      case 0:
        return static_cast<double>(1 + random_.below(100));
      case 1:
        return random_.uniform();
      case 2:
        return std::pow(10.0, random_.uniform(-99, 99));
      default:
        return std::ldexp(static_cast<double>(1 + (random_.bits() >> 11)),
                          static_cast<int>(random_.below(300)) - 200);
    }
  }

  /// Unique by its number, with everything that needs care in TOML or JSON; control characters are refused.
  std::string name(std::size_t number) {
    static const std::vector<std::string> pieces = {
        "a",      "Z9",     "_",    "-", ".",      " ",   "\"",      "'",    "\\", "#",      "=",
        "[",      "]",      "{",    "}", ",",      ":",   "/",       "é",    "ß",  "\u00a0", "\u2028",
        "\u3000", "\ufeff", "日本", "😀", "\"\"\"", "'''", "\\u0041", "true", "1e5"};
    std::string out = std::to_string(number);
    while (random_.below(3) != 0) {
      const std::string& piece = pieces[random_.below(pieces.size())];
      out = coin() ? out + piece : piece + out;
    }
    return out;
  }

  RandomStream random_;
};

void expect_survives(const Scenario& scenario, FileFormat format) {
  const std::string text = write_scenario(scenario, format);
  const auto read = read_scenario_text(text, format, "written");
  ASSERT_TRUE(read) << to_string(read.diagnostics().front()) << "\n" << text;
  EXPECT_EQ(*read, scenario) << text;
  EXPECT_EQ(write_scenario(*read, format), text);
}

TEST(RoundTrip, KeepsEveryRandomScenario) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    GenerateOptions options;
    options.seed = seed;
    options.general = 1 + seed % 3;
    options.specialized = seed / 3 % 3;
    options.threads = static_cast<Count>(options.general + options.specialized + seed % 20);
    options.rule = static_cast<AffinityRule>(seed % 4);
    options.priorities = seed % 2 == 1;
    options.powers = seed % 5 == 1;
    const Scenario plain = generate(options);
    const Scenario full = Decorator(seed)(plain);
    for (const FileFormat format : {FileFormat::kToml, FileFormat::kJson}) {
      expect_survives(plain, format);
      expect_survives(full, format);
    }
    if (HasFailure()) break;
  }
}

TEST(RoundTrip, LeavesDefaultsOutAndReadsWell) {
  const Scenario scenario{
      "two",
      System({{.name = "cpu"}, {.name = "my gpu", .kind = Kind::kSpecialized, .power = 250}},
             {{.name = "sort", .count = 6}, {.name = "none", .count = 0}}, Rates(2, 2, {9, 0.1, 0, 0})),
      {},
      {},
      {}};
  EXPECT_EQ(write_scenario(scenario, FileFormat::kToml), R"(name = "two"

[[resources]]
name = "cpu"

[[resources]]
name = "my gpu"
kind = "sa"
power = 250.0

[[tasks]]
name = "sort"
count = 6
rates = { cpu = 9.0, "my gpu" = 0.1 }

[[tasks]]
name = "none"
count = 0
rates = {}
)");
  EXPECT_EQ(write_scenario(scenario, FileFormat::kJson), R"({
  "name": "two",
  "resources": [
    {"name": "cpu"},
    {"name": "my gpu", "kind": "sa", "power": 250.0}
  ],
  "tasks": [
    {"name": "sort", "count": 6, "rates": {"cpu": 9.0, "my gpu": 0.1}},
    {"name": "none", "count": 0, "rates": {}}
  ]
}
)");
}

TEST(RoundTrip, KeepsNeedsAndCapacities) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed, 5);
    Scenario scenario{"", testing::random_needs(random), {}, {}, {}, {}, {}};
    for (const FileFormat format : {FileFormat::kToml, FileFormat::kJson}) {
      const auto again = read_scenario_text(write_scenario(scenario, format), format, "again");
      ASSERT_TRUE(again.has_value()) << again.diagnostics().front().message
                                     << write_scenario(scenario, format);
      // Needs of a type stand by resource in a file.
      EXPECT_EQ(again->system, scenario.system);
    }
  }
}

}  // namespace
}  // namespace allot
