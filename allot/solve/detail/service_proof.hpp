// The proof of a plan, from an answer to its program: the plan sorted by kinds of work, and prices sorted by
// what they are for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allot/solve/detail/service_program.hpp"
#include "allot/solve/plan_proof.hpp"

namespace allot::detail {

/// The prices of rows, except those that an objective has added.
PlanPrices prices_of(const ServiceProgram& service, const std::vector<double>& prices);

/// Adds the plan and what it reaches, if it meets all limits as precisely as a checker demands: to within
/// 1e-9 of each. `columns` are those of an answer; `parties` are those of fairness, if that is the objective.
void add_plan(const ServiceProgram& service, const std::vector<double>& columns,
              const std::vector<ServiceProgram::Party>& parties, PlanProof& proof);

/// The first limit that a plan misses by more than 1e-9 of it; empty: none. `least_value`: the value that the
/// plan must have.
std::string missed_by(const ServiceProgram& service, const std::vector<double>& columns,
                      const std::vector<ServiceProgram::Party>& parties, double least_value);

/// A row that keeps the logarithm of a party's completions below its tangent with this slope.
struct Tangent {
  std::size_t party = 0;
  std::size_t row = 0;
  double slope = 1;
};

/// The bound on a sum of weighted logarithms that the prices of tangents prove; empty if they prove none.
///
/// Tangents of one logarithm with prices y_t that sum to the weight are together no better than one tangent
/// with their mean slope (Jensen). So a proof needs one tangent per party.
std::optional<PlanProof> prove_logarithms(ServiceProgram& service,
                                          const std::vector<ServiceProgram::Party>& parties,
                                          const std::vector<Tangent>& tangents, std::vector<double> prices);

/// Prices that show that the limits exclude each other; empty if rounding hides it. The service must have
/// only these limits.
///
/// Each limit may be missed at a price as high as the whole limit. So there is always a best answer, and if
/// it misses a limit, the prices of rows prove that every plan does.
std::optional<PlanProof> prove_conflict(ServiceProgram& service,
                                        const std::vector<ServiceProgram::Limit>& limits, StopPoll& poll);

}  // namespace allot::detail
