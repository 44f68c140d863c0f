#include "allot/io/result_json.hpp"

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>

#include "allot/solve/solver.hpp"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;  // fields stay in the order in which they are documented

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

template <typename Values>
Json numbers(const Values& values) {
  Json array = Json::array();
  for (const auto& value : values) array.push_back(number(value));
  return array;
}

template <typename Entry>
Json names(const std::vector<Entry>& entries) {
  Json array = Json::array();
  for (const Entry& entry : entries) array.push_back(entry.name);
  return array;
}

Json matrix(const Assignment& assignment) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < assignment.types(); ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < assignment.resources(); ++j)
      row.push_back(assignment(task_type(i), resource_id(j)));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json matrix(std::span<const double> values, std::size_t columns) {
  Json rows = Json::array();
  for (std::size_t at = 0; at + columns <= values.size(); at += columns) {
    rows.push_back(numbers(values.subspan(at, columns)));
  }
  return rows;
}

Json solution_object(const System& system, const Solution& solution) {
  const Performance& performance = solution.performance;
  Json object;
  object["solver"] = solution.solver;
  object["objective"] = to_string(solution.objective);
  object["outcome"] = to_string(solution.outcome);
  object["reason"] = solution.reason.empty() ? Json(nullptr) : Json(solution.reason);
  object["tasks"] = names(system.tasks());
  object["resources"] = names(system.resources());
  object["population"] = system.population();
  object["assignment"] = matrix(solution.assignment);
  object["throughput"] = number(performance.throughput);
  object["throughput_by_task"] = numbers(performance.throughput_by_task);
  object["throughput_by_resource"] = numbers(performance.throughput_by_resource);
  object["response_time"] = number(performance.response_time);
  object["response_time_by_task"] = numbers(performance.response_time_by_task);
  object["upper_bound"] = number(solution.upper_bound);
  object["gap"] = object["upper_bound"].is_null() ? Json(nullptr) : number(solution.gap());
  object["proven_optimal"] = solution.proven_optimal;
  object["shares"] = performance.shares.empty() ? Json(nullptr) : numbers(performance.shares);
  object["priority_error"] = number(performance.priority_error);
  object["approximate"] = performance.approximate;
  if (!solution.relaxed_assignment.empty()) {
    object["relaxed_assignment"] = matrix(solution.relaxed_assignment, system.resource_count());
  }
  if (solution.relaxed_throughput) object["relaxed_throughput"] = number(solution.relaxed_throughput);
  if (!solution.time_shares.empty())
    object["time_shares"] = matrix(solution.time_shares, system.resource_count());
  if (!solution.binding.empty()) object["binding"] = solution.binding;
  object["seconds"] = number(solution.seconds);
  return object;
}

Json explanation_array(const System& system, const std::vector<Placement>& placements) {
  Json array = Json::array();
  for (const Placement& placement : placements) {
    Json alternatives = Json::array();
    for (const Alternative& alternative : placement.alternatives) {
      Json entry;
      entry["resource"] = system.resource(alternative.resource).name;
      entry["gain"] = number(alternative.gain);
      entry["error_change"] = number(alternative.error_change);
      entry["allowed"] = alternative.allowed;
      alternatives.push_back(std::move(entry));
    }
    Json entry;
    entry["task"] = system.task(placement.task).name;
    entry["resource"] = system.resource(placement.resource).name;
    entry["count"] = placement.count;
    entry["alternatives"] = std::move(alternatives);
    array.push_back(std::move(entry));
  }
  return array;
}

std::string compact(const Json& value) {
  return value.dump(-1, ' ', false, nlohmann::detail::error_handler_t::replace);
}

bool holds_only_plain_values(const Json& value) {
  for (const Json& element : value) {
    if (element.is_structured()) return false;
  }
  return true;
}

/// `[1, 2]` or `{"a": 1}` on one line.
std::string one_line(const Json& value) {
  std::string text(1, value.is_array() ? '[' : '{');
  std::string_view separator;
  for (const auto& [key, element] : value.items()) {
    text += separator;
    separator = ", ";
    if (value.is_object()) text += compact(key) + ": ";
    text += compact(element);
  }
  return text += value.is_array() ? ']' : '}';
}

/// A field per line; whatever holds only plain values stays on one line.
void lay_out(const Json& value, std::size_t indent, std::string& text) {
  if (!value.is_structured()) {
    text += compact(value);
    return;
  }
  if (indent > 0 && holds_only_plain_values(value)) {
    text += one_line(value);
    return;
  }
  text += value.is_array() ? '[' : '{';
  std::string_view separator = "\n";
  for (const auto& [key, element] : value.items()) {
    text += separator;
    separator = ",\n";
    text.append(indent + 2, ' ');
    if (value.is_object()) text += compact(key) + ": ";
    lay_out(element, indent + 2, text);
  }
  text += '\n';
  text.append(indent, ' ');
  text += value.is_array() ? ']' : '}';
}

