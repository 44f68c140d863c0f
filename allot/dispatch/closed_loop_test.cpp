// The dispatcher schedules a machine whose rates it does not know, in virtual time.
#include "tests/support/closed_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "allot/dispatch/dispatcher.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/live_world.hpp"

namespace allot {
namespace {

using testing::ClosedLoop;
using testing::LiveWorld;

/// Both types are fastest on `big`: Best Fit leaves `little` idle.
System big_and_little() {
  return System({{.name = "big"}, {.name = "little"}}, {{.name = "a", .count = 6}, {.name = "b", .count = 6}},
                Rates(2, 2, {20, 15, 10, 2}));
}

/// Two general processors and an accelerator for one type, which may also run elsewhere.
System with_accelerator() {
  return System({{.name = "cpu", .servers = 2}, {.name = "gpu"}, {.name = "fft", .kind = Kind::kSpecialized}},
                {{.name = "a", .count = 6}, {.name = "b", .count = 6}, {.name = "c", .count = 4}},
                Rates(3, 3, {4, 12, 0, 5, 6, 0, 1, 4, 20}));
}

/// Two types that run on their accelerator only, beside one that runs on the processor.
System accelerators_only() {
  return System({{.name = "cpu"},
                 {.name = "fft", .kind = Kind::kSpecialized},
                 {.name = "aes", .kind = Kind::kSpecialized}},
                {{.name = "a", .count = 3}, {.name = "b", .count = 3}, {.name = "c", .count = 3}},
                Rates(3, 3, {5, 0, 0, 0, 9, 0, 0, 0, 30}));
}

std::vector<RatePrior> unknown(const System& system) {
  std::vector<RatePrior> priors;
  for (const double rate : system.rates().values()) {
    priors.push_back(rate > 0 ? RatePrior::unknown() : RatePrior::cannot_run());
  }
  return priors;
}

DispatcherOptions deferred(std::string policy) {
  DispatcherOptions options;
  options.policy = std::move(policy);
  options.planning = Planning::kDeferred;
  return options;
}

double best_throughput(const System& system) {
  return solve(*find_solver("exhaustive"), {system, Objective::kThroughput}).performance.throughput;
}

double exponential(RandomStream& random) { return -std::log(random.uniform()); }

/// Throughput over the last 1,000 of 1,500 completions.
double settled_throughput(const System& truth, const std::string& policy, std::uint64_t seed,
                          ClosedLoop::Noise noise = {}) {
  Dispatcher dispatcher(truth.resources(), truth.tasks(), unknown(truth), deferred(policy),
                        ClosedLoop::at(0));
  ClosedLoop loop(truth, dispatcher, seed, std::move(noise));
  loop.run(500);
  return loop.run(1000);
}

TEST(ClosedLoop, MapLearnsTheRatesAndReachesTheOptimum) {
  for (const System& truth : {big_and_little(), with_accelerator(), accelerators_only()}) {
    const double best = best_throughput(truth);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(::testing::Message() << truth.resource_count() << " resources, seed=" << seed);
      EXPECT_GE(settled_throughput(truth, "map", seed), 0.95 * best);
    }
  }
}

TEST(ClosedLoop, MapBeatsPoliciesWithoutATarget) {
  for (const System& truth : {big_and_little(), with_accelerator()}) {
    const double map = settled_throughput(truth, "map", 1);
    for (const char* other : {"best-fit", "jsq", "round-robin", "min-completion-time"}) {
      SCOPED_TRACE(other);
      EXPECT_GT(map, settled_throughput(truth, other, 1));
    }
  }
}

TEST(ClosedLoop, MapComesNearTheOptimumWithExponentialTimesToo) {
  for (const System& truth : {big_and_little(), with_accelerator()}) {
    const double best = best_throughput(truth);
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed)
      sum += settled_throughput(truth, "map", seed, exponential);
    EXPECT_GE(sum / 10, 0.92 * best) << truth.resource_count() << " resources, seeds 0 to 9";
  }
}

