#include "allot/solve/solution_json.hpp"

#include <array>
#include <utility>

namespace allot {
namespace {

Json capacities(const Solution& solution) {
  if (solution.plan.capacities.empty()) return {};
  Json::Array array;
  for (const CapacityUse& use : solution.plan.capacities) {
    array.push_back(
        Json::object({{"name", use.name}, {"amount", use.amount}, {"used", use.used}, {"price", use.price}}));
  }
  return array;
}

Json limits(const Solution& solution) {
  if (solution.plan.limits.empty()) return {};
  Json::Array array;
  for (const BindingLimit& limit : solution.plan.limits) {
    array.push_back(
        Json::object({{"limit", limit.what}, {"amount", limit.amount}, {"gain_if_relaxed", limit.relaxed}}));
  }
  return array;
}

bool is_plan(const System&, const ParetoPoint& point) { return !point.time_shares.empty(); }

// clang-format off
constexpr auto kFields = std::to_array<ResultField<Solution>>({
    {.key = "solver", .help = "The name of the solver.", .kept = [](Solution& s) -> Kept { return &s.solver; }},
    {.key = "objective", .help = "The objective.", .word = [](const Solution& s) { return to_string(s.objective); }},
    {.key = "outcome", .help = "'optimal', 'converged', 'time_limit', 'budget', 'interrupted' or 'infeasible'.",
     .word = [](const Solution& s) { return to_string(s.outcome); }},
    {.key = "service", .help = "'even' or 'planned'.",
     .word = [](const Solution& s) -> std::string_view { return s.is_planned ? "planned" : "even"; }},
    {.key = "reason", .help = "An explanation of the outcome, if it needs one.", .kept = [](Solution& s) -> Kept { return &s.reason; }, .may_be_empty = true},
    {.key = "tasks", .json = [](const System& system, const Solution&) { return Json::names(system.tasks()); }},
    {.key = "resources", .json = [](const System& system, const Solution&) { return Json::names(system.resources()); }},
    {.key = "population", .json = [](const System& system, const Solution&) { return Json(system.population()); }},
    {.key = "assignment", .help = "Tasks of each type (rows) at each resource (columns).",
     .kept = [](Solution& s) -> Kept { return &s.assignment; },
     .has_value = [](const System&, const Solution& s) { return !s.is_planned; }},
    {.key = "value", .help = "Value per second: worth times throughput, summed; with threads of several stages worth times rounds.",
     .kept = [](Solution& s) -> Kept { return &s.performance.value; }},
    {.key = "throughput", .help = "Tasks per second.", .kept = [](Solution& s) -> Kept { return &s.performance.throughput; }},
    {.key = "throughput_by_task", .help = "Tasks per second of each type.",
     .kept = [](Solution& s) -> Kept { return &s.performance.throughput_by_task; }},
    {.key = "throughput_by_resource", .help = "Tasks per second of each resource.",
     .kept = [](Solution& s) -> Kept { return &s.performance.throughput_by_resource; }},
    {.key = "response_time", .help = "Seconds, or None.", .kept = [](Solution& s) -> Kept { return &s.performance.response_time; }},
    {.key = "response_time_by_task", .help = "Seconds, for each type; NaN if nothing completes.",
     .kept = [](Solution& s) -> Kept { return &s.performance.response_time_by_task; }},
    {.key = "objective_value", .help = "The value of the objective.", .kept = [](Solution& s) -> Kept { return &s.objective_value; }},
    {.key = "objective_bound", .help = "No answer is better than this; None if nothing is proven.",
     .kept = [](Solution& s) -> Kept { return &s.objective_bound; }},
    {.key = "upper_bound", .help = "No answer has more value than this; None if nothing is proven.",
     .kept = [](Solution& s) -> Kept { return &s.upper_bound; }},
    {.key = "gap", .json = [](const System&, const Solution& s) { return Json(s.gap()); }},
    {.key = "proven_optimal", .help = "Whether it is proven that no assignment is better.",
     .kept = [](Solution& s) -> Kept { return &s.proven_optimal; }},
    {.key = "shares", .help = "The share of each type in all completions; None if nothing completes.",
     .kept = [](Solution& s) -> Kept { return &s.performance.shares; }, .may_be_empty = true},
    {.key = "priority_error", .help = "The sum of the squared differences between these shares and those asked for, or None.",
     .kept = [](Solution& s) -> Kept { return &s.performance.priority_error; }},
    {.key = "approximate", .help = "Whether some resource is in a state whose throughput has no exact formula.",
     .kept = [](Solution& s) -> Kept { return &s.performance.approximate; }},
    {.key = "relaxed_assignment", .help = "'slsqp': the optimum with fractions of tasks, before rounding; else None.",
     .kept = [](Solution& s) -> Kept { return &s.relaxed_assignment; }, .is_matrix = true, .may_be_empty = true, .is_left_out = true},
    {.key = "relaxed_throughput", .help = "'slsqp': its throughput; else None.",
     .kept = [](Solution& s) -> Kept { return &s.relaxed_throughput; }, .is_left_out = true,
     .sentence = "With fractions of tasks allowed it would be {} tasks/s; this is the best rounding."},
    {.key = "time_shares", .help = "'weighted' and planned service: the servers of each resource (columns) that work on each type (rows), on average; else None.",
     .kept = [](Solution& s) -> Kept { return &s.time_shares; }, .is_matrix = true, .may_be_empty = true, .is_left_out = true},
    {.key = "capacity_use", .is_left_out = true, .json = [](const System&, const Solution& s) { return capacities(s); }},
    {.key = "packing_bound", .help = "Planned service: whole tasks reach at most this value.",
     .kept = [](Solution& s) -> Kept { return &s.plan.packing_bound; }, .is_left_out = true},
    {.key = "rounds", .help = "Planned service: rounds per second of each group of threads.",
     .kept = [](Solution& s) -> Kept { return &s.plan.rounds; }, .may_be_empty = true, .is_left_out = true},
    {.key = "headroom", .help = "Planned service: the multiple of the arrivals that the machine can carry.",
     .kept = [](Solution& s) -> Kept { return &s.plan.headroom; }, .is_left_out = true},
    {.key = "mean_power", .help = "Planned service: watts of the whole machine, on average.",
     .kept = [](Solution& s) -> Kept { return &s.plan.mean_power; }, .is_left_out = true},
    {.key = "limits", .is_left_out = true, .json = [](const System&, const Solution& s) { return limits(s); }},
    {.key = "unserved", .help = "Planned service: task types that complete nothing.",
     .kept = [](Solution& s) -> Kept { return &s.plan.unserved; }, .may_be_empty = true, .is_left_out = true},
    {.key = "conflict", .help = "Planned service: limits that cannot be met together.",
     .kept = [](Solution& s) -> Kept { return &s.plan.conflict; }, .may_be_empty = true, .is_left_out = true},
    {.key = "binding", .help = "'weighted': what limits the throughput, in words.",
     .kept = [](Solution& s) -> Kept { return &s.binding; }, .may_be_empty = true, .is_left_out = true},
    {.key = "seconds", .help = "Seconds that the solver took.", .kept = [](Solution& s) -> Kept { return &s.seconds; }},
});

constexpr auto kPointFields = std::to_array<ResultField<ParetoPoint>>({
    {.key = "throughput", .help = "Tasks per second.", .kept = [](ParetoPoint& p) -> Kept { return &p.throughput; }},
    {.key = "value", .help = "Value per second.", .kept = [](ParetoPoint& p) -> Kept { return &p.value; }},
    {.key = "priority_error", .help = "None without priorities.", .kept = [](ParetoPoint& p) -> Kept { return &p.priority_error; },
     .has_value = [](const System& system, const ParetoPoint&) { return !system.shares().empty(); }},
    {.key = "assignment", .help = "None for planned service.", .kept = [](ParetoPoint& p) -> Kept { return &p.assignment; },
     .has_value = [](const System&, const ParetoPoint& p) { return p.time_shares.empty(); }},
    {.key = "least_served", .help = "Planned service: the fewest completions relative to the priority.",
     .kept = [](ParetoPoint& p) -> Kept { return &p.least_served; }, .is_left_out = true, .has_value = is_plan},
    {.key = "time_shares", .help = "Planned service: units of each resource at work on each type.",
     .kept = [](ParetoPoint& p) -> Kept { return &p.time_shares; }, .is_matrix = true, .is_left_out = true, .has_value = is_plan},
    {.key = "rounds", .help = "Planned service: rounds per second of each group of threads.",
     .kept = [](ParetoPoint& p) -> Kept { return &p.rounds; }, .is_left_out = true, .has_value = is_plan,
     .json = [](const System&, const ParetoPoint& p) { return p.rounds.empty() ? Json() : Json(p.rounds); }},
});

constexpr auto kChangeFields = std::to_array<ResultField<Change>>({
    {.key = "change", .help = "'server', 'capacity', 'thread' or 'rate'.", .word = [](const Change& c) { return to_string(c.what); }},
    {.key = "resource", .help = "Of a server or a rate.", .kept = [](Change& c) -> Kept { return &c.resource; }},
    {.key = "capacity", .help = "Of one more unit of it.", .kept = [](Change& c) -> Kept { return &c.capacity; }, .is_left_out = true,
     .has_value = [](const System&, const Change& c) { return c.what == Change::What::kCapacity; }},
    {.key = "task", .help = "Of a thread or a rate.", .kept = [](Change& c) -> Kept { return &c.task; }},
    {.key = "throughput", .help = "Tasks per second after the change.", .kept = [](Change& c) -> Kept { return &c.throughput; }},
    {.key = "value", .help = "Value per second after the change.", .kept = [](Change& c) -> Kept { return &c.value; }},
    {.key = "gain", .help = "In value, relative to the base.", .kept = [](Change& c) -> Kept { return &c.gain; }},
    {.key = "price", .help = "Planned service: at most what more of a capacity adds, per unit.",
     .kept = [](Change& c) -> Kept { return &c.price; }, .is_left_out = true},
    {.key = "whole_gain", .help = "Planned service, if tasks have needs: the gain in the most that whole tasks can reach.",
     .kept = [](Change& c) -> Kept { return &c.whole_gain; }, .is_left_out = true},
    {.key = "approximate", .help = "Whether the changed state has no exact formula.",
     .kept = [](Change& c) -> Kept { return &c.approximate; }},
});
// clang-format on

Json explanation_array(const System& system, const std::vector<Placement>& placements) {
  Json::Array array;
  for (const Placement& placement : placements) {
    Json::Array alternatives;
    for (const Alternative& alternative : placement.alternatives) {
      alternatives.push_back(Json::object({{"resource", system.resource(alternative.resource).name},
                                           {"gain", alternative.gain},
                                           {"error_change", alternative.error_change},
                                           {"allowed", alternative.allowed}}));
    }
    array.push_back(Json::object({{"task", system.task(placement.task).name},
                                  {"resource", system.resource(placement.resource).name},
                                  {"count", placement.count},
                                  {"alternatives", std::move(alternatives)}}));
  }
  return array;
}

}  // namespace

std::span<const ResultField<Solution>> solution_fields() noexcept { return kFields; }
std::span<const ResultField<ParetoPoint>> point_fields() noexcept { return kPointFields; }
std::span<const ResultField<Change>> change_fields() noexcept { return kChangeFields; }

std::string solution_json(const System& system, const Solution& solution,
                          const std::vector<Placement>* explanation) {
  Json object = json_object(solution_fields(), system, solution);
  if (explanation != nullptr) object.add("explanation", explanation_array(system, *explanation));
  return object.text();
}

std::string pareto_json(const System& system, const ParetoFrontier& frontier, const Solution* weighted) {
  Json object;
  object.add("outcome", to_string(frontier.outcome));
  if (frontier.is_planned) object.add("service", "planned");
  object.add("exhaustive", frontier.exhaustive);
  object.add("approximate", frontier.approximate);
  object.add("tasks", Json::names(system.tasks()));
  object.add("resources", Json::names(system.resources()));
  object.add("points", json_array(point_fields(), system, frontier.points));
  object.add("advised",
             frontier.points.empty() ? Json() : json_object(point_fields(), system, frontier.advised));
  object.add("weighted", weighted == nullptr ? Json() : json_object(solution_fields(), system, *weighted));
  return object.text();
}

std::string what_if_json(const System& system, const WhatIf& what_if) {
  Json object;
  object.add("outcome", to_string(what_if.outcome));
  object.add("base", what_if.base.performance.throughput);
  object.add("value", what_if.base.performance.value);
  object.add("assignment", what_if.base.is_planned ? Json() : Json(what_if.base.assignment));
  if (what_if.base.plan.headroom) object.add("headroom", *what_if.base.plan.headroom);
  object.add("changes", json_array(change_fields(), system, what_if.changes));
  return object.text();
}

}  // namespace allot
