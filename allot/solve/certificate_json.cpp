#include "allot/solve/certificate_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "allot/solve/solver.hpp"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;  // fields stay in the order in which they are documented

Json system_object(const System& system) {
  Json resources = Json::array();
  for (const Resource& resource : system.resources()) {
    resources.push_back({{"name", resource.name},
                         {"servers", resource.servers},
                         {"discipline", resource.discipline == Discipline::kFcfs ? "fcfs" : "ps"},
                         {"min_depth", resource.min_depth}});
  }
  Json tasks = Json::array();
  Json rates = Json::array();
  for (const TaskType i : system.types()) {
    Json task{{"name", system.task(i).name}, {"count", system.count(i)}};
    if (system.floor(i) > 0) task["floor"] = system.floor(i);
    if (system.worth(i) != 1) task["worth"] = system.worth(i);
    if (system.task(i).priority) task["priority"] = *system.task(i).priority;
    tasks.push_back(std::move(task));
    Json row = Json::array();
    for (const ResourceId j : system.resource_ids()) row.push_back(system.rate(i, j));
    rates.push_back(std::move(row));
  }
  return {{"resources", std::move(resources)}, {"tasks", std::move(tasks)}, {"rates", std::move(rates)}};
}

Json claim_object(const System& system, const Solution& solution) {
  if (!solution.proof->bound) return {{"infeasible", true}};
  Json claim;
  if (!solution.performance.approximate) {
    const PairSpan shares(solution.time_shares, system.resource_count());
    Json assignment = Json::array();
    Json time_shares = Json::array();
    for (const TaskType i : system.types()) {
      Json counts = Json::array();
      Json times = Json::array();
      for (const ResourceId j : system.resource_ids()) {
        counts.push_back(solution.assignment(i, j));
        if (!shares.empty()) times.push_back(shares(i, j));
      }
      assignment.push_back(std::move(counts));
      time_shares.push_back(std::move(times));
    }
    claim["assignment"] = std::move(assignment);
    if (!shares.empty()) claim["time_shares"] = std::move(time_shares);
    // Rounded down by more than the sums can be off, so that it is true of the exact throughput.
    const double terms = static_cast<double>(2 * system.type_count() + 2 * system.resource_count() + 16);
    const double reached =
        is_linear(solution.objective) ? solution.objective_value : solution.performance.throughput;
    claim["at_least"] = reached * (1 - 2 * terms * std::numeric_limits<double>::epsilon());
  }
  claim["at_most"] = *solution.proof->bound;
  return claim;
}

Json prices_object(const ProofPrices& prices) {
  Json object{{"task", prices.task}};
  if (!prices.completion.empty()) object["completion"] = prices.completion;
  if (!prices.unit.empty()) object["unit"] = prices.unit;
  if (!prices.depth.empty()) object["depth"] = prices.depth;
  return object;
}

Json part_object(const ProofPart& part) {
  Json prices = Json::array();
  for (const ProofPrices& step : part.prices) prices.push_back(prices_object(step));
  Json object{{"prices", std::move(prices)}};
  if (part.split) {
    Json split{{"resource", index(part.split->resource)}};
    if (part.split->type) split["task"] = index(*part.split->type);
    split["at"] = part.split->at;
    split["low"] = part.split->low;
    split["high"] = part.split->high;
    object["split"] = std::move(split);
  }
  return object;
}

std::string line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string machine_json(const System& system) { return line(system_object(system)); }

std::string certificate_json(const System& system, const Solution& solution) {
  std::string text = "{\n\"allot_certificate\": 1,\n\"objective\": ";
  text += is_linear(solution.objective) ? "\"throughput\"" : "\"shares\"";
  text += ",\n\"system\": " + line(system_object(weighted_for(system, solution.objective)));
  text += ",\n\"claim\": " + line(claim_object(system, solution)) + ",\n\"proof\": [";
  bool first = true;
  for (const ProofPart& part : solution.proof->parts) {
    text += (first ? "\n" : ",\n") + line(part_object(part));
    first = false;
  }
  return text + "\n]\n}\n";
}

}  // namespace allot
