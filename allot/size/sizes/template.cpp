// A distribution to copy: a triangle around 1.
//
// Copy this file to <your_name>.cpp, rename, and add the word to the list of distributions in
// allot/CMakeLists.txt. Then it is in `allot list`, in `allot simulate --distribution your-name`, and under
// the tests that every distribution runs through. This file is compiled and tested, but is not in the table
// of built-ins.
#include <array>
#include <cmath>

#include "allot/base/numbers.hpp"
#include "allot/size/detail/inversion.hpp"
#include "allot/size/detail/parameters.hpp"

namespace allot::sizes {
namespace {

constexpr std::string_view kName = "template";

/// From 1 - width to 1 + width, most often 1.
class Template final : public detail::ByInversion {
 public:
  explicit Template(double width) noexcept : width_(width) {}

  /// Mean 1, always positive. Use + - * / and std::sqrt, which are the same everywhere, and
  /// allot/base/elementary.hpp for the rest; not the functions of <cmath>, which differ between platforms.
  void to_sizes(std::span<double> uniform) const noexcept override {
    for (double& value : uniform) {
      const double triangle = value < 0.5 ? std::sqrt(2 * value) - 1 : 1 - std::sqrt(2 * (1 - value));
      value = 1 + width_ * triangle;
    }
  }
  double variance() const noexcept override { return width_ * width_ / 6; }
  /// Everything that `make_template` needs to make the same distribution again.
  std::string spec() const override { return std::string(kName) + ":width=" + exact_text(width_); }

 private:
  double width_;
};

/// Gets the user's text: report what is wrong with it as an InvalidModel, as Parameters does.
std::unique_ptr<const Distribution> make_template(std::string_view text) {
  static constexpr std::array<std::string_view, 1> kKeys{"width"};
  const detail::Parameters parameters(kName, text, kKeys);
  return std::make_unique<Template>(parameters.number("width", 0.5, 0, 1));
}

}  // namespace

extern const DistributionInfo template_distribution;
const DistributionInfo template_distribution{kName, "a triangle from 1 - width to 1 + width", "width=0.5",
                                             make_template};

}  // namespace allot::sizes
