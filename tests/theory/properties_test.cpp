// What must hold between related systems, and in every optimum, whatever the solver.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "allot/model/generate.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random_systems.hpp"

namespace allot::properties_test {
namespace {

using testing::random_system;
using testing::SystemShape;

Solution run(const char* solver, const System& system, Objective objective = Objective::kThroughput) {
  return solve(*find_solver(solver), {system, objective});
}

const SystemShape kSmall{.max_types = 4,
                         .max_resources = 3,
                         .min_types = 2,
                         .min_resources = 2,
                         .max_count = 5,
                         .depths = true,
                         .floors = true};
const SystemShape kSharing{
    .max_types = 4, .max_resources = 3, .min_types = 2, .min_resources = 2, .max_count = 5, .fcfs = false};

// The optimum knows no names.
TEST(Properties, RelabellingTypesOrResourcesDoesNotChangeTheOptimum) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, kSmall);
    RandomStream random(seed, 1);
    const System other = testing::relabelled(system, testing::random_order(system.type_count(), random),
                                             testing::random_order(system.resource_count(), random));
    const Solution before = run("exact", system);
    const Solution after = run("exact", other);
    ASSERT_EQ(before.outcome, after.outcome);
    if (before.outcome == Outcome::kInfeasible) continue;
    EXPECT_NEAR(before.performance.throughput, after.performance.throughput,
                1e-9 * before.performance.throughput);
  }
}

// Multiplying by a power of two commutes with every rounding, so all of it scales exactly.
TEST(Properties, ScalingAllRatesScalesTheThroughputExactly) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const double factor : {0x1p-10, 0x1p3, 0x1p20}) {
      SCOPED_TRACE(::testing::Message() << "seed=" << seed << " factor=" << factor);
      const System system = random_system(seed, {.max_types = 4, .max_resources = 4, .max_count = 5});
      const System fast = testing::scaled(system, factor);
      for (const char* solver : {"best-fit", "map", "local"}) {
        const Solution before = run(solver, system);
        const Solution after = run(solver, fast);
        EXPECT_EQ(before.assignment, after.assignment) << solver;
        EXPECT_EQ(factor * before.performance.throughput, after.performance.throughput) << solver;
      }
    }
  }
}

// Shares do not depend on the unit of time.
TEST(Properties, ScalingAllRatesLeavesThePriorityErrorAsItWas) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system =
        random_system(seed, {.max_types = 3, .max_resources = 3, .max_count = 5, .priorities = true});
    if (system.population() == 0) continue;
    const Solution before = run("exhaustive", system, Objective::kPriority);
    const Solution after = run("exhaustive", testing::scaled(system, 0x1p7), Objective::kPriority);
    EXPECT_EQ(*before.performance.priority_error, *after.performance.priority_error);
  }
}

// Under sharing every state completes min(n, c) times its mean rate, which another server never lowers.
TEST(Properties, AnotherServerNeverLowersTheOptimumUnderSharing) {
  int raised = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SystemShape shape = kSharing;
    shape.depths = shape.floors = seed % 2 == 0;
    const System system = random_system(seed, shape);
    const Solution before = run("exact", system);
    if (before.outcome == Outcome::kInfeasible) continue;
    for (const ResourceId j : system.resource_ids()) {
      SCOPED_TRACE(::testing::Message() << "seed=" << seed << " resource=" << index(j));
      const Solution after = run("exact", system.with_servers(j, system.resource(j).servers + 1));
      ASSERT_EQ(after.outcome, Outcome::kOptimal);
      EXPECT_GE(after.performance.throughput, before.performance.throughput * (1 - 1e-9));
      if (after.performance.throughput > before.performance.throughput * (1 + 1e-9)) ++raised;
    }
  }
  EXPECT_GT(raised, 50);
}

TEST(Properties, AFasterPairNeverLowersTheOptimumUnderSharing) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const System system = random_system(seed, kSharing);
    const double before = run("exact", system).performance.throughput;
    for (const TaskType i : system.types()) {
      for (const ResourceId j : system.resources_for(i)) {
        SCOPED_TRACE(::testing::Message()
                     << "seed=" << seed << " type=" << index(i) << " resource=" << index(j));
        const double after =
            run("exact", system.with_rate(i, j, 1.25 * system.rate(i, j))).performance.throughput;
        EXPECT_GE(after, before * (1 - 1e-9));
      }
    }
  }
}

