#include "allot/solve/solution_json.hpp"

#include "allot/format/json.hpp"
#include "allot/solve/solver.hpp"

namespace allot {
namespace {

Json solution_object(const System& system, const Solution& solution) {
  const Performance& performance = solution.performance;
  Json object;
  object.add("solver", solution.solver);
  object.add("objective", to_string(solution.objective));
  object.add("outcome", to_string(solution.outcome));
  object.add("reason", solution.reason.empty() ? Json() : Json(solution.reason));
  object.add("tasks", Json::names(system.tasks()));
  object.add("resources", Json::names(system.resources()));
  object.add("population", system.population());
  object.add("assignment", solution.assignment);
  object.add("throughput", performance.throughput);
  object.add("throughput_by_task", performance.throughput_by_task);
  object.add("throughput_by_resource", performance.throughput_by_resource);
  object.add("response_time", performance.response_time);
  object.add("response_time_by_task", performance.response_time_by_task);
  object.add("upper_bound", solution.upper_bound);
  object.add("gap", solution.gap());
  object.add("proven_optimal", solution.proven_optimal);
  object.add("shares", performance.shares.empty() ? Json() : Json(performance.shares));
  object.add("priority_error", performance.priority_error);
  object.add("approximate", performance.approximate);
  if (!solution.relaxed_assignment.empty())
    object.add("relaxed_assignment", Json::matrix(solution.relaxed_assignment, system.resource_count()));
  if (solution.relaxed_throughput) object.add("relaxed_throughput", solution.relaxed_throughput);
  if (!solution.time_shares.empty())
    object.add("time_shares", Json::matrix(solution.time_shares, system.resource_count()));
  if (!solution.binding.empty()) object.add("binding", solution.binding);
  object.add("seconds", solution.seconds);
  return object;
}

Json explanation_array(const System& system, const std::vector<Placement>& placements) {
  Json::Array array;
  for (const Placement& placement : placements) {
    Json::Array alternatives;
    for (const Alternative& alternative : placement.alternatives) {
      Json& entry = alternatives.emplace_back();
      entry.add("resource", system.resource(alternative.resource).name);
      entry.add("gain", alternative.gain);
      entry.add("error_change", alternative.error_change);
      entry.add("allowed", alternative.allowed);
    }
    Json& entry = array.emplace_back();
    entry.add("task", system.task(placement.task).name);
    entry.add("resource", system.resource(placement.resource).name);
    entry.add("count", placement.count);
    entry.add("alternatives", std::move(alternatives));
  }
  return array;
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

Json point_object(const ParetoPoint& point) {
  Json object;
  object.add("throughput", point.throughput);
  object.add("priority_error", point.priority_error);
  object.add("assignment", point.assignment);
  return object;
}

}  // namespace

std::string solution_json(const System& system, const Solution& solution,
                          const std::vector<Placement>* explanation) {
  Json object = solution_object(system, solution);
  if (explanation != nullptr) object.add("explanation", explanation_array(system, *explanation));
  return object.text();
}

std::string pareto_json(const System& system, const ParetoFrontier& frontier, const Solution* weighted) {
  Json::Array points;
  for (const ParetoPoint& point : frontier.points) points.push_back(point_object(point));
  Json object;
  object.add("outcome", to_string(frontier.outcome));
  object.add("exhaustive", frontier.exhaustive);
  object.add("approximate", frontier.approximate);
  object.add("tasks", Json::names(system.tasks()));
  object.add("resources", Json::names(system.resources()));
  object.add("points", std::move(points));
  object.add("advised", frontier.points.empty() ? Json() : point_object(frontier.advised));
  object.add("weighted", weighted == nullptr ? Json() : solution_object(system, *weighted));
  return object.text();
}

std::string what_if_json(const System& system, const WhatIf& what_if) {
  Json::Array changes;
  for (const Change& change : what_if.changes) {
    Json& entry = changes.emplace_back();
    entry.add("change", to_string(change.what));
    entry.add("resource", change.resource ? Json(system.resource(*change.resource).name) : Json());
    entry.add("task", change.task ? Json(system.task(*change.task).name) : Json());
    entry.add("throughput", change.throughput);
    entry.add("gain", change.gain);
    entry.add("approximate", change.approximate);
  }
  Json object;
  object.add("outcome", to_string(what_if.outcome));
  object.add("base", what_if.base.performance.throughput);
  object.add("assignment", what_if.base.assignment);
  object.add("changes", std::move(changes));
  return object.text();
}

}  // namespace allot
