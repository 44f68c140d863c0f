// No false proofs of plans: what `planned` proves, against a linear program of the tests' own, over every
// feature and extreme numbers; every proof as a certificate that `check` accepts; and certificates that were
// tampered with.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "allot/check/check.hpp"
#include "allot/format/scenario_reader.hpp"
#include "allot/solve/plan_certificate.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/service_witness.hpp"

namespace allot::plan_proofs_test {
namespace {

using testing::random_scenario;
using testing::witness_of;
using Json = nlohmann::ordered_json;

constexpr Objective kObjectives[] = {Objective::kThroughput, Objective::kPriority, Objective::kMaxMin,
                                     Objective::kProportional, Objective::kEnergy};

Solution proven(const Problem& problem) {
  SolveOptions options;
  options.keep_proof = true;
  return solve(*find_solver("planned"), problem, options);
}

check::Verdict verdict_on(const std::string& text) {
  const check::ReadPlanCertificate read = check::read_plan_certificate(text);
  if (!read.certificate) return {false, "unreadable: " + read.problem};
  return check::check(*read.certificate);
}

bool fits(const Scenario& scenario, Objective objective) {
  if (objective == Objective::kPriority && scenario.system.shares().empty()) return false;
  const bool has_threads = scenario.system.population() > 0 || !scenario.threads.empty();
  return has_threads || objective == Objective::kThroughput;
}

/// Rates, worths, watts and counts many powers of ten apart.
Scenario extreme_scenario(std::uint64_t seed) {
  Scenario scenario = random_scenario(seed);
  RandomStream random(seed, 0xe7);
  const auto stretch = [&](double decades) { return std::pow(10.0, random.uniform(-decades, decades)); };
  const System& system = scenario.system;
  std::vector<TaskClass> tasks = system.tasks();
  std::vector<Resource> resources = system.resources();
  std::vector<double> rates;
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resource_ids())
      rates.push_back(system.rate(i, j) * (random.below(3) == 0 ? stretch(12) : 1));
    TaskClass& task = tasks[index(i)];
    if (scenario.threads.empty() && random.below(2) == 0) task.worth *= stretch(6);
    if (task.count > 0 && random.below(4) == 0) task.count *= 100'000;
    if (task.floor && random.below(3) == 0) *task.floor *= stretch(6);
    for (Need& need : task.needs) {
      if (random.below(4) != 0) continue;
      need.amount *= system.is_shared(need.capacity) ? stretch(4) : std::pow(10.0, -random.uniform(0, 4));
    }
  }
  for (Resource& resource : resources) {
    if (random.below(4) == 0) resource.servers *= 1000;
    if (random.below(4) == 0) resource.idle_power *= stretch(3);
  }
  scenario.system =
      System(std::move(resources), std::move(tasks),
             Rates(system.type_count(), system.resource_count(), std::move(rates)), system.capacities());
  return scenario;
}

struct Tally {
  int plans = 0;
  int optimal = 0;
  int bounds = 0;
  int conflicts = 0;
  int without = 0;
  int unlike = 0;  // plans that solver and checker call optimal and not optimal
};

void expect_accepted(const Problem& problem, const Solution& found, Tally& tally) {
  if (found.plan_proof == nullptr) {
    ++tally.without;
    return;
  }
  const std::string text = plan_certificate_json(problem, found);
  const check::Verdict verdict = verdict_on(text);
  ASSERT_TRUE(verdict.accepted) << verdict.reason << "\n" << text;
  ASSERT_EQ(found.plan_proof->bound.has_value(), found.outcome != Outcome::kInfeasible);
  if (!found.plan_proof->bound) {
    ++tally.conflicts;
    EXPECT_EQ(found.plan_proof->conflict.size(), found.plan.conflict.size());
    return;
  }
  ++(found.plan_proof->service ? tally.plans : tally.bounds);
  tally.optimal += verdict.optimal ? 1 : 0;
  tally.unlike += found.plan_proof->service && verdict.optimal != found.proven_optimal ? 1 : 0;
}