std::string document(const Json& value) {
  std::string text;
  lay_out(value, 0, text);
  return text += '\n';
}

std::string_view to_string(Change::What what) {
  switch (what) {
    case Change::What::kServer:
      return "server";
    case Change::What::kThread:
      return "thread";
    case Change::What::kRate:
      return "rate";
  }
  return "unknown";
}

Json named_array(const std::vector<Named>& entries) {
  Json array = Json::array();
  for (const Named& named : entries) {
    Json entry;
    entry["name"] = named.name;
    entry["summary"] = named.summary;
    if (!named.parameters.empty()) entry["parameters"] = named.parameters;
    if (!named.objectives.empty()) {
      Json& objectives = entry["objectives"] = Json::array();
      for (const Objective objective : named.objectives) objectives.push_back(to_string(objective));
    }
    array.push_back(std::move(entry));
  }
  return array;
}

Json estimate(const Estimate& value) {
  Json object;
  object["mean"] = number(value.mean);
  object["half_width"] = number(value.half_width);
  return object;
}

Json estimates(const std::vector<Estimate>& values) {
  Json array = Json::array();
  for (const Estimate& value : values) array.push_back(estimate(value));
  return array;
}

Json simulation_object(const SimulationResult& result) {
  const bool any = result.throughput.mean > 0;
  const auto measured = [&](double value) { return any ? number(value) : Json(nullptr); };
  Json object;
  object["policy"] = result.policy;
  object["distribution"] = result.distribution;
  object["seed"] = result.seed;
  object["replications"] = result.replications;
  object["completions"] = result.completions;
  object["warmup"] = result.warmup;
  object["partial"] = result.partial;
  object["precise"] = result.precise;
  object["population"] = number(result.population);
  object["throughput"] = estimate(result.throughput);
  Json& response = object["response_time"];
  response["mean"] = measured(result.response_time.mean);
  response["half_width"] = any ? number(result.response_time.half_width) : Json(nullptr);
  response["p50"] = measured(result.p50);
  response["p95"] = measured(result.p95);
  response["p99"] = measured(result.p99);
  object["throughput_by_task"] = estimates(result.throughput_by_task);
  object["throughput_by_resource"] = estimates(result.throughput_by_resource);
  Json& by_task = object["response_time_by_task"] = Json::array();
  for (std::size_t i = 0; i < result.response_time_by_task.size(); ++i) {
    const bool completes = result.throughput_by_task[i].mean > 0;
    by_task.push_back(completes ? estimate(result.response_time_by_task[i]) : Json(nullptr));
  }
  object["utilization"] = numbers(result.utilization);
  object["energy_per_task"] = measured(result.energy_per_task);
  object["edp"] = measured(result.edp);
  object["little"] = number(result.little);
  object["little_residual"] = number(result.little_residual);
  object["throughput_by_replication"] = numbers(result.throughput_by_replication);
  object["notes"] = result.notes;
  object["wall_seconds"] = number(result.wall_seconds);
  object["completions_per_second"] = number(result.completions_per_second);
  return object;
}

}  // namespace

std::string solution_json(const System& system, const Solution& solution,
                          const std::vector<Placement>* explanation) {
  Json object = solution_object(system, solution);
  if (explanation != nullptr) object["explanation"] = explanation_array(system, *explanation);
  return document(object);
}

std::string pareto_json(const System& system, const ParetoFrontier& frontier, const Solution* weighted) {
  const auto entry = [](const ParetoPoint& point) {
    Json result;
    result["throughput"] = number(point.throughput);
    result["priority_error"] = number(point.priority_error);
    result["assignment"] = matrix(point.assignment);
    return result;
  };
  Json points = Json::array();
  for (const ParetoPoint& point : frontier.points) points.push_back(entry(point));
  Json object;
  object["outcome"] = to_string(frontier.outcome);
  object["exhaustive"] = frontier.exhaustive;
  object["approximate"] = frontier.approximate;
  object["tasks"] = names(system.tasks());
  object["resources"] = names(system.resources());
  object["points"] = std::move(points);
  object["advised"] = frontier.points.empty() ? Json(nullptr) : entry(frontier.advised);
  object["weighted"] = weighted == nullptr ? Json(nullptr) : solution_object(system, *weighted);
  return document(object);
}

