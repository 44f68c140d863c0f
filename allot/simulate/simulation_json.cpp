#include "allot/simulate/simulation_json.hpp"

#include "allot/format/json.hpp"

namespace allot {
namespace {

Json json(const Estimate& value) {
  Json object;
  object.add("mean", value.mean);
  object.add("half_width", value.half_width);
  return object;
}

Json json(const std::vector<Estimate>& values) {
  Json::Array array;
  for (const Estimate& value : values) array.push_back(json(value));
  return array;
}

Json simulation_object(const SimulationResult& result) {
  const bool any = result.throughput.mean > 0;
  const auto measured = [&](const auto& value) { return any ? Json(value) : Json(); };
  Json object;
  object.add("policy", result.policy);
  object.add("distribution", result.distribution);
  object.add("seed", result.seed);
  object.add("replications", result.replications);
  object.add("completions", result.completions);
  object.add("warmup", result.warmup);
  object.add("partial", result.partial);
  object.add("precise", result.precise);
  object.add("population", result.population);
  object.add("throughput", json(result.throughput));
  Json response;
  response.add("mean", measured(result.response_time.mean));
  response.add("half_width", measured(result.response_time.half_width));
  response.add("p50", measured(result.p50));
  response.add("p95", measured(result.p95));
  response.add("p99", measured(result.p99));
  object.add("response_time", std::move(response));
  object.add("throughput_by_task", json(result.throughput_by_task));
  object.add("throughput_by_resource", json(result.throughput_by_resource));
  Json::Array by_task;
  for (std::size_t i = 0; i < result.response_time_by_task.size(); ++i) {
    const bool completes = result.throughput_by_task[i].mean > 0;
    by_task.push_back(completes ? json(result.response_time_by_task[i]) : Json());
  }
  object.add("response_time_by_task", std::move(by_task));
  object.add("utilization", result.utilization);
  object.add("energy_per_task", measured(result.energy_per_task));
  object.add("edp", measured(result.edp));
  object.add("little", result.little);
  object.add("little_residual", result.little_residual);
  object.add("throughput_by_replication", result.throughput_by_replication);
  object.add("notes", result.notes);
  object.add("wall_seconds", result.wall_seconds);
  object.add("completions_per_second", result.completions_per_second);
  return object;
}

}  // namespace

std::string simulation_json(const System& system, const SimulationResult& result) {
  Json object = simulation_object(result);
  object.add("tasks", Json::names(system.tasks()));
  object.add("resources", Json::names(system.resources()));
  return object.text();
}

std::string comparison_json(const System& system, const Comparison& comparison, const Solution* best) {
  Json::Array policies;
  for (const SimulationResult& result : comparison.policies) policies.push_back(simulation_object(result));
  Json::Array differences;
  for (const Difference& difference : comparison.differences) {
    Json& entry = differences.emplace_back();
    entry.add("policy", difference.policy);
    entry.add("against", difference.against);
    entry.add("throughput", json(difference.throughput));
    entry.add("significant", difference.significant);
  }
  Json object;
  object.add("tasks", Json::names(system.tasks()));
  object.add("resources", Json::names(system.resources()));
  object.add("policies", std::move(policies));
  object.add("differences", std::move(differences));
  object.add("best_assignment_throughput", best == nullptr ? Json() : Json(best->performance.throughput));
  object.add("best_assignment_proven", best != nullptr && best->proven_optimal);
  return object.text();
}

}  // namespace allot
