// Policies side by side: common random numbers, paired differences, the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "allot/simulate/simulate.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/small_scenarios.hpp"

namespace allot {
namespace {

using testing::changing_scenario;
using testing::quick;
using testing::Recorder;
using testing::run;
using testing::single_scenario;
using testing::small_scenario;

/// Common random numbers: the k-th task of a thread has the same size under every policy.
TEST(Compare, GivesThreadsTheSameSizesUnderEveryPolicy) {
  for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
    const Scenario scenario = small_scenario(discipline, true);
    std::map<std::uint64_t, std::vector<double>> expected;
    for (const PolicyInfo* policy : suitable_policies(scenario.system)) {
      SCOPED_TRACE(policy->name);
      Recorder recorder;
      SimulateOptions options = quick(500);
      options.warmup = 0;
      options.trace = &recorder;
      run(scenario, policy->name, options, "bounded-pareto");
      std::map<std::uint64_t, std::vector<double>> sizes;
      for (const TraceEvent& event : recorder.events) {
        if (event.what == TraceEvent::What::kPlace) sizes[event.thread].push_back(event.size);
      }
      EXPECT_EQ(sizes.size(), 5U);
      for (const auto& [thread, values] : sizes) {
        std::vector<double>& reference = expected[thread];
        for (std::size_t k = 0; k < std::min(values.size(), reference.size()); ++k) {
          ASSERT_EQ(values[k], reference[k]) << "thread " << thread << ", task " << k;
        }
        if (values.size() > reference.size()) reference = values;
      }
    }
  }
}

/// Paired differences: their mean is the difference of the means, and the pairing makes the interval of two
/// policies that do the same here vanish.
TEST(Compare, PairsTheReplications) {
  const Scenario scenario = small_scenario();
  const std::vector<const PolicyInfo*> policies = {find_policy("best-fit"), find_policy("jsq"),
                                                   find_policy("fixed")};
  SimulateOptions options = quick();
  options.policy.assignment = home_assignment(scenario.system);
  const Comparison comparison = compare(scenario, policies, *make_distribution("exponential"), options);
  ASSERT_EQ(comparison.policies.size(), 3U);
  ASSERT_EQ(comparison.differences.size(), 2U);
  EXPECT_EQ(comparison.differences[0].policy, "jsq");
  EXPECT_EQ(comparison.differences[0].against, "best-fit");
  EXPECT_NEAR(comparison.differences[0].throughput.mean,
              comparison.policies[1].throughput.mean - comparison.policies[0].throughput.mean, 1e-12);
  EXPECT_TRUE(comparison.differences[0].significant);
  EXPECT_EQ(comparison.differences[1].throughput.mean, 0);
  EXPECT_EQ(comparison.differences[1].throughput.half_width, 0);
  EXPECT_FALSE(comparison.differences[1].significant);
}

TEST(Compare, StopsWithThePoliciesThatItReached) {
  StopFlag flag{false};
  SimulateOptions options = quick(5000);
  options.stop.flag = &flag;
  options.progress = [&](double share) {
    if (share > 0.55) flag = true;
  };
  const std::vector<const PolicyInfo*> policies = {find_policy("best-fit"), find_policy("jsq"),
                                                   find_policy("random"), find_policy("map")};
  const Comparison comparison =
      compare(small_scenario(), policies, *make_distribution("exponential"), options);
  ASSERT_GE(comparison.policies.size(), 2U);
  EXPECT_LT(comparison.policies.size(), 4U);
  EXPECT_FALSE(comparison.policies.front().partial);
  EXPECT_TRUE(comparison.policies.back().partial);
  // The last may have no replication that is complete, and then nothing to compare.
  EXPECT_GE(comparison.differences.size(), comparison.policies.size() - 2);
  EXPECT_LE(comparison.differences.size(), comparison.policies.size() - 1);
}

/// Hand-made results, as interrupted runs leave them: only replications that both completed make a pair.
TEST(Compare, PairsOnlyWhatBothCompleted) {
  SimulationResult first;
  first.policy = "first";
  first.throughput_by_replication = {10, 20, 30, 40};
  first.value_by_replication = {5, 5, 5, 5};
  first.replication_marks = {{0, true}, {1, true}, {2, true}, {3, false}};
  SimulationResult other;
  other.policy = "other";
  other.throughput_by_replication = {11, 33, 77};
  other.value_by_replication = {4, 2, 9};
  other.replication_marks = {{0, true}, {2, true}, {3, true}};
  const std::optional<Difference> difference = paired_difference(other, first);
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->policy, "other");
  EXPECT_EQ(difference->against, "first");
  EXPECT_EQ(difference->throughput.mean, 2);  // (11 - 10 + 33 - 30) / 2
  EXPECT_EQ(difference->value.mean, -2);      // (4 - 5 + 2 - 5) / 2
  other.replication_marks = {{0, false}, {2, false}, {4, true}};
  EXPECT_FALSE(paired_difference(other, first).has_value());
}

/// Two policies that place alike must have differences of exactly 0, also when the second was stopped while
/// its replications were under way.
TEST(Compare, KeepsPairsTogetherWhenStopped) {
  StopFlag flag{false};
  SimulateOptions options = quick(20'000);
  options.replications = 12;
  options.threads = 3;
  options.warmup = 0;
  options.stop.flag = &flag;
  options.policy.assignment = home_assignment(small_scenario().system);
  options.progress = [&](double share) {
    if (share > 0.8) flag = true;
  };
  const std::vector<const PolicyInfo*> policies = {find_policy("best-fit"), find_policy("fixed")};
  const Comparison comparison =
      compare(small_scenario(), policies, *make_distribution("exponential"), options);
  ASSERT_EQ(comparison.policies.size(), 2U);
  EXPECT_TRUE(comparison.policies[1].partial);
  for (const Difference& difference : comparison.differences) EXPECT_EQ(difference.throughput.mean, 0);
}

TEST(ReferenceAssignment, IsTheBestOfConstantWork) {
  const Scenario scenario = small_scenario();
  const std::optional<Solution> best = reference_assignment(scenario);
  ASSERT_TRUE(best.has_value());
  EXPECT_TRUE(best->proven_optimal);
  const Solution exact = solve(*find_solver("exact"), Problem{scenario.system, Objective::kThroughput});
  EXPECT_EQ(best->performance.throughput, exact.performance.throughput);
  EXPECT_FALSE(reference_assignment(changing_scenario(Discipline::kPs)).has_value());
  EXPECT_FALSE(reference_assignment(single_scenario(0, 1)).has_value());
}

}  // namespace
}  // namespace allot
