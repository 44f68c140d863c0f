// Holds a given assignment: for targets from elsewhere and for the closed forms of the model.
#include "allot/base/error.hpp"
#include "allot/policy/detail/target_policy.hpp"
#include "allot/policy/policy.hpp"

namespace allot::policies {
namespace {

void check(const System& system, const Assignment& assignment) {
  if (assignment.types() != system.type_count() || assignment.resources() != system.resource_count()) {
    throw InvalidModel("assignment", "needs one row per task type and one column per resource");
  }
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resource_ids()) {
      const std::string entry =
          "assignment[" + std::to_string(index(i)) + "][" + std::to_string(index(j)) + "]";
      const Count n = assignment(i, j);
      if (n < 0 || n > kMaxCount) {
        throw InvalidModel(entry, "must be a whole number from 0 to " + std::to_string(kMaxCount) + ", is " +
                                      std::to_string(n));
      }
      if (n > 0 && !system.can_run(i, j)) {
        throw InvalidModel(entry, "must be 0: '" + system.task(i).name + "' cannot run on '" +
                                      system.resource(j).name + "'");
      }
    }
  }
}

detail::Target find_target(const System& system, const Assignment& assignment) {
  detail::Target target{assignment, {}, {}};
  for (const TaskType i : system.types()) {
    const Count placed = assignment.row_sum(i);
    if (placed == system.count(i)) continue;
    target.note = "the assignment is for " + std::to_string(placed) + " threads of '" + system.task(i).name +
                  "', there are " + std::to_string(system.count(i)) +
                  ": a task goes where the most tasks of its type are missing";
    break;
  }
  return target;
}

std::unique_ptr<Policy> make(const System& system, const PolicyOptions& options) {
  if (!options.assignment) throw InvalidModel("assignment", "the policy 'fixed' needs one");
  check(system, *options.assignment);
  return detail::make_target_policy(
      system,
      [assignment = *options.assignment](const System& populated) {
        return find_target(populated, assignment);
      },
      options.load);
}

}  // namespace

extern const PolicyInfo fixed;
const PolicyInfo fixed{.name = "fixed",
                       .summary = "keeps to a given assignment",
                       .make = make,
                       .needs_assignment = true,
                       .looks_at = Looks::kOwnCounts};

}  // namespace allot::policies
