#include "allot/model/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "allot/base/error.hpp"

namespace allot {
namespace {

std::string refused_field(const GenerateOptions& options) {
  try {
    generate(options);
  } catch (const InvalidModel& error) {
    return error.field();
  }
  return "accepted";
}

// Drawn by an independent implementation of Philox 2x64-10 in another language, rates row by row from stream
// 0, counts from stream 1, priorities from 2, powers from 3; then each row's maximum swapped to its home.
TEST(Generate, TheSameSeedGivesTheSameScenarioEverywhere) {
  const System one = generate({.priorities = true, .powers = true, .seed = 1}).system;
  EXPECT_EQ(one.rates(), Rates(3, 3,
                               {0x1.d7a4a4f00a661p-1, 0x1.e251065d078a8p-4, 0,  //
                                0x1.44b0540b6eb3ep-2, 0x1.b32854b84bb9dp-1, 0,  //
                                0x1.7f6aac159e6eep-2, 0x1.1c984b16f6ff3p-1, 0x1.90b2f4acd48dbp-1}));
  EXPECT_EQ(one.count(task_type(0)), 8);
  EXPECT_EQ(one.count(task_type(1)), 4);
  EXPECT_EQ(one.count(task_type(2)), 6);
  EXPECT_EQ(one.task(task_type(1)).priority, 0x1.1e3f701502017p-1);
  EXPECT_EQ(one.task(task_type(2)).priority, 0x1.8cc4e4b5438d7p-1);
  EXPECT_EQ(one.resource(resource_id(0)).power, 0x1.ca93657c71018p+2);
  EXPECT_EQ(one.resource(resource_id(2)).power, 0x1.363e75939a944p+3);

  const System other = generate({.seed = 42}).system;
  EXPECT_EQ(other.rate(task_type(0), resource_id(0)), 0x1.ebe60a2538331p-1);
  EXPECT_EQ(other.rate(task_type(2), resource_id(1)), 0x1.d8fc8b4f77e16p-2);
  EXPECT_EQ(other.count(task_type(0)), 7);
  EXPECT_EQ(generate({.seed = 42}), generate({.seed = 42}));
  EXPECT_NE(generate({.seed = 42}).system.rates(), generate({.seed = 43}).system.rates());
}

TEST(Generate, GivesThePapersShapeByDefault) {
  const Scenario scenario = generate({});
  const System& system = scenario.system;
  EXPECT_TRUE(scenario.is_static());
  EXPECT_EQ(system.resource_count(), 3U);
  EXPECT_EQ(system.type_count(), 3U);
  EXPECT_EQ(system.population(), 18);
  EXPECT_EQ(system.resource(resource_id(0)).kind, Kind::kGeneral);
  EXPECT_EQ(system.resource(resource_id(1)).kind, Kind::kGeneral);
  EXPECT_EQ(system.resource(resource_id(2)).kind, Kind::kSpecialized);
  EXPECT_TRUE(system.shares().empty());
  for (const Resource& resource : system.resources()) EXPECT_EQ(resource.power, 1.0);
}

TEST(Generate, KeepsTheRule) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    for (const AffinityRule rule :
         {AffinityRule::kRow, AffinityRule::kColumn, AffinityRule::kOrdered, AffinityRule::kNone}) {
      const GenerateOptions options{
          .general = 3, .specialized = 2, .threads = 40, .rule = rule, .seed = seed};
      const System system = generate(options).system;
      for (std::size_t i = 0; i < 5; ++i) {
        for (std::size_t j = 0; j < 5; ++j) {
          const double rate = system.rate(task_type(i), resource_id(j));
          ASSERT_EQ(rate > 0, j < 3 || i == j);  // an accelerator runs its own type only
          const double at_home = system.rate(task_type(i), resource_id(i));
          ASSERT_TRUE(rule != AffinityRule::kRow || at_home >= rate);
          ASSERT_TRUE(rule == AffinityRule::kColumn ||
                      system.rate(task_type(i), *system.home(task_type(i))) >= rate);
          ASSERT_TRUE(rule != AffinityRule::kColumn || system.rate(task_type(j), resource_id(j)) >= rate);
          if (rule == AffinityRule::kOrdered && j > 0 && rate > 0) {
            // Falling along the row over the resources that can run the type.
            std::size_t before = j - 1;
            while (!system.can_run(task_type(i), resource_id(before))) --before;
            ASSERT_GE(system.rate(task_type(i), resource_id(before)), rate);
          }
        }
        const bool own_home = rule == AffinityRule::kRow || rule == AffinityRule::kColumn;
        ASSERT_TRUE(!own_home || system.home(task_type(i)) == resource_id(i));
      }
    }
  }
}

