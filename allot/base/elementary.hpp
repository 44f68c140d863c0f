// Elementary functions made of IEEE additions, multiplications, divisions and square roots alone: the same
// bits on every platform, which the C library's functions do not promise.
#pragma once

#include <span>

namespace allot {

// "ulp" below: units in the last place of the exact result, the largest error found over millions of points.
// All are pure and thread-safe. They follow the C library at zero, infinity and NaN, but leave errno and the
// floating-point exceptions alone.

/// Natural logarithm; 1 ulp.
double portable_log(double x) noexcept;
/// log(1 + x), exact also where x is tiny; 2 ulp.
double portable_log1p(double x) noexcept;
/// e^x; 1 ulp, where the result is not subnormal.
double portable_exp(double x) noexcept;
/// e^x - 1, exact also where x is tiny; 3 ulp.
double portable_expm1(double x) noexcept;
/// base^exponent for a positive, finite base, as exp(exponent * log(base)): 2 + 2 |exponent * log(base)| ulp.
double portable_pow(double base, double exponent) noexcept;
/// Gamma(x) for 0.5 <= x <= 170; 3 + x / 2 ulp. NaN elsewhere.
double portable_gamma(double x) noexcept;

// The same, in place over many values: the same bits as one by one, at less than half the time.

/// Each value positive, finite and not subnormal.
void portable_log(std::span<double> values) noexcept;
/// Each value in (-1, 1).
void portable_log1p(std::span<double> values) noexcept;
/// Each value in [-1000, 1000].
void portable_exp(std::span<double> values) noexcept;

}  // namespace allot
