#include "allot/base/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "allot/base/random.hpp"

namespace allot {
namespace {

/// Values of printed tables, to all their digits.
TEST(StudentQuantile, AgreesWithTables) {
  struct Entry {
    double p, degrees, t;
  };
  for (const Entry& entry :
       {Entry{0.975, 1, 12.7062047362}, Entry{0.975, 2, 4.3026527297}, Entry{0.975, 5, 2.5705818356},
        Entry{0.975, 9, 2.2621571628}, Entry{0.975, 10, 2.2281388520}, Entry{0.975, 19, 2.0930240544},
        Entry{0.975, 30, 2.0422724563}, Entry{0.975, 100, 1.9839715185}, Entry{0.95, 5, 2.0150483733},
        Entry{0.995, 10, 3.1692726726}, Entry{0.9, 1, 3.0776835372}}) {
    EXPECT_NEAR(student_quantile(entry.p, entry.degrees), entry.t, 2e-9) << entry.p << " " << entry.degrees;
    EXPECT_NEAR(student_quantile(1 - entry.p, entry.degrees), -entry.t, 1e-8)
        << entry.p << " " << entry.degrees;
  }
}

/// For 1 and 2 degrees of freedom the quantile has a closed form, for very many it is the normal one.
TEST(StudentQuantile, AgreesWithClosedForms) {
  for (double p = 0.01; p < 0.995; p += 0.01) {
    EXPECT_NEAR(student_quantile(p, 1), std::tan(std::numbers::pi * (p - 0.5)), 1e-8) << p;
    EXPECT_NEAR(student_quantile(p, 2), (2 * p - 1) * std::sqrt(1 / (2 * p * (1 - p))), 1e-8) << p;
  }
  EXPECT_NEAR(student_quantile(0.975, 1e12), 1.9599639845, 1e-9);
  // Where one method hands over to the other.
  EXPECT_NEAR(student_quantile(0.975, 9'999), student_quantile(0.975, 10'001), 1e-7);
  EXPECT_NEAR(student_quantile(0.975, 10'000), student_quantile(0.975, std::nextafter(10'000, 20'000)), 1e-9);
  EXPECT_EQ(student_quantile(0.5, 7), 0);
}

TEST(MeanInterval, AgreesWithAHandComputation) {
  const std::vector<double> values = {1, 2, 3, 4, 5};
  const Estimate interval = mean_interval(values);
  EXPECT_DOUBLE_EQ(interval.mean, 3);
  ASSERT_TRUE(interval.half_width.has_value());
  EXPECT_NEAR(*interval.half_width, 2.7764451052 * std::sqrt(2.5 / 5), 1e-8);
}

TEST(MeanInterval, HasNoWidthWithoutTwoValues) {
  EXPECT_FALSE(mean_interval({}).half_width.has_value());
  const std::vector<double> one = {4};
  EXPECT_EQ(mean_interval(one).mean, 4);
  EXPECT_FALSE(mean_interval(one).half_width.has_value());
}

/// 1,000 series of normal values: 95% of the intervals hold the mean, within four standard deviations of that
/// count.
TEST(MeanInterval, HoldsTheMeanAsOftenAsItSays) {
  RandomStream random(17);
  int held = 0;
  for (int series = 0; series < 1000; ++series) {
    std::vector<double> values;
    for (int at = 0; at < 6; ++at) {
      values.push_back(3 + std::sqrt(-2 * std::log(random.uniform())) *
                               std::cos(2 * std::numbers::pi * random.uniform()));
    }
    const Estimate interval = mean_interval(values);
    held += std::abs(interval.mean - 3) <= *interval.half_width ? 1 : 0;
  }
  EXPECT_NEAR(held, 950, 28);
}

std::vector<double> noise(std::uint64_t seed, std::size_t count) {
  RandomStream random(seed);
  std::vector<double> values(count);
  for (double& value : values) value = random.uniform(-0.5, 0.5);
  return values;
}

TEST(Mser5, CutsAnInitialStepAndLittleMore) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    std::vector<double> series = noise(seed, 1000);
    for (std::size_t at = 0; at < 100; ++at) series[at] += 10;
    const WarmUp warmup = mser5(series);
    EXPECT_TRUE(warmup.settled);
    EXPECT_GE(warmup.values, 100U);
    EXPECT_LE(warmup.values, 250U);
    EXPECT_EQ(warmup.values % 5, 0U);
  }
}

TEST(Mser5, CutsADecayingStart) {
  std::vector<double> series = noise(3, 2000);
  for (std::size_t at = 0; at < series.size(); ++at)
    series[at] += 20 * std::exp(-static_cast<double>(at) / 50);
  const WarmUp warmup = mser5(series);
  EXPECT_TRUE(warmup.settled);
  EXPECT_GE(warmup.values, 150U);  // there the decay is below the noise's standard deviation
  EXPECT_LE(warmup.values, 700U);
}

TEST(Mser5, KeepsAConstantSeriesWhole) {
  const WarmUp warmup = mser5(std::vector<double>(100, 2.5));
  EXPECT_EQ(warmup.values, 0U);
  EXPECT_TRUE(warmup.settled);
}

TEST(Mser5, KeepsMostOfAStationarySeries) {
  double cut = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed)
    cut += static_cast<double>(mser5(noise(seed, 1000)).values) / 1000;
  EXPECT_LT(cut / 100, 0.15);
}

TEST(Mser5, SaysWhenASeriesDoesNotSettle) {
  std::vector<double> trend(1000);
  for (std::size_t at = 0; at < trend.size(); ++at) trend[at] = static_cast<double>(at);
  EXPECT_FALSE(mser5(trend).settled);
  EXPECT_FALSE(mser5(std::vector<double>(12, 1.0)).settled);  // too short to tell
  EXPECT_FALSE(mser5({}).settled);
}

/// Over twelve orders of magnitude, against the sorted values.
TEST(LogHistogram, KeepsItsErrorBound) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed);
    LogHistogram histogram;
    std::vector<double> values(997);
    for (double& value : values) {
      value = std::pow(10, random.uniform(-6, 6));
      histogram.add(value);
    }
    std::sort(values.begin(), values.end());
    EXPECT_EQ(histogram.total(), values.size());
    for (const double q : {0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0}) {
      const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
      const double exact = values[std::max<std::size_t>(rank, 1) - 1];
      EXPECT_LE(std::abs(histogram.quantile(q) - exact), LogHistogram::kRelativeError * exact * (1 + 1e-12))
          << q;
    }
  }
}

TEST(LogHistogram, MergesExactly) {
  RandomStream random(5);
  LogHistogram all, odd, even;
  for (int at = 0; at < 1000; ++at) {
    const double value = random.uniform(0.001, 1000);
    all.add(value);
    (at % 2 == 0 ? even : odd).add(value);
  }
  odd.merge(even);
  EXPECT_EQ(odd.total(), 1000U);
  for (double q = 0.01; q < 1; q += 0.01) EXPECT_EQ(odd.quantile(q), all.quantile(q));
  odd.clear();
  EXPECT_EQ(odd.total(), 0U);
}

TEST(LogHistogram, CountsWhatIsOutOfRangeAtTheEnds) {
  LogHistogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0);
  for (const double value : {0.0, -0.0, -1.0, 1e-300, std::numeric_limits<double>::denorm_min()})
    histogram.add(value);
  EXPECT_EQ(histogram.total(), 5U);
  EXPECT_LT(histogram.quantile(1), 1e-18);
  for (const double value : {1e300, std::numeric_limits<double>::infinity()}) histogram.add(value);
  EXPECT_EQ(histogram.total(), 7U);
  EXPECT_GT(histogram.quantile(1), 1e18);
}

}  // namespace
}  // namespace allot
