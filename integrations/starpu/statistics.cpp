#include "integrations/starpu/statistics.hpp"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "allot/base/own_file.hpp"

namespace allot::starpu {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity.
Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json rate_json(const RateEstimate& rate) {
  return {{"seconds", finite(rate.seconds)},
          {"seconds_low", finite(rate.seconds_low)},
          {"seconds_high", finite(rate.seconds_high)},
          {"rate", finite(rate.rate)},
          {"completions", rate.completions},
          {"weight", finite(rate.weight)},
          {"outliers", rate.outliers},
          {"resets", rate.resets}};
}

/// Row after row, as far as there are values.
template <typename Values>
Json matrix(const Values& values, std::size_t resources) {
  const PairSpan pairs(values, resources);
  Json rows = Json::array();
  for (const TaskType i : IdRange<TaskType>(pairs.types())) {
    Json row = Json::array();
    for (const auto& value : pairs.row(i)) {
      if constexpr (std::is_same_v<decltype(value), const RateEstimate&>) {
        row.push_back(rate_json(value));
      } else {
        row.push_back(value);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json plan_json(const Plan& plan) {
  const std::size_t resources = plan.system.resource_count();
  Json json = {{"number", plan.number}};
  std::vector<Count> counts;
  for (const TaskType i : plan.system.types()) counts.push_back(plan.system.count(i));
  json["counts"] = counts;
  if (plan.target) json["target"] = matrix(plan.target->values(), resources);
  if (!plan.time_shares.empty()) json["time_shares"] = matrix(plan.time_shares, resources);
  if (!plan.service.empty()) json["service"] = matrix(plan.service, resources);
  if (plan.predicted) json["predicted_throughput"] = finite(plan.predicted->throughput);
  if (plan.predicted && plan.system.has_worths()) json["predicted_value"] = finite(plan.predicted->value);
  if (!plan.note.empty()) json["note"] = plan.note;
  return json;
}

/// What each plan gave to the pairs, and the times of tasks that it was made with.
Json plans_json(const Report& report) {
  Json plans = Json::array();
  for (const auto& [seconds, plan] : report.plans) {
    const System& system = plan->system;
    std::vector<double> parts;
    std::vector<double> times;
    for (const TaskType i : system.types()) {
      for (const ResourceId j : system.resource_ids()) {
        parts.push_back(plan->part(i, j).value_or(0));
        times.push_back(system.seconds_per_task(i, j));
      }
    }
    plans.push_back({{"number", plan->number},
                     {"seconds", seconds},
                     {"parts", matrix(parts, system.resource_count())},
                     {"task_seconds", matrix(times, system.resource_count())}});
  }
  return plans;
}

/// What a plan reckons with besides workers.
Json needs_json(const System& system) {
  Json needs = Json::array();
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      for (const Draw& draw : system.needs(i, j)) {
        if (system.is_servers(draw.capacity)) continue;
        needs.push_back({{"type", system.task(i).name},
                         {"resource", system.resource(j).name},
                         {"capacity", system.capacity_name(draw.capacity)},
                         {"amount", draw.amount}});
      }
    }
  }
  return needs;
}

}  // namespace

std::string report_json(const Report& report) {
  const std::size_t resources = report.resources.size();
  Json json = {{"policy", report.policy},
               {"context", report.context},
               {"types", report.types},
               {"resources", report.resources},
               {"workers", report.workers}};
  if (!report.shares.empty()) json["shares"] = report.shares;
  if (report.plan) json["plan"] = plan_json(*report.plan);
  if (!report.plans.empty()) json["plans"] = plans_json(report);
  if (report.plan && !report.plan->system.capacities().empty()) {
    Json capacities = Json::array();
    for (const Capacity& capacity : report.plan->system.capacities())
      capacities.push_back(
          {{"name", capacity.name}, {"amount", capacity.amount}, {"shared", capacity.shared}});
    json["capacities"] = std::move(capacities);
    json["needs"] = needs_json(report.plan->system);
  }
  json["rates"] = matrix(report.rates, resources);
  const DispatchStatistics& seen = report.seen;
  json["placements"] = matrix(report.placements, resources);
  json["completions"] = matrix(seen.completions, resources);
  json["in_flight"] = matrix(seen.in_flight, resources);
  using Entry = std::pair<const char*, Json>;
  for (const auto& [key, value] :
       {Entry{"seconds", seen.seconds}, Entry{"placed", seen.placed}, Entry{"ended", seen.ended},
        Entry{"throughput", seen.throughput}, Entry{"mean_response", seen.mean_response},
        Entry{"mean_in_flight", seen.mean_in_flight}, Entry{"little", finite(seen.little)},
        Entry{"explored", seen.explored}, Entry{"unseen", seen.unseen}, Entry{"solves", report.solves},
        Entry{"failed_solves", report.failed_solves}, Entry{"planning_seconds", report.planning_seconds},
        Entry{"moved", report.moved}, Entry{"greedy", report.greedy}, Entry{"bound", report.bound},
        Entry{"closed", report.closed}, Entry{"parked", report.parked},
        Entry{"unfinished", report.unfinished}, Entry{"left_open", report.left_open}})
    json[key] = value;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string report_path(const std::string& name, const Environment& environment, int process,
                        unsigned context, unsigned time) {
  std::string text = name;
  for (std::size_t at = text.find("%p"); at != std::string::npos; at = text.find("%p", at)) {
    const std::string id = std::to_string(process);
    text.replace(at, 2, id);
    at += id.size();
  }
  std::string tags;
  // Open MPI, then MPICH and its relatives, then Slurm.
  for (const auto& [rank, size] :
       {std::pair{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, std::pair{"PMI_RANK", "PMI_SIZE"},
        std::pair{"SLURM_PROCID", "SLURM_NTASKS"}}) {
    const char* const mine = environment(rank);
    const char* const all = environment(size);
    if (mine == nullptr || all == nullptr) continue;
    if (std::string(all) != "1") tags += ".rank" + std::string(mine);
    break;
  }
  if (context != 0) tags += ".ctx" + std::to_string(context);
  if (time > 1) tags += "." + std::to_string(time);
  if (tags.empty()) return text;
  const std::filesystem::path path(text);
  return (path.parent_path() / (path.stem().string() + tags + path.extension().string())).string();
}

bool write_file(const std::string& path, const std::string& text) {
  return !replace_file(path, text, Readers::kEveryone);
}

}  // namespace allot::starpu