TEST(PlanProofs, OfEveryObjectiveAreAcceptedWhateverTheScenario) {
  Tally usual;
  Tally extreme;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    for (const bool is_extreme : {false, true}) {
      const Scenario scenario = is_extreme ? extreme_scenario(seed) : random_scenario(seed);
      for (const Objective objective : kObjectives) {
        if (!fits(scenario, objective)) continue;
        SCOPED_TRACE(::testing::Message()
                     << "seed=" << seed << " " << to_string(objective) << (is_extreme ? " extreme" : ""));
        const Problem problem = planned_problem(scenario, objective);
        expect_accepted(problem, proven(problem), is_extreme ? extreme : usual);
        if (HasFailure()) return;
      }
    }
  }
  RecordProperty("plans", usual.plans);
  RecordProperty("bounds", usual.bounds);
  RecordProperty("extreme_plans", extreme.plans);
  RecordProperty("extreme_bounds", extreme.bounds);
  RecordProperty("extreme_without", extreme.without);
  EXPECT_GT(usual.optimal, 1500);
  EXPECT_EQ(usual.unlike, 0);
  EXPECT_LE(usual.bounds, 10);  // a plan that misses a limit by a little more than 1e-9 of it
  EXPECT_GT(usual.conflicts, 200);
  EXPECT_EQ(usual.without, 0);
  EXPECT_GT(extreme.optimal, 900);
  EXPECT_GT(extreme.conflicts, 200);
  EXPECT_LE(extreme.without, 30);  // limits that exclude each other by less than rounding
}

TEST(PlanProofs, BoundsAreNeverBelowTheValueOfAProgramWrittenDownAnew) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const Scenario scenario = random_scenario(seed);
    const Problem problem = planned_problem(scenario, Objective::kThroughput);
    const Solution found = proven(problem);
    if (found.plan_proof == nullptr || found.plan_proof->is_headroom) continue;
    const auto best = witness_of(scenario).value;
    // The witness calls a machine whose idle power is above the cap infeasible, although work may take less.
    if (!best && scenario.power_cap) continue;
    ASSERT_EQ(best.has_value(), found.plan_proof->bound.has_value());
    if (!best) continue;
    EXPECT_GE(*found.plan_proof->bound, *best * (1 - 1e-9));
    EXPECT_LE(found.plan_proof->reached, *best * (1 + 1e-8) + 1e-12);
  }
}

/// What is called optimal keeps what the file asks for, counted anew from the plan.
TEST(PlanProofs, WhatIsProvenOptimalKeepsEveryLimitHoweverFarApartTheNumbersLie) {
  int proven_plans = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Scenario scenario = extreme_scenario(seed);
    const System& system = scenario.system;
    for (const Objective objective : kObjectives) {
      if (!fits(scenario, objective)) continue;
      SCOPED_TRACE(::testing::Message() << "seed=" << seed << " " << to_string(objective));
      const Solution found = proven(planned_problem(scenario, objective));
      if (!found.proven_optimal) continue;
      ++proven_plans;
      double watts = 0;
      double taken = 0;
      double idle = 0;
      std::vector<double> used(system.capacity_count(), 0.0);
      for (const ResourceId j : system.resource_ids())
        idle += system.resource(j).idle_power * static_cast<double>(system.resource(j).servers);
      for (const TaskType i : system.types()) {
        double completed = 0;
        for (const ResourceId j : system.resources_for(i)) {
          const double x = found.time_shares[index(i) * system.resource_count() + index(j)];
          completed += x * system.rate(i, j);
          const double more =
              x * system.servers_taken(i, j) * (system.power(i, j) - system.resource(j).idle_power);
          for (const Draw& draw : system.needs(i, j)) used[index(draw.capacity)] += x * draw.amount;
          watts += more;
          taken += std::max(0.0, more);
        }
        EXPECT_GE(completed, system.task(i).floor.value_or(0) * (1 - 1e-8)) << system.task(i).name;
      }
      for (const CapacityId r : system.capacity_ids())
        EXPECT_LE(used[index(r)], system.amount(r) * (1 + 1e-8)) << system.capacity_name(r);
      if (scenario.power_cap) {
        const double left = *scenario.power_cap - idle;
        EXPECT_LE(watts, left + 1e-8 * std::max(std::abs(left), taken) + 1e-12 * idle);
      }
    }
  }
  EXPECT_GT(proven_plans, 500);
}

