#include "allot/solve/certificate_json.hpp"

#include <limits>
#include <utility>

#include "allot/format/json.hpp"
#include "allot/solve/detail/machine_object.hpp"
#include "allot/solve/solver.hpp"

namespace allot {
namespace {

Json claim_object(const System& system, const Solution& solution) {
  Json claim;
  if (!solution.proof->bound) {
    claim.add("infeasible", true);
    return claim;
  }
  if (!solution.performance.approximate) {
    claim.add("assignment", solution.assignment);
    if (!solution.time_shares.empty())
      claim.add("time_shares", Json::matrix(solution.time_shares, system.resource_count()));
    // Rounded down by more than the rounding error of the sums, so that the claim holds for the exact
    // throughput.
    const double terms = static_cast<double>(2 * system.type_count() + 2 * system.resource_count() + 16);
    const double reached =
        is_linear(solution.objective) ? solution.objective_value : solution.performance.throughput;
    claim.add("at_least", reached * (1 - 2 * terms * std::numeric_limits<double>::epsilon()));
  }
  claim.add("at_most", *solution.proof->bound);
  return claim;
}

Json prices_object(const ProofPrices& prices) {
  Json object;
  object.add("task", prices.task);
  if (!prices.completion.empty()) object.add("completion", prices.completion);
  if (!prices.unit.empty()) object.add("unit", prices.unit);
  if (!prices.depth.empty()) object.add("depth", prices.depth);
  return object;
}

Json part_object(const ProofPart& part) {
  Json::Array prices;
  for (const ProofPrices& step : part.prices) prices.push_back(prices_object(step));
  Json object;
  object.add("prices", std::move(prices));
  if (part.split) {
    Json split;
    split.add("resource", index(part.split->resource));
    if (part.split->type) split.add("task", index(*part.split->type));
    split.add("at", part.split->at);
    split.add("low", part.split->low);
    split.add("high", part.split->high);
    object.add("split", std::move(split));
  }
  return object;
}

}  // namespace

std::string certificate_json(const System& system, const Solution& solution) {
  std::string text = "{\n\"allot_certificate\": 1,\n\"objective\": ";
  text += is_linear(solution.objective) ? "\"throughput\"" : "\"shares\"";
  text += ",\n\"system\": " + detail::machine_object(weighted_for(system, solution.objective), false).line();
  text += ",\n\"claim\": " + claim_object(system, solution).line() + ",\n\"proof\": [";
  bool first = true;
  for (const ProofPart& part : solution.proof->parts) {
    text += (first ? "\n" : ",\n") + part_object(part).line();
    first = false;
  }
  return text + "\n]\n}\n";
}

}  // namespace allot
