// Results as JSON text: what `--json` prints, and what scripts, the Python module and the explorer read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "allot/analyze/analyze.hpp"
#include "allot/simulate/simulate.hpp"
#include "allot/solve/explain.hpp"
#include "allot/solve/pareto.hpp"
#include "allot/solve/solution.hpp"
#include "allot/solve/whatif.hpp"

namespace allot {

/// Each function returns one JSON document in UTF-8, laid out for reading (a field per line, a matrix row per
/// line), ending in a newline. Numbers are exact: the shortest text that reads back as the same double. What
/// has no finite value is null. docs/reference/command.md lists the fields.

/// The answer of a solver. With `explanation` (may be null), what moving one task of each placement would
/// change.
std::string solution_json(const System& system, const Solution& solution,
                          const std::vector<Placement>* explanation = nullptr);

/// The frontier, and the answer of `weighted` beside it (null where there is none).
std::string pareto_json(const System& system, const ParetoFrontier& frontier,
                        const Solution* weighted = nullptr);

/// What each change would be worth.
std::string what_if_json(const System& system, const WhatIf& what_if);

/// The exact chain of a policy.
std::string analysis_json(const System& system, std::string_view policy, const Analysis& analysis);

/// What a policy did in simulation. Response times are null where nothing completed.
std::string simulation_json(const System& system, const SimulationResult& result);

/// Several policies, and their differences. `best` (may be null) is the best constant assignment, for
/// reference.
std::string comparison_json(const System& system, const Comparison& comparison,
                            const Solution* best = nullptr);

/// A thing that a user can name, with a line on it.
struct Named {
  std::string_view name;
  std::string_view summary;
  std::string_view parameters;        ///< of a distribution: what it takes, with the defaults
  std::vector<Objective> objectives;  ///< of a solver: what it can optimise
};

/// Everything built in, in the order of the tables.
struct Listing {
  std::vector<Named> solvers;
  std::vector<Named> policies;
  std::vector<Named> distributions;
  std::vector<Named> disciplines;
};

Listing builtin_listing();
std::string list_json(const Listing& listing);

}  // namespace allot
