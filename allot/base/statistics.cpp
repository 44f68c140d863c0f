#include "allot/base/statistics.hpp"

#include <math.h>  // lgamma_r is POSIX

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace allot {
namespace {

/// Of the absolute value of the gamma function. std::lgamma also writes the sign to a global variable, which
/// threads must not do at the same time.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

/// Regularised incomplete beta function I_x(a, b), by Lentz's continued fraction. Takes y = 1 - x, too, since
/// a value near 1 does not have the digits to compute the other from it.
double incomplete_beta(double a, double b, double x, double y) {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, y, x);
  const double front =
      std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log(y)) / a;
  constexpr double kTiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double fraction = d;
  for (int m = 1; m < 1000; ++m) {
    for (const bool even : {true, false}) {
      const double k = m;
      const double numerator = even ? k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
                                    : -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
      d = 1 + numerator * d;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      c = 1 + numerator / c;
      if (std::abs(c) < kTiny) c = kTiny;
      fraction *= d * c;
      if (!even && std::abs(d * c - 1) < 1e-15) return front * fraction;
    }
  }
  return front * fraction;
}

/// P(0 < T <= t) of Student's t distribution, for t > 0.
double student_above_median(double t, double nu) {
  const double square = t * t;
  return incomplete_beta(0.5, nu / 2, square / (nu + square), nu / (nu + square)) / 2;
}

double normal_above_median(double z) { return std::erf(z / std::sqrt(2.0)) / 2; }

/// The t > 0 with P(0 < T <= t) = p. Newton's method finds it in a few steps: the density falls, so that from
/// 0 each one stays below the answer. Bisection then settles the last digits, so that they do not depend on
/// the steps taken.
template <typename Above, typename Density>
double inverse(double p, Above&& above_median, Density&& density) {
  double near = 0;
  for (double step = p / density(0); step > 1e-13 * near && near < 1e300;) {
    near += step;
    step = (p - above_median(near)) / density(near);
  }
  const double doubt = 1e-12 * near + 1e-12 * p / density(near);
  const auto is_below = [&](double t) { return std::abs(t - near) > doubt ? t < near : above_median(t) < p; };
  double low = 0;
  double high = 2;
  while (is_below(high) && high < 1e300) high *= 2;
  for (int step = 0; step < 200 && high - low > 1e-13 * high; ++step) {
    const double middle = (low + high) / 2;
    (is_below(middle) ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double student_quantile(double p, double degrees_of_freedom) {
  if (p == 0.5) return 0;
  if (p < 0.5) return -student_quantile(1 - p, degrees_of_freedom);
  const double nu = degrees_of_freedom;
  // Differences of logarithms of large gamma functions lose digits; there, an expansion about the normal
  // quantile.
  constexpr double kMany = 10'000;
  if (nu <= kMany) {
    const double at_0 =
        std::exp(log_gamma((nu + 1) / 2) - log_gamma(nu / 2)) / std::sqrt(nu * std::numbers::pi);
    return inverse(
        p - 0.5, [nu](double t) { return student_above_median(t, nu); },
        [&](double t) { return at_0 * std::exp(-(nu + 1) / 2 * std::log1p(t * t / nu)); });
  }
  const double z = inverse(p - 0.5, normal_above_median,
                           [](double t) { return std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi); });
  const double z2 = z * z;
  const double first = z * (z2 + 1) / 4;
  const double second = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  return z + (first + (second + third / nu) / nu) / nu;
}

Estimate mean_interval(std::span<const double> values) {
  Estimate result;
  if (values.empty()) return result;
  const double n = static_cast<double>(values.size());
  for (const double value : values) result.mean += value;
  result.mean /= n;
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.half_width = student_quantile(0.975, n - 1) * std::sqrt(squares / (n - 1) / n);
  return result;
}

WarmUp mser5(std::span<const double> series) {
  constexpr std::size_t kBatch = 5;
  std::vector<double> means;
  for (std::size_t at = 0; at + kBatch <= series.size(); at += kBatch) {
    double sum = 0;
    for (std::size_t k = 0; k < kBatch; ++k) sum += series[at + k];
    means.push_back(sum / kBatch);
  }
  if (means.size() < 4) return {0, false};
  // From the end backwards, the statistic of every truncation point in one pass.
  double sum = 0;
  double squares = 0;
  double least = std::numeric_limits<double>::infinity();
  std::size_t best = 0;
  for (std::size_t from = means.size(); from-- > 0;) {
    sum += means[from];
    squares += means[from] * means[from];
    const double n = static_cast<double>(means.size() - from);
    if (from > means.size() / 2 || n < 2) continue;
    const double statistic = std::max(0.0, squares - sum * sum / n) / (n * n);
    if (statistic <= least) {  // the earliest of equal ones, so that no value is discarded needlessly
      least = statistic;
      best = from;
    }
  }
  return {best * kBatch, best < means.size() / 2};
}

void LogHistogram::merge(const LogHistogram& other) noexcept {
  for (std::size_t at = 0; at < kBuckets; ++at) counts_[at] += other.counts_[at];
}

std::uint64_t LogHistogram::total() const noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts_) sum += count;
  return sum;
}

double LogHistogram::quantile(double q) const noexcept {
  const std::uint64_t all = total();
  if (all == 0) return 0;
  const double wanted = q * static_cast<double>(all);
  std::uint64_t seen = 0;
  for (std::size_t at = 0; at < kBuckets; ++at) {
    seen += counts_[at];
    if (static_cast<double>(seen) >= wanted && counts_[at] > 0) {
      const double low = std::bit_cast<double>((kLowest + at) << (52 - kBits));
      const double high = std::bit_cast<double>((kLowest + at + 1) << (52 - kBits));
      return (low + high) / 2;
    }
  }
  return 0;
}

}  // namespace allot
