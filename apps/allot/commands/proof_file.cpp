#include "apps/allot/commands/proof_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "allot/ask/option.hpp"
#include "allot/solve/certificate_json.hpp"
#include "allot/solve/plan_certificate.hpp"
#include "apps/allot/exit.hpp"
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
  const std::string text = certificate_of(scenario, solution);
  const std::string temporary = path + ".new";
  errno = 0;  // of the first thing that fails
  std::ofstream file(temporary, std::ios::binary);
  if (file) file << text;
  if (file) file.close();
  const int cause = errno;
  std::error_code error;
  if (file) std::filesystem::rename(temporary, path, error);
  if (!file || error) {
    const std::string why = error ? error.message() : cause != 0 ? std::strerror(cause) : "unknown error";
    std::filesystem::remove(temporary, error);
    throw Failure(Exit::kFailed, "cannot write " + in_quotes(path) + ": " + why);
  }
}

}  // namespace allot::app
