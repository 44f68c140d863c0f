#include "allot/analyze/analysis_json.hpp"

#include <array>

namespace allot {
namespace {

bool has_threads(const System& system, const Analysis&) { return system.population() > 0; }

// clang-format off
constexpr auto kFields = std::to_array<ResultField<Analysis>>({
    {.key = "note", .help = "A note of the policy about its target; usually empty.",
     .kept = [](Analysis& a) -> Kept { return &a.note; }, .may_be_empty = true},
    {.key = "tasks", .json = [](const System& system, const Analysis&) { return Json::names(system.tasks()); }},
    {.key = "resources", .json = [](const System& system, const Analysis&) { return Json::names(system.resources()); }},
    {.key = "population", .json = [](const System& system, const Analysis&) { return Json(system.population()); }},
    {.key = "states", .help = "The number of reachable states, including the policy's memory.",
     .kept = [](Analysis& a) -> Kept { return &a.states; }},
    {.key = "classes", .help = "Closed classes: sets of states never left once entered.",
     .kept = [](Analysis& a) -> Kept { return &a.classes; }},
    {.key = "throughput", .help = "Tasks per second in the long run.", .kept = [](Analysis& a) -> Kept { return &a.throughput; }},
    {.key = "value", .help = "Value per second in the long run: worth times throughput, summed.",
     .kept = [](Analysis& a) -> Kept { return &a.value; }},
    {.key = "lowest_throughput", .help = "Over the closed classes.", .kept = [](Analysis& a) -> Kept { return &a.lowest_throughput; }},
    {.key = "highest_throughput", .help = "Over the closed classes.", .kept = [](Analysis& a) -> Kept { return &a.highest_throughput; }},
    {.key = "throughput_by_task", .help = "Tasks per second of each type.",
     .kept = [](Analysis& a) -> Kept { return &a.throughput_by_task; }},
    {.key = "throughput_by_resource", .help = "Tasks per second of each resource.",
     .kept = [](Analysis& a) -> Kept { return &a.throughput_by_resource; }},
    {.key = "response_time", .help = "Seconds; None without threads.", .kept = [](Analysis& a) -> Kept { return &a.response_time; },
     .has_value = has_threads},
    {.key = "response_time_by_task", .help = "Seconds of each type; NaN if it completes nothing.",
     .kept = [](Analysis& a) -> Kept { return &a.response_time_by_task; }},
    {.key = "occupancy", .help = "Mean number of tasks of each type (rows) at each resource (columns).",
     .kept = [](Analysis& a) -> Kept { return &a.occupancy; }, .is_matrix = true},
    {.key = "best_state_probability", .help = "The probability of being in a best state, one with the largest value.",
     .kept = [](Analysis& a) -> Kept { return &a.best_state_probability; }, .has_value = has_threads},
    {.key = "best_state_throughput", .help = "The throughput of a best state.",
     .kept = [](Analysis& a) -> Kept { return &a.best_state_throughput; }},
    {.key = "best_state_value", .help = "The largest value of a state.",
     .kept = [](Analysis& a) -> Kept { return &a.best_state_value; }},
    {.key = "best_state_approximate", .help = "Whether that value has no exact formula, because tasks wait for several fcfs servers.",
     .kept = [](Analysis& a) -> Kept { return &a.best_state_approximate; }},
    {.key = "optimal_control_throughput", .help = "The throughput of a policy that reaches optimal_control_value; else None.",
     .kept = [](Analysis& a) -> Kept { return &a.optimal_control_throughput; }},
    {.key = "optimal_control_value", .help = "The most value that any policy can reach, if it was asked for; else None.",
     .kept = [](Analysis& a) -> Kept { return &a.optimal_control_value; }},
});
// clang-format on

}  // namespace

std::span<const ResultField<Analysis>> analysis_fields() noexcept { return kFields; }

std::string analysis_json(const System& system, std::string_view policy, const Analysis& analysis) {
  Json object;
  object.add("policy", policy);
  return json_object(analysis_fields(), system, analysis, std::move(object)).text();
}

}  // namespace allot
