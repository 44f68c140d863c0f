// Uniform sizes between 0 and 2.
#include "allot/size/detail/inversion.hpp"
#include "allot/size/detail/parameters.hpp"

namespace allot::sizes {
namespace {

class Uniform final : public detail::ByInversion {
 public:
  void to_sizes(std::span<double> uniform) const noexcept override {
    for (double& value : uniform) value = 2 * value;
  }
  double variance() const noexcept override { return 1.0 / 3; }
  std::string spec() const override { return "uniform"; }
};

std::unique_ptr<const Distribution> make_uniform(std::string_view parameters) {
  detail::expect_no_parameters("uniform", parameters);
  return std::make_unique<Uniform>();
}

}  // namespace

extern const DistributionInfo uniform;
const DistributionInfo uniform{"uniform", "between 0 and 2; variance 1/3", "", make_uniform};

}  // namespace allot::sizes