TEST(ClosedLoop, RecoversWithinAHundredCompletionsWhenAResourceBecomesThreeTimesSlower) {
  for (const System& truth : {big_and_little(), with_accelerator()}) {
    for (const ResourceId slow : truth.resource_ids()) {
      std::vector<double> rates = truth.rates().values();
      for (std::size_t at = index(slow); at < rates.size(); at += truth.resource_count()) rates[at] /= 3;
      const System slower(truth.resources(), truth.tasks(),
                          Rates(truth.type_count(), truth.resource_count(), rates));
      const double best = best_throughput(slower);
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        SCOPED_TRACE(::testing::Message() << truth.resource(slow).name << " of " << truth.resource_count()
                                          << " becomes slower, seed=" << seed);
        Dispatcher dispatcher(truth.resources(), truth.tasks(), unknown(truth), deferred("map"),
                              ClosedLoop::at(0));
        ClosedLoop loop(truth, dispatcher, seed);
        loop.run(400 + seed * 10);
        loop.slow_down(slow, 3);
        loop.run(100);
        EXPECT_GE(loop.run(300), 0.9 * best);
      }
    }
  }
}

TEST(ClosedLoop, OneOutlierLeavesThePlacementAsItWas) {
  for (const System& truth : {big_and_little(), with_accelerator()}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(::testing::Message() << truth.resource_count() << " resources, seed=" << seed);
      Dispatcher dispatcher(truth.resources(), truth.tasks(), unknown(truth), deferred("map"),
                            ClosedLoop::at(0));
      ClosedLoop loop(truth, dispatcher, seed);
      loop.run(500);
      const auto before = dispatcher.plan()->target;
      loop.spoil_next(task_type(0), resource_id(1), 500);
      while (!loop.spoilt()) loop.run(1);
      EXPECT_EQ(dispatcher.plan()->target, before);
      loop.run(20);
      EXPECT_EQ(dispatcher.plan()->target, before);
    }
  }
}

/// Both types like the device, which is for the first: if that seems slower, the plan turns round, and keeps
/// it from being seen as it is.
System both_like_the_device() {
  return System({{.name = "cpu"}, {.name = "gpu"}}, {{.name = "a", .count = 6}, {.name = "b", .count = 6}},
                Rates(2, 2, {125, 250, 50, 100}));
}

double best_of(const System& truth, const std::string& policy) {
  if (policy == "map") return best_throughput(truth);
  return solve(*find_solver(policy), {truth, Objective::kThroughput}).performance.throughput;
}

/// Value per second once the n-th task of a pair, from 0, has taken so many times too long, and 60 more have
/// ended.
double after_a_bad_sample(const System& truth, const std::string& policy, TaskType i, ResourceId j, Count n,
                          double factor) {
  Dispatcher dispatcher(truth.resources(), truth.tasks(), unknown(truth), deferred(policy), LiveWorld::at(0));
  LiveWorld world(truth, dispatcher, 1);
  world.spoil(i, j, n, factor);
  for (const TaskType l : truth.types()) world.add_threads(l, truth.count(l));
  for (int done = 0; done < 1000 && !world.spoilt(); ++done) world.run(1);
  EXPECT_TRUE(world.spoilt());
  world.run(60);
  return world.run(500);
}

TEST(ClosedLoop, OneBadSampleAmongTheFirstDoesNotSpoilTheStart) {
  const System truth = both_like_the_device();
  for (const std::string policy : {"map", "planned"}) {
    const double best = best_of(truth, policy);
    for (const TaskType i : truth.types()) {
      for (const ResourceId j : truth.resource_ids()) {
        const bool is_for_it = i == task_type(0) && j == resource_id(1);
        for (const Count n : is_for_it ? std::vector<Count>{0, 1, 2, 3, 4, 5} : std::vector<Count>{0, 1, 2}) {
          for (const double factor : {3.0, 5.0, 7.0, 10.0, 20.0}) {
            SCOPED_TRACE(::testing::Message() << policy << ": sample " << n << " of pair " << index(i) << ", "
                                              << index(j) << " takes " << factor << " times as long");
            EXPECT_GE(after_a_bad_sample(truth, policy, i, j, n, factor), 0.95 * best);
          }
        }
      }
    }
  }
}

TEST(ClosedLoop, ABusyMomentDoesNotTurnThePlanRoundForLong) {
  const System truth = both_like_the_device();
  for (const std::string policy : {"map", "planned"}) {
    double sum = 0;
    constexpr std::uint64_t kSeeds = 30;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      SCOPED_TRACE(::testing::Message() << policy << ", seed=" << seed);
      Dispatcher dispatcher(truth.resources(), truth.tasks(), unknown(truth), deferred(policy),
                            LiveWorld::at(0));
      bool is_busy = false;
      LiveWorld world(truth, dispatcher, seed, [&](RandomStream& random) {
        return is_busy ? 1 + 2 * exponential(random) : 1 + 0.04 * (random.uniform() - 0.5);
      });
      for (const TaskType l : truth.types()) world.add_threads(l, truth.count(l));
      world.run_until(0.5);
      is_busy = true;
      world.run_until(0.6);
      is_busy = false;
      world.run(200);
      const double part = world.run(400) / best_of(truth, policy);
      EXPECT_GE(part, 0.75);
      sum += part;
    }
    EXPECT_GE(sum / kSeeds, 0.96);
  }
}

