// Bounded Pareto sizes: a power law between a smallest and a largest size, as seen in the lifetimes of
// processes.
#include <algorithm>
#include <array>

#include "allot/base/elementary.hpp"
#include "allot/base/numbers.hpp"
#include "allot/size/detail/inversion.hpp"
#include "allot/size/detail/parameters.hpp"

namespace allot::sizes {
namespace {

constexpr std::string_view kName = "bounded-pareto";

/// (e^y - 1) / y, continued to y = 0.
double growth(double y) noexcept { return y == 0 ? 1 : portable_expm1(y) / y; }

/// On [L, rL] with P[X <= x] = (1 - (L/x)^a) / (1 - r^-a). With y = ln r its moments are
/// E[X^m] = L^m growth((m - a) y) / growth(-a y), which needs no exception at a = 1 or a = 2.
class BoundedPareto final : public detail::ByInversion {
 public:
  BoundedPareto(double alpha, double ratio) noexcept : alpha_(alpha), ratio_(ratio) {
    const double y = portable_log(ratio);
    const double norm = growth(-alpha * y);
    const double first = growth((1 - alpha) * y) / norm;
    const double second = growth((2 - alpha) * y) / norm;
    smallest_ = 1 / first;
    probability_ = -portable_expm1(-alpha * y);
    variance_ = std::max(second / (first * first) - 1, 0.0);
  }

  void to_sizes(std::span<double> uniform) const noexcept override {
    for (double& value : uniform) value = -probability_ * value;
    portable_log1p(uniform);
    const double exponent = -1 / alpha_;
    for (double& value : uniform) value = exponent * value;
    portable_exp(uniform);
    const double largest = smallest_ * ratio_;
    for (double& value : uniform) {
      value = smallest_ * value;
      value = value < largest ? value : largest;  // rounding may exceed it by an ulp or two
    }
  }
  double variance() const noexcept override { return variance_; }
  std::string spec() const override {
    return std::string(kName) + ":alpha=" + exact_text(alpha_) + ",ratio=" + exact_text(ratio_);
  }

 private:
  double alpha_;
  double ratio_;
  double smallest_;
  double probability_;  ///< 1 - r^-a: the probability of the interval under an unbounded Pareto distribution
  double variance_;
};

std::unique_ptr<const Distribution> make_bounded_pareto(std::string_view text) {
  static constexpr std::array<std::string_view, 2> kKeys{"alpha", "ratio"};
  const detail::Parameters parameters(kName, text, kKeys);
  return std::make_unique<BoundedPareto>(parameters.number("alpha", 1.5, 1e-6, 1000),
                                         parameters.number("ratio", 1000, 1, 1e12));
}

}  // namespace

extern const DistributionInfo bounded_pareto;
const DistributionInfo bounded_pareto{kName, "power law alpha from the smallest size to ratio times it",
                                      "alpha=1.5,ratio=1000", make_bounded_pareto};

}  // namespace allot::sizes
