#include "allot/base/per.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <type_traits>

namespace allot {
namespace {

TEST(PerPair, KeepsARowPerTypeAndAColumnPerResource) {
  PerPair<int> values(2, 3);
  for (const TaskType i : values.type_ids()) {
    for (const ResourceId j : values.resource_ids())
      values(i, j) = static_cast<int>(10 * index(i) + index(j));
  }
  EXPECT_THAT(values.values(), ::testing::ElementsAre(0, 1, 2, 10, 11, 12));
  EXPECT_THAT(values.row(task_type(1)), ::testing::ElementsAre(10, 11, 12));
  const PairSpan view(values.values(), 3);
  EXPECT_EQ(view(task_type(1), resource_id(2)), 12);
  EXPECT_EQ(view.types(), 2U);
}

TEST(PerPair, GrowsWithoutMovingWhatIsThere) {
  PerPair<std::unique_ptr<int>> values(1, 2);
  values(task_type(0), resource_id(1)) = std::make_unique<int>(7);
  values.grow(2, 3);
  EXPECT_EQ(*values(task_type(0), resource_id(1)), 7);
  EXPECT_EQ(values(task_type(1), resource_id(2)), nullptr);
  EXPECT_EQ(values.types(), 2U);
  EXPECT_EQ(values.resources(), 3U);
}

TEST(PerPair, TakesFlags) {
  PerPair<bool> flags(2, 2, true);
  flags(task_type(1), resource_id(0)) = false;
  EXPECT_THAT(flags.values(), ::testing::ElementsAre(true, true, false, true));
  flags.assign(1, 1, false);
  EXPECT_EQ(flags, PerPair<bool>(1, 1));
}

TEST(PairSpan, OfNothingIsEmpty) {
  EXPECT_TRUE(PairSpan<const double>({}, 3).empty());
  EXPECT_EQ(PairSpan<const double>({}, 0).types(), 0U);
}

TEST(PerType, IsAskedByTypesOnly) {
  PerType<int> counts(2, 5);
  ++counts[task_type(1)];
  EXPECT_THAT(counts.values(), ::testing::ElementsAre(5, 6));
  static_assert(!std::is_invocable_v<decltype([](auto& of, auto id) -> decltype(of[id]) { return of[id]; }),
                                     PerType<int>&, ResourceId>);
}

}  // namespace
}  // namespace allot
