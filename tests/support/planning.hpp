// Planned service as its tests ask for it.
#pragma once

#include "allot/model/scenario.hpp"
#include "allot/solve/solver.hpp"

namespace allot::testing {

inline Problem problem_of(const Scenario& scenario, Objective objective = Objective::kThroughput) {
  return planned_problem(scenario, objective);
}

inline Solution planned(const Problem& problem, const SolveOptions& options = {}) {
  return solve(*find_solver("planned"), problem, options);
}

inline bool has_closed_work(const Scenario& scenario) {
  return scenario.system.population() > 0 || !scenario.threads.empty();
}

}  // namespace allot::testing