std::string what_if_json(const System& system, const WhatIf& what_if) {
  Json changes = Json::array();
  for (const Change& change : what_if.changes) {
    Json entry;
    entry["change"] = to_string(change.what);
    entry["resource"] = change.resource ? Json(system.resource(*change.resource).name) : Json(nullptr);
    entry["task"] = change.task ? Json(system.task(*change.task).name) : Json(nullptr);
    entry["throughput"] = number(change.throughput);
    entry["gain"] = number(change.gain);
    entry["approximate"] = change.approximate;
    changes.push_back(std::move(entry));
  }
  Json object;
  object["outcome"] = to_string(what_if.outcome);
  object["base"] = number(what_if.base.performance.throughput);
  object["assignment"] = matrix(what_if.base.assignment);
  object["changes"] = std::move(changes);
  return document(object);
}

std::string analysis_json(const System& system, std::string_view policy, const Analysis& analysis) {
  const bool any = system.population() > 0;
  Json object;
  object["policy"] = policy;
  object["note"] = analysis.note.empty() ? Json(nullptr) : Json(analysis.note);
  object["tasks"] = names(system.tasks());
  object["resources"] = names(system.resources());
  object["population"] = system.population();
  object["states"] = analysis.states;
  object["classes"] = analysis.classes;
  object["throughput"] = number(analysis.throughput);
  object["lowest_throughput"] = number(analysis.lowest_throughput);
  object["highest_throughput"] = number(analysis.highest_throughput);
  object["throughput_by_task"] = numbers(analysis.throughput_by_task);
  object["throughput_by_resource"] = numbers(analysis.throughput_by_resource);
  object["response_time"] = any ? number(analysis.response_time) : Json(nullptr);
  Json by_task = Json::array();
  for (const std::optional<double>& response : analysis.response_time_by_task)
    by_task.push_back(number(response));
  object["response_time_by_task"] = std::move(by_task);
  object["occupancy"] = matrix(analysis.occupancy, system.resource_count());
  object["best_state_probability"] = any ? number(analysis.best_state_probability) : Json(nullptr);
  object["best_state_throughput"] = number(analysis.best_state_throughput);
  object["best_state_approximate"] = analysis.best_state_approximate;
  object["optimal_control_throughput"] = number(analysis.optimal_control_throughput);
  return document(object);
}

std::string simulation_json(const System& system, const SimulationResult& result) {
  Json object = simulation_object(result);
  object["tasks"] = names(system.tasks());
  object["resources"] = names(system.resources());
  return document(object);
}

std::string comparison_json(const System& system, const Comparison& comparison, const Solution* best) {
  Json object;
  object["tasks"] = names(system.tasks());
  object["resources"] = names(system.resources());
  Json& policies = object["policies"] = Json::array();
  for (const SimulationResult& result : comparison.policies) policies.push_back(simulation_object(result));
  Json& differences = object["differences"] = Json::array();
  for (const Difference& difference : comparison.differences) {
    Json entry;
    entry["policy"] = difference.policy;
    entry["against"] = difference.against;
    entry["throughput"] = estimate(difference.throughput);
    entry["significant"] = difference.significant;
    differences.push_back(std::move(entry));
  }
  object["best_assignment_throughput"] =
      best == nullptr ? Json(nullptr) : number(best->performance.throughput);
  object["best_assignment_proven"] = best != nullptr && best->proven_optimal;
  return document(object);
}

Listing builtin_listing() {
  Listing listing;
  for (const SolverInfo* solver : builtin_solvers()) {
    Named& named = listing.solvers.emplace_back(Named{solver->name, solver->summary, {}, {}});
    for (const ObjectiveInfo& known : objectives()) {
      const Objective objective = known.objective;
      if (supports(*solver, objective)) named.objectives.push_back(objective);
    }
  }
  for (const PolicyInfo* policy : builtin_policies())
    listing.policies.push_back({policy->name, policy->summary, {}, {}});
  for (const DistributionInfo* kind : builtin_distributions())
    listing.distributions.push_back({kind->name, kind->summary, kind->parameters, {}});
  listing.disciplines = {
      {"ps",
       "processor sharing: all tasks of a resource run at once, each at an even part of its speed",
       {},
       {}},
      {"fcfs", "first come, first served: each unit works on one task at a time, the others wait", {}, {}},
  };
  return listing;
}

std::string list_json(const Listing& listing) {
  Json object;
  object["solvers"] = named_array(listing.solvers);
  object["policies"] = named_array(listing.policies);
  object["distributions"] = named_array(listing.distributions);
  object["disciplines"] = named_array(listing.disciplines);
  return document(object);
}

}  // namespace allot
