// Priority scheduling of the paper: hold the target of MIS, whose completions come near the desired shares.
#include "allot/policy/detail/target_policy.hpp"
#include "allot/policy/policy.hpp"
#include "allot/solve/solver.hpp"

namespace allot::policies {
namespace {

std::unique_ptr<Policy> make(const System& system, const PolicyOptions&) {
  detail::require_priorities(system, "mis");
  return detail::make_target_policy(system, [](const System& populated) {
    return detail::target_of(solve(*find_solver("mis"), {populated, Objective::kPriority}));
  });
}

}  // namespace

extern const PolicyInfo mis;
const PolicyInfo mis{"mis", "holds the assignment that the solver mis finds for the priorities", make};

}  // namespace allot::policies
