// Priority scheduling of the paper: hold the target of MIS, whose completions come near the desired shares.
#include "allot/policy/detail/target_policy.hpp"
#include "allot/policy/policy.hpp"
#include "allot/solve/solver.hpp"

namespace allot::policies {
namespace {

std::unique_ptr<Policy> make(const System& system, const PolicyOptions& options) {
  detail::require_priorities(system, "mis");
  const SolveOptions search = detail::quick_search(options);
  return detail::make_target_policy(
      system,
      detail::shared_evenly(
          system,
          [search](const System& populated) {
            return detail::target_of(solve(*find_solver("mis"), {populated, Objective::kPriority}, search));
          }),
      options.load);
}

}  // namespace

extern const PolicyInfo mis;
const PolicyInfo mis{.name = "mis",
                     .summary = "keeps to the assignment of the solver mis, for the priorities",
                     .make = make,
                     .needs_shares = true,
                     .looks_at = Looks::kOwnCounts,
                     .runtime_summary = "near the shares of ALLOT_SHARES: the targets of MIS"};

}  // namespace allot::policies