/// Six cores and a device, as in the README: most cores have a task of the same type at any moment.
System pool_and_device() {
  return System({{.name = "cpu", .servers = 6}, {.name = "gpu"}},
                {{.name = "resize", .count = 6}, {.name = "detect", .count = 6}},
                Rates(2, 2, {45, 480, 14, 120}));
}

TEST(ClosedLoop, AMomentInWhichTheMachineStandsStillIsOneSampleAndNoChange) {
  // Tasks of all cores take long at once. Taken for so many samples that agree, they turned the plan round.
  const System truth = pool_and_device();
  for (const std::string policy : {"map", "planned"}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      for (const double seconds : {0.02, 0.1, 0.5}) {
        SCOPED_TRACE(::testing::Message() << policy << ", " << seconds << " s, seed=" << seed);
        Dispatcher dispatcher(truth.resources(), truth.tasks(), unknown(truth), deferred(policy),
                              LiveWorld::at(0));
        LiveWorld world(truth, dispatcher, seed);
        for (const TaskType l : truth.types()) world.add_threads(l, truth.count(l));
        world.run(1000 + 7 * seed);
        world.stall(seconds);
        // Until those are served that stood still with a server for them alone.
        world.run(seconds < 0.2 ? 20 : 600);
        EXPECT_GE(world.run(1000), 0.96 * best_of(truth, policy));
      }
    }
  }
}

/// Value in the two seconds that come a little after the machine was busy, relative to the plan.
double after_busy_times(const System& truth, const std::string& policy, std::uint64_t seed, double begin,
                        double end) {
  DispatcherOptions options = deferred(policy);
  options.exploration = 0.01;
  Dispatcher dispatcher(truth.resources(), truth.tasks(), unknown(truth), options, LiveWorld::at(0));
  bool is_busy = begin == 0;
  LiveWorld world(truth, dispatcher, seed, [&](RandomStream& random) {
    return is_busy ? 1 + 2.5 * exponential(random) : 1 + 0.04 * (random.uniform() - 0.5);
  });
  for (const TaskType l : truth.types()) world.add_threads(l, truth.count(l));
  world.run_until(begin);
  is_busy = true;
  world.run_until(end);
  is_busy = false;
  world.run_until(end + 0.1);
  const double from = world.now();
  const double before = world.value();
  world.run_until(from + 2);
  return (world.value() - before) / (world.now() - from) / best_of(truth, policy);
}

TEST(ClosedLoop, BusyTimesDoNotTurnThePlanRoundForSeconds) {
  // Rates that were first seen then, and rates that seem to have changed: what the plan has dropped for them
  // is tried again soon, and two tries that are alike are believed.
  const System truth = both_like_the_device();
  for (const std::string policy : {"map", "planned"}) {
    for (const auto& [begin, end] : {std::pair(0.0, 0.5), std::pair(0.5, 0.6), std::pair(0.5, 0.8)}) {
      double sum = 0;
      constexpr std::uint64_t kSeeds = 30;
      for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(::testing::Message()
                     << policy << ", busy from " << begin << " to " << end << " s, seed=" << seed);
        const double part = after_busy_times(truth, policy, seed, begin, end);
        EXPECT_GE(part, 0.7);
        sum += part;
      }
      EXPECT_GE(sum / kSeeds, 0.97) << policy << ", busy from " << begin << " to " << end << " s";
    }
  }
}

