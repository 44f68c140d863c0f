// The Lagrangian is an upper bound for whatever prices, and lowering it keeps it one.
#include "allot/solve/detail/configuration_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/amount.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random_systems.hpp"

namespace allot::detail {
namespace {

using allot::testing::random_system;

constexpr double kNoCutoff = -1e300;

TEST(ConfigurationBound, IsABoundForWhateverPrices) {
  for (std::uint64_t seed = 0; seed < testing::amount(200); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, {.max_types = 3,
                                               .max_resources = 3,
                                               .max_count = 4,
                                               .depths = seed % 2 == 0,
                                               .floors = seed % 3 == 0});
    const auto best = allot::testing::brute_force(system).max_throughput;
    if (!best) continue;
    StopPoll poll({});
    ConfigurationBound bound(system, poll);
    RandomStream random(seed, 9);
    std::vector<double> values;
    for (int trial = 0; trial < 20; ++trial) {
      Prices prices;
      for (std::size_t i = 0; i < system.type_count(); ++i) {
        prices.task.push_back(random.uniform(-5, 10));
        if (system.has_floors())
          prices.completion.push_back(random.below(2) == 0 ? 0.0 : random.uniform(0, 3));
      }
      EXPECT_GE(bound.lagrangian(bound.whole_domains(), prices, values), *best * (1 - 1e-12));
    }
  }
}

// The bound of the configuration program is tight: below the sum of the fastest rates, and within a few
// percent of the optimum on average.
TEST(ConfigurationBound, LoweredAsFarAsItGoesIsStillABoundAndATightOne) {
  double excess = 0;
  int cases = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(200); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(
        seed, {.max_types = 3, .max_resources = 3, .min_types = 2, .min_resources = 2, .max_count = 5});
    const double best = *allot::testing::brute_force(system).max_throughput;
    StopPoll poll({});
    ConfigurationBound bound(system, poll);
    const auto result = bound.lower(bound.whole_domains(), bound.zero_prices(), kNoCutoff, 1000);
    EXPECT_EQ(result.end, ConfigurationBound::End::kConverged);
    EXPECT_GE(result.bound, best * (1 - 1e-12));
    EXPECT_LE(result.bound, bound.scale() * (1 + 1e-9));
    std::vector<double> values;
    EXPECT_NEAR(bound.lagrangian(bound.whole_domains(), result.prices, values), result.bound,
                1e-9 * bound.scale());
    if (best > 0) {
      excess += result.bound / best - 1;
      ++cases;
    }
  }
  EXPECT_LT(excess / cases, 0.02);
}

// Shrinking may drop totals, but none that a state better than the cutoff has.
TEST(ConfigurationBound, ShrinkingLosesNoStateAboveTheCutoff) {
  for (std::uint64_t seed = 0; seed < testing::amount(150); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, {.max_types = 3,
                                               .max_resources = 3,
                                               .min_types = 2,
                                               .min_resources = 2,
                                               .max_count = 4,
                                               .depths = seed % 2 == 0});
    const auto best = allot::testing::brute_force(system).max_throughput;
    if (!best) continue;
    StopPoll poll({});
    ConfigurationBound bound(system, poll);
    const auto result = bound.lower(bound.whole_domains(), bound.zero_prices(), kNoCutoff, 1000);
    std::vector<ColumnDomain> domains = bound.whole_domains();
    const double cutoff = 0.97 * *best;
    ASSERT_TRUE(bound.shrink(domains, result.prices, cutoff) || *best == 0);
    allot::testing::for_each_assignment(system, [&](const Assignment& n) {
      if (!allot::testing::keeps_depths(system, n)) return;
      if (allot::testing::recomputed_throughput(system, n) <= cutoff * (1 + 1e-9)) return;
      for (const ResourceId j : system.resource_ids()) {
        bool kept = false;
        for (const Interval& interval : domains[index(j)].totals) {
          kept |= interval.first <= n.column_sum(j) && n.column_sum(j) <= interval.last;
        }
        EXPECT_TRUE(kept) << "resource " << index(j) << " total " << n.column_sum(j);
      }
    });
  }
}

TEST(ConfigurationBound, LowersNothingOnceStopped) {
  const System system = random_system(
      11, {.max_types = 3, .max_resources = 3, .min_types = 2, .min_resources = 2, .max_count = 5});
  const StopFlag flag = true;
  StopPoll poll({.flag = &flag});
  ConfigurationBound bound(system, poll);
  const auto result = bound.lower(bound.whole_domains(), bound.zero_prices(), kNoCutoff, 1000);
  EXPECT_EQ(result.end, ConfigurationBound::End::kStopped);
  EXPECT_GE(result.bound, *allot::testing::brute_force(system).max_throughput * (1 - 1e-12));
}

}  // namespace
}  // namespace allot::detail
