// Each distribution against its formulas: quantiles, moments and the empirical distribution function. The
// formulas are written here again, with the C library's functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "allot/size/detail/inversion.hpp"

namespace allot::samples_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A distribution in formulas.
struct Theory {
  std::string spec;
  std::function<double(double)> cdf;  ///< P[X <= x]
  std::function<double(int)> moment;  ///< E[X^m]
  double low = 0;
  double high = kInfinity;
  std::vector<double> kinks = {};  ///< of the map from the uniform number to the size
};

void PrintTo(const Theory& theory, std::ostream* out) { *out << theory.spec; }

Theory exponential() {
  return {"exponential", [](double x) { return -std::expm1(-x); },
          [](int m) { return std::tgamma(1.0 + m); }};
}

Theory uniform() {
  return {"uniform", [](double x) { return x / 2; }, [](int m) { return std::pow(2.0, m) / (m + 1); }, 0, 2};
}

Theory bounded_pareto(const std::string& spec, double alpha, double ratio) {
  // The textbook's moments on [1, ratio], with their exceptions at alpha = m.
  const auto raw = [=](int m) {
    const double norm = alpha / (1 - std::pow(ratio, -alpha));
    return alpha == m ? norm * std::log(ratio) : norm * (std::pow(ratio, m - alpha) - 1) / (m - alpha);
  };
  const double smallest = 1 / raw(1);
  return {spec, [=](double x) { return (1 - std::pow(smallest / x, alpha)) / (1 - std::pow(ratio, -alpha)); },
          [=](int m) { return std::pow(smallest, m) * raw(m); }, smallest, smallest * ratio};
}

Theory lognormal(const std::string& spec, double cv) {
  const double variance = std::log1p(cv * cv);  // of the logarithm
  return {spec,
          [=](double x) { return 0.5 * std::erfc(-(std::log(x) + variance / 2) / std::sqrt(2 * variance)); },
          [=](int m) { return std::exp(variance * m * (m - 1) / 2); }};
}

Theory weibull(const std::string& spec, double shape) {
  const double inverse_scale = std::tgamma(1 + 1 / shape);
  return {spec, [=](double x) { return -std::expm1(-std::pow(x * inverse_scale, shape)); },
          [=](int m) { return std::tgamma(1 + m / shape) / std::pow(inverse_scale, m); }};
}

Theory hyperexponential(const std::string& spec, double cv) {
  const double p = (1 + std::sqrt((cv * cv - 1) / (cv * cv + 1))) / 2;
  return {spec,
          [=](double x) { return 1 - p * std::exp(-2 * p * x) - (1 - p) * std::exp(-2 * (1 - p) * x); },
          [=](int m) {
            return std::tgamma(1.0 + m) * (p / std::pow(2 * p, m) + (1 - p) / std::pow(2 * (1 - p), m));
          },
          0,
          kInfinity,
          {p}};
}

const detail::ByInversion& by_inversion(const Distribution& distribution) {
  return dynamic_cast<const detail::ByInversion&>(distribution);
}

double size_of(const Distribution& distribution, double u) {
  by_inversion(distribution).to_sizes(std::span(&u, 1));
  return u;
}

std::vector<double> samples(const Distribution& distribution, std::uint64_t seed, std::size_t count) {
  RandomStream random(seed);
  std::vector<double> values(count);
  distribution.sample(random, values);
  return values;
}

/// Integral of f over (a, b) by the tanh-sinh rule, which forgives singular ends.
template <class Function>
double integral(Function f, double a, double b) {
  constexpr double kStep = 1.0 / 64;
  const double half = (b - a) / 2;
  double sum = 0;
  for (int k = -64 * 5; k <= 64 * 5; ++k) {
    const double t = k * kStep;
    const double g = std::numbers::pi / 2 * std::sinh(t);
    const double weight = half * std::numbers::pi / 2 * std::cosh(t) / (std::cosh(g) * std::cosh(g));
    // Measured from the nearer end, for the sake of a singularity at 0.
    const double from_end = half * 2 / (1 + std::exp(2 * std::fabs(g)));
    const double x = t < 0 ? a + from_end : b - from_end;
    if (x > a && x < b && weight > 0) sum += weight * f(x);
  }
  return sum * kStep;
}

class Samples : public ::testing::TestWithParam<Theory> {
 protected:
  const Theory& theory() const { return GetParam(); }
  std::unique_ptr<const Distribution> distribution_ = make_distribution(GetParam().spec);
};

TEST_P(Samples, HaveTheStatedVariance) {
  const double variance = theory().moment(2) - 1;
  EXPECT_NEAR(theory().moment(1), 1, 1e-12);
  EXPECT_NEAR(distribution_->variance(), variance, 1e-10 * (1 + variance));
}

