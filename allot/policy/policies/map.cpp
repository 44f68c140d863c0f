// The paper's policy: hold the target of MAP, and find another whenever the population changes ("piece-wise
// optimal"). Live hosts with time to spare hold the best of a short portfolio instead.
#include "allot/solve/map.hpp"

#include "allot/policy/detail/target_policy.hpp"
#include "allot/policy/policy.hpp"
#include "allot/solve/best.hpp"
#include "allot/solve/solver.hpp"

namespace allot::policies {
namespace {

/// Steps of the portfolio, if it is used: a few milliseconds.
constexpr std::uint64_t kFurtherSteps = 20'000;

detail::Target find_target(MapSolver& solver, const System& system, const SolveOptions& options,
                           bool look_further) {
  if (look_further) {
    SolveOptions limited = options;
    limited.stop.steps = kFurtherSteps;
    Solution best = best_known(system, limited);
    if (best.outcome == Outcome::kBudget) best.outcome = Outcome::kConverged;  // never worse than MAP's
    if (best.outcome != Outcome::kInfeasible) return detail::target_of(std::move(best));
  }
  // Floors and depths may be missed; `solve` reports which.
  if (system.has_floors() || system.has_depths()) {
    return detail::target_of(solve(*find_solver("map"), {system, Objective::kThroughput}, options));
  }
  detail::Target target;
  solver.solve(system, target.assignment, options);
  return target;
}

std::unique_ptr<Policy> make(const System& system, const PolicyOptions& options) {
  const SolveOptions search = detail::quick_search(options);
  // Shared only because a std::function must be copyable.
  return detail::make_target_policy(
      system,
      detail::shared_evenly(
          system, [solver = std::make_shared<MapSolver>(), search, further = options.look_further](
                      const System& populated) { return find_target(*solver, populated, search, further); }),
      options.load);
}

}  // namespace

extern const PolicyInfo map;
const PolicyInfo map{.name = "map",
                     .summary = "keeps to the assignment of the solver map; solves again when counts change",
                     .make = make,
                     .can_look_further = true,
                     .looks_at = Looks::kOwnCounts,
                     .runtime_summary = "the most tasks per second: the targets of MAP"};

}  // namespace allot::policies
