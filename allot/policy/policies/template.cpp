// A policy to copy: the resource with the fewest tasks per server.
//
// Copy this file to <your_name>.cpp, rename, and add the word to the list of policies in
// allot/CMakeLists.txt. Then it is in `allot list` and in `allot simulate --policy your-name`, and under the
// conformance tests. This file is compiled and tested, but is not in the table of built-ins. See
// docs/guides/add-a-policy.md.
#include "allot/policy/policy.hpp"

namespace allot::policies {
namespace {

class TemplatePolicy final : public Policy {
 public:
  /// `place` runs for every task: no allocation, no exception. It must return one of `resources_for(i)`,
  /// which is never empty here. Ties go to the lowest index, so compare with < and go upwards.
  ResourceId place(TaskType i, const Situation& situation, PolicyMemory,
                   RandomStream&) const noexcept override {
    const System& system = *situation.system;
    const auto tasks_per_server = [&](ResourceId j) {
      return static_cast<double>(situation.total(j)) / static_cast<double>(system.resource(j).servers);
    };
    ResourceId best = system.resources_for(i)[0];
    for (const ResourceId j : system.resources_for(i)) {
      if (tasks_per_server(j) < tasks_per_server(best)) best = j;
    }
    return best;
  }
};

/// Called once for each system. Throw InvalidModel here if the system lacks what the policy needs.
std::unique_ptr<Policy> make(const System&, const PolicyOptions&) {
  return std::make_unique<TemplatePolicy>();
}

}  // namespace

extern const PolicyInfo template_policy;
const PolicyInfo template_policy{"template", "the fewest tasks per server", make};

}  // namespace allot::policies
