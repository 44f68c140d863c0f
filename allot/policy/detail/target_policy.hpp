// The common part of policies with a target: hold an assignment, and send each task to where most tasks are
// missing.
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
  std::string note;                 ///< what a user should know about it; empty if all is well
};

/// The target for a system with the counts of the present population. It must depend on the system alone: a
/// policy's history must not change the result of a simulation. (A previous target would be useless as a
/// start, since its row sums differ.)
using FindTarget = std::function<Target(const System&)>;

/// A policy that places a task of type i at the resource with the largest shortfall target_ij - n_ij, and
/// asks `find` for each population that it has not seen lately ("piece-wise optimal"). Until the population
/// is first set, it holds no target and balances each type by its own counts. `load`: see PolicyOptions.
std::unique_ptr<Policy> make_target_policy(const System& system, FindTarget find,
                                           Load load = Load::kDeclared);

/// The same, but if even sharing has no formula for the system, calls `find` with all resources under ps and
/// says so in the note.
FindTarget shared_evenly(const System& system, FindTarget find);

/// Options for a solver that is so quick that the limit on steps does not apply.
SolveOptions quick_search(const PolicyOptions& options);

/// A target from a solver's answer, with a note if it misses a constraint or its search was cut short.
Target target_of(Solution solution);

/// For `make`: throws InvalidModel unless the system has priorities.
void require_priorities(const System& system, std::string_view policy);

}  // namespace allot::detail
