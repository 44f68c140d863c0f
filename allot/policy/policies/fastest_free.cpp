// The fastest resource that has a free server; if none has, the fastest.
#include "allot/policy/policy.hpp"

namespace allot::policies {
namespace {

class FastestFree final : public Policy {
 public:
  ResourceId place(TaskType i, const Situation& situation, PolicyMemory,
                   RandomStream&) const noexcept override {
    const System& system = *situation.system;
    const auto allowed = system.resources_for(i);
    ResourceId best = allowed[0];
    bool best_is_free = situation.total(best) < system.resource(best).servers;
    for (const ResourceId j : allowed.subspan(1)) {
      const bool is_free = situation.total(j) < system.resource(j).servers;
      if (is_free == best_is_free ? system.rate(i, j) > system.rate(i, best) : is_free) {
        best = j;
        best_is_free = is_free;
      }
    }
    return best;
  }
};

std::unique_ptr<Policy> make(const System&, const PolicyOptions&) { return std::make_unique<FastestFree>(); }

}  // namespace

extern const PolicyInfo fastest_free;
const PolicyInfo fastest_free{"fastest-free", "the fastest resource with a free server, else the fastest",
                              make};

}  // namespace allot::policies