TEST_P(Samples, HaveMeanOneByIntegration) {
  std::vector<double> ends{0};
  ends.insert(ends.end(), theory().kinks.begin(), theory().kinks.end());
  ends.push_back(1);
  double mean = 0;
  for (std::size_t at = 1; at < ends.size(); ++at) {
    mean += integral([&](double u) { return size_of(*distribution_, u); }, ends[at - 1], ends[at]);
  }
  EXPECT_NEAR(mean, 1, 1e-12);
}

// A size has F(x) = u, or 1 - u where large sizes come from small u.
TEST_P(Samples, AreQuantiles) {
  if (!theory().kinks.empty()) GTEST_SKIP() << "not monotone";
  const bool falling = size_of(*distribution_, 0.25) > size_of(*distribution_, 0.75);
  for (int at = 1; at < 1000; ++at) {
    const double u = at / 1000.0;
    EXPECT_NEAR(theory().cdf(size_of(*distribution_, u)), falling ? 1 - u : u, 1e-13) << u;
  }
}

TEST_P(Samples, HaveTheirMomentsWithinFiveStandardErrors) {
  constexpr std::size_t kCount = 1'000'000;
  const std::vector<double> sizes = samples(*distribution_, 101, kCount);
  double sum = 0;
  double squares = 0;
  for (const double size : sizes) {
    sum += size;
    squares += (size - 1) * (size - 1);
  }
  const double variance = theory().moment(2) - 1;
  // Fourth moment about the mean, 1.
  const double fourth = theory().moment(4) - 4 * theory().moment(3) + 6 * theory().moment(2) - 3;
  EXPECT_NEAR(sum / kCount, 1, 5 * std::sqrt(variance / kCount));
  EXPECT_NEAR(squares / kCount, variance, 5 * std::sqrt((fourth - variance * variance) / kCount));
}

TEST_P(Samples, StayInTheirSupport) {
  for (const double size : samples(*distribution_, 102, 1'000'000)) {
    ASSERT_GT(size, theory().low * (1 - 1e-14));
    ASSERT_LT(size, theory().high * (1 + 1e-14));
  }
  // The ends of what a stream can give.
  for (const double u : {0x1p-53, 1 - 0x1p-53}) {
    const double size = size_of(*distribution_, u);
    EXPECT_GT(size, 0) << u;
    EXPECT_TRUE(std::isfinite(size)) << u;
    EXPECT_GE(size, theory().low * (1 - 1e-14)) << u;
    EXPECT_LE(size, theory().high * (1 + 1e-14)) << u;
  }
}

// Kolmogorov-Smirnov: sqrt(n) D exceeds 2.0 by chance with probability 2 exp(-8) = 7e-4.
TEST_P(Samples, FollowTheirDistributionFunction) {
  constexpr std::size_t kCount = 200'000;
  std::vector<double> sizes = samples(*distribution_, 103, kCount);
  std::sort(sizes.begin(), sizes.end());
  double distance = 0;
  for (std::size_t at = 0; at < kCount; ++at) {
    const double expected = theory().cdf(sizes[at]);
    distance = std::max({distance, static_cast<double>(at + 1) / kCount - expected,
                         expected - static_cast<double>(at) / kCount});
  }
  EXPECT_LT(distance * std::sqrt(double{kCount}), 2.0);
}

// Neighbours in a stream are independent: their correlation has standard error 1/sqrt(n) where the variance
// is finite.
TEST_P(Samples, AreUncorrelatedInRank) {
  constexpr std::size_t kCount = 200'000;
  const std::vector<double> sizes = samples(*distribution_, 104, kCount);
  double sum = 0;
  for (std::size_t at = 1; at < kCount; ++at) {
    sum += (theory().cdf(sizes[at - 1]) - 0.5) * (theory().cdf(sizes[at]) - 0.5) * 12;
  }
  EXPECT_NEAR(sum / (kCount - 1), 0, 5 / std::sqrt(double{kCount}));
}

INSTANTIATE_TEST_SUITE_P(
    Theory, Samples,
    ::testing::Values(exponential(), uniform(), bounded_pareto("bounded-pareto", 1.5, 1000),
                      bounded_pareto("bounded-pareto:alpha=1", 1, 1000),
                      bounded_pareto("bounded-pareto:alpha=2,ratio=100", 2, 100),
                      bounded_pareto("bounded-pareto:alpha=0.5,ratio=100", 0.5, 100),
                      bounded_pareto("bounded-pareto:alpha=0.01,ratio=20", 0.01, 20),
                      bounded_pareto("bounded-pareto:alpha=8,ratio=1e6", 8, 1e6),
                      bounded_pareto("bounded-pareto:alpha=1.5,ratio=1.5", 1.5, 1.5),
                      lognormal("lognormal", 1), lognormal("lognormal:cv=0.1", 0.1),
                      lognormal("lognormal:cv=2", 2), weibull("weibull", 0.5), weibull("weibull:shape=1", 1),
                      weibull("weibull:shape=0.7", 0.7), weibull("weibull:shape=3", 3),
                      hyperexponential("hyperexponential", 2), hyperexponential("hyperexponential:cv=1", 1),
                      hyperexponential("hyperexponential:cv=10", 10)),
    [](const ::testing::TestParamInfo<Theory>& theory) {
      std::string name = theory.param.spec;
      for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
      }
      return name;
    });

