// Tasks that need several things: what the results say of them. The events themselves are replayed in
// tests/theory/needs_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/simulate/simulate.hpp"
#include "allot/simulate/simulation_json.hpp"
#include "tests/support/small_scenarios.hpp"

namespace allot {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// A task on the gpu holds the one core of the cpu, on which another runs.
Scenario fed_gpu(Discipline discipline, double bus = 0) {
  std::vector<Resource> machine(2);
  machine[0] = {"cpu", Kind::kGeneral, 1, discipline, 1, 10.0, 3.0};
  machine[1] = {"gpu", Kind::kGeneral, 1, discipline, 1, 50.0, 7.0};
  std::vector<TaskClass> tasks(2);
  tasks[0].name = "scan";
  tasks[0].count = 1;
  tasks[1].name = "train";
  tasks[1].count = 1;
  tasks[1].needs = {{resource_id(1), servers_of(resource_id(0)), 1}};
  std::vector<Capacity> capacities;
  if (bus > 0) {
    capacities.push_back({"bus", bus, true});
    tasks[1].needs.push_back({resource_id(1), capacity_id(2), 1});
  }
  return {"",
          System(std::move(machine), std::move(tasks), Rates(2, 2, {4, 0, 0, 2}), std::move(capacities)),
          {},
          {},
          {}};
}

TEST(SimulateNeeds, WhatIsHeldElsewhereCountsAsTakenButDrawsIdlePower) {
  const SimulationResult result = run(fed_gpu(Discipline::kPs), "best-fit", quick(3000), "deterministic");
  EXPECT_NEAR(result.throughput_by_task[0].mean, 2, 0.01);
  EXPECT_NEAR(result.throughput_by_task[1].mean, 1, 0.01);
  EXPECT_NEAR(result.utilization[0], 1, 1e-9);
  EXPECT_NEAR(result.utilization[1], 0.5, 1e-9);
  // Half of a server at work in each, the rest idle: (10 + 3 + 50 + 7) / 2 watts for 3 tasks a second.
  EXPECT_NEAR(result.energy_per_task, 35.0 / 3, 0.05);
  EXPECT_NEAR(result.capacity_use[0], 1, 1e-9);
}

TEST(SimulateNeeds, LinesThatWaitForTheSameServerTakeTurns) {
  const SimulationResult result = run(fed_gpu(Discipline::kFcfs), "best-fit", quick(3000), "deterministic");
  EXPECT_NEAR(result.throughput_by_task[0].mean, 1 / 0.75, 0.01);
  EXPECT_NEAR(result.throughput_by_task[1].mean, 1 / 0.75, 0.01);
  EXPECT_NEAR(result.utilization[0], 1, 1e-6);
  EXPECT_NEAR(result.utilization[1], 0.5 / 0.75, 0.01);
}

TEST(SimulateNeeds, WhatIsSharedSlowsAndIsReported) {
  const Scenario scenario = fed_gpu(Discipline::kFcfs, 0.5);
  const SimulationResult result = run(scenario, "best-fit", quick(3000), "deterministic");
  EXPECT_NEAR(result.throughput_by_task[1].mean, 1 / 1.25, 0.01);
  const std::string text = simulation_json(scenario.system, result);
  EXPECT_THAT(text, HasSubstr("\"capacity_use\""));
  EXPECT_THAT(text, HasSubstr("\"bus\""));
  EXPECT_NEAR(result.capacity_use[2], 0.5 / 1.25, 0.01);
  const Scenario none = small_scenario();
  EXPECT_EQ(simulation_json(none.system, run(none, "jsq", quick(100))).find("capacity_use"),
            std::string::npos);
}

/// Tasks that hold 6 of 10 GB: one fits, and processor sharing has 10 / 6 of them in service.
Scenario big_tasks(Discipline discipline, double memory) {
  std::vector<TaskClass> tasks(1);
  tasks[0].name = "train";
  tasks[0].count = 3;
  tasks[0].needs = {{resource_id(0), capacity_id(1), memory}};
  return {"",
          System({{.name = "gpu", .servers = 4, .discipline = discipline}}, std::move(tasks),
                 Rates(1, 1, {2}), {{.name = "memory", .amount = 10}}),
          {},
          {},
          {}};
}

TEST(SimulateNeeds, PartsOfTasksAreNoted) {
  const auto noted = Contains(HasSubstr("approximate"));
  const SimulationResult parts = run(big_tasks(Discipline::kPs, 6), "best-fit", quick(3000));
  EXPECT_NEAR(parts.throughput.mean, 2 * 10.0 / 6, 0.2);
  EXPECT_THAT(parts.notes, noted);
  EXPECT_THAT(run(big_tasks(Discipline::kPs, 5), "best-fit", quick()).notes, Not(noted)) << "two fill it";
  EXPECT_THAT(run(big_tasks(Discipline::kPs, 3.1), "best-fit", quick()).notes, Not(noted)) << "all fit";
  EXPECT_THAT(run(big_tasks(Discipline::kFcfs, 6), "best-fit", quick()).notes, Not(noted)) << "one at a time";
  EXPECT_THAT(run(big_tasks(Discipline::kPs, 6), "planned", quick()).notes, Not(noted)) << "one at a time";
  Scenario arriving = big_tasks(Discipline::kPs, 3.1);
  arriving.arrivals.push_back({.task = task_type(0), .rate = 0.1});
  EXPECT_THAT(run(arriving, "best-fit", quick()).notes, noted) << "there may be more than fit";
}

TEST(SimulateNeeds, ATypeThatNeverGetsWhatItNeedsIsNoted) {
  // Whole tasks come first: three of scan hold the one core for ever, of which train needs a part.
  std::vector<Resource> machine = {{.name = "cpu", .discipline = Discipline::kFcfs}, {.name = "gpu"}};
  const Scenario fed = fed_gpu(Discipline::kPs);
  std::vector<TaskClass> tasks = fed.system.tasks();
  tasks[0].count = 3;
  const Scenario scenario{"", System(std::move(machine), std::move(tasks), fed.system.rates()), {}, {}, {}};
  EXPECT_THAT(run(scenario, "best-fit", quick()).notes, Contains(HasSubstr("'train' completed nothing")));
  EXPECT_THAT(run(fed, "best-fit", quick()).notes, Not(Contains(HasSubstr("completed nothing"))));
}

TEST(SimulateNeeds, ATaskThatTakesAllServersIsNotStarvedByThoseThatTakeOne) {
  std::vector<Resource> machine(1);
  machine[0].name = "cpu";
  machine[0].servers = 4;
  std::vector<TaskClass> tasks(2);
  tasks[0].name = "narrow";
  tasks[0].count = 8;
  tasks[1].name = "wide";
  tasks[1].count = 2;
  tasks[1].floor = 0.4;
  tasks[1].needs = {{resource_id(0), servers_of(resource_id(0)), 4}};
  const Scenario scenario{"", System(std::move(machine), std::move(tasks), Rates(2, 1, {1, 1})), {}, {}, {}};
  const SimulationResult result = run(scenario, "planned", quick(20'000));
  // Servers wait for the last of four tasks to end, so nobody gets all of the plan, and both the same part.
  EXPECT_GE(result.throughput_by_task[1].mean, 0.8 * 0.4);
  EXPECT_GE(result.throughput_by_task[0].mean, 0.8 * 2.4);
}

TEST(SimulateNeeds, RefusesTimeShares) {
  class Weighted final : public Policy {
   public:
    explicit Weighted(const System& system)
        : target_(home_assignment(system)), shares_(system.type_count() * system.resource_count(), 0.5) {}
    ResourceId place(TaskType i, const Situation& s, PolicyMemory, RandomStream&) const noexcept override {
      return *s.system->home(i);
    }
    const Assignment* target() const noexcept override { return &target_; }
    std::span<const double> time_shares() const noexcept override { return shares_; }

   private:
    Assignment target_;
    std::vector<double> shares_;
  };
  const NamedPolicy policy{
      "mine", [](const System& system, const PolicyOptions&) { return std::make_unique<Weighted>(system); }};
  EXPECT_THROW(simulate(fed_gpu(Discipline::kPs), policy, *make_distribution("exponential"), quick(100)),
               InvalidModel);
}

}  // namespace
}  // namespace allot
