#include "allot/check/plan.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "allot/check/detail/machine_reader.hpp"
#include "allot/check/detail/value.hpp"

namespace allot::check {
namespace {

using detail::Json;
using detail::kMostTasks;
using detail::Value;

constexpr auto kObjectives = std::to_array<std::pair<std::string_view, PlanObjective>>({
    {"throughput", PlanObjective::kValue},
    {"headroom", PlanObjective::kHeadroom},
    {"priority", PlanObjective::kShares},
    {"max-min", PlanObjective::kLeast},
    {"proportional", PlanObjective::kLogarithms},
    {"energy", PlanObjective::kPower},
});

double number(const Value& value) { return value.number(); }
double not_negative(const Value& value) { return value.not_negative(); }
double positive(const Value& value) {
  const double number = value.number();
  if (!(number > 0)) value.fail("must be above 0");
  return number;
}

std::size_t index(const Value& value, std::size_t size) {
  return static_cast<std::size_t>(value.whole(0, static_cast<std::int64_t>(size) - 1));
}

Group read_group(const Value& value, std::size_t types) {
  Group group;
  group.name = value["name"].text();
  group.count = value["count"].whole(1, kMostTasks);
  group.sequence = value["sequence"].list([&](const Value& entry) { return index(entry, types); });
  if (group.sequence.empty()) value["sequence"].fail("must not be empty");
  group.worth = value["worth"].not_negative();
  if (value.has("max_response")) group.max_response = positive(value["max_response"]);
  return group;
}

/// The default: one server of the resource.
auto default_needs(const Machine& machine) {
  std::vector<std::vector<std::vector<Need>>> needs;
  for (const auto& row : machine.rates) {
    needs.emplace_back(row.size());
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (row[j] > 0) needs.back()[j].push_back({j, 1});
    }
  }
  return needs;
}

auto read_needs(const Value& value, const PlanMachine& plan) {
  const std::size_t width = plan.machine.resources.size();
  const auto one = [&](const Value& entry) {
    return Need{index(entry["capacity"], plan.capacity_count()), positive(entry["amount"])};
  };
  auto needs = value.list(
      [&](const Value& row) { return row.list([&](const Value& pair) { return pair.list(one); }, width); },
      plan.machine.tasks.size());
  for (std::size_t i = 0; i < needs.size(); ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      const bool runs = plan.machine.rates[i][j] > 0;
      const bool takes_servers = std::any_of(needs[i][j].begin(), needs[i][j].end(),
                                             [j](const Need& need) { return need.capacity == j; });
      if (runs && !takes_servers) value.fail("a task must take servers of the resource where it runs");
      if (!runs && !needs[i][j].empty()) value.fail("a task takes something where it cannot run");
    }
  }
  return needs;
}

PlanMachine read_plan_machine(const Value& value) {
  PlanMachine plan;
  plan.machine = detail::read_machine(value);
  const std::size_t types = plan.machine.tasks.size();
  const std::size_t resources = plan.machine.resources.size();
  plan.idle_power = value["idle_power"].list(not_negative, resources);
  plan.power =
      value["power"].list([&](const Value& row) { return row.list(not_negative, resources); }, types);
  plan.max_response = value["tasks"].list([](const Value& task) {
    return task.has("max_response") ? std::optional(positive(task["max_response"])) : std::nullopt;
  });
  if (value.has("capacities")) {
    plan.capacities = value["capacities"].list([](const Value& entry) {
      return Capacity{entry["name"].text(), positive(entry["amount"]), entry["shared"].truth()};
    });
  }
  plan.needs = value.has("needs") ? read_needs(value["needs"], plan) : default_needs(plan.machine);
  if (value.has("threads"))
    plan.groups = value["threads"].list([&](const Value& entry) { return read_group(entry, types); });
  if (value.has("arrivals")) {
    plan.arrivals = value["arrivals"].list([&](const Value& entry) {
      return Stream{index(entry["task"], types), entry["rate"].not_negative()};
    });
  }
  if (value.has("power_cap")) plan.power_cap = value["power_cap"].not_negative();
  return plan;
}

PlanLimit read_limit(const Value& value, const PlanMachine& machine) {
  const std::string kind = value["limit"].text();
  const auto task = [&] { return index(value["task"], machine.machine.tasks.size()); };
  if (kind == "floor") return {PlanLimit::Kind::kFloor, task()};
  if (kind == "max_response" && value.has("task")) return {PlanLimit::Kind::kResponse, task()};
  if (kind == "max_response")
    return {PlanLimit::Kind::kRoundResponse, index(value["group"], machine.groups.size())};
  if (kind == "power_cap") return {PlanLimit::Kind::kPower, 0};
  if (kind != "arrivals") value["limit"].fail("must be 'floor', 'max_response', 'power_cap' or 'arrivals'");
  return {PlanLimit::Kind::kArrivals, 0};
}

