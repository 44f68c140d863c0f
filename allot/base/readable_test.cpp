#include "allot/base/readable.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace allot::readable {
namespace {

TEST(Readable, NumbersHaveTheDigitsThatMatter) {
  EXPECT_EQ(number(0), "0");
  EXPECT_EQ(number(12.5), "12.5");
  EXPECT_EQ(number(0.0314159), "0.03142");
  EXPECT_EQ(number(1234.5), "1234");  // to even, as floating point rounds
  EXPECT_EQ(number(-12'350'000), "-12,350,000");
  EXPECT_EQ(number(1.5e-7), "1.5e-07");
  EXPECT_EQ(number(2.5e15), "2.5e+15");
  EXPECT_EQ(number(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(number(std::numeric_limits<double>::max()), "1.798e+308");
}

TEST(Readable, ABoundIsNeverBelow) {
  EXPECT_EQ(number_above(1.23401), "1.235");
  EXPECT_EQ(number_above(1.234), "1.234");
}

TEST(Readable, Units) {
  EXPECT_EQ(percent(0.27), "27%");
  EXPECT_EQ(percent(0.0002), "0.02%");
  EXPECT_EQ(percent(0), "0%");
  EXPECT_EQ(duration(0.0032), "3.20 ms");
  EXPECT_EQ(duration(0), "0 s");
  EXPECT_EQ(duration(12345), "12,345 s");
  EXPECT_EQ(change(0.314159), "+0.314");
  EXPECT_EQ(change(-1e-15), "0");
}

TEST(Readable, OneIsOneAndTwoAreMany) {
  EXPECT_EQ(counted(1, "thread"), "1 thread");
  EXPECT_EQ(counted(12'350, "thread"), "12,350 threads");
}

TEST(Readable, AColumnLinesUp) {
  const std::vector<double> values = {12.5, 3};
  const ColumnFormat format(values);
  EXPECT_EQ(format(12.5), "12.50");
  EXPECT_EQ(format(3), "3.00");
}

}  // namespace
}  // namespace allot::readable
