// Weighted service: resources divide their time so that every type completes its share.
#include "allot/base/error.hpp"
#include "allot/policy/detail/other_problems.hpp"
#include "allot/policy/detail/target_policy.hpp"
#include "allot/policy/policy.hpp"
#include "allot/solve/solver.hpp"

namespace allot::policies {
namespace {

detail::Target find_target(const System& system, const SolveOptions& options) {
  const auto [problem, note] = detail::without_absent_shares({system, Objective::kPriority});
  detail::Target target = detail::target_of(solve(*find_solver("weighted"), problem, options));
  if (!note.empty()) target.note = note + (target.note.empty() ? "" : "; ") + target.note;
  return target;
}

std::unique_ptr<Policy> make(const System& system, const PolicyOptions& options) {
  detail::require_priorities(system, "weighted");
  if (system.has_needs())
    throw InvalidModel("policy", "'weighted' does not support tasks with needs; use 'planned' or 'mis'");
  return detail::make_target_policy(
      system,
      [shares = options.shares, stop = options.solve](const System& populated) {
        return find_target(populated, {.stop = stop, .settings = {{"shares", static_cast<double>(shares)}}});
      },
      options.load);
}

}  // namespace

extern const PolicyInfo weighted;
const PolicyInfo weighted{.name = "weighted",
                          .summary = "keeps to the time shares of the solver weighted: exact shares",
                          .make = make,
                          .needs_shares = true,
                          .holds_time_shares = true,
                          .looks_at = Looks::kOwnCounts,
                          .runtime_summary = "exactly the shares of ALLOT_SHARES: weighted service"};

}  // namespace allot::policies
