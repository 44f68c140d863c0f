#include "allot/solve/plan_certificate.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "allot/solve/certificate_json.hpp"
#include "allot/solve/solver.hpp"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;  // fields stay in the order in which they are documented

Json threads_array(const std::vector<ThreadGroup>& groups) {
  Json array = Json::array();
  for (const ThreadGroup& group : groups) {
    Json sequence = Json::array();
    for (const TaskType i : group.sequence) sequence.push_back(index(i));
    Json entry{{"name", group.name},
               {"count", group.count},
               {"sequence", std::move(sequence)},
               {"worth", group.worth}};
    if (group.max_response) entry["max_response"] = *group.max_response;
    array.push_back(std::move(entry));
  }
  return array;
}

/// What a task takes: by type and resource.
Json needs_array(const System& system) {
  Json array = Json::array();
  for (const TaskType i : system.types()) {
    Json row = Json::array();
    for (const ResourceId j : system.resource_ids()) {
      Json draws = Json::array();
      for (const Draw& draw : system.needs(i, j))
        draws.push_back({{"capacity", index(draw.capacity)}, {"amount", draw.amount}});
      row.push_back(std::move(draws));
    }
    array.push_back(std::move(row));
  }
  return array;
}

Json system_object(const System& system, const Problem& problem) {
  Json object = Json::parse(machine_json(system));
  Json idle = Json::array();
  for (const Resource& resource : system.resources()) idle.push_back(resource.idle_power);
  Json power = Json::array();
  for (const TaskType i : system.types()) {
    Json& task = object["tasks"][index(i)];
    task.erase("floor");  // which contains the response
    if (system.task(i).floor.value_or(0) > 0) task["floor"] = *system.task(i).floor;
    if (system.task(i).max_response) task["max_response"] = *system.task(i).max_response;
    Json row = Json::array();
    for (const ResourceId j : system.resource_ids()) row.push_back(system.power(i, j));
    power.push_back(std::move(row));
  }
  object["idle_power"] = std::move(idle);
  object["power"] = std::move(power);
  if (!system.capacities().empty()) {
    object["capacities"] = Json::array();
    for (const Capacity& capacity : system.capacities())
      object["capacities"].push_back(
          {{"name", capacity.name}, {"amount", capacity.amount}, {"shared", capacity.shared}});
  }
  if (system.has_needs()) object["needs"] = needs_array(system);
  if (!problem.threads.empty()) object["threads"] = threads_array(problem.threads);
  if (!problem.arrivals.empty()) {
    object["arrivals"] = Json::array();
    for (const Arrivals& stream : problem.arrivals)
      object["arrivals"].push_back({{"task", index(stream.task)}, {"rate", stream.rate}});
  }
  if (problem.power_cap) object["power_cap"] = *problem.power_cap;
  return object;
}

Json rows_of(const std::vector<double>& values, std::size_t width) {
  Json rows = Json::array();
  for (std::size_t at = 0; at < values.size(); at += width)
    rows.push_back(std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(at),
                                       values.begin() + static_cast<std::ptrdiff_t>(at + width)));
  return rows;
}

Json limit_object(const PlanLimit& limit) {
  switch (limit.kind) {
    case PlanLimit::Kind::kFloor:
      return {{"limit", "floor"}, {"task", limit.at}};
    case PlanLimit::Kind::kResponse:
      return {{"limit", "max_response"}, {"task", limit.at}};
    case PlanLimit::Kind::kRoundResponse:
      return {{"limit", "max_response"}, {"group", limit.at}};
    case PlanLimit::Kind::kPower:
      return {{"limit", "power_cap"}};
    case PlanLimit::Kind::kArrivals:
      break;
  }
  return {{"limit", "arrivals"}};
}

Json claim_object(const Problem& problem, const PlanProof& proof) {
  Json claim;
  if (!proof.bound) {
    claim["infeasible"] = true;
    claim["conflict"] = Json::array();
    for (const PlanLimit& limit : proof.conflict) claim["conflict"].push_back(limit_object(limit));
    return claim;
  }
  if (proof.service) {
    const std::size_t width = problem.system.resource_count();
    Json groups = Json::array();
    for (const auto& group : proof.service->groups) groups.push_back(rows_of(group, width));
    Json arrivals = Json::array();
    for (const auto& stream : proof.service->arrivals) arrivals.push_back(stream);
    claim["service"] = {{"tasks", rows_of(proof.service->tasks, width)},
                        {"threads", std::move(groups)},
                        {"arrivals", std::move(arrivals)}};
  }
  const bool is_power = problem.objective == Objective::kEnergy;
  if (is_power) claim["value"] = proof.value;
  if (is_power || proof.service) claim["at_least"] = is_power ? *proof.bound : proof.reached;
  if (!is_power || proof.service) claim["at_most"] = is_power ? proof.reached : *proof.bound;
  return claim;
}

/// What is nowhere other than 0 is left out.
Json prices_object(const PlanPrices& prices) {
  Json object = Json::object();
  const auto is_zero = [](double price) { return price == 0; };
  const auto add = [&](const char* key, const std::vector<double>& values) {
    if (!std::all_of(values.begin(), values.end(), is_zero)) object[key] = values;
  };
  add("units", prices.units);
  add("threads", prices.threads);
  add("group_threads", prices.group_threads);
  if (!prices.stages.empty()) object["stages"] = prices.stages;
  add("streams", prices.streams);
  add("floors", prices.floors);
  add("responses", prices.responses);
  add("group_responses", prices.group_responses);
  if (prices.power != 0) object["power"] = prices.power;
  if (prices.arrivals != 0) object["arrivals"] = prices.arrivals;
  add("shares", prices.shares);
  add("levels", prices.levels);
  add("group_levels", prices.group_levels);
  if (prices.value != 0) object["value"] = prices.value;
  add("tangents", prices.tangents);
  add("group_tangents", prices.group_tangents);
  return object;
}

std::string line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string plan_certificate_json(const Problem& problem, const Solution& solution) {
  const PlanProof& proof = *solution.plan_proof;
  // What is linear in the completions is a value of other worths.
  const std::string_view objective = proof.is_headroom              ? "headroom"
                                     : is_linear(problem.objective) ? "throughput"
                                                                    : to_string(problem.objective);
  const System system = weighted_for(problem.system, problem.objective);
  return "{\n\"allot_certificate\": 1,\n\"service\": \"planned\",\n\"objective\": \"" +
         std::string(objective) + "\",\n\"system\": " + line(system_object(system, problem)) +
         ",\n\"claim\": " + line(claim_object(problem, proof)) +
         ",\n\"prices\": " + line(prices_object(proof.prices)) + "\n}\n";
}

}  // namespace allot
