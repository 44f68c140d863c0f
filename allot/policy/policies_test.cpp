// Each policy against its rule, written down once more as plainly as can be; and what their options may be.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/policy/policy.hpp"
#include "tests/support/amount.hpp"
#include "tests/support/random_systems.hpp"
#include "tests/support/situations.hpp"

namespace allot {
namespace {

using testing::random_system;
using testing::random_tasks;
using testing::Tasks;

/// The allowed resource with the least cost; ties: the lowest index.
ResourceId least(const System& system, TaskType i, const std::function<double(ResourceId)>& cost) {
  std::map<std::pair<double, std::size_t>, ResourceId> order;
  for (const ResourceId j : system.resource_ids()) {
    if (system.rate(i, j) > 0) order[{cost(j), index(j)}] = j;
  }
  return order.begin()->second;
}

using Rule = std::function<double(const System&, TaskType, const Situation&, ResourceId)>;

/// The policy places where the rule's cost is least, in thousands of situations.
void expect_least(const char* name, const Rule& cost) {
  for (std::uint64_t seed = 0; seed < testing::amount(3000); ++seed) {
    SCOPED_TRACE(::testing::Message() << name << " seed=" << seed);
    const System system = random_system(seed, {.max_types = 5, .max_resources = seed % 10 == 0 ? 40U : 5U});
    const auto policy = find_policy(name)->make(system, {});
    RandomStream random(seed);
    for (int step = 0; step < 5; ++step) {
      const Tasks tasks = random_tasks(system, random, step % 2 == 0 ? 1 : 4);
      for (const TaskType i : system.types()) {
        ASSERT_EQ(policy->place(i, tasks.situation(), {}, random),
                  least(system, i, [&](ResourceId j) { return cost(system, i, tasks.situation(), j); }));
      }
    }
  }
}

TEST(BestFit, PlacesAtHome) {
  expect_least("best-fit", [](const System& system, TaskType i, const Situation&, ResourceId j) {
    return system.task(i).home ? (*system.task(i).home == j ? 0.0 : 1.0) : -system.rate(i, j);
  });
}

TEST(BestFit, PlacesAtAGivenHomeThatIsNotTheFastest) {
  const System system({{.name = "a"}, {.name = "b"}}, {{.name = "t", .count = 1, .home = ResourceId{1}}},
                      Rates(1, 2, {5, 1}));
  const auto policy = find_policy("best-fit")->make(system, {});
  RandomStream random(1);
  EXPECT_EQ(policy->place(TaskType{0}, Tasks(system).situation(), {}, random), ResourceId{1});
}

TEST(LoadBalance, PlacesWhereTheLeastWorkIsLeftPerServer) {
  expect_least("load-balance", [](const System& system, TaskType, const Situation& situation, ResourceId j) {
    return situation.remaining[index(j)] / static_cast<double>(system.resource(j).servers);
  });
}

TEST(ShortestQueue, PlacesWhereTheFewestTasksAre) {
  expect_least("jsq", [](const System& system, TaskType, const Situation& situation, ResourceId j) {
    Count n = 0;
    for (const TaskType l : system.types()) n += situation.count(l, j);
    return static_cast<double>(n);
  });
}

TEST(FastestFree, PlacesAtTheFastestWithAFreeServerElseTheFastest) {
  expect_least("fastest-free",
               [](const System& system, TaskType i, const Situation& situation, ResourceId j) {
                 constexpr double kBusy = 1e6;  // beyond all rates
                 return (situation.total(j) < system.resource(j).servers ? 0.0 : kBusy) - system.rate(i, j);
               });
}

TEST(MinCompletionTime, PlacesWhereTheTaskIsExpectedToFinishFirst) {
  expect_least("min-completion-time",
               [](const System& system, TaskType i, const Situation& situation, ResourceId j) {
                 double seconds = 0;
                 for (const TaskType l : system.types()) {
                   if (system.can_run(l, j)) {
                     seconds += static_cast<double>(situation.count(l, j)) * (1 / system.rate(l, j));
                   }
                 }
                 return seconds / static_cast<double>(system.resource(j).servers) + 1 / system.rate(i, j);
               });
}

TEST(RoundRobin, TakesTheResourcesOfEachTypeInTurn) {
  for (std::uint64_t seed = 0; seed < testing::amount(500); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed);
    const auto policy = find_policy("round-robin")->make(system, {});
    RandomStream random(seed);
    std::vector<std::uint32_t> memory(policy->memory_size());
    std::vector<std::vector<ResourceId>> visits(system.type_count());
    for (int step = 0; step < 60; ++step) {
      const TaskType i = task_type(random.below(system.type_count()));
      const Tasks tasks = random_tasks(system, random);
      visits[index(i)].push_back(policy->place(i, tasks.situation(), memory, random));
    }
    for (const TaskType i : system.types()) {
      std::vector<ResourceId> allowed;
      for (const ResourceId j : system.resource_ids()) {
        if (system.can_run(i, j)) allowed.push_back(j);
      }
      for (std::size_t at = 0; at < visits[index(i)].size(); ++at) {
        EXPECT_EQ(visits[index(i)][at], allowed[at % allowed.size()]);
      }
    }
  }
}

/// The probability of each resource, by `choices`.
std::vector<double> probabilities(const Policy& policy, const System& system, TaskType i,
                                  const Tasks& tasks) {
  std::vector<Choice> choices;
  policy.choices(i, tasks.situation(), {}, choices);
  std::vector<double> result(system.resource_count());
  for (const Choice& choice : choices) result[index(choice.resource)] += choice.probability;
  return result;
}

TEST(RandomPlacement, IsUniformOverTheResourcesThatCanRunTheType) {
  for (std::uint64_t seed = 0; seed < testing::amount(500); ++seed) {
    const System system = random_system(seed);
    const auto policy = find_policy("random")->make(system, {});
    for (const TaskType i : system.types()) {
      double able = 0;
      for (const ResourceId j : system.resource_ids()) able += system.can_run(i, j) ? 1 : 0;
      const std::vector<double> p = probabilities(*policy, system, i, Tasks(system));
      for (const ResourceId j : system.resource_ids()) {
        EXPECT_DOUBLE_EQ(p[index(j)], system.can_run(i, j) ? 1 / able : 0.0);
      }
    }
  }
}

TEST(RandomPlacement, FollowsATableOfProbabilities) {
  const System system({{.name = "a"}, {.name = "b"}, {.name = "c"}}, {{.name = "s"}, {.name = "t"}},
                      Rates(2, 3, {1, 1, 1, 0, 1, 1}));
  PolicyOptions options;
  options.placement_probabilities = {0.5, 0, 0.5, 0, 0.25, 0.75};
  const auto policy = find_policy("random")->make(system, options);
  const Tasks tasks(system);
  EXPECT_EQ(probabilities(*policy, system, TaskType{0}, tasks), (std::vector<double>{0.5, 0, 0.5}));
  EXPECT_EQ(probabilities(*policy, system, TaskType{1}, tasks), (std::vector<double>{0, 0.25, 0.75}));
  RandomStream random(1);
  constexpr int kDraws = 100'000;
  std::vector<double> seen(6);
  for (int draw = 0; draw < kDraws; ++draw) {
    for (const TaskType i : system.types()) {
      seen[index(i) * 3 + index(policy->place(i, tasks.situation(), {}, random))] += 1.0 / kDraws;
    }
  }
  // Five standard deviations of a frequency are at most 2.5 / sqrt(draws).
  for (std::size_t at = 0; at < 6; ++at) EXPECT_NEAR(seen[at], options.placement_probabilities[at], 0.008);
  EXPECT_EQ(seen[1], 0);
  EXPECT_EQ(seen[3], 0);
}

TEST(RandomPlacement, RefusesATableThatIsNone) {
  const System system({{.name = "a"}, {.name = "b"}}, {{.name = "s"}, {.name = "t"}},
                      Rates(2, 2, {1, 1, 0, 1}));
  const auto refusal = [&](std::vector<double> table) -> std::string {
    PolicyOptions options;
    options.placement_probabilities = std::move(table);
    try {
      find_policy("random")->make(system, options);
    } catch (const InvalidModel& problem) {
      return problem.field();
    }
    return "none";
  };
  EXPECT_EQ(refusal({0.5, 0.5, 0, 1}), "none");
  EXPECT_EQ(refusal({0.5, 0.5, 1}), "placement_probabilities");
  EXPECT_EQ(refusal({0.5, 0.6, 0, 1}), "placement_probabilities[0]");
  EXPECT_EQ(refusal({0, 0, 0, 1}), "placement_probabilities[0]");
  EXPECT_EQ(refusal({1.5, -0.5, 0, 1}), "placement_probabilities[0][1]");
  EXPECT_EQ(refusal({0.5, 0.5, 0.5, 0.5}), "placement_probabilities[1][0]");
  EXPECT_EQ(refusal({std::numeric_limits<double>::quiet_NaN(), 1, 0, 1}), "placement_probabilities[0][0]");
}

TEST(PowerOfTwo, TakesTheShorterOfEveryPairAlike) {
  for (std::uint64_t seed = 0; seed < testing::amount(1000); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, {.max_resources = 6});
    const auto policy = find_policy("power-of-two")->make(system, {});
    RandomStream random(seed);
    const Tasks tasks = random_tasks(system, random, 2);
    for (const TaskType i : system.types()) {
      std::vector<double> expected(system.resource_count());
      double pairs = 0;
      for (const ResourceId a : system.resource_ids()) {
        for (const ResourceId b : system.resource_ids()) {
          if (a >= b || !system.can_run(i, a) || !system.can_run(i, b)) continue;
          expected[index(tasks.situation().total(b) < tasks.situation().total(a) ? b : a)] += 1;
          pairs += 1;
        }
      }
      if (pairs == 0) {
        expected[index(system.resources_for(i)[0])] = 1;
        pairs = 1;
      }
      const std::vector<double> p = probabilities(*policy, system, i, tasks);
      for (std::size_t j = 0; j < p.size(); ++j) EXPECT_DOUBLE_EQ(p[j], expected[j] / pairs);
    }
  }
}