TEST(ClosedLoop, TriesOfWhatThePlanDoesNotUseStayWithinTheirBudget) {
  // The pair (b, little) is 50 times slower than (b, big): a try costs 5 s.
  const System truth({{.name = "big"}, {.name = "little"}},
                     {{.name = "a", .count = 6}, {.name = "b", .count = 6}}, Rates(2, 2, {20, 15, 10, 0.2}));
  Dispatcher dispatcher(truth.resources(), truth.tasks(), unknown(truth), deferred("map"), ClosedLoop::at(0));
  ClosedLoop loop(truth, dispatcher, 1);
  loop.run(5000);
  const DispatchStatistics seen = dispatcher.statistics(ClosedLoop::at(loop.now()));
  EXPECT_GE(seen.completions[3], 2U);                                                     // learned at all
  EXPECT_LE(5.0 * static_cast<double>(seen.completions[3]), 0.05 * 2 * loop.now() + 15);  // three first tries
  EXPECT_LT(seen.explored, 200U);
}

TEST(ClosedLoop, TriesTakeNoMoreOfADeviceThanItsPartOfTheBudget) {
  // Many slow units beside one fast device, on which type b is slow: a try there takes the time of 50 tasks
  // of a. A budget that counted the time of all units would give a tenth of the device to tries.
  const System truth({{.name = "cpu", .servers = 16}, {.name = "gpu"}},
                     {{.name = "a", .count = 8}, {.name = "b", .count = 24}}, Rates(2, 2, {1, 50, 4, 1}));
  Dispatcher dispatcher(truth.resources(), truth.tasks(), unknown(truth), deferred("map"), ClosedLoop::at(0));
  ClosedLoop loop(truth, dispatcher, 1);
  loop.run(20000);
  const DispatchStatistics seen = dispatcher.statistics(ClosedLoop::at(loop.now()));
  const double tried = static_cast<double>(seen.completions[3]);  // b on the device, a second each
  EXPECT_GE(tried, 2);
  EXPECT_LE(tried, 0.03 * loop.now() + 5);
}

TEST(ClosedLoop, WeightedServiceGivesEachTypeItsShare) {
  const System truth({{.name = "big"}, {.name = "little"}},
                     {{.name = "a", .count = 6, .priority = 0.3}, {.name = "b", .count = 6, .priority = 0.7}},
                     Rates(2, 2, {20, 15, 10, 8}));
  DispatcherOptions options = deferred("weighted");
  options.policy_options.shares = ShareReading::kFloor;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    Dispatcher dispatcher(truth.resources(), truth.tasks(), unknown(truth), options, ClosedLoop::at(0));
    ClosedLoop loop(truth, dispatcher, seed);
    for (int round = 0; round < 20; ++round) {
      loop.set_time_shares(dispatcher.plan()->time_shares);
      loop.run(25);
    }
    const std::vector<std::uint64_t> before = loop.completions();
    for (int round = 0; round < 80; ++round) {
      loop.set_time_shares(dispatcher.plan()->time_shares);
      loop.run(25);
    }
    const double share = static_cast<double>(loop.completions()[0] - before[0]) / 2000;
    EXPECT_NEAR(share, 0.3, 0.02);
    EXPECT_NEAR(dispatcher.plan()->predicted->shares[0], 0.3, 0.02);
  }
}

/// Four streams that share a bus with an engine, beside cores that share nothing.
System with_a_bus() {
  const CapacityId bus = capacity_id(3);
  std::vector<TaskClass> tasks = {
      {.name = "a", .count = 5}, {.name = "b", .count = 5}, {.name = "c", .count = 3}};
  tasks[0].needs = {{resource_id(1), bus, 0.6}};
  tasks[1].needs = {{resource_id(1), bus, 0.35}};
  tasks[2].needs = {{resource_id(1), bus, 0.1}, {resource_id(2), bus, 0.4}};
  return System({{.name = "cpu", .servers = 3}, {.name = "gpu", .servers = 4}, {.name = "engine"}}, tasks,
                Rates(3, 3, {4, 20, 0, 5, 40, 0, 10, 8, 60}), {{.name = "bus", .amount = 1, .shared = true}});
}

