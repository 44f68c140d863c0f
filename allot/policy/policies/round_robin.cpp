// Round robin: each type cycles through the resources that can run it.
#include "allot/policy/policy.hpp"

namespace allot::policies {
namespace {

class RoundRobin final : public Policy {
 public:
  explicit RoundRobin(std::size_t types) : types_(types) {}

  /// For each type, its position among its resources.
  std::size_t memory_size() const noexcept override { return types_; }

  ResourceId place(TaskType i, const Situation& situation, PolicyMemory memory,
                   RandomStream&) const noexcept override {
    const auto allowed = situation.system->resources_for(i);
    std::uint32_t& next = memory[index(i)];
    const ResourceId j = allowed[next];
    next = next + 1 < allowed.size() ? next + 1 : 0;
    return j;
  }

 private:
  std::size_t types_;
};

std::unique_ptr<Policy> make(const System& system, const PolicyOptions&) {
  return std::make_unique<RoundRobin>(system.type_count());
}

}  // namespace

extern const PolicyInfo round_robin;
const PolicyInfo round_robin{.name = "round-robin",
                             .summary = "each type cycles through the resources that can run it",
                             .make = make,
                             .looks_at = Looks::kNothing,
                             .remembers_by_type = true};

}  // namespace allot::policies
