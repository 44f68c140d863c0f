#include "allot/policy/policy.hpp"

#include "allot/base/error.hpp"

namespace allot {

void Policy::set_population(std::span<const Count>) {}

void Policy::choices(TaskType i, const Situation& situation, std::span<const std::uint32_t> memory,
                     std::vector<Choice>& out) const {
  Choice choice;
  choice.memory.assign(memory.begin(), memory.end());
  RandomStream unused(0);
  choice.resource = place(i, situation, choice.memory, unused);
  out.clear();
  out.push_back(std::move(choice));
}

const PolicyInfo* find_policy(std::string_view name) noexcept {
  for (const PolicyInfo* policy : builtin_policies()) {
    if (policy->name == name) return policy;
  }
  return nullptr;
}

std::vector<const PolicyInfo*> suitable_policies(const System& system, const PolicyOptions& options) {
  std::vector<const PolicyInfo*> policies;
  for (const PolicyInfo* policy : builtin_policies()) {
    try {
      policy->make(system, options);
      policies.push_back(policy);
    } catch (const InvalidModel&) {  // the system lacks something that the policy needs
    }
  }
  return policies;
}

}  // namespace allot
