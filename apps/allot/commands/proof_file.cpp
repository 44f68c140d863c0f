#include "apps/allot/commands/proof_file.hpp"

#include "allot/ask/option.hpp"
#include "allot/solve/certificate_json.hpp"
#include "allot/solve/plan_certificate.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {

Option proof_option(std::string& path) {
  return output_option("proof", path, "write a certificate of the proof, for 'allot check'").shown_as("FILE");
}

namespace {

/// Why a plan has no proof.
std::string nothing_proven(const Solution& solution) {
  if (solution.outcome == Outcome::kInfeasible)
    return "the limits exclude each other by less than rounding can show";
  return "nothing is proven about this plan";
}

std::string certificate_of(const Scenario& scenario, const Solution& solution) {
  if (solution.is_planned)
    return plan_certificate_json(planned_problem(scenario, solution.objective), solution);
  return certificate_json(scenario.system, solution);
}

}  // namespace

void write_proof(const std::string& path, const Scenario& scenario, const Solution& solution) {
  if (path.empty()) return;
  if (solution.is_planned && solution.plan_proof == nullptr) {
    throw Failure(Exit::kFailed,
                  "--proof: " + nothing_proven(solution) + ", so " + in_quotes(path) + " is not written");
  }
  if (!solution.is_planned && solution.proof == nullptr) {
    throw Failure(Exit::kFailed, "--proof: nothing is proven about this answer of " +
                                     in_quotes(solution.solver) + ", so " + in_quotes(path) +
                                     " is not written");
  }
  write_or_fail(path, certificate_of(scenario, solution), Readers::kEveryone);
}

}  // namespace allot::app