TEST(Generate, OnlyTheRuleReordersTheDraws) {
  // Row rule: every row holds the same values as drawn; with the rule "none" they are as drawn.
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const auto rows = [&](AffinityRule rule) {
      const System system =
          generate({.general = 4, .specialized = 0, .threads = 9, .rule = rule, .seed = seed}).system;
      std::vector<std::vector<double>> sorted;
      for (const TaskType i : system.types()) {
        sorted.emplace_back(system.rates().row(i).begin(), system.rates().row(i).end());
        std::sort(sorted.back().begin(), sorted.back().end());
      }
      return sorted;
    };
    EXPECT_EQ(rows(AffinityRule::kRow), rows(AffinityRule::kNone));
    EXPECT_EQ(rows(AffinityRule::kOrdered), rows(AffinityRule::kNone));
  }
}

TEST(Generate, CountsSumToTheThreadsWithAtLeastOneEach) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    for (const Count threads : {Count{5}, Count{6}, Count{50}}) {
      const System system =
          generate({.general = 3, .specialized = 2, .threads = threads, .seed = seed}).system;
      ASSERT_EQ(system.population(), threads);
      for (const TaskType i : system.types()) ASSERT_GE(system.count(i), 1);
    }
  }
}

// Each thread beyond one per type has a uniform type: over 600 seeds the 15 * 600 further threads fall on
// three types; chi-square with 2 degrees of freedom, 23.0 at 1e-5.
TEST(Generate, FurtherThreadsAreUniformOverTheTypes) {
  double hits[3] = {};
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const System system = generate({.seed = seed}).system;
    for (std::size_t i = 0; i < 3; ++i) hits[i] += static_cast<double>(system.count(task_type(i)) - 1);
  }
  double chi_square = 0;
  for (const double hit : hits) chi_square += (hit - 3000) * (hit - 3000) / 3000;
  EXPECT_LT(chi_square, 23.0);
}

// With the rule "none" the rates are U(LO, HI): mean (LO + HI) / 2 within five standard errors.
TEST(Generate, RatesAreUniformInTheirRange) {
  double sum = 0;
  double least = 1e9;
  double most = 0;
  constexpr int kSeeds = 500;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const System system = generate({.general = 3,
                                    .specialized = 0,
                                    .threads = 3,
                                    .rule = AffinityRule::kNone,
                                    .lowest_rate = 2,
                                    .highest_rate = 10,
                                    .seed = seed})
                              .system;
    for (const double rate : system.rates().values()) {
      sum += rate;
      least = std::min(least, rate);
      most = std::max(most, rate);
    }
  }
  EXPECT_NEAR(sum / (9 * kSeeds), 6, 5 * 8 / std::sqrt(12.0 * 9 * kSeeds));
  EXPECT_GT(least, 2.0);
  EXPECT_LT(least, 2.05);
  EXPECT_LT(most, 10.0);
  EXPECT_GT(most, 9.95);
}

TEST(Generate, AskingForPrioritiesOrPowersLeavesTheRestAsItWas) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System plain = generate({.seed = seed}).system;
    const System rich = generate({.priorities = true, .powers = true, .seed = seed}).system;
    const System powered = generate({.powers = true, .seed = seed}).system;
    EXPECT_EQ(plain.rates(), rich.rates());
    for (const TaskType i : plain.types()) {
      EXPECT_EQ(plain.count(i), rich.count(i));
      EXPECT_GT(*rich.task(i).priority, 0.05);
      EXPECT_LT(*rich.task(i).priority, 1.0);
    }
    for (const ResourceId j : plain.resource_ids()) {
      EXPECT_EQ(powered.resource(j).power, rich.resource(j).power);
      EXPECT_GT(rich.resource(j).power, 1.0);
      EXPECT_LT(rich.resource(j).power, 10.0);
    }
  }
}

TEST(Generate, RefusesOptionsThatNoScenarioSatisfies) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refused_field({.general = 0, .specialized = 0}), "gps");
  EXPECT_EQ(refused_field({.general = 4096, .specialized = 1, .threads = 5000}), "gps");
  EXPECT_EQ(refused_field({.threads = 2}), "threads");
  EXPECT_EQ(refused_field({.threads = -1}), "threads");
  EXPECT_EQ(refused_field({.threads = kMaxCount + 1}), "threads");
  EXPECT_EQ(refused_field({.general = 0, .specialized = 3, .rule = AffinityRule::kOrdered}), "rule");
  EXPECT_EQ(refused_field({.lowest_rate = -1}), "rates");
  EXPECT_EQ(refused_field({.lowest_rate = 1, .highest_rate = 1}), "rates");
  EXPECT_EQ(refused_field({.lowest_rate = 2, .highest_rate = 1}), "rates");
  EXPECT_EQ(refused_field({.highest_rate = kInf}), "rates");
  EXPECT_EQ(refused_field({.lowest_rate = kNan}), "rates");
  EXPECT_EQ(refused_field({.highest_rate = kNan}), "rates");
  EXPECT_EQ(refused_field({.general = 0, .specialized = 3}), "accepted");
  EXPECT_EQ(refused_field({.threads = 3}), "accepted");
}

}  // namespace
}  // namespace allot