// Closed forms that everybody knows.
TEST(Variance, HasTheKnownValues) {
  EXPECT_EQ(make_distribution("exponential")->variance(), 1);
  EXPECT_EQ(make_distribution("deterministic")->variance(), 0);
  EXPECT_DOUBLE_EQ(make_distribution("uniform")->variance(), 1.0 / 3);
  EXPECT_EQ(make_distribution("weibull:shape=1")->variance(), 1);
  EXPECT_DOUBLE_EQ(make_distribution("weibull:shape=0.5")->variance(), 5);
  EXPECT_NEAR(make_distribution("weibull:shape=2")->variance(), 4 / std::numbers::pi - 1, 1e-15);
  EXPECT_EQ(make_distribution("lognormal:cv=3")->variance(), 9);
  EXPECT_EQ(make_distribution("hyperexponential:cv=3")->variance(), 9);
}

TEST(Deterministic, IsAlwaysOne) {
  for (const double size : samples(*make_distribution("deterministic"), 1, 1000)) ASSERT_EQ(size, 1);
}

TEST(BoundedPareto, WithOneSizeIsDeterministic) {
  const auto distribution = make_distribution("bounded-pareto:ratio=1");
  EXPECT_EQ(distribution->variance(), 0);
  for (const double size : samples(*distribution, 1, 1000)) ASSERT_EQ(size, 1);
}

// As alpha goes to 0 the logarithm of the size becomes uniform.
TEST(BoundedPareto, WithATinyAlphaIsLogUniform) {
  const auto distribution = make_distribution("bounded-pareto:alpha=1e-6,ratio=100");
  const double smallest = std::log(100.0) / 99;
  for (const double u : {0.1, 0.5, 0.9}) {
    EXPECT_NEAR(size_of(*distribution, u) / (smallest * std::pow(100.0, u)), 1, 1e-5) << u;
  }
}

TEST(BoundedPareto, IsSmoothInAlphaAroundOneAndTwo) {
  for (const std::string alpha : {"1", "2"}) {
    const auto at = make_distribution("bounded-pareto:alpha=" + alpha);
    const auto above = make_distribution("bounded-pareto:alpha=" + alpha + ".0000000001");
    EXPECT_NEAR(above->variance() / at->variance(), 1, 1e-8);
    EXPECT_NEAR(size_of(*above, 0.7) / size_of(*at, 0.7), 1, 1e-8);
  }
}

TEST(BoundedPareto, HoldsItsMeanAtTheEndsOfItsParameters) {
  for (const char* spec :
       {"bounded-pareto:alpha=1e-6,ratio=1e12", "bounded-pareto:alpha=1000,ratio=1e12",
        "bounded-pareto:alpha=1000,ratio=1.000001", "bounded-pareto:alpha=1e-6,ratio=1.000001"}) {
    const auto distribution = make_distribution(spec);
    EXPECT_NEAR(integral([&](double u) { return size_of(*distribution, u); }, 0, 1), 1, 1e-9) << spec;
    EXPECT_TRUE(distribution->variance() >= 0 && std::isfinite(distribution->variance())) << spec;
  }
}

// A coefficient of variation of 1 leaves one exponential; both branches have the same mean.
TEST(Hyperexponential, WithCvOneIsExponential) {
  const auto distribution = make_distribution("hyperexponential:cv=1");
  EXPECT_DOUBLE_EQ(size_of(*distribution, 0.25), -std::log(0.5));
  EXPECT_DOUBLE_EQ(size_of(*distribution, 0.75), -std::log(0.5));
}

// Where the branches meet the size is smallest, but never 0.
TEST(Hyperexponential, IsPositiveWhereTheBranchesMeet) {
  for (const double cv : {1.0, 2.0, 3.0, 1000.0}) {
    const auto distribution = make_distribution("hyperexponential:cv=" + std::to_string(cv));
    const double p = (1 + std::sqrt((cv * cv - 1) / (cv * cv + 1))) / 2;
    double u = p - 8 * 0x1p-53;
    for (int at = 0; at < 16 && u < 1; ++at, u = std::nextafter(u, 2))
      EXPECT_GT(size_of(*distribution, u), 0) << cv;
  }
}

}  // namespace
}  // namespace allot::samples_test
