// Join the shortest queue: the resource with the fewest tasks, whatever they are.
#include "allot/policy/policy.hpp"

namespace allot::policies {
namespace {

class ShortestQueue final : public Policy {
 public:
  ResourceId place(TaskType i, const Situation& situation, PolicyMemory,
                   RandomStream&) const noexcept override {
    const auto allowed = situation.system->resources_for(i);
    ResourceId best = allowed[0];
    Count fewest = situation.total(best);
    for (const ResourceId j : allowed.subspan(1)) {  // without branches, which would be unpredictable
      const Count tasks = situation.total(j);
      best = tasks < fewest ? j : best;
      fewest = tasks < fewest ? tasks : fewest;
    }
    return best;
  }
};

std::unique_ptr<Policy> make(const System&, const PolicyOptions&) {
  return std::make_unique<ShortestQueue>();
}

}  // namespace

extern const PolicyInfo jsq;
const PolicyInfo jsq{.name = "jsq",
                     .summary = "joins the shortest queue: the resource with the fewest tasks",
                     .make = make,
                     .looks_at = Looks::kTotals};

}  // namespace allot::policies
