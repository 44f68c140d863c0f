#include "allot/dispatch/late_dispatch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/model/throughput.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/live_world.hpp"
#include "tests/support/random_box.hpp"
#include "tests/support/random_needs.hpp"
#include "tests/support/random_systems.hpp"

namespace allot::late_dispatch_test {
namespace {

using testing::LiveWorld;

constexpr TaskType kA = task_type(0);
constexpr TaskType kB = task_type(1);
constexpr ResourceId kCpu = resource_id(0);
constexpr ResourceId kGpu = resource_id(1);

std::vector<RatePrior> unknown(const System& truth) {
  std::vector<RatePrior> priors;
  for (const double rate : truth.rates().values())
    priors.push_back(rate > 0 ? RatePrior::unknown() : RatePrior::cannot_run());
  return priors;
}

std::vector<RatePrior> known(const System& truth) {
  std::vector<RatePrior> priors;
  for (const double rate : truth.rates().values())
    priors.push_back(rate > 0 ? RatePrior::measured(rate) : RatePrior::cannot_run());
  return priors;
}

DispatcherOptions planned(const System& truth) {
  DispatcherOptions options;
  options.policy = "planned";
  options.planning = Planning::kDeferred;
  options.solve_limit = std::chrono::seconds(20);
  options.capacities = truth.capacities();
  return options;
}

/// What whole tasks can reach at most, by the true rates.
double bound(const System& truth, Objective objective = Objective::kThroughput) {
  const Solution plan = solve(*find_solver("planned"), {truth, objective});
  return plan.plan.packing_bound.value_or(plan.performance.value);
}

void add_all_threads(LiveWorld& world, const System& truth) {
  for (const TaskType i : truth.types()) world.add_threads(i, truth.count(i));
}

TEST(LateDispatch, ReachesThePlanOfRatesThatNobodyKnew) {
  double sum = 0;
  constexpr std::uint64_t kSystems = 30;
  for (std::uint64_t seed = 0; seed < kSystems; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    System truth = testing::random_box(seed, {.max_types = 5, .max_count = 8});
    if (seed % 2 == 1) {
      std::vector<TaskClass> tasks = truth.tasks();
      for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].worth = static_cast<double>((seed + i) % 4);
      truth = truth.with_tasks(std::move(tasks));
    }
    Dispatcher dispatcher(truth.resources(), truth.tasks(), unknown(truth), planned(truth), LiveWorld::at(0));
    LiveWorld world(truth, dispatcher, seed);
    add_all_threads(world, truth);
    world.run(1500);
    const double part = world.run(4000) / bound(truth);
    EXPECT_GE(part, 0.9);
    sum += part;
  }
  EXPECT_GE(sum / kSystems, 0.96);
}

TEST(LateDispatch, ReachesWhatWholeTasksCanAndNeverOverdrawsWhatTheyHold) {
  double sum = 0;
  int systems = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed, 0x1a7e);
    const System truth = testing::random_needs(random, {.extreme = seed % 4 == 0});
    const double most = bound(truth);
    Dispatcher dispatcher(truth.resources(), truth.tasks(), known(truth), planned(truth), LiveWorld::at(0));
    LiveWorld world(truth, dispatcher, seed);
    add_all_threads(world, truth);
    world.run(500);
    const double value = world.run(3000);
    EXPECT_FALSE(world.overdrawn());
    if (!(most > 0) || seed % 4 == 0) continue;  // far apart, a task may last longer than all others together
    EXPECT_GE(value, 0.9 * most);
    sum += std::min(1.0, value / most);
    ++systems;
  }
  EXPECT_GE(sum / systems, 0.97);
}

/// A task of each type, of which both are at home on the device, while the load counts as open.
TEST(LateDispatch, UnderAnOpenLoadNobodyWaitsForEverForAHomeThatThePlanGivesToOthers) {
  const System truth({{.name = "cpu", .servers = 3}, {.name = "gpu"}},
                     {{.name = "a", .count = 1}, {.name = "b", .count = 1}}, Rates(2, 2, {2.5, 7.4, 2, 4.3}));
  DispatcherOptions options = planned(truth);
  options.may_be_open = true;
  Dispatcher dispatcher(truth.resources(), truth.tasks(), known(truth), options, LiveWorld::at(0));
  LiveWorld world(truth, dispatcher, 1);
  add_all_threads(world, truth);
  world.run(200);  // calm is seen after 256
  EXPECT_NEAR(static_cast<double>(world.completions()[1]), 2 * world.now(), 0.2 * world.now());
}

