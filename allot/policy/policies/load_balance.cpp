// Load balancing with perfect information (LB): the resource that would finish its present work soonest. It
// knows how much of every task is left, which no real scheduler does: a yardstick.
#include "allot/policy/policy.hpp"

namespace allot::policies {
namespace {

class LoadBalance final : public Policy {
 public:
  bool looks_at_sizes() const noexcept override { return true; }

  ResourceId place(TaskType i, const Situation& situation, PolicyMemory,
                   RandomStream&) const noexcept override {
    const auto seconds_left = [&](ResourceId j) {
      return situation.remaining[index(j)] / static_cast<double>(situation.system->resource(j).servers);
    };
    const auto allowed = situation.system->resources_for(i);
    ResourceId best = allowed[0];
    double least = seconds_left(best);
    for (const ResourceId j : allowed.subspan(1)) {
      const double seconds = seconds_left(j);
      if (seconds < least) {
        best = j;
        least = seconds;
      }
    }
    return best;
  }
};

std::unique_ptr<Policy> make(const System&, const PolicyOptions&) { return std::make_unique<LoadBalance>(); }

}  // namespace

extern const PolicyInfo load_balance;
const PolicyInfo load_balance{.name = "load-balance",
                              .summary = "least remaining work in seconds per server; knows all task sizes",
                              .make = make,
                              .looks_at = Looks::kWork};

}  // namespace allot::policies
