#include "integrations/starpu/types.hpp"

#include <gtest/gtest.h>

namespace allot::starpu {
namespace {

TEST(StarpuTypes, EveryKeyIsFoundUntilTheTableIsFull) {
  TypeTable table;
  // Keys as codelets in an array have them: a fixed distance apart.
  const auto key = [](std::size_t k) { return TypeKey{0x1000 + 512 * k, k % 3}; };
  for (std::size_t k = 0; k < kMostTypes; ++k) {
    EXPECT_FALSE(table.find(key(k)));
    EXPECT_FALSE(table.full());
    EXPECT_TRUE(table.insert(key(k), task_type(k)));
  }
  EXPECT_TRUE(table.full());
  EXPECT_FALSE(table.insert(key(kMostTypes), task_type(0)));
  for (std::size_t k = 0; k < kMostTypes; ++k) EXPECT_EQ(table.find(key(k)), task_type(k));
  EXPECT_FALSE(table.find(key(kMostTypes)));
}

TEST(StarpuTypes, ACodeletThatTookThePlaceOfAnotherIsAnotherType) {
  TypeTable table;
  table.insert({0x1000, 1}, task_type(0));
  EXPECT_FALSE(table.find({0x1000, 2}));
  EXPECT_FALSE(table.find({0x2000, 1}));
}

}  // namespace
}  // namespace allot::starpu