/// Threads take tasks of any type: what is fast elsewhere must not take the time of what is slow there.
TEST(LateDispatch, APoolIsPlannedForInProportionToWhatComes) {
  const System truth(
      {{.name = "cpu", .servers = 3}, {.name = "gpu"}},
      {{.name = "slow", .count = 11}, {.name = "quick", .count = 11}, {.name = "c", .count = 10}},
      Rates(3, 2, {3, 0, 4, 7.4, 9.8, 2.5}));
  const double balanced = 3 / (1.0 / 3 + 1 / 9.8);  // of each type, with the device for `quick` alone
  DispatcherOptions options = planned(truth);
  options.may_be_open = true;
  Dispatcher dispatcher(truth.resources(), truth.tasks(), known(truth), options, LiveWorld::at(0));
  LiveWorld world(truth, dispatcher, 1);
  world.set_mix({1, 1, 1});
  add_all_threads(world, truth);
  world.run(2000);
  EXPECT_GE(world.run(6000), 0.95 * 3 * balanced);
}

TEST(LateDispatch, SharesHold) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System truth = testing::random_box(seed, {.priorities = true, .max_types = 4, .max_count = 8});
    DispatcherOptions options = planned(truth);
    options.policy_options.objective = Objective::kPriority;
    Dispatcher dispatcher(truth.resources(), truth.tasks(), unknown(truth), options, LiveWorld::at(0));
    LiveWorld world(truth, dispatcher, seed);
    add_all_threads(world, truth);
    world.run(8000);
    double all = 0;
    for (const std::uint64_t n : world.completions()) all += static_cast<double>(n);
    for (const TaskType i : truth.types())
      EXPECT_NEAR(static_cast<double>(world.completions()[index(i)]) / all, truth.shares()[index(i)], 0.02)
          << truth.task(i).name;
  }
}

System cpu_and_gpu() {
  return System({{.name = "cpu"}, {.name = "gpu"}},
                {{.name = "a", .count = 2, .worth = 3}, {.name = "b", .count = 2}},
                Rates(2, 2, {125, 250, 50, 100}));
}

TEST(LateDispatch, RefusesAPolicyThatPlaces) {
  const System truth = cpu_and_gpu();
  DispatcherOptions options = planned(truth);
  options.policy = "map";
  Dispatcher dispatcher(truth.resources(), truth.tasks(), known(truth), options, LiveWorld::at(0));
  EXPECT_THROW(LateDispatch late(dispatcher), InvalidModel);
}

TEST(LateDispatch, CountsEveryTaskOnce) {
  const System truth = cpu_and_gpu();
  Dispatcher dispatcher(truth.resources(), truth.tasks(), known(truth), planned(truth), LiveWorld::at(0));
  LateDispatch late(dispatcher, LiveWorld::at(0));
  EXPECT_FALSE(late.next(kGpu, LiveWorld::at(0))) << "nothing waits";
  late.set_waiting(kA, 3);
  late.set_waiting(kB, 1);
  const auto never = [](TaskType) { return false; };
  EXPECT_FALSE(late.next(kGpu, LiveWorld::at(0), never)) << "the host knows why not";
  const auto first = late.next(kGpu, LiveWorld::at(0));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->ticket.resource, kGpu);
  EXPECT_EQ(late.waiting(first->ticket.type), first->ticket.type == kA ? 2 : 0);
  late.put_back(*first);
  EXPECT_EQ(late.waiting(kA), 3);
  EXPECT_EQ(dispatcher.statistics(LiveWorld::at(0)).placed, 0U);
  const auto again = late.next(kGpu, LiveWorld::at(0));
  const auto own = late.take_at(kB, kCpu, LiveWorld::at(0));
  ASSERT_TRUE(again);
  late.ended(*again, 0.004, true, LiveWorld::at(0.004));
  late.dropped(own, 0.01);
  const DispatchStatistics seen = dispatcher.statistics(LiveWorld::at(1));
  EXPECT_EQ(seen.ended, 1U);
  EXPECT_EQ(seen.placed, 1U) << "what was dropped counts in no rate";
  for (const Count n : seen.in_flight) EXPECT_EQ(n, 0);
}

TEST(LateDispatch, WhatIsThereIsServedThoughThePlanIsForOthers) {
  // All of both resources is for a, which is worth more; then there is none.
  const System truth = cpu_and_gpu();
  Dispatcher dispatcher(truth.resources(), truth.tasks(), known(truth), planned(truth), LiveWorld::at(0));
  LateDispatch late(dispatcher, LiveWorld::at(0));
  ASSERT_EQ(*dispatcher.plan()->part(kB, kGpu), 0);
  late.set_waiting(kA, 1);
  late.set_waiting(kB, 5);
  const auto a = late.next(kGpu, LiveWorld::at(0));
  ASSERT_TRUE(a);
  ASSERT_EQ(a->ticket.type, kA);
  EXPECT_FALSE(late.next(kCpu, LiveWorld::at(0))) << "one of a is in flight: it comes back";
  late.ended(*a, 0.004, true, LiveWorld::at(0.004));
  const auto b = late.next(kGpu, LiveWorld::at(0.004));
  ASSERT_TRUE(b);
  EXPECT_EQ(b->ticket.type, kB);
}

