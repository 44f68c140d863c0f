#include "integrations/starpu/statistics.hpp"

#include <filesystem>
#include <type_traits>
#include <utility>

#include "allot/base/own_file.hpp"
#include "allot/format/json.hpp"

namespace allot::starpu {
namespace {

Json rate_json(const RateEstimate& rate) {
  return Json::object({{"seconds", rate.seconds},
                       {"seconds_low", rate.seconds_low},
                       {"seconds_high", rate.seconds_high},
                       {"rate", rate.rate},
                       {"completions", rate.completions},
                       {"weight", rate.weight},
                       {"outliers", rate.outliers},
                       {"resets", rate.resets}});
}

/// Row by row, as far as there are values.
template <typename Values>
Json matrix(const Values& values, std::size_t resources) {
  const PairSpan pairs(values, resources);
  Json::Array rows;
  for (const TaskType i : IdRange<TaskType>(pairs.types())) {
    Json::Array row;
    for (const auto& value : pairs.row(i)) {
      if constexpr (std::is_same_v<decltype(value), const RateEstimate&>) {
        row.push_back(rate_json(value));
      } else {
        row.emplace_back(value);
      }
    }
    rows.emplace_back(std::move(row));
  }
  return rows;
}

Json plan_json(const Plan& plan) {
  const std::size_t resources = plan.system.resource_count();
  Json::Array counts;
  for (const TaskType i : plan.system.types()) counts.emplace_back(plan.system.count(i));
  Json json;
  json.add("number", plan.number);
  json.add("counts", std::move(counts));
  if (plan.target) json.add("target", *plan.target);
  if (!plan.time_shares.empty()) json.add("time_shares", matrix(plan.time_shares, resources));
  if (!plan.service.empty()) json.add("service", matrix(plan.service, resources));
  if (plan.predicted) json.add("predicted_throughput", plan.predicted->throughput);
  if (plan.predicted && plan.system.has_worths()) json.add("predicted_value", plan.predicted->value);
  if (!plan.note.empty()) json.add("note", plan.note);
  return json;
}

/// The parts that each plan gave to the pairs, and the task times that it was made with.
Json plans_json(const Report& report) {
  Json::Array plans;
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
    plans.push_back(Json::object({{"number", plan->number},
                                  {"seconds", seconds},
                                  {"parts", matrix(parts, system.resource_count())},
                                  {"task_seconds", matrix(times, system.resource_count())}}));
  }
  return plans;
}

/// The needs besides workers in a plan.
Json needs_json(const System& system) {
  Json::Array needs;
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      for (const Draw& draw : system.needs(i, j)) {
        if (system.is_servers(draw.capacity)) continue;
        needs.push_back(Json::object({{"type", system.task(i).name},
                                      {"resource", system.resource(j).name},
                                      {"capacity", system.capacity_name(draw.capacity)},
                                      {"amount", draw.amount}}));
      }
    }
  }
  return needs;
}

}  // namespace

std::string report_json(const Report& report) {
  const std::size_t resources = report.resources.size();
  Json json;
  json.add("policy", report.policy);
  json.add("context", report.context);
  json.add("types", report.types);
  json.add("resources", report.resources);
  json.add("workers", report.workers);
  if (!report.shares.empty()) json.add("shares", report.shares);
  if (report.plan) json.add("plan", plan_json(*report.plan));
  if (!report.plans.empty()) json.add("plans", plans_json(report));
  if (report.plan && !report.plan->system.capacities().empty()) {
    Json::Array capacities;
    for (const Capacity& capacity : report.plan->system.capacities())
      capacities.push_back(
          Json::object({{"name", capacity.name}, {"amount", capacity.amount}, {"shared", capacity.shared}}));
    json.add("capacities", std::move(capacities));
    json.add("needs", needs_json(report.plan->system));
  }
  json.add("rates", matrix(report.rates, resources));
  const DispatchStatistics& seen = report.seen;
  json.add("placements", matrix(report.placements, resources));
  json.add("completions", matrix(seen.completions, resources));
  json.add("in_flight", matrix(seen.in_flight, resources));
  using Entry = std::pair<const char*, Json>;
  for (const auto& [key, value] :
       {Entry{"seconds", seen.seconds}, Entry{"placed", seen.placed}, Entry{"ended", seen.ended},
        Entry{"throughput", seen.throughput}, Entry{"mean_response", seen.mean_response},
        Entry{"mean_in_flight", seen.mean_in_flight}, Entry{"little", seen.little},
        Entry{"explored", seen.explored}, Entry{"unseen", seen.unseen}, Entry{"solves", report.solves},
        Entry{"failed_solves", report.failed_solves}, Entry{"planning_seconds", report.planning_seconds},
        Entry{"moved", report.moved}, Entry{"greedy", report.greedy}, Entry{"bound", report.bound},
        Entry{"closed", report.closed}, Entry{"parked", report.parked},
        Entry{"unfinished", report.unfinished}, Entry{"left_open", report.left_open}})
    json.add(key, value);
  return json.text();
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
  // Open MPI, then MPICH and its derivatives, then Slurm.
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