TEST(PlanProofs, ALimitIsKeptWhoseUnitIsNextToNothing) {
  const auto read = [](const std::string& text) {
    return read_scenario_text(text, FileFormat::kJson, "limits").value();
  };
  const Solution floor = proven(planned_problem(read(R"({"resources": [{"name": "gpu"}], "tasks": [
        {"name": "a", "count": 4, "floor": 1, "rates": {"gpu": 2e9}},
        {"name": "b", "count": 4, "worth": 1e9, "rates": {"gpu": 100}}]})"),
                                                Objective::kThroughput));
  EXPECT_NEAR(floor.performance.throughput_by_task[0], 1, 1e-8);
  for (const char* watts : {"1e6", "1e9", "1e12", "1e15"}) {
    SCOPED_TRACE(watts);
    const Solution capped = proven(planned_problem(
        read(std::string(R"({"resources": [{"name": "r0", "servers": 8}, {"name": "r1", "servers": 8}],
          "tasks": [{"name": "a", "count": 8, "rates": {"r0": 28.881, "r1": 0.421},
                     "power": {"r0": 10, "r1": )") +
             watts + R"(}}], "power_cap": 50})"),
        Objective::kThroughput));
    EXPECT_LE(capped.plan.mean_power, 50 * (1 + 1e-9));
    EXPECT_NEAR(capped.performance.value, 5 * 28.881, 1e-6);
  }
}

TEST(PlanProofs, OfConflictsAtTheLoadWithNothingButArrivalsAreAccepted) {
  for (const char* limit : {"floor = 10\n", ""}) {
    const auto scenario =
        read_scenario_text(std::string(*limit == 0 ? "power_cap = 30\n" : "") +
                               "[[resources]]\nname = \"cpu\"\nservers = 2\nidle_power = 20\npower = 5\n"
                               "[[tasks]]\nname = \"a\"\nrates = { cpu = 10.0 }\n" +
                               limit + "[[arrivals]]\ntask = \"a\"\nrate = 1\n",
                           FileFormat::kToml, "open");
    ASSERT_TRUE(scenario.has_value());
    const Problem problem = planned_problem(*scenario, Objective::kThroughput);
    const Solution found = proven(problem);
    ASSERT_EQ(found.outcome, Outcome::kInfeasible);
    ASSERT_NE(found.plan_proof, nullptr);
    const std::string text = plan_certificate_json(problem, found);
    EXPECT_TRUE(verdict_on(text).accepted) << verdict_on(text).reason << "\n" << text;
  }
}

// ---- tampering

Scenario scenario_of(const check::PlanMachine& plan) {
  std::vector<Resource> resources;
  for (std::size_t j = 0; j < plan.machine.resources.size(); ++j) {
    const check::Resource& r = plan.machine.resources[j];
    resources.push_back({.name = r.name,
                         .servers = r.servers,
                         .discipline = r.fcfs ? Discipline::kFcfs : Discipline::kPs,
                         .min_depth = r.min_depth,
                         .idle_power = plan.idle_power[j]});
  }
  std::vector<TaskClass> tasks;
  std::vector<double> rates;
  for (std::size_t i = 0; i < plan.machine.tasks.size(); ++i) {
    const check::Task& t = plan.machine.tasks[i];
    TaskClass task{
        .name = t.name, .count = t.count, .priority = t.priority, .floor = t.floor, .worth = t.worth};
    task.max_response = plan.max_response[i];
    for (std::size_t j = 0; j < resources.size(); ++j) {
      if (plan.machine.rates[i][j] > 0) task.power.push_back({resource_id(j), plan.power[i][j]});
      for (const check::Need& need : plan.needs[i][j])
        task.needs.push_back({resource_id(j), capacity_id(need.capacity), need.amount});
    }
    tasks.push_back(std::move(task));
    rates.insert(rates.end(), plan.machine.rates[i].begin(), plan.machine.rates[i].end());
  }
  const std::size_t types = tasks.size();
  const std::size_t width = resources.size();
  std::vector<Capacity> capacities;
  for (const check::Capacity& capacity : plan.capacities)
    capacities.push_back({capacity.name, capacity.amount, capacity.shared});
  Scenario scenario{"",
                    System(std::move(resources), std::move(tasks), Rates(types, width, std::move(rates)),
                           std::move(capacities)),
                    {},
                    {},
                    {},
                    {},
                    {}};
  for (const check::Group& group : plan.groups) {
    ThreadGroup own{group.count, {}, group.worth, group.max_response, group.name};
    for (const std::size_t i : group.sequence) own.sequence.push_back(task_type(i));
    scenario.threads.push_back(std::move(own));
  }
  for (const check::Stream& stream : plan.arrivals)
    scenario.arrivals.push_back({task_type(stream.task), stream.rate});
  scenario.power_cap = plan.power_cap;
  return scenario;
}

constexpr Objective objective_of(check::PlanObjective objective) {
  switch (objective) {
    case check::PlanObjective::kShares:
      return Objective::kPriority;
    case check::PlanObjective::kLeast:
      return Objective::kMaxMin;
    case check::PlanObjective::kLogarithms:
      return Objective::kProportional;
    case check::PlanObjective::kPower:
      return Objective::kEnergy;
    default:
      return Objective::kThroughput;
  }
}

/// Whether what the certificate claims is so, as far as the tests' program and the solver can tell. Plans
/// keep their limits to within 1e-9, so what one reaches may be above the optimum by what that is worth.
bool is_true(const check::PlanCertificate& certificate) {
  std::optional<Scenario> scenario;
  try {
    scenario = scenario_of(certificate.machine);
  } catch (const std::exception&) {
    return true;  // no system at all, about which anything may be said
  }
  const check::PlanClaim& claim = certificate.claim;
  const bool is_value = certificate.objective == check::PlanObjective::kValue;
  if (claim.infeasible && is_value && !scenario->power_cap) return !witness_of(*scenario).value;
  std::optional<Solution> solved;
  try {
    solved = solve(*find_solver("planned"), planned_problem(*scenario, objective_of(certificate.objective)));
  } catch (const std::exception&) {
    return true;
  }
  if (claim.infeasible) return solved->outcome == Outcome::kInfeasible;
  if (solved->outcome == Outcome::kInfeasible) return true;  // of nothing, everything is true
  double best = solved->objective_value;
  if (is_value && !scenario->power_cap) best = witness_of(*scenario).value.value_or(best);
  const double slack = 1e-6 * (std::abs(best) + 1e-6);
  if (certificate.objective == check::PlanObjective::kPower) {
    // The value to keep is the claim's own: what takes less power and keeps as much would be against it.
    Scenario capped = *scenario;
    capped.power_cap = std::min(capped.power_cap.value_or(1e300), claim.at_least * (1 - 1e-6));
    const Solution less = solve(*find_solver("planned"), planned_problem(capped, Objective::kThroughput));
    if (less.outcome == Outcome::kInfeasible) return true;
    double arrivals = 0;
    for (const Arrivals& stream : capped.arrivals) arrivals += capped.system.worth(stream.task) * stream.rate;
    return less.performance.value - arrivals <= claim.value * (1 + 1e-6) + 1e-9;
  }
  return claim.at_most >= best - slack && (!claim.service || claim.at_least <= best + slack);
}

/// Changes one number or one entry somewhere in the document.
void mutate(Json& json, RandomStream& random) {
  Json* at = &json;
  while (at->is_structured() && !at->empty()) {
    if (at->is_array() && random.below(12) == 0) {
      const std::size_t which = random.below(at->size());
      std::swap((*at)[which], (*at)[random.below(at->size())]);
      return;
    }
    auto next = at->begin();
    std::advance(next, static_cast<std::ptrdiff_t>(random.below(at->size())));
    at = &*next;
  }
  if (at->is_number_integer()) {
    *at = at->get<std::int64_t>() + static_cast<std::int64_t>(random.below(5)) - 2;
  } else if (at->is_number()) {
    const double factors[] = {0, -1, 0.5, 0.99, 1.01, 2, 1e6};
    *at = at->get<double>() * factors[random.below(std::size(factors))] + (random.below(8) == 0 ? 0.1 : 0);
  }
}

TEST(PlanProofs, NoTamperedCertificateProvesWhatIsFalse) {
  int mutations = 0;
  int rejected = 0;
  for (std::uint64_t seed = 0; mutations < 4000; ++seed) {
    const Scenario scenario = random_scenario(seed);
    const Objective objective = kObjectives[seed % std::size(kObjectives)];
    if (!fits(scenario, objective)) continue;
    const Problem problem = planned_problem(scenario, objective);
    const Solution found = proven(problem);
    if (found.plan_proof == nullptr) continue;
    const std::string text = plan_certificate_json(problem, found);
    for (std::uint64_t mutation = 0; mutation < 20; ++mutation) {
      SCOPED_TRACE(::testing::Message() << "seed=" << seed << " mutation=" << mutation);
      RandomStream random(seed, mutation);
      Json json = Json::parse(text);
      mutate(json, random);
      const check::ReadPlanCertificate read = check::read_plan_certificate(json.dump());
      ++mutations;
      const bool accepted = read.certificate && check::check(*read.certificate).accepted;
      rejected += accepted ? 0 : 1;
      if (accepted) {
        ASSERT_TRUE(is_true(*read.certificate)) << json.dump();
      }
    }
  }
  EXPECT_GT(rejected, mutations / 4);
}

/// The ends of the claim are as tight as the numbers allow: a little more is refused.
TEST(PlanProofs, AClaimThatIsALittleBetterIsRejected) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Scenario scenario = random_scenario(seed);
    for (const Objective objective : kObjectives) {
      if (!fits(scenario, objective)) continue;
      SCOPED_TRACE(::testing::Message() << "seed=" << seed << " " << to_string(objective));
      const Problem problem = planned_problem(scenario, objective);
      const Solution found = proven(problem);
      if (found.plan_proof == nullptr || (found.plan_proof->bound && !found.plan_proof->service)) continue;
      const Json whole = Json::parse(plan_certificate_json(problem, found));
      if (!found.plan_proof->bound) {
        Json blamed = whole;
        blamed["claim"]["conflict"].erase(0);
        EXPECT_FALSE(verdict_on(blamed.dump()).accepted);
        continue;
      }
      const double least = whole["claim"]["at_least"].get<double>();
      const double most = whole["claim"]["at_most"].get<double>();
      const double step = 1e-4 * std::max(std::abs(least), 1e-3);
      const bool is_power = objective == Objective::kEnergy;
      Json better = whole;  // the plan is said to reach more than it does
      better["claim"][is_power ? "at_most" : "at_least"] = is_power ? most - step : least + step;
      EXPECT_FALSE(verdict_on(better.dump()).accepted);
      Json lower = whole;  // the bound is said to be where the plan already is better
      lower["claim"][is_power ? "at_least" : "at_most"] = is_power ? least + step : most - step;
      if (found.plan_proof->value > 0 || !is_power) {
        EXPECT_FALSE(verdict_on(lower.dump()).accepted) << whole.dump();
      }
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace allot::plan_proofs_test