// Another thread can lower the optimum: a slow type takes its share of the only resource.
TEST(Properties, AnotherThreadCanLowerTheOptimum) {
  const auto optimum = [](Count slow) {
    const System system({{.name = "r"}}, {{.name = "fast", .count = 1}, {.name = "slow", .count = slow}},
                        Rates(2, 1, {10, 1}));
    return run("exact", system).performance.throughput;
  };
  EXPECT_DOUBLE_EQ(optimum(0), 10);
  EXPECT_DOUBLE_EQ(optimum(1), 5.5);
}

// But not if its type is the fastest of all at some resource: there it raises the mean, or leaves it, and
// never occupies fewer servers. True for sharing and for one fcfs server, without minimum depths.
TEST(Properties, AnotherThreadOfATypeThatIsFastestSomewhereNeverLowersTheOptimum) {
  int tried = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const System system = random_system(seed, {.max_types = 4, .max_resources = 3, .max_count = 4});
    const double before = run("exact", system).performance.throughput;
    for (const TaskType i : system.types()) {
      const bool fastest_somewhere =
          std::any_of(system.resources_for(i).begin(), system.resources_for(i).end(), [&](ResourceId j) {
            for (const TaskType k : system.types()) {
              if (system.count(k) > 0 && system.rate(k, j) > system.rate(i, j)) return false;
            }
            return true;
          });
      if (!fastest_somewhere) continue;
      ++tried;
      SCOPED_TRACE(::testing::Message() << "seed=" << seed << " type=" << index(i));
      std::vector<Count> counts;
      for (const TaskType k : system.types()) counts.push_back(system.count(k) + (k == i ? 1 : 0));
      EXPECT_GE(run("exact", system.with_counts(counts)).performance.throughput, before * (1 - 1e-9));
    }
  }
  EXPECT_GT(tried, 200);
}

// Sharing, one server each: X_j is strictly convex and falling in the number of tasks of a type that is
// slower than the mean of the others there. If such a type had tasks elsewhere as well, moving them would
// help: away from here if it is faster or alone there, all to one side if it is slower there, too. So in an
// optimum it sits here with all its tasks.
TEST(Properties, InAnOptimumATypeSlowerThanTheOthersIsThereWithAllItsTasks) {
  int slower = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system =
        generate({.general = 3, .specialized = 0, .threads = 12, .rule = AffinityRule::kNone, .seed = seed})
            .system;
    const Assignment n = run("exhaustive", system).assignment;
    for (const TaskType i : system.types()) {
      for (const ResourceId j : system.resource_ids()) {
        if (n(i, j) == 0) continue;
        double others = 0;
        double rates = 0;
        for (const TaskType k : system.types()) {
          if (k == i) continue;
          others += static_cast<double>(n(k, j));
          rates += static_cast<double>(n(k, j)) * system.rate(k, j);
        }
        if (others == 0 || system.rate(i, j) >= rates / others * (1 - 1e-9)) continue;
        ++slower;
        EXPECT_EQ(n(i, j), system.count(i));
      }
    }
  }
  EXPECT_GT(slower, 100);
}

// A resource delivers at most its servers times its fastest rate, and all threads run at most at their
// fastest.
TEST(Properties, TheOptimumRespectsTheObviousBounds) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, {.max_types = 4, .max_resources = 3, .max_count = 5});
    const double x = run("exact", system).performance.throughput;
    double by_resource = 0;
    for (const ResourceId j : system.resource_ids()) {
      double fastest = 0;
      for (const TaskType i : system.types()) {
        if (system.count(i) > 0) fastest = std::max(fastest, system.rate(i, j));
      }
      by_resource += fastest * static_cast<double>(std::min(system.resource(j).servers, system.reach(j)));
    }
    double by_thread = 0;
    for (const TaskType i : system.types()) {
      if (system.count(i) == 0) continue;
      const std::span<const double> rates = system.rates().row(i);
      by_thread += static_cast<double>(system.count(i)) * *std::max_element(rates.begin(), rates.end());
    }
    EXPECT_LE(x, by_resource * (1 + 1e-12));
    EXPECT_LE(x, by_thread * (1 + 1e-12));
  }
}

// Best Fit is one state, MAP starts there and only climbs, local search starts from both, and nothing beats
// the optimum.
TEST(Properties, SolversAreOrderedByConstruction) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, {.max_types = 4, .max_resources = 3, .max_count = 5});
    const double best_fit = run("best-fit", system).performance.throughput;
    const double map = run("map", system).performance.throughput;
    const double local = run("local", system).performance.throughput;
    const double optimum = run("exhaustive", system).performance.throughput;
    const double slack = 1e-11 * optimum;
    EXPECT_LE(best_fit, map + slack);
    EXPECT_LE(map, local + slack);
    EXPECT_LE(local, optimum + slack);
  }
}

}  // namespace
}  // namespace allot::properties_test
