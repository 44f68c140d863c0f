// Exponential sizes: memoryless, so the number of tasks in each queue is a Markov chain.
#include "allot/base/elementary.hpp"
#include "allot/size/detail/inversion.hpp"
#include "allot/size/detail/parameters.hpp"

namespace allot::sizes {
namespace {

class Exponential final : public detail::ByInversion {
 public:
  /// P[X > x] = e^-x = u.
  void to_sizes(std::span<double> uniform) const noexcept override {
    portable_log(uniform);
    for (double& value : uniform) value = -value;
  }
  double variance() const noexcept override { return 1; }
  std::string spec() const override { return "exponential"; }
};

std::unique_ptr<const Distribution> make_exponential(std::string_view parameters) {
  detail::expect_no_parameters("exponential", parameters);
  return std::make_unique<Exponential>();
}

}  // namespace

extern const DistributionInfo exponential;
const DistributionInfo exponential{"exponential", "memoryless; variance 1", "", make_exponential};

}  // namespace allot::sizes