TEST(ClosedLoop, LearnsRatesAtFullSpeedThoughTasksSlowEachOtherDown) {
  const System truth = with_a_bus();
  for (const bool is_even : {true, false}) {
    const ClosedLoop::Noise noise = is_even ? ClosedLoop::Noise{} : exponential;
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      SCOPED_TRACE(::testing::Message() << (is_even ? "even" : "exponential") << " times, seed=" << seed);
      DispatcherOptions options = deferred("best-fit");
      options.capacities = truth.capacities();
      Dispatcher knows(truth.resources(), truth.tasks(), unknown(truth), options, ClosedLoop::at(0));
      ClosedLoop(truth, knows, seed, noise).run(3000);
      std::vector<TaskClass> bare = truth.tasks();
      for (TaskClass& task : bare) task.needs.clear();
      Dispatcher naive(truth.resources(), bare, unknown(truth), deferred("best-fit"), ClosedLoop::at(0));
      ClosedLoop(truth, naive, seed, noise).run(3000);
      for (const TaskType i : truth.types()) {  // at home, where most of them run
        const ResourceId j = *truth.home(i);
        const RateEstimate known = knows.estimate(i, j);
        const RateEstimate seen = naive.estimate(i, j);
        ASSERT_TRUE(known.known() && seen.known());
        EXPECT_NEAR(known.rate / truth.rate(i, j), 1, is_even ? 0.07 : 0.4) << truth.task(i).name;
        EXPECT_LT(seen.rate / truth.rate(i, j), 0.7)
            << truth.task(i).name << ": the bus is overdrawn, so what is seen is too slow";
      }
    }
  }
}

TEST(ClosedLoop, CapacitiesThatNobodyOverdrawsChangeNothing) {
  const System truth = with_accelerator();
  std::vector<TaskClass> tasks = truth.tasks();
  tasks[0].needs = {{resource_id(1), capacity_id(3), 0.01}};
  DispatcherOptions options = deferred("jsq");
  Dispatcher plain(truth.resources(), truth.tasks(), unknown(truth), options, ClosedLoop::at(0));
  options.capacities = {{.name = "bus", .amount = 1, .shared = true}};
  Dispatcher told(truth.resources(), tasks, unknown(truth), options, ClosedLoop::at(0));
  EXPECT_EQ(ClosedLoop(truth, plain, 1).run(1000), ClosedLoop(truth, told, 1).run(1000));
  for (const TaskType i : truth.types()) {
    for (const ResourceId j : truth.resources_for(i))
      EXPECT_NEAR(plain.estimate(i, j).rate, told.estimate(i, j).rate, 1e-6 * truth.rate(i, j));
  }
}

TEST(ClosedLoop, TryingAgainCostsATypeNoMoreOfItsOwnTimeThanItIsAllowed) {
  // Many processors have time for tries of `a`, whose two threads would be on the device eight times as fast.
  const System truth({{.name = "cpu", .servers = 30}, {.name = "gpu", .servers = 2}},
                     {{.name = "a", .count = 2}, {.name = "b", .count = 30}}, Rates(2, 2, {8, 64, 10, 0}));
  std::vector<RatePrior> priors;
  for (const double rate : truth.rates().values())
    priors.push_back(rate > 0 ? RatePrior::measured(rate) : RatePrior::cannot_run());
  Dispatcher dispatcher(truth.resources(), truth.tasks(), priors, deferred("map"), LiveWorld::at(0));
  LiveWorld world(truth, dispatcher, 1);
  for (const TaskType i : truth.types()) world.add_threads(i, truth.count(i));
  world.run(20'000);
  const DispatchStatistics done = dispatcher.statistics(LiveWorld::at(world.now()));
  const double tried = static_cast<double>(done.completions[0]) / 8;
  EXPECT_GT(tried, 0);
  EXPECT_LE(tried, 0.021 * 2 * world.now());
}

TEST(ClosedLoop, AResourceThatComesLaterLeavesTheNeedsAsTheyWere) {
  const System truth = with_a_bus();
  DispatcherOptions options = deferred("jsq");
  options.capacities = truth.capacities();
  Dispatcher dispatcher(truth.resources(), truth.tasks(), unknown(truth), options, ClosedLoop::at(0));
  const std::vector<RatePrior> priors(3, RatePrior::measured(5));
  const ResourceId late = dispatcher.add_resource({.name = "later"}, priors);
  dispatcher.solve(ClosedLoop::at(1), true);
  const System& planned = dispatcher.plan()->system;
  ASSERT_EQ(planned.capacities(), truth.capacities());
  EXPECT_EQ(planned.needs(task_type(0), late).size(), 1U) << "its own server";
  for (const TaskType i : truth.types()) {
    for (const ResourceId j : truth.resources_for(i)) {
      if (!planned.can_run(i, j)) continue;
      ASSERT_EQ(planned.needs(i, j).size(), truth.needs(i, j).size());
      EXPECT_EQ(planned.capacity_name(planned.needs(i, j).back().capacity),
                truth.capacity_name(truth.needs(i, j).back().capacity));
    }
  }
}

}  // namespace
}  // namespace allot
