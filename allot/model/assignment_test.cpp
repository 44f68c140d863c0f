#include "allot/model/assignment.hpp"

#include <gtest/gtest.h>

#include "allot/model/system.hpp"

namespace allot {
namespace {

Assignment matrix(std::size_t types, std::size_t resources, const std::vector<Count>& values) {
  Assignment n(types, resources);
  for (std::size_t i = 0; i < types; ++i) {
    for (std::size_t j = 0; j < resources; ++j) n(task_type(i), resource_id(j)) = values[i * resources + j];
  }
  return n;
}

/// Two types, two resources; the second type runs on the second resource only.
System two_by_two(Count min_depth = 1) {
  return System({{.name = "a", .min_depth = min_depth}, {.name = "b", .min_depth = min_depth}},
                {{.name = "x", .count = 3}, {.name = "y", .count = 2}}, Rates(2, 2, {1, 2, 0, 4}));
}

TEST(Assignment, SumsRowsAndColumns) {
  const Assignment n = matrix(2, 3, {1, 2, 3, 40, 50, 60});
  EXPECT_EQ(n.row_sum(task_type(0)), 6);
  EXPECT_EQ(n.row_sum(task_type(1)), 150);
  EXPECT_EQ(n.column_sum(resource_id(0)), 41);
  EXPECT_EQ(n.column_sum(resource_id(2)), 63);
}

TEST(Assignment, StartsAllZeroAndResetsToAllZero) {
  Assignment n(2, 2);
  for (const Count count : n.values()) EXPECT_EQ(count, 0);
  n(task_type(1), resource_id(1)) = 5;
  n.reset(3, 1);
  EXPECT_EQ(n, Assignment(3, 1));
}

TEST(Assignment, EqualityLooksAtTheShapeToo) {
  EXPECT_NE(matrix(1, 4, {1, 2, 3, 4}), matrix(2, 2, {1, 2, 3, 4}));
  EXPECT_EQ(matrix(2, 2, {1, 2, 3, 4}), matrix(2, 2, {1, 2, 3, 4}));
}

TEST(IsPlacement, AcceptsEveryThreadPlacedOnceWhereItCanRun) {
  EXPECT_TRUE(is_placement(two_by_two(), matrix(2, 2, {1, 2, 0, 2})));
  EXPECT_TRUE(is_placement(two_by_two(), matrix(2, 2, {0, 3, 0, 2})));
}

TEST(IsPlacement, RefusesWrongShapeMissingSurplusNegativeAndUnrunnable) {
  const System system = two_by_two();
  EXPECT_FALSE(is_placement(system, Assignment()));
  EXPECT_FALSE(is_placement(system, matrix(2, 1, {3, 2})));
  EXPECT_FALSE(is_placement(system, matrix(1, 2, {1, 2})));
  EXPECT_FALSE(is_placement(system, matrix(2, 2, {1, 1, 0, 2})));
  EXPECT_FALSE(is_placement(system, matrix(2, 2, {2, 2, 0, 2})));
  EXPECT_FALSE(is_placement(system, matrix(2, 2, {4, -1, 0, 2})));
  EXPECT_FALSE(is_placement(system, matrix(2, 2, {3, 0, 1, 1})));
}

TEST(IsPlacement, RefusesAResourceBetweenEmptyAndItsLeastDepth) {
  const System system = two_by_two(3);
  EXPECT_TRUE(is_placement(system, matrix(2, 2, {0, 3, 0, 2})));
  EXPECT_FALSE(is_placement(system, matrix(2, 2, {1, 2, 0, 2})));
  EXPECT_FALSE(is_placement(system, matrix(2, 2, {3, 0, 0, 2})));
}

TEST(HomeAssignment, PutsEveryTaskAtItsHome) {
  EXPECT_EQ(home_assignment(two_by_two()), matrix(2, 2, {0, 3, 0, 2}));
  Assignment reused = matrix(1, 1, {7});
  home_assignment(two_by_two(), reused);
  EXPECT_EQ(reused, matrix(2, 2, {0, 3, 0, 2}));
}

}  // namespace
}  // namespace allot
