#include "allot/base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace allot {
namespace {

using Words = std::array<std::uint64_t, 2>;

/// The upper half of a product, by the halves of its factors.
std::uint64_t upper_half(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kLow = 0xffffffff;
  const std::uint64_t low = (a & kLow) * (b & kLow);
  const std::uint64_t one = (a >> 32) * (b & kLow) + (low >> 32);
  const std::uint64_t other = (a & kLow) * (b >> 32) + (one & kLow);
  return (a >> 32) * (b >> 32) + (one >> 32) + (other >> 32);
}

/// Philox 2x64-10, written again from its paper (Salmon et al., SC 2011, Figure 3).
Words philox(Words counter, std::uint64_t key) {
  constexpr std::uint64_t kMultiplier = 0xD2B74407B1CE6E93;
  for (int round = 0; round < 10; ++round) {
    counter = {upper_half(kMultiplier, counter[0]) ^ key ^ counter[1], kMultiplier * counter[0]};
    key += 0x9E3779B97F4A7C15;
  }
  return counter;
}

/// The `at`-th 64-bit word of a stream.
std::uint64_t expected_word(std::uint64_t seed, std::uint64_t stream, std::uint64_t at) {
  return philox({at / 2, stream}, seed)[at % 2];
}

// The published known answers of Random123 (kat_vectors), for the reference above.
TEST(Philox, ReferenceGivesTheKnownAnswers) {
  EXPECT_EQ(philox({0, 0}, 0), (Words{0xca00a0459843d731, 0x66c24222c9a845b5}));
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  EXPECT_EQ(philox({kOnes, kOnes}, kOnes), (Words{0x65b021d60cd8310f, 0x4d02f3222f86df20}));
  EXPECT_EQ(philox({0x243f6a8885a308d3, 0x13198a2e03707344}, 0xa4093822299f31d0),
            (Words{0x0a5e742c2997341c, 0xb0f883d38000de5d}));
}

TEST(RandomStream, BeginsWithTheKnownAnswerOfZeros) {
  RandomStream random(0, 0);
  EXPECT_EQ(random.bits(), 0xca00a0459843d731U);
  EXPECT_EQ(random.bits(), 0x66c24222c9a845b5U);
}

TEST(RandomStream, CanBeginAtAnyBlock) {
  for (const std::uint64_t block : {0U, 1U, 5U, 1000U}) {
    RandomStream random(17, 3, block);
    for (std::uint64_t at = 0; at < 40; ++at) {
      ASSERT_EQ(random.bits(), expected_word(17, 3, block * RandomStream::kBlock + at));
    }
  }
}

TEST(RandomStream, IsPhiloxOfSeedStreamAndPosition) {
  const std::uint64_t names[] = {
      0, 1, 7, 0xa110, 0xffffffff, 0x100000000, 0xdeadbeefcafef00d, ~std::uint64_t{0}};
  for (const std::uint64_t seed : names) {
    for (const std::uint64_t stream : names) {
      SCOPED_TRACE(::testing::Message() << "seed=" << seed << " stream=" << stream);
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

TEST(RandomStream, UniformIsTheMiddleOfOneOf2To52Steps) {
  RandomStream random(11, 2);
  for (std::uint64_t at = 0; at < 10'000; ++at) {
    const double u = random.uniform();
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
    const long double step = static_cast<long double>(expected_word(11, 2, at) >> 12);
    ASSERT_EQ(u, static_cast<double>((step + 0.5L) * 0x1.0p-52L));
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
    SCOPED_TRACE(::testing::Message() << "n=" << n);
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
