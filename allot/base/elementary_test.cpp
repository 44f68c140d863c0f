#include "allot/base/elementary.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "allot/base/random.hpp"

namespace allot {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmallestNormal = std::numeric_limits<double>::min();
constexpr double kLargest = std::numeric_limits<double>::max();

using Scalar = double (*)(double) noexcept;
using Reference = long double (*)(long double);
using Array = void (*)(std::span<double>) noexcept;

double any_uniform(RandomStream& random) {
  return (static_cast<double>(random.bits() >> 12) + 0.5) * 0x1p-52;
}

/// Between low and high: evenly, or evenly in the logarithm.
double between(RandomStream& random, double low, double high, bool logarithmic) {
  const double u = any_uniform(random);
  if (!logarithmic) return low + (high - low) * u;
  return std::exp(std::log(low) + (std::log(high) - std::log(low)) * u);
}

/// In units of the last place of the exact result.
double error_in_ulps(double got, long double exact) {
  int exponent = 0;
  (void)std::frexp(exact, &exponent);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) /
                             std::ldexp(1.0L, exponent - std::numeric_limits<double>::digits));
}

struct Range {
  double low;
  double high;
  bool logarithmic = false;
};

/// The worst error over `points` random points of each range.
double worst_error(Scalar ours, Reference exact, std::initializer_list<Range> ranges,
                   int points = 1'000'000) {
  double worst = 0;
  std::uint64_t stream = 0;
  for (const Range& range : ranges) {
    RandomStream random(20, ++stream);
    for (int at = 0; at < points; ++at) {
      const double x = between(random, range.low, range.high, range.logarithmic);
      const double error = error_in_ulps(ours(x), exact(x));
      if (!(error <= worst)) worst = error;
    }
  }
  return worst;
}

/// Needs a long double with more digits than a double.
class ElementaryAccuracy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "no wider type to compare with";
  }
};

TEST_F(ElementaryAccuracy, LogIsWithinOneUlp) {
  const double worst = worst_error(
      portable_log, [](long double x) { return std::log(x); },
      {{0, 1}, {0.5, 2}, {0.9, 1.1}, {kSmallestNormal, kLargest, true}, {1e-323, kSmallestNormal, true}});
  RecordProperty("worst_ulp", std::to_string(worst));
  EXPECT_LE(worst, 1);
}

TEST_F(ElementaryAccuracy, Log1pIsWithinTwoUlp) {
  const auto exact = [](long double x) { return std::log1p(x); };
  EXPECT_LE(worst_error(portable_log1p, exact, {{-1, 1}, {1e-20, 1, true}, {1, 1e300, true}}), 2);
  EXPECT_LE(worst_error([](double x) noexcept { return portable_log1p(-x); },
                        [](long double x) { return std::log1p(-x); }, {{1e-20, 0.999999, true}}),
            2);
}

TEST_F(ElementaryAccuracy, ExpIsWithinOneUlp) {
  EXPECT_LE(worst_error(portable_exp, [](long double x) { return std::exp(x); },
                        {{-1, 1}, {-708, 709.7}, {1e-20, 1, true}}),
            1);
}

TEST_F(ElementaryAccuracy, SubnormalResultsOfExpAreWithinOneOfTheirSteps) {
  RandomStream random(21);
  for (int at = 0; at < 100'000; ++at) {
    const double x = -745 + 37 * any_uniform(random);
    const long double error =
        std::fabs(static_cast<long double>(portable_exp(x)) - std::exp(static_cast<long double>(x)));
    ASSERT_LE(error, 2 * std::max(std::exp(static_cast<long double>(x)) * 0x1p-53L, 0x1p-1074L)) << x;
  }
}

TEST_F(ElementaryAccuracy, Expm1IsWithinThreeUlp) {
  EXPECT_LE(worst_error(portable_expm1, [](long double x) { return std::expm1(x); },
                        {{-1, 1}, {-50, 700}, {1e-20, 1, true}}),
            3);
}

TEST_F(ElementaryAccuracy, PowIsAsGoodAsItsExponentAllows) {
  RandomStream random(22);
  for (int at = 0; at < 1'000'000; ++at) {
    const double base = between(random, 1e-6, 1e6, true);
    const double exponent = between(random, -20, 20, false);
    const long double exact = std::pow(static_cast<long double>(base), static_cast<long double>(exponent));
    const double allowed = 2 + 2 * std::fabs(exponent * std::log(base));
    ASSERT_LE(error_in_ulps(portable_pow(base, exponent), exact), allowed) << base << "^" << exponent;
  }
}

TEST_F(ElementaryAccuracy, GammaIsWithinThreeUlpAndHalfItsArgument) {
  RandomStream random(23);
  for (int at = 0; at < 300'000; ++at) {
    const double x = at % 2 == 0 ? between(random, 0.5, 3, false) : between(random, 3, 170, false);
    const long double exact = std::tgamma(static_cast<long double>(x));
    ASSERT_LE(error_in_ulps(portable_gamma(x), exact), 3 + x / 2) << x;
  }
}

