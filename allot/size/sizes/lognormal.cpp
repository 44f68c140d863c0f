// Lognormal sizes: e to the power of a normal variable.
#include <array>
#include <cmath>

#include "allot/base/elementary.hpp"
#include "allot/base/numbers.hpp"
#include "allot/size/detail/inversion.hpp"
#include "allot/size/detail/parameters.hpp"

namespace allot::sizes {
namespace {

constexpr std::string_view kName = "lognormal";

/// The coefficients of a polynomial, highest power first.
using Coefficients = std::array<double, 8>;

// Wichura, Algorithm AS 241, Applied Statistics 37 (1988), 477-484: PPND16, relative error about 1e-16.
constexpr Coefficients kCentreAbove{2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
                                    4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
                                    1.3314166789178437745e2, 3.3871328727963666080};
constexpr Coefficients kCentreBelow{
    5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
    5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0};
constexpr Coefficients kMiddleAbove{
    7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258,
    3.64784832476320460504,    5.76949722146069140550,    4.63033784615654529590,    1.42343711074968357734};
constexpr Coefficients kMiddleBelow{1.05075007164441684324e-9, 5.47593808499534494600e-4,
                                    1.51986665636164571966e-2, 1.48103976427480074590e-1,
                                    6.89767334985100004550e-1, 1.67638483018380384940,
                                    2.05319162663775882187,    1.0};
constexpr Coefficients kFarAbove{2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                 1.24266094738807843860e-3, 2.65321895265761230930e-2,
                                 2.96560571828504891230e-1, 1.78482653991729133580,
                                 5.46378491116411436990,    6.65790464350110377720};
constexpr Coefficients kFarBelow{2.04426310338993978564e-15, 1.42151175831644588870e-7,
                                 1.84631831751005468180e-5,  7.86869131145613259100e-4,
                                 1.48753612908506148525e-2,  1.36929880922735805310e-1,
                                 5.99832206555887937690e-1,  1.0};

double ratio(const Coefficients& above, const Coefficients& below, double x) noexcept {
  double numerator = above[0];
  double denominator = below[0];
  for (std::size_t at = 1; at < above.size(); ++at) {
    numerator = numerator * x + above[at];
    denominator = denominator * x + below[at];
  }
  return numerator / denominator;
}

/// The z with P[Z > z] = u for a standard normal Z.
double upper_quantile(double u) noexcept {
  const double q = 0.5 - u;
  if (q >= -0.425 && q <= 0.425) return q * ratio(kCentreAbove, kCentreBelow, 0.180625 - q * q);
  const double r = std::sqrt(-portable_log(q > 0 ? u : 1 - u));
  const double z = r <= 5 ? ratio(kMiddleAbove, kMiddleBelow, r - 1.6) : ratio(kFarAbove, kFarBelow, r - 5);
  return q > 0 ? z : -z;
}

/// X = exp(sigma Z - sigma^2/2) with sigma^2 = ln(1 + cv^2).
class Lognormal final : public detail::ByInversion {
 public:
  explicit Lognormal(double cv) noexcept
      : cv_(cv), mu_(-0.5 * portable_log1p(cv * cv)), sigma_(std::sqrt(-2 * mu_)) {}

  void to_sizes(std::span<double> uniform) const noexcept override {
    for (double& value : uniform) value = mu_ + sigma_ * upper_quantile(value);
    portable_exp(uniform);
  }
  double variance() const noexcept override { return cv_ * cv_; }
  std::string spec() const override { return std::string(kName) + ":cv=" + exact_text(cv_); }

 private:
  double cv_;
  double mu_;
  double sigma_;
};

std::unique_ptr<const Distribution> make_lognormal(std::string_view text) {
  static constexpr std::array<std::string_view, 1> kKeys{"cv"};
  const detail::Parameters parameters(kName, text, kKeys);
  return std::make_unique<Lognormal>(parameters.number("cv", 1, 1e-6, 1000));
}

}  // namespace

extern const DistributionInfo lognormal;
const DistributionInfo lognormal{kName, "e to the power of a normal variable; standard deviation cv", "cv=1",
                                 make_lognormal};

}  // namespace allot::sizes
