// What all policies with a target share: hold an assignment, send each task where the most is missing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allot/policy/policy.hpp"
#include "allot/solve/solution.hpp"

namespace allot::detail {

/// What to hold for one population.
struct Target {
  Assignment assignment;
  std::vector<double> time_shares;  ///< row-major; empty: even sharing
  std::string note;                 ///< what a user should know about it; empty when all is well
};

/// The target for a system with the counts of the present population. It must depend on the system alone:
/// what a policy has seen before must not change a simulation's result. (A former target would be no use as a
/// start, since its row sums differ.)
using FindTarget = std::function<Target(const System&)>;

/// A policy that places a task of type i at the resource with the largest shortfall target_ij - n_ij, and
/// asks `find` for each population that it has not seen lately ("piece-wise optimal"). Holds no target, and
/// so balances each type by its own counts, until the population is first set. `load`: see
/// PolicyOptions.
std::unique_ptr<Policy> make_target_policy(const System& system, FindTarget find,
                                           Load load = Load::kDeclared);

/// The same, but where even sharing has no formula for the system: then `find` is asked with all resources
/// under ps, and the note says so.
FindTarget shared_evenly(const System& system, FindTarget find);

/// Options of a solver so quick that the limit on steps is not for it.
SolveOptions quick_search(const PolicyOptions& options);

/// A target from a solver's answer, with a note when it misses a constraint or its search was cut short.
Target target_of(Solution solution);

/// For `make`: throws InvalidModel unless the system has priorities.
void require_priorities(const System& system, std::string_view policy);

}  // namespace allot::detail
