// What every policy owes its host. Runs over builtin_policies(): a new policy is covered unedited.
#include "allot/policy/policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "allot/base/error.hpp"
#include "tests/support/amount.hpp"
#include "tests/support/random_systems.hpp"
#include "tests/support/situations.hpp"

namespace allot {

namespace policies {
extern const PolicyInfo template_policy;
}

namespace {

using testing::random_system;
using testing::random_tasks;
using testing::SystemShape;
using testing::Tasks;

std::vector<const PolicyInfo*> policies_under_test() {
  const auto table = builtin_policies();
  std::vector<const PolicyInfo*> all(table.begin(), table.end());
  all.push_back(&policies::template_policy);
  return all;
}

std::string policy_name(const ::testing::TestParamInfo<const PolicyInfo*>& info) {
  std::string name(info.param->name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// Mostly small systems with every feature; some wide ones.
System system_for(std::uint64_t seed) {
  SystemShape shape{.max_count = 4,
                    .several_fcfs = seed % 2 == 0,
                    .depths = seed % 3 == 0,
                    .floors = seed % 5 == 0,
                    .priorities = true,
                    .zero_priorities = seed % 7 == 0};
  if (seed % 20 == 19) {
    shape.max_types = 6;
    shape.max_resources = 40;
    shape.max_count = 1;
  }
  return random_system(seed, shape);
}

template <typename Make>
bool throws(const Make& make) {
  try {
    make();
  } catch (const InvalidModel&) {
    return true;
  }
  return false;
}

std::unique_ptr<Policy> make(const PolicyInfo& info, const System& system) {
  PolicyOptions options;
  options.assignment = home_assignment(system);
  options.solve.steps = 20'000;
  return info.make(system, options);
}

/// Some counts may be 0, also of types that will be placed all the same.
std::vector<Count> random_population(const System& system, RandomStream& random) {
  std::vector<Count> counts(system.type_count());
  for (Count& n : counts) n = static_cast<Count>(random.below(5));
  return counts;
}

std::vector<std::uint32_t> fresh_memory(const Policy& policy) {
  return std::vector<std::uint32_t>(policy.memory_size());
}

/// A value that chi-square with so many degrees of freedom exceeds with a probability below 1e-6
/// (Wilson and Hilferty's approximation at five standard deviations).
double chi_square_limit(double freedom) {
  return freedom * std::pow(1 - 2 / (9 * freedom) + 5 * std::sqrt(2 / (9 * freedom)), 3);
}

class PolicyConformance : public ::testing::TestWithParam<const PolicyInfo*> {};

TEST_P(PolicyConformance, PlacesOnlyWhereTheTypeCanRun) {
  for (std::uint64_t seed = 0; seed < testing::amount(2000); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = system_for(seed);
    const auto policy = make(*GetParam(), system);
    RandomStream random(seed, 1);
    std::vector<std::uint32_t> memory = fresh_memory(*policy);
    policy->set_population(seed % 4 == 0 ? random_population(system, random)
                                         : testing::population_of(system));
    for (int step = 0; step < 10; ++step) {
      const Tasks tasks = random_tasks(system, random);
      for (const TaskType i : system.types()) {
        const ResourceId j = policy->place(i, tasks.situation(), memory, random);
        ASSERT_LT(index(j), system.resource_count());
        ASSERT_TRUE(system.can_run(i, j)) << "type " << index(i) << " at resource " << index(j);
      }
    }
  }
}

TEST_P(PolicyConformance, ListsTheDecisionsThatItTakesWithTheirProbabilities) {
  constexpr int kDraws = 4000;
  std::vector<Choice> choices;
  for (std::uint64_t seed = 0; seed < testing::amount(60); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = system_for(seed);
    const auto policy = make(*GetParam(), system);
    policy->set_population(testing::population_of(system));
    RandomStream random(seed, 2);
    const Tasks tasks = random_tasks(system, random);
    std::vector<std::uint32_t> memory = fresh_memory(*policy);
    for (const TaskType i : system.types()) {
      policy->choices(i, tasks.situation(), memory, choices);
      std::vector<double> expected(system.resource_count());
      double sum = 0;
      for (const Choice& choice : choices) {
        ASSERT_TRUE(system.can_run(i, choice.resource));
        EXPECT_GT(choice.probability, 0);
        EXPECT_EQ(choice.memory.size(), policy->memory_size());
        expected[index(choice.resource)] += choice.probability;
        sum += choice.probability;
      }
      EXPECT_NEAR(sum, 1, 1e-12);
      std::vector<int> seen(system.resource_count());
      const int draws = choices.size() == 1 ? 20 : kDraws;
      for (int draw = 0; draw < draws; ++draw) {
        std::vector<std::uint32_t> after = memory;
        const ResourceId j = policy->place(i, tasks.situation(), after, random);
        ++seen[index(j)];
        EXPECT_TRUE(std::any_of(choices.begin(), choices.end(), [&](const Choice& choice) {
          return choice.resource == j && choice.memory == after;
        })) << "a decision, or what is remembered of it, that is not listed";
      }
      double chi_square = 0;
      for (std::size_t j = 0; j < seen.size(); ++j) {
        const double mean = expected[j] * draws;
        if (mean > 0) chi_square += (seen[j] - mean) * (seen[j] - mean) / mean;
      }
      if (choices.size() > 1) {
        EXPECT_LT(chi_square, chi_square_limit(static_cast<double>(choices.size() - 1)));
      } else {
        EXPECT_EQ(chi_square, 0);
      }
      // So that the next type meets a memory in use.
      policy->place(i, tasks.situation(), memory, random);
    }
  }
}

TEST_P(PolicyConformance, DecidesByWhatItIsGivenAlone) {
  for (std::uint64_t seed = 0; seed < testing::amount(200); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = system_for(seed);
    // A long-lived policy that has served others, and a new one.
    const auto old_policy = make(*GetParam(), system);
    const auto new_policy = make(*GetParam(), system);
    RandomStream random(seed, 3);
    std::vector<std::uint32_t> other_memory = fresh_memory(*old_policy);
    for (int step = 0; step < 3; ++step) {
      old_policy->set_population(random_population(system, random));
      const Tasks tasks = random_tasks(system, random);
      for (const TaskType i : system.types()) old_policy->place(i, tasks.situation(), other_memory, random);
    }
    const std::vector<Count> population = random_population(system, random);
    old_policy->set_population(population);
    new_policy->set_population(population);
    // A search that was cut short may differ.
    if (!old_policy->note().empty() || !new_policy->note().empty()) continue;
    std::vector<std::uint32_t> first = fresh_memory(*old_policy);
    std::vector<std::uint32_t> second = fresh_memory(*new_policy);
    RandomStream first_random(seed, 4);
    RandomStream second_random(seed, 4);
    for (int step = 0; step < 10; ++step) {
      const Tasks tasks = random_tasks(system, random);
      for (const TaskType i : system.types()) {
        EXPECT_EQ(old_policy->place(i, tasks.situation(), first, first_random),
                  new_policy->place(i, tasks.situation(), second, second_random));
        EXPECT_EQ(first, second);
      }
    }
  }
}

TEST_P(PolicyConformance, DrawsRandomNumbersOnlyIfItIsRandomised) {
  bool is_randomised = false;
  bool draws = false;
  std::vector<Choice> choices;
  for (std::uint64_t seed = 0; seed < testing::amount(300); ++seed) {
    const System system = system_for(seed);
    const auto policy = make(*GetParam(), system);
    policy->set_population(testing::population_of(system));
    RandomStream random(seed, 5);
    const Tasks tasks = random_tasks(system, random);
    std::vector<std::uint32_t> memory = fresh_memory(*policy);
    for (const TaskType i : system.types()) {
      policy->choices(i, tasks.situation(), memory, choices);
      is_randomised |= choices.size() > 1;
      RandomStream used(seed, 6);
      RandomStream untouched(seed, 6);
      policy->place(i, tasks.situation(), memory, used);
      draws |= used.bits() != untouched.bits();
    }
  }
  EXPECT_EQ(draws, is_randomised);
}

TEST_P(PolicyConformance, LooksAtRemainingWorkOnlyIfItSaysSo) {
  bool looks = false;
  for (std::uint64_t seed = 0; seed < testing::amount(300); ++seed) {
    const System system = system_for(seed);
    const auto policy = make(*GetParam(), system);
    policy->set_population(testing::population_of(system));
    RandomStream random(seed, 7);
    const Tasks tasks = random_tasks(system, random);
    Situation situation = tasks.situation();
    std::vector<double> reversed(situation.remaining.rbegin(), situation.remaining.rend());
    Situation changed = situation;
    changed.remaining = reversed;
    if (!policy->looks_at_sizes()) situation.remaining = changed.remaining = {};
    std::vector<std::uint32_t> first = fresh_memory(*policy);
    std::vector<std::uint32_t> second = first;
    for (const TaskType i : system.types()) {
      RandomStream first_random(seed, 8);
      RandomStream second_random(seed, 8);
      looks |= policy->place(i, situation, first, first_random) !=
               policy->place(i, changed, second, second_random);
    }
    EXPECT_EQ(looks && !policy->looks_at_sizes(), false);
  }
  EXPECT_EQ(looks, make(*GetParam(), system_for(0))->looks_at_sizes());
}

// Ties go to the lowest index: with everything equal at every resource the first is taken.
TEST_P(PolicyConformance, TakesTheFirstOfEqualResources) {
  const std::vector<Resource> machine{{.name = "a"}, {.name = "b"}, {.name = "c"}};
  const System system(machine, {{.name = "t", .count = 0, .priority = 1.0}}, Rates(1, 3, {2, 2, 2}));
  const auto policy = make(*GetParam(), system);
  policy->set_population(std::vector<Count>{0});
  Tasks tasks(system);
  for (const ResourceId j : system.resource_ids()) tasks.add(TaskType{0}, j, 2);
  std::vector<std::uint32_t> memory = fresh_memory(*policy);
  std::vector<Choice> choices;
  policy->choices(TaskType{0}, tasks.situation(), memory, choices);
  if (choices.size() > 1) {
    EXPECT_TRUE(std::is_sorted(choices.begin(), choices.end(),
                               [](const Choice& a, const Choice& b) { return a.resource < b.resource; }));
    return;
  }
  RandomStream random(1);
  EXPECT_EQ(policy->place(TaskType{0}, tasks.situation(), memory, random), ResourceId{0});
}

// A type that can run nowhere is no obstacle as long as nobody has a task of it.
TEST_P(PolicyConformance, CopesWithATypeThatCanRunNowhere) {
  const System system(
      {{.name = "a"}, {.name = "b"}},
      {{.name = "t", .count = 3, .priority = 1.0}, {.name = "never", .count = 0, .priority = 0.0}},
      Rates(2, 2, {2, 1, 0, 0}));
  const auto policy = make(*GetParam(), system);
  policy->set_population(testing::population_of(system));
  Tasks tasks(system);
  std::vector<std::uint32_t> memory = fresh_memory(*policy);
  RandomStream random(1);
  for (int step = 0; step < 5; ++step) {
    const ResourceId j = policy->place(TaskType{0}, tasks.situation(), memory, random);
    ASSERT_TRUE(system.can_run(TaskType{0}, j));
    tasks.add(TaskType{0}, j);
  }
}

/// What hosts ask of the table, rather than comparing names, is what the policy does.
TEST_P(PolicyConformance, NeedsAndHoldsWhatItSays) {
  const PolicyInfo& info = *GetParam();
  bool held = false;  // where no type with a share has a thread, there is nothing to divide
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System without = random_system(seed, {.max_count = 4});
    PolicyOptions options;
    options.solve.steps = 20'000;
    EXPECT_EQ(throws([&] { info.make(without, options); }), info.needs_shares || info.needs_assignment);
    options.assignment = home_assignment(without);
    EXPECT_EQ(throws([&] { info.make(without, options); }), info.needs_shares);
    const System system = system_for(seed);
    const std::unique_ptr<Policy> policy = make(info, system);
    std::vector<Count> population;
    for (const TaskType i : system.types()) population.push_back(system.count(i));
    policy->set_population(population);
    held |= !policy->time_shares().empty();
  }
  EXPECT_EQ(held, info.holds_time_shares);
}

INSTANTIATE_TEST_SUITE_P(Policies, PolicyConformance, ::testing::ValuesIn(policies_under_test()),
                         policy_name);

/// Output and menus show them in this order. Others may stand among them.
TEST(BuiltinPolicies, StandInTheOrderOfTheList) {
  const std::vector<std::string_view> expected{"best-fit",
                                               "random",
                                               "load-balance",
                                               "jsq",
                                               "map",
                                               "mis",
                                               "optimal",
                                               "weighted",
                                               "fixed",
                                               "round-robin",
                                               "power-of-two",
                                               "fastest-free",
                                               "min-completion-time",
                                               "planned"};
  const auto known = builtin_policies();
  auto from = known.begin();
  for (const std::string_view name : expected) {
    from = std::find_if(from, known.end(), [&](const PolicyInfo* policy) { return policy->name == name; });
    ASSERT_NE(from, known.end()) << name << " is missing or too early";
  }
}

/// The lines of a file that are code: between ``` fences if it is a guide, without comments and empty lines.
std::vector<std::string> code_lines(const std::string& path) {
  std::ifstream file(std::string(ALLOT_SOURCE_DIR) + "/" + path);
  const bool is_guide = path.ends_with(".md");
  bool inside = !is_guide;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (is_guide && line.starts_with("```")) {
      inside = line == "```cpp";
      continue;
    }
    const std::size_t first = line.find_first_not_of(' ');
    if (inside && first != std::string::npos && line.compare(first, 2, "//") != 0) lines.push_back(line);
  }
  return lines;
}

TEST(Guide, WalksThroughTheTemplateAsItIs) {
  const std::vector<std::string> guide = code_lines("docs/guides/add-a-policy.md");
  EXPECT_FALSE(guide.empty());
  const std::vector<std::string> source = code_lines("allot/policy/policies/template.cpp");
  EXPECT_EQ(guide, source);
}

TEST(BuiltinPolicies, AreFoundByTheirName) {
  for (const PolicyInfo* policy : builtin_policies()) {
    EXPECT_EQ(find_policy(policy->name), policy);
    EXPECT_FALSE(policy->summary.empty());
  }
  EXPECT_EQ(find_policy("best_fit"), nullptr);
  EXPECT_EQ(find_policy(""), nullptr);
  EXPECT_EQ(find_policy("template"), nullptr);
}

TEST(BuiltinPolicies, AreSuitableWhereTheyCanBeMade) {
  const auto names = [](const std::vector<const PolicyInfo*>& policies) {
    std::vector<std::string_view> out;
    for (const PolicyInfo* policy : policies) out.push_back(policy->name);
    return out;
  };
  const auto has = [](const std::vector<std::string_view>& all, std::string_view name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  const System plain({{.name = "r"}}, {{.name = "t", .count = 2}}, Rates(1, 1, {1.0}));
  const auto without = names(suitable_policies(plain));
  EXPECT_TRUE(has(without, "jsq"));
  EXPECT_FALSE(has(without, "mis")) << "needs priorities";
  EXPECT_FALSE(has(without, "fixed")) << "needs an assignment";
  PolicyOptions options;
  options.assignment = home_assignment(plain);
  EXPECT_TRUE(has(names(suitable_policies(plain, options)), "fixed"));
  const System prioritised({{.name = "r"}}, {{.name = "t", .count = 2, .priority = 1.0}}, Rates(1, 1, {1.0}));
  EXPECT_TRUE(has(names(suitable_policies(prioritised)), "mis"));
}

}  // namespace
}  // namespace allot
