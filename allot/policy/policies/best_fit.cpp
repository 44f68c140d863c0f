// Best Fit (BF): every task to the home of its type, however long the queue there.
#include "allot/policy/policy.hpp"

namespace allot::policies {
namespace {

class BestFit final : public Policy {
 public:
  ResourceId place(TaskType i, const Situation& situation, PolicyMemory,
                   RandomStream&) const noexcept override {
    return *situation.system->home(i);
  }
};

std::unique_ptr<Policy> make(const System&, const PolicyOptions&) { return std::make_unique<BestFit>(); }

}  // namespace

extern const PolicyInfo best_fit;
const PolicyInfo best_fit{.name = "best-fit",
                          .summary = "to the home resource of the task's type",
                          .make = make,
                          .looks_at = Looks::kNothing};

}  // namespace allot::policies
