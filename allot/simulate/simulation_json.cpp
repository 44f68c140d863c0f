#include "allot/simulate/simulation_json.hpp"

#include <array>
#include <utility>

namespace allot {
namespace {

using Run = SimulationResult;

bool completes(const System&, const Run& run) { return run.throughput.mean > 0; }

Json response_time(const System& system, const Run& run) {
  const auto known = [&](const auto& value) { return completes(system, run) ? Json(value) : Json(); };
  return Json::object({{"mean", known(run.response_time.mean)},
                       {"half_width", known(run.response_time.half_width)},
                       {"p50", known(run.p50)},
                       {"p95", known(run.p95)},
                       {"p99", known(run.p99)}});
}

Json response_time_by_task(const System&, const Run& run) {
  Json::Array array;
  for (std::size_t i = 0; i < run.response_time_by_task.size(); ++i) {
    const bool any = run.throughput_by_task[i].mean > 0;
    array.push_back(any ? Json(run.response_time_by_task[i]) : Json());
  }
  return array;
}

Json capacity_use(const System& system, const Run& run) {
  if (run.capacity_use.empty()) return {};
  Json::Array array;
  for (const CapacityId r : system.capacity_ids()) {
    array.push_back(Json::object({{"name", system.capacity_name(r)},
                                  {"amount", system.amount(r)},
                                  {"used", run.capacity_use[index(r)]}}));
  }
  return array;
}

// clang-format off
constexpr auto kFields = std::to_array<ResultField<Run>>({
    {.key = "policy", .help = "The name of the policy.", .kept = [](Run& r) -> Kept { return &r.policy; }},
    {.key = "distribution", .help = "The distribution of task sizes.", .kept = [](Run& r) -> Kept { return &r.distribution; }},
    {.key = "seed", .help = "The random seed.", .kept = [](Run& r) -> Kept { return &r.seed; }},
    {.key = "replications", .help = "The number of completed replications.", .kept = [](Run& r) -> Kept { return &r.replications; }},
    {.key = "completions", .help = "Completions per replication.", .kept = [](Run& r) -> Kept { return &r.completions; }},
    {.key = "warmup", .help = "Completions that were discarded first.", .kept = [](Run& r) -> Kept { return &r.warmup; }},
    {.key = "partial", .help = "Whether the time limit expired.", .kept = [](Run& r) -> Kept { return &r.partial; }},
    {.key = "precise", .help = "Whether the requested precision was reached; False if nothing was measured.",
     .kept = [](Run& r) -> Kept { return &r.precise; }},
    {.key = "population", .help = "Mean number of tasks in the system.", .kept = [](Run& r) -> Kept { return &r.population; }},
    {.key = "throughput", .kept = [](Run& r) -> Kept { return &r.throughput; }},
    {.key = "value", .kept = [](Run& r) -> Kept { return &r.value; }},
    {.key = "rounds", .kept = [](Run& r) -> Kept { return &r.rounds; }, .may_be_empty = true, .is_left_out = true},
    {.key = "response_time", .json = response_time},
    {.key = "p50", .help = "Median of the response time.", .kept = [](Run& r) -> Kept { return &r.p50; }, .is_inside = true,
     .has_value = completes},
    {.key = "p95", .help = "95th percentile of the response time.", .kept = [](Run& r) -> Kept { return &r.p95; }, .is_inside = true,
     .has_value = completes},
    {.key = "p99", .help = "99th percentile of the response time.", .kept = [](Run& r) -> Kept { return &r.p99; }, .is_inside = true,
     .has_value = completes},
    {.key = "throughput_by_task", .kept = [](Run& r) -> Kept { return &r.throughput_by_task; }},
    {.key = "throughput_by_resource", .kept = [](Run& r) -> Kept { return &r.throughput_by_resource; }},
    {.key = "response_time_by_task", .json = response_time_by_task},
    {.key = "utilization", .kept = [](Run& r) -> Kept { return &r.utilization; }},
    {.key = "capacity_use", .is_left_out = true, .json = capacity_use},
    {.key = "energy_per_task", .help = "Joules.", .kept = [](Run& r) -> Kept { return &r.energy_per_task; }, .has_value = completes},
    {.key = "edp", .help = "Energy per task times mean response time.", .kept = [](Run& r) -> Kept { return &r.edp; },
     .has_value = completes},
    {.key = "little", .help = "Throughput times response time; compare it with population.",
     .kept = [](Run& r) -> Kept { return &r.little; }},
    {.key = "little_residual", .help = "The largest relative error of Little's law as an identity of each replication.",
     .kept = [](Run& r) -> Kept { return &r.little_residual; }},
    {.key = "throughput_by_replication", .help = "Tasks per second in each replication.",
     .kept = [](Run& r) -> Kept { return &r.throughput_by_replication; }},
    {.key = "value_by_replication", .help = "Value per second in each replication.",
     .kept = [](Run& r) -> Kept { return &r.value_by_replication; }},
    {.key = "notes", .help = "Caveats.", .kept = [](Run& r) -> Kept { return &r.notes; }},
    {.key = "wall_seconds", .help = "Seconds that the simulation took.", .kept = [](Run& r) -> Kept { return &r.wall_seconds; }},
    {.key = "completions_per_second", .help = "Completions simulated per second of running time.",
     .kept = [](Run& r) -> Kept { return &r.completions_per_second; }},
});

constexpr auto kDifferenceFields = std::to_array<ResultField<Difference>>({
    {.key = "policy", .help = "The name of the policy.", .kept = [](Difference& d) -> Kept { return &d.policy; }},
    {.key = "against", .help = "The policy that it is compared with.", .kept = [](Difference& d) -> Kept { return &d.against; }},
    {.key = "throughput", .help = "Of the paired differences.", .kept = [](Difference& d) -> Kept { return &d.throughput; }},
    {.key = "significant", .help = "Whether the interval of the throughput excludes 0.",
     .kept = [](Difference& d) -> Kept { return &d.significant; }},
    {.key = "value", .help = "Of the paired differences.", .kept = [](Difference& d) -> Kept { return &d.value; }},
    {.key = "value_significant", .help = "Whether the interval of the value excludes 0.",
     .kept = [](Difference& d) -> Kept { return &d.value_significant; }},
});
// clang-format on

}  // namespace

std::span<const ResultField<SimulationResult>> simulation_fields() noexcept { return kFields; }
std::span<const ResultField<Difference>> difference_fields() noexcept { return kDifferenceFields; }

std::string simulation_json(const System& system, const SimulationResult& result) {
  Json object = json_object(simulation_fields(), system, result);
  object.add("tasks", Json::names(system.tasks()));
  object.add("resources", Json::names(system.resources()));
  return object.text();
}

std::string comparison_json(const System& system, const Comparison& comparison, const Solution* best) {
  return Json::object(
             {{"tasks", Json::names(system.tasks())},
              {"resources", Json::names(system.resources())},
              {"policies", json_array(simulation_fields(), system, comparison.policies)},
              {"differences", json_array(difference_fields(), system, comparison.differences)},
              {"best_assignment_throughput", best == nullptr ? Json() : Json(best->performance.throughput)},
              {"best_assignment_value", best == nullptr ? Json() : Json(best->performance.value)},
              {"best_assignment_proven", best != nullptr && best->proven_optimal}})
      .text();
}

}  // namespace allot
