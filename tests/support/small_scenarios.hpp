// Small scenarios to simulate, and what tests of the simulator do with them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allot/model/scenario.hpp"
#include "allot/policy/policy.hpp"
#include "allot/simulate/simulate.hpp"
#include "allot/simulate/trace.hpp"
#include "allot/size/distribution.hpp"

namespace allot::testing {

/// Two types, two resources, with powers; home is where a type is fast.
inline Scenario small_scenario(Discipline discipline = Discipline::kPs, bool priorities = false) {
  std::vector<Resource> resources(2);
  resources[0] = {"cpu", Kind::kGeneral, 2, discipline, 1, 10.0, 3.0};
  resources[1] = {"gpu", Kind::kGeneral, 1, discipline, 1, 50.0, 7.0};
  std::vector<TaskClass> tasks(2);
  tasks[0] = {"sort", 3, std::nullopt, priorities ? std::optional(0.7) : std::nullopt, std::nullopt};
  tasks[1] = {"scan", 2, std::nullopt, priorities ? std::optional(0.3) : std::nullopt, std::nullopt};
  return {"small", System(std::move(resources), std::move(tasks), Rates(2, 2, {4, 1, 1, 6})), {}, {}, {}};
}

/// The same machine with its work in motion.
inline Scenario changing_scenario(Discipline discipline, bool priorities = false) {
  Scenario scenario = small_scenario(discipline, priorities);
  scenario.threads = {{2, {task_type(0), task_type(1), task_type(1)}}};
  scenario.population = {
      {10, task_type(0), 2}, {20, task_type(1), -1}, {20, task_type(0), -3}, {30, task_type(1), 3}};
  scenario.arrivals = {{task_type(1), 0.7}};
  return scenario;
}

/// One resource, one type, so many threads.
inline Scenario single_scenario(Count threads, double rate, Count servers = 1) {
  std::vector<Resource> resources(1);
  resources[0].name = "r";
  resources[0].servers = servers;
  std::vector<TaskClass> tasks(1);
  tasks[0].name = "t";
  tasks[0].count = threads;
  return {"", System(std::move(resources), std::move(tasks), Rates(1, 1, {rate})), {}, {}, {}};
}

inline SimulateOptions quick(std::uint64_t completions = 2000) {
  SimulateOptions options;
  options.completions = completions;
  options.replications = 3;
  options.threads = 1;
  return options;
}

inline SimulationResult run(const Scenario& scenario, std::string_view policy, const SimulateOptions& options,
                            std::string_view sizes = "exponential") {
  return simulate(scenario, *find_policy(policy), *make_distribution(sizes), options);
}

class Recorder final : public TraceSink {
 public:
  void begin(std::string_view policy) override { policies.emplace_back(policy); }
  void event(const TraceEvent& event) override { events.push_back(event); }
  std::vector<std::string> policies;
  std::vector<TraceEvent> events;
};

inline void expect_same(const SimulationResult& a, const SimulationResult& b) {
  const auto expect_same_estimates = [](const std::vector<Estimate>& x, const std::vector<Estimate>& y) {
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t at = 0; at < x.size(); ++at) {
      EXPECT_EQ(x[at].mean, y[at].mean);
      EXPECT_EQ(x[at].half_width, y[at].half_width);
    }
  };
  EXPECT_EQ(a.replications, b.replications);
  EXPECT_EQ(a.warmup, b.warmup);
  EXPECT_EQ(a.throughput_by_replication, b.throughput_by_replication);
  EXPECT_EQ(a.value_by_replication, b.value_by_replication);
  expect_same_estimates({a.throughput, a.value, a.response_time}, {b.throughput, b.value, b.response_time});
  expect_same_estimates(a.rounds, b.rounds);
  expect_same_estimates(a.throughput_by_task, b.throughput_by_task);
  expect_same_estimates(a.throughput_by_resource, b.throughput_by_resource);
  expect_same_estimates(a.response_time_by_task, b.response_time_by_task);
  EXPECT_EQ(a.utilization, b.utilization);
  EXPECT_EQ(a.p50, b.p50);
  EXPECT_EQ(a.p95, b.p95);
  EXPECT_EQ(a.p99, b.p99);
  EXPECT_EQ(a.energy_per_task, b.energy_per_task);
  EXPECT_EQ(a.edp, b.edp);
  EXPECT_EQ(a.little, b.little);
  EXPECT_EQ(a.population, b.population);
  EXPECT_EQ(a.notes, b.notes);
}

}  // namespace allot::testing
