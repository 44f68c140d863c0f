#include "allot/io/detail/text.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "allot/base/random.hpp"

namespace allot::detail {
namespace {

TEST(Text, PrintsOneLineWhateverTheBytes) {
  EXPECT_EQ(printable("a\tb\nc\x1b[31m\x7f"), "a\\tb\\nc\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\xC3\xA9 \xF0\x9F\x98\x80"), "\xC3\xA9 \xF0\x9F\x98\x80");
  EXPECT_EQ(printable("\xC3( \xED\xA0\x80 \xC0\x80 \xF5"), "\\xc3( \\xed\\xa0\\x80 \\xc0\\x80 \\xf5");
  EXPECT_EQ(printable("\xC2\x85"), "\\u0085");  // a control character of two bytes
  EXPECT_EQ(printable("abcdef", 3), "abc...");
}

TEST(Text, CutsLongLists) {
  EXPECT_EQ(listed(std::vector<std::string_view>(12, "x")), "x, x, x, x, x, x, x, x, x, x and 2 more");
}

TEST(Text, WritesDoublesThatReadBackTheSame) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(65), "65.0");
  EXPECT_EQ(shortest(1e22), "1e+22");
  EXPECT_EQ(shortest(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(shortest(-std::numeric_limits<double>::infinity()), "-inf");
  RandomStream random(1);
  for (int k = 0; k < 2000; ++k) {
    const double value =
        std::ldexp(static_cast<double>(random.bits() >> 11), static_cast<int>(random.below(2000)) - 1040);
    EXPECT_EQ(std::strtod(shortest(value).c_str(), nullptr), value);
  }
}

}  // namespace
}  // namespace allot::detail
