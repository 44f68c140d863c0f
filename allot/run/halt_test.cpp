#include "allot/run/halt.hpp"

#include <gtest/gtest.h>

namespace allot {
namespace {

TEST(Halt, ReadsBothWordsAndBothKindsOfLimit) {
  std::string problem;
  EXPECT_EQ(parse_halt("soon,fail=3", problem), (HaltRule{false, 3, std::nullopt}));
  EXPECT_EQ(parse_halt("now,fail=10%", problem), (HaltRule{true, std::nullopt, 0.1}));
  EXPECT_TRUE(problem.empty());
}

TEST(Halt, RefusesEverythingElse) {
  for (const char* text : {"", "soon", "never,fail=1", "soon,fail=", "soon,fail=0", "soon,fail=-1",
                           "soon,fail=1x", "soon,fail=101%", "soon,done=3", "soon,fail=3,"}) {
    std::string problem;
    EXPECT_FALSE(parse_halt(text, problem)) << text;
    EXPECT_NE(problem.find("soon,fail=N"), std::string::npos);
  }
}

TEST(Halt, CountsFailuresAndTheirShare) {
  const HaltRule three{false, 3, std::nullopt};
  EXPECT_FALSE(three.reached(2, 2));
  EXPECT_TRUE(three.reached(3, 1000));
  const HaltRule tenth{false, std::nullopt, 0.1};
  EXPECT_FALSE(tenth.reached(2, 2)) << "too few to call it a share";
  EXPECT_TRUE(tenth.reached(3, 30));
  EXPECT_FALSE(tenth.reached(3, 31));
}

}  // namespace
}  // namespace allot
