#include "allot/solve/plan_certificate.hpp"

#include <algorithm>
#include <utility>

#include "allot/format/json.hpp"
#include "allot/solve/detail/machine_object.hpp"
#include "allot/solve/solver.hpp"

namespace allot {
namespace {

Json threads_array(const std::vector<ThreadGroup>& groups) {
  Json::Array array;
  for (const ThreadGroup& group : groups) {
    Json::Array sequence;
    for (const TaskType i : group.sequence) sequence.emplace_back(index(i));
    Json& entry = array.emplace_back();
    entry.add("name", group.name);
    entry.add("count", group.count);
    entry.add("sequence", std::move(sequence));
    entry.add("worth", group.worth);
    if (group.max_response) entry.add("max_response", *group.max_response);
  }
  return array;
}

/// What a task needs, by type and resource.
Json needs_array(const System& system) {
  Json::Array array;
  for (const TaskType i : system.types()) {
    Json::Array row;
    for (const ResourceId j : system.resource_ids()) {
      Json::Array draws;
      for (const Draw& draw : system.needs(i, j))
        draws.push_back(Json::object({{"capacity", index(draw.capacity)}, {"amount", draw.amount}}));
      row.emplace_back(std::move(draws));
    }
    array.emplace_back(std::move(row));
  }
  return array;
}

Json plan_machine(const System& system, const Problem& problem) {
  Json object = detail::machine_object(system, true);
  Json::Array idle;
  for (const Resource& resource : system.resources()) idle.emplace_back(resource.idle_power);
  Json::Array power;
  for (const TaskType i : system.types()) {
    Json::Array row;
    for (const ResourceId j : system.resource_ids()) row.emplace_back(system.power(i, j));
    power.emplace_back(std::move(row));
  }
  object.add("idle_power", std::move(idle));
  object.add("power", std::move(power));
  if (!system.capacities().empty()) {
    Json::Array capacities;
    for (const Capacity& capacity : system.capacities())
      capacities.push_back(
          Json::object({{"name", capacity.name}, {"amount", capacity.amount}, {"shared", capacity.shared}}));
    object.add("capacities", std::move(capacities));
  }
  if (system.has_needs()) object.add("needs", needs_array(system));
  if (!problem.threads.empty()) object.add("threads", threads_array(problem.threads));
  if (!problem.arrivals.empty()) {
    Json::Array arrivals;
    for (const Arrivals& stream : problem.arrivals)
      arrivals.push_back(Json::object({{"task", index(stream.task)}, {"rate", stream.rate}}));
    object.add("arrivals", std::move(arrivals));
  }
  if (problem.power_cap) object.add("power_cap", *problem.power_cap);
  return object;
}

Json limit_object(const PlanLimit& limit) {
  switch (limit.kind) {
    case PlanLimit::Kind::kFloor:
      return Json::object({{"limit", "floor"}, {"task", limit.at}});
    case PlanLimit::Kind::kResponse:
      return Json::object({{"limit", "max_response"}, {"task", limit.at}});
    case PlanLimit::Kind::kRoundResponse:
      return Json::object({{"limit", "max_response"}, {"group", limit.at}});
    case PlanLimit::Kind::kPower:
      return Json::object({{"limit", "power_cap"}});
    case PlanLimit::Kind::kArrivals:
      break;
  }
  return Json::object({{"limit", "arrivals"}});
}

Json plan_claim(const Problem& problem, const PlanProof& proof) {
  Json claim;
  if (!proof.bound) {
    Json::Array conflict;
    for (const PlanLimit& limit : proof.conflict) conflict.push_back(limit_object(limit));
    claim.add("infeasible", true);
    claim.add("conflict", std::move(conflict));
    return claim;
  }
  if (proof.service) {
    const std::size_t width = problem.system.resource_count();
    Json::Array groups;
    for (const auto& group : proof.service->groups) groups.push_back(Json::matrix(group, width));
    claim.add("service", Json::object({{"tasks", Json::matrix(proof.service->tasks, width)},
                                       {"threads", std::move(groups)},
                                       {"arrivals", proof.service->arrivals}}));
  }
  const bool is_power = problem.objective == Objective::kEnergy;
  if (is_power) claim.add("value", proof.value);
  if (is_power || proof.service) claim.add("at_least", is_power ? *proof.bound : proof.reached);
  if (!is_power || proof.service) claim.add("at_most", is_power ? proof.reached : *proof.bound);
  return claim;
}

/// Leaves out prices that are 0 everywhere.
Json plan_prices(const PlanPrices& prices) {
  Json object = Json::object({});
  const auto is_zero = [](double price) { return price == 0; };
  const auto add = [&](const char* key, const std::vector<double>& values) {
    if (!std::all_of(values.begin(), values.end(), is_zero)) object.add(key, values);
  };
  add("units", prices.units);
  add("threads", prices.threads);
  add("group_threads", prices.group_threads);
  if (!prices.stages.empty()) object.add("stages", prices.stages);
  add("streams", prices.streams);
  add("floors", prices.floors);
  add("responses", prices.responses);
  add("group_responses", prices.group_responses);
  if (prices.power != 0) object.add("power", prices.power);
  if (prices.arrivals != 0) object.add("arrivals", prices.arrivals);
  add("shares", prices.shares);
  add("levels", prices.levels);
  add("group_levels", prices.group_levels);
  if (prices.value != 0) object.add("value", prices.value);
  add("tangents", prices.tangents);
  add("group_tangents", prices.group_tangents);
  return object;
}

}  // namespace

std::string plan_certificate_json(const Problem& problem, const Solution& solution) {
  const PlanProof& proof = *solution.plan_proof;
  // An objective that is linear in the completions is a value with other worths.
  const std::string_view objective = proof.is_headroom              ? "headroom"
                                     : is_linear(problem.objective) ? "throughput"
                                                                    : to_string(problem.objective);
  const System system = weighted_for(problem.system, problem.objective);
  return "{\n\"allot_certificate\": 1,\n\"service\": \"planned\",\n\"objective\": \"" +
         std::string(objective) + "\",\n\"system\": " + plan_machine(system, problem).line() +
         ",\n\"claim\": " + plan_claim(problem, proof).line() +
         ",\n\"prices\": " + plan_prices(proof.prices).line() + "\n}\n";
}

}  // namespace allot
