// Hyperexponential sizes: many short tasks and a few long ones, each kind exponential and half of all work.
#include <algorithm>
#include <array>
#include <cmath>

#include "allot/base/elementary.hpp"
#include "allot/base/numbers.hpp"
#include "allot/size/detail/inversion.hpp"
#include "allot/size/detail/parameters.hpp"

namespace allot::sizes {
namespace {

constexpr std::string_view kName = "hyperexponential";

/// Short with probability p and mean 1/(2p), otherwise long with mean 1/(2(1 - p)): "balanced means". The
/// coefficient of variation c sets p: 1 - p = (1 - s)/2 with s^2 = (c^2 - 1)/(c^2 + 1).
class Hyperexponential final : public detail::ByInversion {
 public:
  explicit Hyperexponential(double cv) noexcept : cv_(cv) {
    const double square = cv * cv;
    const double s = std::sqrt((square - 1) / (square + 1));
    rare_ = 1 / ((square + 1) * (1 + s));  // (1 - s)/2 without its cancellation
    common_ = 1 - rare_;
  }

  /// The same number chooses the branch and, stretched to (0, 1) again, the size.
  void to_sizes(std::span<double> uniform) const noexcept override {
    constexpr double kBelowOne = 0x1.fffffffffffffp-1;
    std::array<double, 64> means;
    while (!uniform.empty()) {
      const std::span<double> block = uniform.first(std::min(means.size(), uniform.size()));
      for (std::size_t at = 0; at < block.size(); ++at) {
        const double u = block[at];
        const double stretched = u < common_ ? u / common_ : (1 - u) / rare_;
        means[at] = u < common_ ? -0.5 / common_ : -0.5 / rare_;
        block[at] = stretched < kBelowOne ? stretched : kBelowOne;
      }
      portable_log(block);
      for (std::size_t at = 0; at < block.size(); ++at) block[at] = means[at] * block[at];
      uniform = uniform.subspan(block.size());
    }
  }
  double variance() const noexcept override { return cv_ * cv_; }
  std::string spec() const override { return std::string(kName) + ":cv=" + exact_text(cv_); }

 private:
  double cv_;
  double rare_;
  double common_;
};

std::unique_ptr<const Distribution> make_hyperexponential(std::string_view text) {
  static constexpr std::array<std::string_view, 1> kKeys{"cv"};
  const detail::Parameters parameters(kName, text, kKeys);
  return std::make_unique<Hyperexponential>(parameters.number("cv", 2, 1, 1000));
}

}  // namespace

extern const DistributionInfo hyperexponential;
const DistributionInfo hyperexponential{
    kName, "short and long exponential sizes, half of the work each; standard deviation cv", "cv=2",
    make_hyperexponential};

}  // namespace allot::sizes
