#include "allot/solve/whatif.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <vector>

#include "allot/model/generate.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/amount.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random_systems.hpp"

namespace allot {
namespace {

using testing::random_system;

/// The system after the change, built anew from its parts.
System after(const System& system, const Change& change) {
  std::vector<Resource> resources = system.resources();
  std::vector<TaskClass> tasks = system.tasks();
  std::vector<double> rates = system.rates().values();
  switch (change.what) {
    case Change::What::kServer:
      resources[index(*change.resource)].servers += 1;
      break;
    case Change::What::kCapacity:
      return system.with_amount(*change.capacity, system.amount(*change.capacity) + 1);
    case Change::What::kThread:
      tasks[index(*change.task)].count += 1;
      break;
    case Change::What::kRate:
      rates[index(*change.task) * resources.size() + index(*change.resource)] *= 1.1;
      break;
  }
  return System(resources, tasks, Rates(tasks.size(), resources.size(), rates));
}

double optimum(const System& system) {
  return solve(*find_solver("exhaustive"), {system, Objective::kThroughput}).performance.throughput;
}

// Every figure against an enumeration of the changed system: never above its optimum, nearly always at it.
TEST(WhatIf, GainsAreReproducedByEnumeration) {
  double loss = 0;
  int changes = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(120); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system =
        seed % 2 == 0
            ? random_system(
                  seed, {.max_types = 3, .max_resources = 3, .min_types = 2, .max_count = 5, .fcfs = false})
            : generate({.threads = 9, .seed = seed}).system;
    if (system.population() == 0) continue;
    const WhatIf answer = what_if(system);
    EXPECT_EQ(answer.outcome, Outcome::kConverged);
    const double base = testing::recomputed_throughput(system, answer.base.assignment);
    EXPECT_NEAR(answer.base.performance.throughput, base, 1e-12 * base);
    EXPECT_LE(base, optimum(system) * (1 + 1e-12));
    for (const Change& change : answer.changes) {
      const double best = optimum(after(system, change));
      EXPECT_LE(change.throughput, best * (1 + 1e-9));
      EXPECT_GE(change.throughput, best * 0.97);
      EXPECT_NEAR(change.gain, change.throughput / base - 1, 1e-12);
      loss += 1 - change.throughput / best;
      ++changes;
      // What does not take anything away cannot lower the best: a server or a faster pair, under sharing.
      if (change.what != Change::What::kThread) {
        EXPECT_GE(change.gain, -1e-12);
      }
    }
  }
  EXPECT_LT(loss / changes, 0.001);
}

// The base is the best that is known, so that a gain is due to the change: also on systems where the search
// does not always find the optimum.
TEST(WhatIf, ServersAndFasterPairsNeverLoseUnderSharing) {
  for (std::uint64_t seed = 0; seed < testing::amount(40); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system =
        generate({.general = 5, .specialized = 1, .threads = 72, .rule = AffinityRule::kNone, .seed = seed})
            .system;
    const WhatIf answer = what_if(system);
    for (const Change& change : answer.changes) {
      if (change.what != Change::What::kThread) {
        EXPECT_GE(change.gain, -1e-12);
      }
    }
  }
}

TEST(WhatIf, TriesEveryServerThreadAndPairOnce) {
  const System system(
      {{.name = "a"}, {.name = "b", .servers = 2}},
      {{.name = "x", .count = 2}, {.name = "y", .count = 1}, {.name = "idle"}, {.name = "nowhere"}},
      Rates(4, 2, {3, 2, 0, 4, 1, 0, 0, 0}));
  const WhatIf answer = what_if(system);
  const auto count = [&](Change::What what) {
    return std::count_if(answer.changes.begin(), answer.changes.end(),
                         [&](const Change& change) { return change.what == what; });
  };
  EXPECT_EQ(count(Change::What::kServer), 2);
  EXPECT_EQ(count(Change::What::kThread),
            3);  // also of the type without threads, not of the one that runs nowhere
  EXPECT_EQ(count(Change::What::kRate), 3);  // pairs that are in use by some thread
  for (const Change& change : answer.changes) {
    EXPECT_EQ(change.task.has_value(), change.what != Change::What::kServer);
    EXPECT_EQ(change.resource.has_value(), change.what != Change::What::kThread);
  }
}

TEST(WhatIf, IsSortedByGainThenByKindAndIndex) {
  const auto key = [](const Change& change) {
    return std::tuple(static_cast<int>(change.what), change.task ? index(*change.task) : 0,
                      change.resource ? index(*change.resource) : 0);
  };
  for (std::uint64_t seed = 0; seed < testing::amount(60); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const WhatIf answer = what_if(random_system(seed, {.max_types = 3, .max_resources = 3, .max_count = 4}));
    for (std::size_t at = 1; at < answer.changes.size(); ++at) {
      const Change& before = answer.changes[at - 1];
      const Change& now = answer.changes[at];
      EXPECT_TRUE(before.gain > now.gain || (before.gain == now.gain && key(before) < key(now)));
    }
  }
}

// A task holds 16 units of memory: 48 units are enough for three, 49 for no more. Plans count fractions.
TEST(WhatIf, SaysWhatWholeTasksGain) {
  const auto with = [](double memory) {
    return System({{.name = "gpu", .servers = 8}},
                  {{.name = "train", .count = 8, .needs = {{resource_id(0), capacity_id(1), 16.0}}}},
                  Rates(1, 1, {1}), {{.name = "memory", .amount = memory}});
  };
  const auto gain_of_unit = [&](double memory) {
    const WhatIf answer = what_if_planned({with(memory), Objective::kThroughput});
    for (const Change& change : answer.changes) {
      if (change.what == Change::What::kCapacity) return change;
    }
    return Change{};
  };
  EXPECT_NEAR(gain_of_unit(48).gain, 1.0 / 48, 1e-9);
  EXPECT_NEAR(gain_of_unit(48).whole_gain.value(), 0, 1e-6);
  EXPECT_NEAR(gain_of_unit(63).gain, 1.0 / 63, 1e-9);
  EXPECT_NEAR(gain_of_unit(63).whole_gain.value(), 1.0 / 3, 1e-6);
}

// One resource, one type: another server doubles X, another thread changes nothing, a faster pair brings 10%.
TEST(WhatIf, OfTheSimplestSystem) {
  const System system({{.name = "r"}}, {{.name = "x", .count = 3}}, Rates(1, 1, {2}));
  const WhatIf answer = what_if(system);
  ASSERT_EQ(answer.changes.size(), 3U);
  EXPECT_DOUBLE_EQ(answer.base.performance.throughput, 2);
  EXPECT_EQ(answer.changes[0].what, Change::What::kServer);
  EXPECT_DOUBLE_EQ(answer.changes[0].gain, 1);
  EXPECT_DOUBLE_EQ(answer.changes[0].throughput, 4);
  EXPECT_EQ(answer.changes[1].what, Change::What::kRate);
  EXPECT_NEAR(answer.changes[1].gain, 0.1, 1e-12);
  EXPECT_EQ(answer.changes[2].what, Change::What::kThread);
  EXPECT_DOUBLE_EQ(answer.changes[2].gain, 0);
}

// Without threads there is no base to be relative to; a first thread still brings its throughput.
TEST(WhatIf, OfASystemWithoutThreads) {
  const System system({{.name = "r"}}, {{.name = "x"}}, Rates(1, 1, {2}));
  for (const Change& change : what_if(system).changes) {
    EXPECT_EQ(change.gain, 0.0);
    EXPECT_EQ(change.throughput, change.what == Change::What::kThread ? 2.0 : 0.0);
  }
}

TEST(WhatIf, MarksChangedStatesWithoutAnExactFormula) {
  const System system({{.name = "r", .discipline = Discipline::kFcfs}},
                      {{.name = "x", .count = 2}, {.name = "y", .count = 2}}, Rates(2, 1, {3, 1}));
  for (const Change& change : what_if(system).changes) {
    EXPECT_EQ(change.approximate, change.what == Change::What::kServer);
  }
}

TEST(WhatIf, HoldsWhatItHasTriedWhenStopped) {
  const System system = generate({.general = 20, .specialized = 10, .threads = 2000, .seed = 1}).system;
  const StopFlag flag = true;
  SolveOptions options;
  options.stop.flag = &flag;
  const WhatIf interrupted = what_if(system, options);
  EXPECT_EQ(interrupted.outcome, Outcome::kInterrupted);
  EXPECT_TRUE(interrupted.changes.empty());
  EXPECT_TRUE(testing::places_every_task(system, interrupted.base.assignment));
  options.stop = {.deadline = Clock::now() + std::chrono::milliseconds(50)};
  const auto start = Clock::now();
  const WhatIf limited = what_if(system, options);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
  EXPECT_EQ(limited.outcome, Outcome::kTimeLimit);
}

TEST(WhatIf, TellsHowMuchOfTheWorkIsDone) {
  std::vector<double> shares;
  SolveOptions options;
  options.share_done = [&](double share) { shares.push_back(share); };
  const WhatIf result = what_if(generate({}).system, options);
  EXPECT_EQ(shares.size(), result.changes.size() + 1);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1);
}

}  // namespace
}  // namespace allot
