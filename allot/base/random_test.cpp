#include "allot/base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace allot {
namespace {

using Words4 = std::array<std::uint32_t, 4>;
using Words2 = std::array<std::uint32_t, 2>;

/// Philox 4x32-10, written again from its paper (Salmon et al., SC 2011, Figure 3).
Words4 philox(Words4 counter, Words2 key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
  }
  return counter;
}

constexpr std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
constexpr std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

/// The `at`-th 64-bit word of a stream.
std::uint64_t expected_word(std::uint64_t seed, std::uint64_t stream, std::uint64_t at) {
  const std::uint64_t block = at / 2;
  const Words4 words = philox({low(block), high(block), low(stream), high(stream)}, {low(seed), high(seed)});
  return at % 2 == 0 ? (std::uint64_t{words[1]} << 32) | words[0]
                     : (std::uint64_t{words[3]} << 32) | words[2];
}

// The published known answers of Random123 (kat_vectors), for the reference above.
TEST(Philox, ReferenceGivesTheKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, BeginsWithTheKnownAnswerOfZeros) {
  RandomStream random(0, 0);
  EXPECT_EQ(random.bits(), 0xe169c58d6627e8d5U);
  EXPECT_EQ(random.bits(), 0x9b00dbd8bc57ac4cU);
}

TEST(RandomStream, IsPhiloxOfSeedStreamAndPosition) {
  const std::uint64_t names[] = {
      0, 1, 7, 0xa110, 0xffffffff, 0x100000000, 0xdeadbeefcafef00d, ~std::uint64_t{0}};
  for (const std::uint64_t seed : names) {
    for (const std::uint64_t stream : names) {
      SCOPED_TRACE(testing::Message() << "seed=" << seed << " stream=" << stream);
      RandomStream random(seed, stream);
      for (std::uint64_t at = 0; at < 100; ++at)
        ASSERT_EQ(random.bits(), expected_word(seed, stream, at)) << at;
    }
  }
}

TEST(RandomStream, StreamsAndSeedsShareNoNumbers) {
  // 64 streams of 1,000 64-bit words: a chance collision has probability 1e-10.
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (std::uint64_t stream = 0; stream < 8; ++stream) {
      RandomStream random(seed, stream);
      for (int at = 0; at < 1000; ++at) seen.insert(random.bits());
    }
  }
  EXPECT_EQ(seen.size(), 64U * 1000U);
}

TEST(RandomStream, ACopyContinuesAsTheOriginalDoes) {
  RandomStream random(3, 4);
  for (int at = 0; at < 5; ++at) random.bits();
  RandomStream copy = random;
  for (int at = 0; at < 50; ++at) EXPECT_EQ(copy.bits(), random.bits());
}

TEST(RandomStream, UniformIsTheMiddleOfOneOf2To53Steps) {
  RandomStream random(11, 2);
  for (std::uint64_t at = 0; at < 10'000; ++at) {
    const double u = random.uniform();
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
    const long double step = static_cast<long double>(expected_word(11, 2, at) >> 11);
    ASSERT_EQ(u, static_cast<double>((step + 0.5L) * 0x1.0p-53L));
  }
}

TEST(RandomStream, UniformHasTheMomentsOfTheUniformDistribution) {
  // 200,000 draws: mean 1/2 with standard error 6.5e-4, second moment 1/3 with 6.7e-4; five errors allowed.
  RandomStream random(12345);
  constexpr int kDraws = 200'000;
  double sum = 0;
  double squares = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const double u = random.uniform();
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kDraws));
}

TEST(RandomStream, UniformOfARangeStaysInsideAndIsAffine) {
  RandomStream a(5);
  RandomStream b(5);
  for (int at = 0; at < 1000; ++at) {
    const double x = a.uniform(-2, 6);
    ASSERT_GT(x, -2.0);
    ASSERT_LT(x, 6.0);
    ASSERT_DOUBLE_EQ(x, -2 + 8 * b.uniform());
  }
}

TEST(RandomStream, BelowIsUniform) {
  // Chi-square with n - 1 degrees of freedom; the bar is mean + 5 standard deviations, about 1e-5 by chance.
  for (const std::uint64_t n : {2U, 3U, 6U, 7U, 10U, 100U}) {
    SCOPED_TRACE(testing::Message() << "n=" << n);
    RandomStream random(99, n);
    std::vector<int> hits(n);
    const int draws = static_cast<int>(n) * 2000;
    for (int draw = 0; draw < draws; ++draw) {
      const std::uint64_t value = random.below(n);
      ASSERT_LT(value, n);
      ++hits[value];
    }
    double chi_square = 0;
    for (const int hit : hits) chi_square += (hit - 2000.0) * (hit - 2000.0) / 2000.0;
    const double freedom = static_cast<double>(n) - 1;
    EXPECT_LT(chi_square, freedom + 5 * std::sqrt(2 * freedom));
  }
}

// Taking a 64-bit word modulo n = 3 * 2^62 would give values below 2^62 twice as often: half of all draws
// instead of a third.
TEST(RandomStream, BelowIsUnbiasedForALargeRange) {
  constexpr std::uint64_t kThird = std::uint64_t{1} << 62;
  RandomStream random(2024);
  constexpr int kDraws = 20'000;
  int in_first_third = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const std::uint64_t value = random.below(3 * kThird);
    ASSERT_LT(value, 3 * kThird);
    in_first_third += value < kThird ? 1 : 0;
  }
  EXPECT_NEAR(in_first_third / double{kDraws}, 1.0 / 3, 5 * std::sqrt(2.0 / 9 / kDraws));
}

TEST(RandomStream, BelowOneIsAlwaysZero) {
  RandomStream random(1);
  for (int at = 0; at < 100; ++at) EXPECT_EQ(random.below(1), 0U);
}

}  // namespace
}  // namespace allot
