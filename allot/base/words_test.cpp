#include "allot/base/words.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace allot {
namespace {

TEST(Words, FindsTheNameThatWasMeant) {
  const std::vector<std::string_view> names = {"name",       "kind",  "servers",
                                               "discipline", "power", "idle_power"};
  EXPECT_EQ(nearest("sevrers", names), "servers");
  EXPECT_EQ(nearest("Power", names), "power");
  EXPECT_EQ(nearest("idle-power", names), "idle_power");
  EXPECT_EQ(nearest("title", names), "");
  EXPECT_EQ(nearest("x", std::vector<std::string_view>{"y"}), "");
  EXPECT_EQ(nearest(std::string(100, 'x'), names), "");
  EXPECT_EQ(nearest("disc", names), "discipline");  // a beginning
}

TEST(Words, NamesAlternatives) {
  EXPECT_EQ(alternatives(std::vector<std::string>{}), "");
  EXPECT_EQ(alternatives(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(alternatives(std::vector<std::string>{"a", "b"}), "a or b");
  EXPECT_EQ(alternatives(std::vector<std::string>{"a", "b", "c"}), "a, b or c");
}

TEST(Words, AsksWhetherAnotherWasMeant) {
  EXPECT_EQ(did_you_mean("mapp", std::vector<std::string_view>{"map", "mis"}), " Did you mean 'map'?");
  EXPECT_EQ(did_you_mean("zebra", std::vector<std::string_view>{"map", "mis"}), "");
}

}  // namespace
}  // namespace allot