PlanService read_service(const Value& value, const PlanMachine& machine) {
  const std::size_t types = machine.machine.tasks.size();
  const auto row = [&](const Value& entry) {
    return entry.list(not_negative, machine.machine.resources.size());
  };
  PlanService service;
  service.tasks = value["tasks"].list(row, types);
  service.groups = value["threads"].list([&](const Value& entry) { return entry.list(row, types); },
                                         machine.groups.size());
  service.arrivals = value["arrivals"].list(row, machine.arrivals.size());
  return service;
}

PlanClaim read_plan_claim(const Value& value, const PlanCertificate& certificate) {
  PlanClaim claim;
  if (value.has("infeasible")) claim.infeasible = value["infeasible"].truth();
  if (claim.infeasible) {
    claim.conflict =
        value["conflict"].list([&](const Value& entry) { return read_limit(entry, certificate.machine); });
    return claim;
  }
  const bool has_service = value.has("service");
  if (has_service) claim.service = read_service(value["service"], certificate.machine);
  const bool is_power = certificate.objective == PlanObjective::kPower;
  if (has_service || is_power) claim.at_least = value["at_least"].number();
  if (has_service || !is_power) claim.at_most = value["at_most"].number();
  if (is_power) claim.value = value["value"].not_negative();
  return claim;
}

PlanPrices read_plan_prices(const Value& value, const PlanMachine& machine) {
  const std::size_t types = machine.machine.tasks.size();
  const std::size_t groups = machine.groups.size();
  const auto numbers = [&](const char* key, std::size_t size, double (*read)(const Value&)) {
    return value.has(key) ? value[key].list(read, size) : std::vector<double>(size, 0.0);
  };
  PlanPrices prices;
  prices.units = numbers("units", machine.capacity_count(), not_negative);
  prices.threads = numbers("threads", types, not_negative);
  prices.group_threads = numbers("group_threads", groups, not_negative);
  prices.stages = Matrix(groups, std::vector<double>(types, 0.0));
  if (value.has("stages"))
    prices.stages = value["stages"].list([&](const Value& row) { return row.list(number, types); }, groups);
  prices.streams = numbers("streams", machine.arrivals.size(), number);
  prices.floors = numbers("floors", types, not_negative);
  prices.responses = numbers("responses", types, not_negative);
  prices.group_responses = numbers("group_responses", groups, not_negative);
  if (value.has("power")) prices.power = value["power"].not_negative();
  if (value.has("arrivals")) prices.arrivals = value["arrivals"].number();
  prices.shares = numbers("shares", types, number);
  prices.levels = numbers("levels", types, not_negative);
  prices.group_levels = numbers("group_levels", groups, not_negative);
  if (value.has("value")) prices.value = value["value"].not_negative();
  prices.tangents = numbers("tangents", types, not_negative);
  prices.group_tangents = numbers("group_tangents", groups, not_negative);
  return prices;
}

}  // namespace

std::string PlanMachine::name_of_capacity(std::size_t capacity) const {
  const std::size_t width = machine.resources.size();
  if (capacity < width) return "servers of '" + machine.resources[capacity].name + "'";
  return "'" + capacities[capacity - width].name + "'";
}

bool PlanMachine::has_threads() const {
  return !groups.empty() || std::any_of(machine.tasks.begin(), machine.tasks.end(),
                                        [](const Task& task) { return task.count > 0; });
}

bool is_about_a_plan(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  return json.is_object() && json.contains("service") && json["service"] == "planned";
}

ReadPlanCertificate read_plan_certificate(std::string_view text) {
  return detail::read_text<ReadPlanCertificate>(text, [](const Value& root) {
    if (root["service"].text() != "planned") root["service"].fail("must be 'planned'");
    PlanCertificate certificate;
    const std::string objective = root["objective"].text();
    const auto known = std::find_if(kObjectives.begin(), kObjectives.end(),
                                    [&](const auto& row) { return row.first == objective; });
    if (known == kObjectives.end()) root["objective"].fail("is no objective of planned service");
    certificate.objective = known->second;
    certificate.machine = read_plan_machine(root["system"]);
    certificate.claim = read_plan_claim(root["claim"], certificate);
    certificate.prices = read_plan_prices(root["prices"], certificate.machine);
    return certificate;
  });
}

}  // namespace allot::check