TEST(LateDispatch, TypesAndResourcesComeAndGoWhileTasksRun) {
  const System truth = cpu_and_gpu();
  Dispatcher dispatcher(truth.resources(), truth.tasks(), known(truth), planned(truth), LiveWorld::at(0));
  LateDispatch late(dispatcher, LiveWorld::at(0));
  late.set_waiting(kA, 9);
  const auto old = late.next(kGpu, LiveWorld::at(0));
  ASSERT_TRUE(old);
  const ResourceId more = dispatcher.add_resource({.name = "gpu2"}, std::vector(2, RatePrior::measured(500)));
  const TaskType c =
      dispatcher.add_type({.name = "c", .count = 1, .worth = 1000}, std::vector(3, RatePrior::measured(10)));
  late.set_waiting(c, 4);
  EXPECT_FALSE(late.next(more, LiveWorld::at(0))) << "there is no plan for it yet";
  dispatcher.solve(LiveWorld::at(0));
  const auto taken = late.next(more, LiveWorld::at(0));
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->ticket.resource, more);
  EXPECT_EQ(taken->ticket.type, c);
  dispatcher.lose(kGpu);
  dispatcher.solve(LiveWorld::at(0));
  EXPECT_FALSE(late.next(kGpu, LiveWorld::at(0)));
  late.ended(*old, 0.004, true, LiveWorld::at(0.1));
  late.ended(*taken, 0.1, true, LiveWorld::at(0.1));
  for (const Count n : dispatcher.statistics(LiveWorld::at(1)).in_flight) EXPECT_EQ(n, 0);
}

TEST(LateDispatch, WhatARunningTaskHoldsStaysHeldWhenItsResourceIsClosed) {
  std::vector<TaskClass> tasks = {{.name = "a", .count = 2}, {.name = "b", .count = 2}};
  const CapacityId memory = capacity_id(2);
  tasks[0].needs = {{kCpu, memory, 6}, {kGpu, memory, 6}};
  tasks[1].needs = {{kCpu, memory, 6}, {kGpu, memory, 6}};
  const System truth({{.name = "cpu"}, {.name = "gpu"}}, tasks, Rates(2, 2, {5, 10, 5, 10}),
                     {{.name = "memory", .amount = 10}});
  Dispatcher dispatcher(truth.resources(), truth.tasks(), known(truth), planned(truth), LiveWorld::at(0));
  LateDispatch late(dispatcher, LiveWorld::at(0));
  late.set_waiting(kA, 2);
  late.set_waiting(kB, 2);
  const auto first = late.next(kGpu, LiveWorld::at(0));
  ASSERT_TRUE(first);
  dispatcher.drain(kGpu);
  dispatcher.solve(LiveWorld::at(0));
  EXPECT_FALSE(late.next(kCpu, LiveWorld::at(0))) << "4 of 10 are left";
  late.ended(*first, 0.1, true, LiveWorld::at(0.1));
  EXPECT_TRUE(late.next(kCpu, LiveWorld::at(0.1)));
}

TEST(LateDispatch, NoTaskWaitsForATrialThatTheHostRefuses) {
  // Nothing is known of the device, and no task of a can really run there.
  const System truth = cpu_and_gpu();
  std::vector<RatePrior> priors = known(truth);
  priors[1] = RatePrior::unknown();
  Dispatcher dispatcher(truth.resources(), truth.tasks(), priors, planned(truth), LiveWorld::at(0));
  LateDispatch late(dispatcher, LiveWorld::at(0));
  const auto not_a = [](TaskType i) { return i != kA; };
  late.set_waiting(kA, 1);
  dispatcher.solve(LiveWorld::at(0));
  EXPECT_FALSE(late.next(kCpu, LiveWorld::at(0))) << "the only one is to learn the rate of the device";
  EXPECT_FALSE(late.next(kGpu, LiveWorld::at(0), not_a));
  dispatcher.solve(LiveWorld::at(0));  // which asks again, in vain
  const auto start = late.next(kCpu, LiveWorld::at(0));
  ASSERT_TRUE(start);
  EXPECT_EQ(start->ticket.type, kA);
}

TEST(LateDispatch, PlansStartFromTheBasisOfTheOneBefore) {
  const System truth = testing::random_box(3);
  PolicyOptions options;
  options.plan_basis = std::make_shared<PlanBasis>();
  const auto policy = find_policy("planned")->make(truth, options);
  EXPECT_FALSE(options.plan_basis->states.empty());
  const PlanBasis before = *options.plan_basis;
  const auto other = find_policy("planned")->make(truth, options);
  EXPECT_EQ(options.plan_basis->states, before.states);
  EXPECT_TRUE(std::ranges::equal(policy->planned_service(), other->planned_service()));
}

}  // namespace
}  // namespace allot::late_dispatch_test
