// A linear program solved the textbook way, in long double: slow, small, and independent of any library.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace allot::testing {

/// maximise c'x subject to A x <= b, x >= 0, with every b >= 0, so that x = 0 is feasible. Bland's rule, so
/// it ends. Nothing when unbounded.
class DenseSimplex {
 public:
  explicit DenseSimplex(std::vector<long double> objective) : objective_(std::move(objective)) {}

  void at_most(std::vector<long double> coefficients, long double bound) {
    rows_.push_back(std::move(coefficients));
    bounds_.push_back(bound);
  }
  /// Equality with 0, as two inequalities.
  void zero(const std::vector<long double>& coefficients) {
    at_most(coefficients, 0);
    std::vector<long double> negated;
    for (const long double a : coefficients) negated.push_back(-a);
    at_most(std::move(negated), 0);
  }

  std::optional<long double> solve(std::vector<long double>* solution = nullptr) const {
    constexpr long double kNothing = 1e-13L;
    const std::size_t m = rows_.size();
    const std::size_t n = objective_.size();
    // Columns: variables, slacks, right-hand side. The last row holds the reduced costs.
    std::vector<std::vector<long double>> t(m + 1, std::vector<long double>(n + m + 1, 0));
    std::vector<std::size_t> basis(m);
    for (std::size_t r = 0; r < m; ++r) {
      for (std::size_t c = 0; c < n; ++c) t[r][c] = rows_[r][c];
      t[r][n + r] = 1;
      t[r][n + m] = bounds_[r];
      basis[r] = n + r;
    }
    for (std::size_t c = 0; c < n; ++c) t[m][c] = -objective_[c];
    while (true) {
      std::size_t enter = n + m;
      for (std::size_t c = 0; c < n + m && enter == n + m; ++c) {
        if (t[m][c] < -kNothing) enter = c;
      }
      if (enter == n + m) break;
      std::size_t leave = m;
      for (std::size_t r = 0; r < m; ++r) {
        if (t[r][enter] <= kNothing) continue;
        if (leave == m) {
          leave = r;
          continue;
        }
        const long double ratio = t[r][n + m] / t[r][enter];
        const long double best = t[leave][n + m] / t[leave][enter];
        if (ratio < best || (ratio == best && basis[r] < basis[leave])) leave = r;
      }
      if (leave == m) return std::nullopt;
      const long double pivot = t[leave][enter];
      for (long double& a : t[leave]) a /= pivot;
      for (std::size_t r = 0; r <= m; ++r) {
        if (r == leave || t[r][enter] == 0) continue;
        const long double factor = t[r][enter];
        for (std::size_t c = 0; c <= n + m; ++c) t[r][c] -= factor * t[leave][c];
      }
      basis[leave] = enter;
    }
    if (solution != nullptr) {
      solution->assign(n, 0);
      for (std::size_t r = 0; r < m; ++r) {
        if (basis[r] < n) (*solution)[basis[r]] = t[r][n + m];
      }
    }
    return t[m][n + m];
  }

 private:
  std::vector<long double> objective_;
  std::vector<std::vector<long double>> rows_;
  std::vector<long double> bounds_;
};

}  // namespace allot::testing