TEST(PriorityPolicies, RefuseASystemWithoutPriorities) {
  const System system({{.name = "a"}}, {{.name = "t", .count = 1}}, Rates(1, 1, {1}));
  for (const char* name : {"mis", "weighted"}) {
    EXPECT_THROW(find_policy(name)->make(system, {}), InvalidModel) << name;
  }
}

TEST(Fixed, RefusesAnAssignmentThatCannotBe) {
  const System system({{.name = "a"}, {.name = "b"}}, {{.name = "s", .count = 2}, {.name = "t", .count = 1}},
                      Rates(2, 2, {1, 1, 0, 1}));
  const auto refusal = [&](const std::vector<std::vector<Count>>& rows) -> std::string {
    PolicyOptions options;
    options.assignment = Assignment(rows.size(), rows[0].size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = 0; j < rows[i].size(); ++j)
        (*options.assignment)(task_type(i), resource_id(j)) = rows[i][j];
    }
    try {
      find_policy("fixed")->make(system, options);
    } catch (const InvalidModel& problem) {
      return problem.field();
    }
    return "none";
  };
  EXPECT_EQ(refusal({{1, 1}, {0, 1}}), "none");
  EXPECT_EQ(refusal({{1, 1}}), "assignment");
  EXPECT_EQ(refusal({{1}, {0}}), "assignment");
  EXPECT_EQ(refusal({{3, -1}, {0, 1}}), "assignment[0][1]");
  EXPECT_EQ(refusal({{1, 1}, {1, 0}}), "assignment[1][0]");
  EXPECT_THROW(find_policy("fixed")->make(system, {}), InvalidModel);
}

