// What proves a plan, from an answer to its program: the plan by whose work it is, and prices by what they
// are of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allot/solve/detail/service_program.hpp"
#include "allot/solve/plan_proof.hpp"

namespace allot::detail {

/// The prices of rows, but for those that an objective has added.
PlanPrices prices_of(const ServiceProgram& service, const std::vector<double>& prices);

/// Adds the plan and what it reaches, if it keeps all limits as a checker wants them: to within 1e-9 of each.
/// `columns` are those of an answer, `parties` those of fairness, if it is about that.
void add_plan(const ServiceProgram& service, const std::vector<double>& columns,
              const std::vector<ServiceProgram::Party>& parties, PlanProof& proof);

/// The first limit that a plan misses by more than 1e-9 of it; empty: none. `least_value`: that it must have.
std::string missed_by(const ServiceProgram& service, const std::vector<double>& columns,
                      const std::vector<ServiceProgram::Party>& parties, double least_value);

/// A row by which the logarithm of what a party completes is below its tangent of this slope.
struct Tangent {
  std::size_t party = 0;
  std::size_t row = 0;
  double slope = 1;
};

/// The bound on a sum of weighted logarithms that prices of tangents prove. Nothing where they do not.
///
/// Tangents of one logarithm with prices y_t, which sum to the weight, are together no better than one
/// tangent whose slope is their mean (Jensen): so a proof needs one for each party.
std::optional<PlanProof> prove_logarithms(ServiceProgram& service,
                                          const std::vector<ServiceProgram::Party>& parties,
                                          const std::vector<Tangent>& tangents, std::vector<double> prices);

/// Prices by which the limits exclude each other; nothing where rounding hides it. The service must have no
/// limits but these.
///
/// Each limit may be missed, for a price as high as all of it: then there is a best answer, and if it misses
/// something, the prices of rows prove that nothing else can be.
std::optional<PlanProof> prove_conflict(ServiceProgram& service,
                                        const std::vector<ServiceProgram::Limit>& limits, StopPoll& poll);

}  // namespace allot::detail
