// All sizes 1.
#include <algorithm>

#include "allot/size/detail/inversion.hpp"
#include "allot/size/detail/parameters.hpp"

namespace allot::sizes {
namespace {

class Deterministic final : public detail::ByInversion {
 public:
  void to_sizes(std::span<double> uniform) const noexcept override {
    std::fill(uniform.begin(), uniform.end(), 1.0);
  }
  double variance() const noexcept override { return 0; }
  std::string spec() const override { return "deterministic"; }
};

std::unique_ptr<const Distribution> make_deterministic(std::string_view parameters) {
  detail::expect_no_parameters("deterministic", parameters);
  return std::make_unique<Deterministic>();
}

}  // namespace

extern const DistributionInfo deterministic;
const DistributionInfo deterministic{"deterministic", "always 1; variance 0", "", make_deterministic};

}  // namespace allot::sizes
