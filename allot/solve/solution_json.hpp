// Answers of solvers: the table of fields, and JSON: what `--json` prints, and what scripts, the Python
// module and the explorer read. docs/reference/command.md lists the fields.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "allot/format/result_field.hpp"
#include "allot/solve/explain.hpp"
#include "allot/solve/pareto.hpp"
#include "allot/solve/solution.hpp"
#include "allot/solve/whatif.hpp"

namespace allot {

/// In the order of the JSON.
std::span<const ResultField<Solution>> solution_fields() noexcept;
std::span<const ResultField<ParetoPoint>> point_fields() noexcept;
std::span<const ResultField<Change>> change_fields() noexcept;

/// The answer of a solver. With `explanation` (may be null), what moving one task of each placement would
/// change.
std::string solution_json(const System& system, const Solution& solution,
                          const std::vector<Placement>* explanation = nullptr);

/// The frontier, and the answer of `weighted` next to it (may be null).
std::string pareto_json(const System& system, const ParetoFrontier& frontier,
                        const Solution* weighted = nullptr);

/// What each change would be worth.
std::string what_if_json(const System& system, const WhatIf& what_if);

}  // namespace allot
