// Results of simulations: the table of fields, and JSON. docs/reference/command.md lists the fields.
#pragma once

#include <span>
#include <string>

#include "allot/format/result_field.hpp"
#include "allot/simulate/simulate.hpp"

namespace allot {

/// In the order of the JSON.
std::span<const ResultField<SimulationResult>> simulation_fields() noexcept;
std::span<const ResultField<Difference>> difference_fields() noexcept;

/// For one policy. Response times are null if nothing completed.
std::string simulation_json(const System& system, const SimulationResult& result);

/// Several policies, and their differences. `best` (may be null) is the best constant assignment, for
/// reference.
std::string comparison_json(const System& system, const Comparison& comparison,
                            const Solution* best = nullptr);

}  // namespace allot
