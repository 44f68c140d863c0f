// Weibull sizes: a power of an exponential size. For shapes below 1, the tail is heavier than exponential,
// but all moments exist.
#include <array>

#include "allot/base/elementary.hpp"
#include "allot/base/numbers.hpp"
#include "allot/size/detail/inversion.hpp"
#include "allot/size/detail/parameters.hpp"

namespace allot::sizes {
namespace {

constexpr std::string_view kName = "weibull";

/// P[X > x] = exp(-(x / scale)^shape), E[X^m] = scale^m Gamma(1 + m / shape).
class Weibull final : public detail::ByInversion {
 public:
  explicit Weibull(double shape) noexcept : shape_(shape) {
    const double first = portable_gamma(1 + 1 / shape);
    scale_ = 1 / first;
    variance_ = portable_gamma(1 + 2 / shape) / first / first - 1;
  }

  void to_sizes(std::span<double> uniform) const noexcept override {
    portable_log(uniform);
    for (double& value : uniform) value = -value;
    if (shape_ == 1) return;
    portable_log(uniform);
    const double exponent = 1 / shape_;
    for (double& value : uniform) value = exponent * value;
    portable_exp(uniform);
    for (double& value : uniform) value = scale_ * value;
  }
  double variance() const noexcept override { return variance_; }
  std::string spec() const override { return std::string(kName) + ":shape=" + exact_text(shape_); }

 private:
  double shape_;
  double scale_;
  double variance_;
};

std::unique_ptr<const Distribution> make_weibull(std::string_view text) {
  static constexpr std::array<std::string_view, 1> kKeys{"shape"};
  const detail::Parameters parameters(kName, text, kKeys);
  return std::make_unique<Weibull>(parameters.number("shape", 0.5, 0.1, 100));
}

}  // namespace

extern const DistributionInfo weibull;
const DistributionInfo weibull{kName, "a power of an exponential size; variance 5 at shape 0.5", "shape=0.5",
                               make_weibull};

}  // namespace allot::sizes
