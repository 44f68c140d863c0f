#include "allot/base/elementary.hpp"

#include <bit>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <limits>

// Kernels have no branches, no tables and only those 64-bit integer operations that SSE2 has, so that
// compilers make vector code of the loops at the end. Coefficients are minimax fits of our own; the errors of
// the fits are noted.

namespace allot {
namespace {

static_assert(std::numeric_limits<double>::is_iec559 && FLT_EVAL_METHOD == 0,
              "needs IEEE doubles without excess precision");

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmallestNormal = std::numeric_limits<double>::min();
constexpr double kLargest = std::numeric_limits<double>::max();

// ln 2 in two parts; the first has 42 bits, so that its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42fefa3800p-1;
constexpr double kLn2Low = 0x1.ef35793c76730p-45;

std::uint64_t bits_of(double x) noexcept { return std::bit_cast<std::uint64_t>(x); }
double from_bits(std::uint64_t bits) noexcept { return std::bit_cast<double>(bits); }

/// log(x) + extra_exponent * ln 2 for a positive normal x. With x = 2^k m, m in [sqrt(1/2), sqrt(2)), f = m -
/// 1 and s = f / (2 + f): log(m) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R(s^2)), R relative to log(m) within
/// 2^-59.
inline double log_kernel(double x, double extra_exponent) noexcept {
  constexpr std::uint64_t kOne = 0x3ff0000000000000;
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  constexpr std::uint64_t kMantissa = 0x000fffffffffffff;
  constexpr std::uint64_t kTwoTo52 = 0x4330000000000000;
  const std::uint64_t shifted = bits_of(x) + (kOne - kSqrtHalf);
  const double m = from_bits((shifted & kMantissa) + kSqrtHalf);
  const double k = from_bits((shifted >> 52) | kTwoTo52) - (0x1p52 + 1023) + extra_exponent;

  const double f = m - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  const double w = z * z;
  const double odd = z * (0x1.5555555555592p-1 +
                          w * (0x1.24924941f13d8p-2 + w * (0x1.74663eee08a75p-3 + w * 0x1.2f056a54689cep-3)));
  const double even = w * (0x1.999999997fdb6p-2 + w * (0x1.c71c520944d1fp-3 + w * 0x1.39a1ba1860254p-3));
  const double half_square = 0.5 * f * f;
  return s * (half_square + (odd + even)) + k * kLn2Low - half_square + f + k * kLn2High;
}

/// log(1 + x) for x in (-1, 1): the logarithm of the rounded sum, plus, to first order, what the rounding
/// lost.
inline double log1p_kernel(double x) noexcept {
  const double sum = 1 + x;
  const double lost = x - (sum - 1);
  return log_kernel(sum, 0) + lost / sum;
}

/// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2; within 2^-64 of e^r after multiplication by r^2.
inline double exp_tail(double r) noexcept {
  const double r2 = r * r;
  const double r4 = r2 * r2;
  const double c01 = 0.5 + r * 0x1.555555555555bp-3;
  const double c23 = 0x1.5555555555503p-5 + r * 0x1.111111110ec65p-7;
  const double c45 = 0x1.6c16c16c3043ap-10 + r * 0x1.a01a01b37b4a1p-13;
  const double c67 = 0x1.a01a0136a037fp-16 + r * 0x1.71ddf0283ec66p-19;
  const double c89 = 0x1.27e5b4310c925p-22 + r * 0x1.af6bdab4b34abp-26;
  const double c10 = 0x1.1e3d3ae510d2fp-29;
  return (c01 + r2 * c23) + r4 * ((c45 + r2 * c67) + r4 * (c89 + r2 * c10));
}

/// e^x for |x| <= 1000, with x = k ln 2 + r. 2^k is applied in two halves, so that overflow and subnormal
/// results come out right.
inline double exp_kernel(double x) noexcept {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kRounder = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
  const double rounded = x * kLog2E + kRounder;
  const double k = rounded - kRounder;
  const double high = x - k * kLn2High;
  const double low = k * kLn2Low;
  const double r = high - low;
  const double sum = 1 + high;
  const double lost = high - (sum - 1);
  const double power = sum + (lost + (r * r * exp_tail(r) - low));

  constexpr std::uint64_t kBias =
      2048;  // keeps the integer positive: SSE2 shifts 64-bit integers as unsigned
  const std::uint64_t exponent = bits_of(rounded) - bits_of(kRounder) + kBias;
  const std::uint64_t half = exponent >> 1;
  const double first = from_bits((half - kBias / 2 + 1023) << 52);
  const double second = from_bits((exponent - half - kBias / 2 + 1023) << 52);
  return power * first * second;
}

/// e^x for every x: infinity above the range of the kernel, 0 below it.
double clamped_exp(double x) noexcept {
  if (x > 1000) return kInfinity;
  if (x < -1000) return 0;
  return x == x ? exp_kernel(x) : x;
}

}  // namespace

double portable_log(double x) noexcept {
  if (x >= kSmallestNormal && x <= kLargest) return log_kernel(x, 0);
  if (x == 0) return -kInfinity;
  if (x > 0 && x < kSmallestNormal) return log_kernel(x * 0x1p54, -54);
  return x == kInfinity ? x : kNaN;
}

double portable_log1p(double x) noexcept {
  if (x > -1 && x < 1) return x == 0 ? x : log1p_kernel(x);
  if (x >= 1 && x <= kLargest) {
    const double sum = 1 + x;
    const double lost = 1 - (sum - x);
    return log_kernel(sum, 0) + lost / sum;
  }
  if (x == -1) return -kInfinity;
  return x == kInfinity ? x : kNaN;
}

double portable_exp(double x) noexcept { return clamped_exp(x); }

double portable_expm1(double x) noexcept {
  constexpr double kHalfLn2 = 0.34657359;
  if (x > -kHalfLn2 && x < kHalfLn2) return x + x * x * exp_tail(x);
  return clamped_exp(x) - 1;
}

double portable_pow(double base, double exponent) noexcept {
  if (base == 1 || exponent == 0) return 1;
  return portable_exp(exponent * portable_log(base));
}

double portable_gamma(double x) noexcept {
  if (!(x >= 0.5 && x <= 170)) return kNaN;
  // 1 / Gamma(1 + z) on [-1/2, 1/2] within 2^-62, and Gamma(x + 1) = x Gamma(x) up from there.
  double z = x;
  double product = 1;
  while (z > 1.5) {
    z -= 1;
    product *= z;
  }
  z -= 1;
  constexpr double kCoefficients[] = {
      0x1.66c5125c2a777p-28,  0x1.4e2922c7ca62cp-28,  -0x1.b9ef224001fb6p-23, 0x1.304acb73ea411p-20,
      -0x1.4fa968b271f33p-20, -0x1.51cf17a390cb0p-16, 0x1.0c8a7749f67d7p-13,  -0x1.c364fc196968bp-13,
      -0x1.317112c8cb095p-10, 0x1.d919c5268d967p-8,   -0x1.3b4af2848ea48p-7,  -0x1.59af103c323b7p-5,
      0x1.5512320b44013p-3,   -0x1.5815e8fa270cdp-5,  -0x1.4fcf4026afa2ep-1,  0x1.2788cfc6fb619p-1};
  double sum = 0;
  for (const double coefficient : kCoefficients) sum = sum * z + coefficient;
  return product / (1 + sum * z);
}

void portable_log(std::span<double> values) noexcept {
  for (double& value : values) value = log_kernel(value, 0);
}

void portable_log1p(std::span<double> values) noexcept {
  for (double& value : values) value = log1p_kernel(value);
}

void portable_exp(std::span<double> values) noexcept {
  for (double& value : values) value = exp_kernel(value);
}

}  // namespace allot