/// `PolicyInfo::looks_at` is true: whatever else stands in the other counts, the decision is the same.
TEST(Policies, LookAtNoMoreThanTheySay) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(200); ++seed) {
    const System system =
        random_system(seed, {.max_types = 4, .max_resources = 5, .fcfs = false, .priorities = true});
    PolicyOptions options;
    options.load = std::array{Load::kDeclared, Load::kFollowed, Load::kOpen}[seed % 3];
    RandomStream random(seed);
    for (const PolicyInfo* const info : suitable_policies(system, options)) {
      if (info->looks_at == Looks::kAll || info->binds_late) continue;
      SCOPED_TRACE(::testing::Message() << info->name << " seed=" << seed);
      const auto policy = info->make(system, options);
      policy->set_population(testing::population_of(system));
      const Tasks tasks = random_tasks(system, random);
      const std::size_t resources = system.resource_count();
      for (const TaskType i : system.types()) {
        std::vector<Count> counts = tasks.counts();
        std::vector<Count> totals(tasks.situation().totals.begin(), tasks.situation().totals.end());
        for (std::size_t at = 0; at < counts.size(); ++at) {
          if (info->looks_at != Looks::kOwnCounts || at / resources != index(i))
            counts[at] = static_cast<Count>(random.below(9));
        }
        for (Count& total : totals) {
          if (info->looks_at != Looks::kTotals) total = static_cast<Count>(random.below(9));
        }
        std::vector<std::uint32_t> memory(policy->memory_size(), 0);
        std::vector<std::uint32_t> same = memory;
        if (info->remembers_by_type) {
          ASSERT_EQ(memory.size(), system.type_count());
          for (const TaskType l : system.types()) same[index(l)] = l == i ? 0 : 77;
        }
        RandomStream draws(seed, 1);
        RandomStream again(seed, 1);
        const std::span<const Count> shown =
            info->looks_at == Looks::kOwnCounts ? std::span<const Count>() : totals;
        Situation little{&system, counts, shown, {}};
        Situation much = tasks.situation();
        std::vector<double> work(resources, 0.0);
        if (info->looks_at == Looks::kWork) {  // sums of mean times, which a live host has instead of counts
          for (const TaskType l : system.types()) {
            for (const ResourceId j : system.resource_ids())
              work[index(j)] += static_cast<double>(much.count(l, j)) * system.seconds_per_task(l, j);
          }
          little.counts = {};
          little.remaining = much.remaining = work;
        }
        const ResourceId narrow = policy->place(i, little, same, again);
        if (narrow == kLookFurther) {
          EXPECT_TRUE(shown.empty());
          EXPECT_NE(options.load, Load::kDeclared);
          continue;
        }
        EXPECT_EQ(policy->place(i, much, memory, draws), narrow);
        if (info->remembers_by_type) {
          EXPECT_EQ(memory[index(i)], same[index(i)]);
          EXPECT_EQ(std::count(same.begin(), same.end(), 77), static_cast<std::ptrdiff_t>(same.size() - 1));
        }
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, testing::amount(1000));
}

}  // namespace
}  // namespace allot
