#include "apps/allot/commands/check_plan.hpp"

#include <algorithm>
#include <utility>

#include "allot/format/json.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

using check::PlanCertificate;
using check::PlanClaim;
using check::PlanLimit;
using check::PlanObjective;

check::PlanMachine plan_machine_of(const Scenario& scenario) {
  const System& system = scenario.system;
  check::PlanMachine plan;
  plan.machine = machine_of(system);
  for (const Resource& resource : system.resources()) plan.idle_power.push_back(resource.idle_power);
  for (const TaskType i : system.types()) {
    const TaskClass& task = system.task(i);
    plan.machine.tasks[index(i)].floor = task.floor.value_or(0);  // without the floor that follows from
                                                                  // max_response
    plan.max_response.push_back(task.max_response);
    plan.power.emplace_back();
    plan.needs.emplace_back(system.resource_count());
    for (const ResourceId j : system.resource_ids()) {
      for (const Draw& draw : system.needs(i, j))
        plan.needs.back()[index(j)].push_back({index(draw.capacity), draw.amount});
      plan.power.back().push_back(system.power(i, j));
    }
  }
  for (const Capacity& capacity : system.capacities())
    plan.capacities.push_back({capacity.name, capacity.amount, capacity.shared});
  for (const ThreadGroup& group : scenario.threads) {
    check::Group& other = plan.groups.emplace_back();
    other = {group.name, group.count, {}, group.worth, group.max_response};
    for (const TaskType i : group.sequence) other.sequence.push_back(index(i));
  }
  for (const Arrivals& stream : scenario.arrivals) plan.arrivals.push_back({index(stream.task), stream.rate});
  plan.power_cap = scenario.power_cap;
  return plan;
}

std::string unit_of(const PlanCertificate& certificate) {
  const auto& tasks = certificate.machine.machine.tasks;
  switch (certificate.objective) {
    case PlanObjective::kHeadroom:
      return " times the arrivals";
    case PlanObjective::kShares:
      return " tasks/s";
    case PlanObjective::kLeast:
      return " tasks/s per unit of priority, for the type that has least";
    case PlanObjective::kLogarithms:
      return " as the sum of priority times log of completions";
    case PlanObjective::kPower:
      return " W";
    case PlanObjective::kValue:
      break;
  }
  const bool has_worths =
      !certificate.machine.groups.empty() ||
      std::any_of(tasks.begin(), tasks.end(), [](const auto& task) { return task.worth != 1; });
  return has_worths ? " of value per second" : " tasks/s";
}

std::string name_of(const PlanCertificate& certificate, const PlanLimit& limit) {
  const auto task = [&] { return in_quotes(certificate.machine.machine.tasks[limit.at].name); };
  switch (limit.kind) {
    case PlanLimit::Kind::kFloor:
      return "the floor of " + task();
    case PlanLimit::Kind::kResponse:
      return "the max_response of " + task();
    case PlanLimit::Kind::kRoundResponse: {
      const std::string& name = certificate.machine.groups[limit.at].name;
      return "the max_response of " +
             (name.empty() ? "group " + std::to_string(limit.at + 1) + " of threads" : in_quotes(name));
    }
    case PlanLimit::Kind::kPower:
      return "the power_cap";
    case PlanLimit::Kind::kArrivals:
      break;
  }
  return "the arrivals";
}

const char* kind_of(const PlanCertificate& certificate, const check::Verdict& verdict) {
  if (certificate.claim.infeasible) return "infeasible";
  if (!certificate.claim.service) return "bound";
  return verdict.optimal ? "optimal" : "gap";
}

/// Relative to the better end; for a sum of logarithms, the difference.
double gap_of(const PlanCertificate& certificate) {
  const PlanClaim& claim = certificate.claim;
  const double gap = std::max(0.0, claim.at_most - claim.at_least);
  if (certificate.objective == PlanObjective::kLogarithms) return gap;
  return claim.at_most > 0 ? gap / claim.at_most : 0.0;
}

std::string no_plan(const PlanCertificate& certificate) {
  const PlanClaim& claim = certificate.claim;
  std::string list;
  for (std::size_t at = 0; at < claim.conflict.size(); ++at) {
    list += (at == 0                           ? ""
             : at + 1 == claim.conflict.size() ? " and "
                                               : ", ") +
            name_of(certificate, claim.conflict[at]);
  }
  if (list.empty()) return "Accepted: there is no plan.";
  const std::string shares =
      certificate.objective == PlanObjective::kShares ? " while the priorities are matched" : "";
  return "Accepted: no policy can meet " + list + shares + ".";
}

}  // namespace

