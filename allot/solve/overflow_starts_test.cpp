#include "allot/solve/detail/overflow_starts.hpp"

#include <gtest/gtest.h>

#include "tests/support/oracle.hpp"
#include "tests/support/random_box.hpp"
#include "tests/support/random_systems.hpp"

namespace allot::detail {
namespace {

TEST(OverflowStarts, PlaceEveryTaskAndFallInThroughput) {
  OverflowStarts starts;
  Assignment n;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = seed % 2 == 0 ? allot::testing::random_box(seed, {.fcfs = true})
                                        : allot::testing::random_system(seed, {.several_fcfs = true});
    starts.make(system);
    double last = 0;
    for (std::size_t rank = 0; rank < starts.size(); ++rank) {
      starts.write(rank, n);
      ASSERT_TRUE(allot::testing::places_every_task(system, n));
      const double x = evaluate(system, n).throughput;
      if (rank > 0) {
        EXPECT_LE(x, last * (1 + 1e-12));
      }
      last = x;
    }
    if (system.population() > 0) {
      EXPECT_GT(starts.size(), 0U);
    }
  }
}

TEST(OverflowStarts, LeaveClosedResourcesEmpty) {
  OverflowStarts starts;
  Assignment n;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = allot::testing::random_box(seed);
    std::vector<bool> closed(system.resource_count());
    closed[1] = true;
    starts.make(system, closed);
    for (std::size_t rank = 0; rank < starts.size(); ++rank) {
      starts.write(rank, n);
      EXPECT_EQ(n.column_sum(resource_id(1)), 0);
      ASSERT_TRUE(allot::testing::places_every_task(system, n));
    }
  }
}

// Two GPUs' worth of fast tasks, and a pool for the rest: the one server that is fast belongs to them alone.
TEST(OverflowStarts, KeepTheFastServersClear) {
  const System system({{.name = "pool", .servers = 8}, {.name = "gpu", .servers = 2}},
                      {{.name = "fast", .count = 2}, {.name = "slow", .count = 10}},
                      Rates(2, 2, {1, 100, 5, 6}));
  OverflowStarts starts;
  starts.make(system);
  Assignment n;
  starts.write(0, n);
  EXPECT_EQ(n(task_type(0), resource_id(1)), 2);
  EXPECT_EQ(n(task_type(1), resource_id(0)), 10);
}

}  // namespace
}  // namespace allot::detail
