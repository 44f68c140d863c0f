#include "allot/solve/detail/open_sets.hpp"

#include <gtest/gtest.h>

#include "allot/base/random.hpp"
#include "allot/solve/detail/start.hpp"
#include "tests/support/amount.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random_systems.hpp"

namespace allot::detail {
namespace {

using allot::testing::random_system;

/// A small system with minimum depths of up to 7.
System deep_system(std::uint64_t seed) {
  const System system =
      random_system(seed, {.max_types = 3, .max_resources = 3, .max_count = 5, .depths = true});
  RandomStream random(seed, 1);
  std::vector<Resource> resources = system.resources();
  for (Resource& resource : resources) {
    if (resource.min_depth > 1) resource.min_depth = 2 + static_cast<Count>(random.below(6));
  }
  return System(std::move(resources), system.tasks(), system.rates());
}

bool has_placement(const System& system, const std::vector<bool>* closed = nullptr) {
  bool found = false;
  allot::testing::for_each_assignment(system, [&](const Assignment& n) {
    bool fits = true;
    for (const ResourceId j : system.resource_ids()) {
      const Count tasks = n.column_sum(j);
      const Count depth = system.resource(j).min_depth;
      if (closed == nullptr) {
        fits &= tasks == 0 || tasks >= depth;
      } else {
        fits &= (*closed)[index(j)] ? tasks == 0 : depth == 1 || tasks >= depth;
      }
    }
    found |= fits;
  });
  return found;
}

// Enumeration says whether there is a placement; the repair must find one, however the search began.
TEST(KeepDepths, FindsAPlacementWheneverThereIsOne) {
  std::uint64_t repaired = 0;
  std::uint64_t impossible = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(600); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = deep_system(seed);
    Assignment n = home_assignment(system);
    const bool shallow = !is_placement(system, n);
    const bool kept = keep_depths(system, n);
    ASSERT_EQ(kept, has_placement(system));
    if (kept) {
      EXPECT_TRUE(is_placement(system, n));
    }
    repaired += kept && shallow ? 1 : 0;
    impossible += kept ? 0 : 1;
  }
  EXPECT_GT(repaired, testing::amount(30));
  EXPECT_GT(impossible, testing::amount(5));
}

TEST(TurnResource, OpensAndClosesAndKeepsAllDepths) {
  std::uint64_t turned = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = deep_system(seed);
    std::optional<Assignment> start = home_start(system);
    if (!start) continue;
    for (const ResourceId j : system.resource_ids()) {
      if (system.resource(j).min_depth == 1) continue;
      Assignment n = *start;
      const bool was_empty = n.column_sum(j) == 0;
      if (!turn_resource(system, n, j)) {
        EXPECT_EQ(n, *start);
        continue;
      }
      ++turned;
      EXPECT_TRUE(is_placement(system, n));
      EXPECT_NE(n.column_sum(j) == 0, was_empty);
    }
  }
  EXPECT_GT(turned, testing::amount(30));
}

TEST(Deepen, SaysNoOnlyWhereNoAssignmentFits) {
  for (std::uint64_t seed = 0; seed < testing::amount(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = deep_system(seed);
    Assignment n = home_assignment(system);
    std::vector<bool> closed(system.resource_count());  // none
    const bool kept = deepen(system, closed, n);
    ASSERT_EQ(kept, has_placement(system, &closed));
    if (kept) {
      EXPECT_TRUE(is_placement(system, n));
    }
  }
}

TEST(StartsByOpenSet, ArePlacementsBestFirst) {
  for (std::uint64_t seed = 0; seed < testing::amount(200); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = deep_system(seed);
    double last = -1;
    for (const Assignment& start : starts_by_open_set(system, 100)) {
      ASSERT_TRUE(is_placement(system, start));
      const double x = evaluate(system, start).throughput;
      if (last >= 0) {
        EXPECT_LE(x, last);
      }
      last = x;
    }
  }
}

}  // namespace
}  // namespace allot::detail