TEST(Elementary, AgreesWithTheCLibraryAtTheEdges) {
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_log(0), -kInfinity);
  EXPECT_EQ(portable_log(-0.0), -kInfinity);
  EXPECT_EQ(portable_log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(portable_log(-1)));
  EXPECT_TRUE(std::isnan(portable_log(-kInfinity)));
  EXPECT_TRUE(std::isnan(portable_log(kNaN)));
  EXPECT_NEAR(portable_log(std::numeric_limits<double>::denorm_min()), -744.4400719213812, 1e-12);
  EXPECT_NEAR(portable_log(kLargest), 709.782712893384, 1e-12);

  EXPECT_EQ(portable_log1p(0), 0);
  EXPECT_TRUE(std::signbit(portable_log1p(-0.0)));
  EXPECT_EQ(portable_log1p(1e-300), 1e-300);
  EXPECT_EQ(portable_log1p(-1), -kInfinity);
  EXPECT_EQ(portable_log1p(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(portable_log1p(-1.5)));
  EXPECT_TRUE(std::isnan(portable_log1p(kNaN)));

  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(-0.0), 1);
  EXPECT_EQ(portable_exp(-kInfinity), 0);
  EXPECT_EQ(portable_exp(kInfinity), kInfinity);
  EXPECT_EQ(portable_exp(709.79), kInfinity);
  EXPECT_EQ(portable_exp(1e10), kInfinity);
  EXPECT_LT(portable_exp(709.78), kInfinity);
  EXPECT_GT(portable_exp(-745.1), 0);
  EXPECT_EQ(portable_exp(-745.2), 0);
  EXPECT_EQ(portable_exp(-1e10), 0);
  EXPECT_TRUE(std::isnan(portable_exp(kNaN)));

  EXPECT_EQ(portable_expm1(0), 0);
  EXPECT_EQ(portable_expm1(1e-300), 1e-300);
  EXPECT_EQ(portable_expm1(-kInfinity), -1);
  EXPECT_EQ(portable_expm1(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(portable_expm1(kNaN)));

  EXPECT_EQ(portable_pow(5, 0), 1);
  EXPECT_EQ(portable_pow(1, 1e300), 1);
  EXPECT_EQ(portable_pow(2, 2000), kInfinity);
  EXPECT_EQ(portable_pow(2, -2000), 0);
}

TEST(Elementary, GammaOfWholeNumbersIsTheFactorial) {
  double factorial = 1;
  for (int n = 1; n <= 18; ++n) {
    EXPECT_EQ(portable_gamma(n), factorial) << n;
    factorial *= n;
  }
  EXPECT_TRUE(std::isnan(portable_gamma(0)));
  EXPECT_TRUE(std::isnan(portable_gamma(-2.5)));
  EXPECT_TRUE(std::isnan(portable_gamma(171)));
  EXPECT_TRUE(std::isnan(portable_gamma(kNaN)));
}

void expect_same_bits(Scalar one, Array many, double low, double high) {
  for (std::size_t count = 0; count < 70; ++count) {
    RandomStream random(24, count);
    std::vector<double> values(count);
    for (double& value : values) value = between(random, low, high, false);
    std::vector<double> expected = values;
    for (double& value : expected) value = one(value);
    many(values);
    for (std::size_t at = 0; at < count; ++at) {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(values[at]), std::bit_cast<std::uint64_t>(expected[at])) << at;
    }
  }
}

TEST(Elementary, ArraysGiveTheSameBitsAsSingleValues) {
  expect_same_bits(portable_log, portable_log, 0, 3);
  expect_same_bits(portable_log, portable_log, 0, 1e300);
  expect_same_bits(portable_log1p, portable_log1p, -1, 1);
  expect_same_bits(portable_exp, portable_exp, -2, 2);
  expect_same_bits(portable_exp, portable_exp, -1000, 1000);
}

/// FNV-1a over the bits of the results at 100,000 points.
std::uint64_t digest(Scalar function, double low, double high) {
  RandomStream random(25);
  std::uint64_t hash = 0xcbf29ce484222325;
  for (int at = 0; at < 100'000; ++at) {
    hash ^= std::bit_cast<std::uint64_t>(function(low + (high - low) * any_uniform(random)));
    hash *= 0x100000001b3;
  }
  return hash;
}

// A difference here is a platform (or a compiler flag) that does not compute as IEEE 754 says, or a change of
// the functions, which changes every simulation result.
TEST(Elementary, GivesTheSameBitsOnEveryPlatform) {
  EXPECT_EQ(digest(portable_log, 0, 1), 0x19d279e50a69586eU);
  EXPECT_EQ(digest(portable_log, 0, 1e6), 0x6cd4fef99c7e7dffU);
  EXPECT_EQ(digest(portable_log1p, -1, 1), 0x151a2ba176d21e37U);
  EXPECT_EQ(digest(portable_exp, -40, 40), 0x96c7cde0021dcde4U);
  EXPECT_EQ(digest(portable_expm1, -2, 2), 0x6f404dde2e1dd351U);
  EXPECT_EQ(digest([](double x) noexcept { return portable_pow(x, 1 / 1.5); }, 0, 1000), 0x73b02b0365d36d90U);
  EXPECT_EQ(digest(portable_gamma, 0.5, 30), 0x2c28202dcdd534e4U);
}

}  // namespace
}  // namespace allot