check::Machine machine_of(const System& system) {
  check::Machine machine;
  for (const Resource& resource : system.resources()) {
    machine.resources.push_back(
        {resource.name, resource.servers, resource.discipline == Discipline::kFcfs, resource.min_depth});
  }
  for (const TaskType i : system.types()) {
    machine.tasks.push_back(
        {system.task(i).name, system.count(i), system.floor(i), system.worth(i), system.task(i).priority});
    machine.rates.emplace_back();
    for (const ResourceId j : system.resource_ids()) machine.rates.back().push_back(system.rate(i, j));
  }
  return machine;
}

std::string difference_of_plans(const PlanCertificate& certificate, const Scenario& wanted) {
  if (!wanted.population.empty()) return "there are no certificates for counts that change over time";
  const check::PlanMachine meant = plan_machine_of(wanted);
  const check::PlanMachine& claimed = certificate.machine;
  if (claimed == meant) return {};
  const char* where = claimed.machine.resources != meant.machine.resources ? "resources"
                      : claimed.machine.tasks != meant.machine.tasks       ? "task types"
                      : claimed.machine.rates != meant.machine.rates       ? "rates"
                      : claimed.capacities != meant.capacities             ? "capacities"
                      : claimed.needs != meant.needs                       ? "needs"
                      : claimed.groups != meant.groups                     ? "threads"
                      : claimed.arrivals != meant.arrivals                 ? "arrivals"
                                                                           : "limits or powers";
  return std::string("the certificate is not about the system of the scenario: their ") + where + " differ";
}

std::string accepted_plan_text(const PlanCertificate& certificate, const check::Verdict& verdict) {
  const PlanClaim& claim = certificate.claim;
  if (claim.infeasible) return no_plan(certificate);
  const std::string unit = unit_of(certificate);
  if (certificate.objective == PlanObjective::kPower) {
    const std::string who = "no policy that keeps a value of " + number(claim.value) + " takes less";
    if (!claim.service) return "Accepted: " + who + " than " + number(claim.at_least, 10) + " W.";
    if (verdict.optimal)
      return "Accepted: optimal. The plan takes " + number(claim.at_most) + " W, and " + who + ".";
    return "Accepted: the plan takes at most " + number_above(claim.at_most, 10) + " W, and " + who +
           " than " + number(claim.at_least, 10) + " W.";
  }
  if (!claim.service)
    return "Accepted: no policy reaches more than " + number_above(claim.at_most, 10) + unit + ".";
  if (verdict.optimal)
    return "Accepted: optimal. The plan reaches " + number(claim.at_least) + unit +
           ", and no policy reaches more.";
  return "Accepted: the plan reaches at least " + number(claim.at_least, 10) + unit +
         ", and no policy reaches more than " + number_above(claim.at_most, 10) + ".";
}

std::string plan_verdict_json(const PlanCertificate& certificate, const check::Verdict& verdict) {
  static constexpr const char* kNames[] = {"throughput", "headroom",     "priority",
                                           "max-min",    "proportional", "energy"};
  const PlanClaim& claim = certificate.claim;
  const bool is_power = certificate.objective == PlanObjective::kPower;
  const bool has_least = !claim.infeasible && (claim.service || is_power);
  const bool has_most = !claim.infeasible && (claim.service || !is_power);
  Json::Array conflict;
  for (const PlanLimit& limit : claim.conflict) conflict.emplace_back(name_of(certificate, limit));
  return Json::object({{"accepted", verdict.accepted},
                       {"reason", verdict.accepted ? Json() : Json(verdict.reason)},
                       {"service", "planned"},
                       {"objective", kNames[static_cast<std::size_t>(certificate.objective)]},
                       {"claim", kind_of(certificate, verdict)},
                       {"at_least", has_least ? Json(claim.at_least) : Json()},
                       {"at_most", has_most ? Json(claim.at_most) : Json()},
                       {"gap", claim.service ? Json(gap_of(certificate)) : Json()},
                       {"conflict", std::move(conflict)},
                       {"parts", verdict.parts}})
      .text();
}

}  // namespace allot::app
