// The paper's policy: hold the target of MAP, and find another whenever the population changes ("piece-wise
// optimal").
#include "allot/solve/map.hpp"

#include "allot/policy/detail/target_policy.hpp"
#include "allot/policy/policy.hpp"
#include "allot/solve/solver.hpp"

namespace allot::policies {
namespace {

detail::Target find_target(MapSolver& solver, const System& system, const SolveOptions& options) {
  // Floors and depths may be missed: `solve` says which.
  if (system.has_floors() || system.has_depths()) {
    return detail::target_of(solve(*find_solver("map"), {system, Objective::kThroughput}, options));
  }
  detail::Target target;
  solver.solve(system, target.assignment, options);
  return target;
}

std::unique_ptr<Policy> make(const System& system, const PolicyOptions& options) {
  SolveOptions search;  // so quick that the limit on steps is not for it
  search.stop.deadline = options.solve.deadline;
  search.stop.flag = options.solve.flag;
  // Shared only because a std::function must be copyable.
  return detail::make_target_policy(
      system, [solver = std::make_shared<MapSolver>(), search](const System& populated) {
        return find_target(*solver, populated, search);
      });
}

}  // namespace

extern const PolicyInfo map;
const PolicyInfo map{
    "map", "holds the assignment that the solver map finds; solves again when the counts change", make};

}  // namespace allot::policies
