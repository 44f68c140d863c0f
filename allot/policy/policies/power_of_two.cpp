// The power of two choices: draw two resources at random and take the one with the shorter queue.
#include "allot/policy/policy.hpp"

namespace allot::policies {
namespace {

ResourceId shorter(const Situation& situation, ResourceId a, ResourceId b) noexcept {
  if (situation.total(a) != situation.total(b)) return situation.total(a) < situation.total(b) ? a : b;
  return a < b ? a : b;
}

class PowerOfTwo final : public Policy {
 public:
  ResourceId place(TaskType i, const Situation& situation, PolicyMemory,
                   RandomStream& random) const noexcept override {
    const auto allowed = situation.system->resources_for(i);
    if (allowed.size() == 1) return allowed[0];
    const std::uint64_t first = random.below(allowed.size());
    std::uint64_t second = random.below(allowed.size() - 1);
    if (second >= first) ++second;
    return shorter(situation, allowed[first], allowed[second]);
  }

  void choices(TaskType i, const Situation& situation, std::span<const std::uint32_t>,
               std::vector<Choice>& out) const override {
    const auto allowed = situation.system->resources_for(i);
    out.clear();
    if (allowed.size() == 1) {
      out.push_back({allowed[0], 1.0, {}});
      return;
    }
    const double pairs = 0.5 * static_cast<double>(allowed.size() * (allowed.size() - 1));
    for (const ResourceId a : allowed) {
      std::size_t wins = 0;
      for (const ResourceId b : allowed) wins += a != b && shorter(situation, a, b) == a ? 1 : 0;
      if (wins > 0) out.push_back({a, static_cast<double>(wins) / pairs, {}});
    }
  }
};

std::unique_ptr<Policy> make(const System&, const PolicyOptions&) { return std::make_unique<PowerOfTwo>(); }

}  // namespace

extern const PolicyInfo power_of_two;
const PolicyInfo power_of_two{.name = "power-of-two",
                              .summary = "the shorter of two resources drawn at random",
                              .make = make,
                              .looks_at = Looks::kTotals};

}  // namespace allot::policies
