#include "allot/sweep/encoding.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "allot/base/random.hpp"

namespace allot {
namespace {

std::vector<std::vector<std::uint64_t>> bits(const std::vector<std::vector<double>>& rows) {
  std::vector<std::vector<std::uint64_t>> out;
  for (const auto& row : rows) {
    out.emplace_back();
    for (const double number : row) out.back().push_back(std::bit_cast<std::uint64_t>(number));
  }
  return out;
}

TEST(Encoding, KeepsEveryBitOfAnyDouble) {
  RandomStream random(7);
  for (int round = 0; round < 200; ++round) {
    UnitResult result;
    for (auto* rows : {&result.rows, &result.timing}) {
      rows->resize(random.below(4));
      for (auto& row : *rows) {
        row.resize(random.below(5));
        for (double& number : row)
          number = std::bit_cast<double>(random.bits());  // NaNs of all kinds among them
      }
    }
    const auto back = decode_result(encode_result(result));
    ASSERT_TRUE(back) << "round " << round;
    EXPECT_EQ(bits(back->rows), bits(result.rows));
    EXPECT_EQ(bits(back->timing), bits(result.timing));
  }
}

TEST(Encoding, IsTheSameOnEveryPlatform) {
  const UnitResult result{{{1.0}}, {}};
  EXPECT_EQ(encode_result(result), std::string("\1\0\0\0\1\0\0\0\0\0\0\0\0\0\xf0\x3f\0\0\0\0", 20));
}

TEST(Encoding, RefusesBytesThatAreNone) {
  const std::string whole = encode_result({{{1, 2}, {3, 4}}, {{5}}});
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(decode_result(whole.substr(0, length))) << length;
  EXPECT_FALSE(decode_result(whole + "x"));
  EXPECT_FALSE(decode_result(std::string(64, '\xff')));  // four thousand million rows, they say
}

}  // namespace
}  // namespace allot
