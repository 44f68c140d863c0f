// The statistics that results rest on: intervals, warm-up, percentiles.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace allot {

/// The p-quantile of Student's t distribution, 0 < p < 1, degrees of freedom >= 1. Accurate to 1e-9.
double student_quantile(double p, double degrees_of_freedom);

struct Estimate {
  double mean = 0;
  std::optional<double> half_width;  ///< of the 95% confidence interval; absent with too few data
};

/// Mean of independent values and the half-width of its 95% confidence interval, by Student's t; no
/// half-width with fewer than 2 values.
Estimate mean_interval(std::span<const double> values);

/// MSER-5: how many of the first values of a series to leave out so that the mean of the rest is most
/// certain. Averages over 5 values, and at most half of the series is left out: `settled` is false when that
/// limit was hit, so a longer series is needed.
struct WarmUp {
  std::size_t values = 0;
  bool settled = true;
};
WarmUp mser5(std::span<const double> series);

/// Counts of positive values in buckets that are 1/64 of a power of two wide: percentiles with a relative
/// error below 1%. Histograms merge exactly.
class LogHistogram {
 public:
  static constexpr int kBits = 6;
  static constexpr double kRelativeError = 1.0 / (1 << kBits) / 2;

  void add(double value) noexcept { ++counts_[bucket(value)]; }
  void merge(const LogHistogram& other) noexcept;
  void clear() noexcept { counts_.fill(0); }
  std::uint64_t total() const noexcept;
  /// The middle of the bucket that holds the q-quantile; 0 for an empty histogram.
  double quantile(double q) const noexcept;

 private:
  // Exponents from 2^-64 to 2^64; what is beyond counts in the outermost buckets.
  static constexpr std::uint64_t kLowest = std::uint64_t{1023 - 64} << kBits;
  static constexpr std::size_t kBuckets = std::size_t{128} << kBits;

  static std::size_t bucket(double value) noexcept {
    const std::uint64_t place = std::bit_cast<std::uint64_t>(value) >> (52 - kBits);
    if (place - kLowest < kBuckets) return static_cast<std::size_t>(place - kLowest);
    return place < kLowest || value <= 0 ? 0 : kBuckets - 1;
  }

  std::array<std::uint64_t, kBuckets> counts_{};
};

}  // namespace allot
