// Weighted service against a textbook simplex method over every whole-number assignment.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "allot/model/generate.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/amount.hpp"
#include "tests/support/dense_simplex.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random_systems.hpp"

namespace allot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::random_system;
using testing::SystemShape;

const SystemShape kShape{.max_types = 3,
                         .max_resources = 3,
                         .min_types = 2,
                         .min_resources = 2,
                         .max_count = 5,
                         .priorities = true};

Solution weighted(const System& system, ShareReading reading, SolveOptions options = {}) {
  options.settings.set("shares", reading);
  return solve(*find_solver("weighted"), {system, Objective::kPriority}, options);
}

bool succeeded(const Solution& solution) {
  return solution.outcome == Outcome::kOptimal || solution.outcome == Outcome::kConverged;
}

bool has_a_share_without_threads(const System& system) {
  for (const TaskType i : system.types()) {
    if (system.shares()[index(i)] > 0 && system.count(i) == 0) return true;
  }
  return false;
}

/// What is left of a program once a reading is chosen: the level (X for exact shares, s for floors) and X.
struct Optimum {
  long double level = 0;
  long double throughput = 0;
};

/// The program with f_ij <= n_ij for a given n, or with sum_j f_ij <= N_i only when there is none.
Optimum programme(const System& system, ShareReading reading, const Assignment* n) {
  const std::size_t types = system.type_count();
  const std::size_t resources = system.resource_count();
  const std::size_t level = types * resources;
  std::vector<long double> rates(level + 1, 0);
  for (std::size_t i = 0; i < types; ++i) {
    for (std::size_t j = 0; j < resources; ++j)
      rates[i * resources + j] = system.rate(task_type(i), resource_id(j));
  }
  // Floors: the level counts so much more than the throughput that it comes first.
  constexpr long double kFirst = 1e5L;
  const bool exact = reading == ShareReading::kExact;
  std::vector<long double> objective(level + 1, 0);
  if (!exact) objective = rates;
  objective[level] = exact ? 1 : kFirst;
  testing::DenseSimplex simplex(objective);
  for (std::size_t i = 0; i < types; ++i) {
    std::vector<long double> share(level + 1, 0);  // p_i level - X_i, = 0 or <= 0
    std::vector<long double> threads(level + 1, 0);
    share[level] = system.shares()[i];
    for (std::size_t j = 0; j < resources; ++j) {
      share[i * resources + j] = -rates[i * resources + j];
      threads[i * resources + j] = 1;
    }
    if (exact) {
      simplex.zero(share);
    } else {
      simplex.at_most(share, 0);
    }
    simplex.at_most(threads, static_cast<long double>(system.count(task_type(i))));
  }
  for (std::size_t j = 0; j < resources; ++j) {
    std::vector<long double> capacity(level + 1, 0);
    for (std::size_t i = 0; i < types; ++i) capacity[i * resources + j] = 1;
    simplex.at_most(capacity, static_cast<long double>(system.resource(resource_id(j)).servers));
  }
  for (std::size_t i = 0; i < types; ++i) {
    for (std::size_t j = 0; j < resources; ++j) {
      const bool can_run = rates[i * resources + j] > 0;
      if (n == nullptr && can_run) continue;
      std::vector<long double> room(level + 1, 0);
      room[i * resources + j] = 1;
      simplex.at_most(room, can_run ? static_cast<long double>((*n)(task_type(i), resource_id(j))) : 0.0L);
    }
  }
  std::vector<long double> f;
  EXPECT_TRUE(simplex.solve(&f).has_value());
  Optimum optimum{f[level], 0};
  for (std::size_t at = 0; at < level; ++at) optimum.throughput += rates[at] * f[at];
  return optimum;
}

/// The best over all assignments: level first, then throughput.
Optimum best_realisable(const System& system, ShareReading reading) {
  Optimum best;
  testing::for_each_assignment(system, [&](const Assignment& n) {
    if (!testing::keeps_depths(system, n)) return;
    const Optimum here = programme(system, reading, &n);
    const long double slack = 1e-9L * best.level;
    if (here.level > best.level + slack ||
        (here.level > best.level - slack && here.throughput > best.throughput)) {
      best = here;
    }
  });
  return best;
}

/// The largest s with X_i >= p_i s for all types.
double level_of(const System& system, const Solution& solution) {
  double level = std::numeric_limits<double>::infinity();
  for (const TaskType i : system.types()) {
    const double share = system.shares()[index(i)];
    if (share > 0) level = std::min(level, solution.performance.throughput_by_task[index(i)] / share);
  }
  return level;
}

/// What any answer of `weighted` must satisfy.
void expect_realisable(const System& system, const Solution& solution) {
  constexpr double kSlack = 1e-8;
  const std::size_t resources = system.resource_count();
  ASSERT_EQ(solution.time_shares.size(), system.type_count() * resources);
  ASSERT_TRUE(testing::places_every_task(system, solution.assignment));
  EXPECT_TRUE(testing::keeps_depths(system, solution.assignment));
  for (std::size_t j = 0; j < resources; ++j) {
    double busy = 0;
    for (std::size_t i = 0; i < system.type_count(); ++i) {
      const double f = solution.time_shares[i * resources + j];
      EXPECT_GE(f, 0.0);
      EXPECT_LE(f, static_cast<double>(solution.assignment(task_type(i), resource_id(j))) + kSlack);
      busy += f;
    }
    EXPECT_LE(busy, static_cast<double>(system.resource(resource_id(j)).servers) + kSlack);
  }
  EXPECT_NEAR(solution.performance.throughput, testing::recomputed_throughput(system, solution),
              1e-12 * solution.performance.throughput);
}

TEST(Weighted, MeetsExactSharesWithTheLargestThroughputThatWholeThreadsAllow) {
  std::uint64_t solved = 0;
  int relaxation_not_attained = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(250); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    SystemShape shape = kShape;
    shape.zero_priorities = seed % 3 == 0;
    const System system = random_system(seed, shape);
    if (has_a_share_without_threads(system)) continue;
    const Solution solution = weighted(system, ShareReading::kExact);
    ASSERT_TRUE(succeeded(solution)) << solution.reason;
    expect_realisable(system, solution);
    const double x = solution.performance.throughput;
    ASSERT_GT(x, 0.0);
    EXPECT_LE(*solution.performance.priority_error, 1e-9);
    const double best = static_cast<double>(best_realisable(system, ShareReading::kExact).level);
    const double relaxed = static_cast<double>(programme(system, ShareReading::kExact, nullptr).level);
    EXPECT_LE(x, best * (1 + 1e-7));
    EXPECT_GE(x, best * (1 - 1e-7));
    EXPECT_LE(best, relaxed * (1 + 1e-9));
    relaxation_not_attained += best < relaxed * (1 - 1e-6) ? 1 : 0;
    ++solved;
  }
  EXPECT_GT(solved, testing::amount(80));
  EXPECT_GT(relaxation_not_attained, 0);  // whole threads matter: the branching has been put to the test
}

// Every type gets p_i s with the largest s, then X is maximal.
TEST(Weighted, RaisesTheCommonLevelThenTheThroughput) {
  std::uint64_t solved = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(250); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    SystemShape shape = kShape;
    shape.zero_priorities = seed % 3 == 0;
    const System system = random_system(seed, shape);
    if (has_a_share_without_threads(system)) continue;
    const Solution solution = weighted(system, ShareReading::kFloor);
    ASSERT_TRUE(succeeded(solution)) << solution.reason;
    expect_realisable(system, solution);
    const Optimum best = best_realisable(system, ShareReading::kFloor);
    const double level = level_of(system, solution);
    EXPECT_NEAR(level, static_cast<double>(best.level), 1e-6 * level);
    EXPECT_NEAR(solution.performance.throughput, static_cast<double>(best.throughput),
                1e-6 * solution.performance.throughput);
    ++solved;
  }
  EXPECT_GT(solved, testing::amount(80));
}

// Where a resource has time left and a type has a thread there that is not always busy, working more would
// help.
TEST(Weighted, LeavesNothingIdleThatCouldHelpUnderTheFloorReading) {
  for (std::uint64_t seed = 0; seed < testing::amount(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system =
        seed % 2 == 0 ? random_system(seed, {.max_count = 8, .priorities = true})
                      : generate({.specialized = 2, .threads = 20, .priorities = true, .seed = seed}).system;
    if (has_a_share_without_threads(system)) continue;
    const Solution solution = weighted(system, ShareReading::kFloor);
    ASSERT_TRUE(succeeded(solution));
    const std::size_t resources = system.resource_count();
    for (std::size_t j = 0; j < resources; ++j) {
      double idle = static_cast<double>(system.resource(resource_id(j)).servers);
      for (std::size_t i = 0; i < system.type_count(); ++i) idle -= solution.time_shares[i * resources + j];
      if (idle < 1e-7) continue;
      for (std::size_t i = 0; i < system.type_count(); ++i) {
        const double waiting = static_cast<double>(solution.assignment(task_type(i), resource_id(j))) -
                               solution.time_shares[i * resources + j];
        EXPECT_LT(waiting, 1e-7) << "type " << i << " at resource " << j;
      }
    }
  }
}

// Exact shares at level X are floors at level X, so the floor reading completes at least as much.
TEST(Weighted, CompletesAtLeastAsMuchUnderTheFloorReading) {
  for (std::uint64_t seed = 0; seed < testing::amount(200); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = generate({.priorities = true, .seed = seed}).system;
    const Solution exact = weighted(system, ShareReading::kExact);
    const Solution floor = weighted(system, ShareReading::kFloor);
    ASSERT_TRUE(succeeded(exact) && succeeded(floor));
    EXPECT_LE(*exact.performance.priority_error, 1e-9);
    EXPECT_GE(floor.performance.throughput, exact.performance.throughput * (1 - 1e-7));
  }
}

// The relaxed program bounds every answer, on systems too large to enumerate; with many threads it is
// attained.
TEST(Weighted, NeverBeatsTheRelaxedProgrammeAndNearlyAttainsItWithManyThreads) {
  for (std::uint64_t seed = 0; seed < testing::amount(60); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system =
        generate({.general = 3, .specialized = 2, .threads = 60, .priorities = true, .seed = seed}).system;
    const Solution solution = weighted(system, ShareReading::kExact);
    ASSERT_TRUE(succeeded(solution));
    expect_realisable(system, solution);
    const double relaxed = static_cast<double>(programme(system, ShareReading::kExact, nullptr).level);
    EXPECT_LE(solution.performance.throughput, relaxed * (1 + 1e-8));
    EXPECT_GE(solution.performance.throughput, relaxed * 0.9);
  }
}

// Rates a billion apart: the fast type needs next to no time, but some.
TEST(Weighted, FindsTheBestSharesWhereRatesAreFarApart) {
  const System system({{.name = "r0"}, {.name = "r1"}},
                      {{.name = "a", .count = 2, .priority = 1}, {.name = "b", .count = 2, .priority = 1}},
                      Rates(2, 2, {8000, 4e9, 0.007, 0.1}));
  const Solution solution = weighted(system, ShareReading::kExact);
  EXPECT_TRUE(solution.proven_optimal);
  EXPECT_NEAR(solution.performance.throughput, 0.214, 1e-6);
  EXPECT_NEAR(*solution.performance.priority_error, 0, 1e-15);
}

TEST(Weighted, KeepsAResourceWithALeastDepthInUseWhereThatIsBest) {
  const System system({{.name = "r0"}, {.name = "r1", .min_depth = 3}},
                      {{.name = "a", .count = 3, .priority = 1}, {.name = "b", .count = 1, .priority = 1}},
                      Rates(2, 2, {1, 6, 9, 6}));
  const Solution solution = weighted(system, ShareReading::kExact);
  EXPECT_TRUE(solution.proven_optimal);
  EXPECT_NEAR(solution.performance.throughput, 12, 1e-9);
}

TEST(Weighted, KeepsLeastDepths) {
  for (std::uint64_t seed = 0; seed < testing::amount(150); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    SystemShape shape = kShape;
    shape.depths = true;
    shape.zero_priorities = true;
    const System system = random_system(seed, shape);
    if (has_a_share_without_threads(system)) continue;
    for (const ShareReading reading : {ShareReading::kExact, ShareReading::kFloor}) {
      SolveOptions options;
      options.stop.deadline = Clock::now() + std::chrono::seconds(2);
      const Solution solution = weighted(system, reading, options);
      ASSERT_NE(solution.outcome, Outcome::kTimeLimit);
      if (!succeeded(solution)) continue;
      expect_realisable(system, solution);
      // Which resources to do without is a heuristic, so the best level is a bound, no more.
      const double level = level_of(system, solution);
      EXPECT_LE(level, static_cast<double>(best_realisable(system, reading).level) * (1 + 1e-7));
      EXPECT_GE(solution.performance.throughput, level * (1 - 1e-7));
    }
  }
}

TEST(Weighted, MeetsFloorsOrSaysThatItCannot) {
  std::uint64_t met = 0;
  std::uint64_t missed = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(600); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    SystemShape shape = kShape;
    shape.floors = true;
    const System system = random_system(seed, shape);
    if (has_a_share_without_threads(system) || !system.has_floors()) continue;
    // Exact shares at level X give every type p_i X: the floors can be met if and only if the best X is
    // enough.
    const long double best = best_realisable(system, ShareReading::kExact).level;
    long double needed = 0;
    for (const TaskType i : system.types()) {
      if (system.floor(i) > 0)
        needed = std::max(needed, static_cast<long double>(system.floor(i) / system.shares()[index(i)]));
    }
    const Solution solution = weighted(system, ShareReading::kExact);
    if (best > needed * (1 + 1e-6L)) {
      EXPECT_TRUE(succeeded(solution)) << solution.reason;
      EXPECT_TRUE(testing::meets_floors(system, testing::recomputed_completions(system, solution)));
      ++met;
    } else if (best < needed * (1 - 1e-6L)) {
      EXPECT_EQ(solution.outcome, Outcome::kInfeasible);
      EXPECT_FALSE(solution.reason.empty());
      ++missed;
    }
  }
  EXPECT_GT(met, testing::amount(10));
  EXPECT_GT(missed, testing::amount(10));
}

TEST(Weighted, NamesATypeThatIsToHaveAShareButHasNoThreads) {
  const System system({{.name = "r"}},
                      {{.name = "x", .count = 1, .priority = 1.0}, {.name = "ghost", .priority = 1.0}},
                      Rates(2, 1, {1, 1}));
  for (const ShareReading reading : {ShareReading::kExact, ShareReading::kFloor}) {
    const Solution solution = weighted(system, reading);
    EXPECT_EQ(solution.outcome, Outcome::kInfeasible);
    EXPECT_THAT(solution.reason, HasSubstr("'ghost'"));
    EXPECT_TRUE(testing::places_every_task(system, solution.assignment));
  }
}

TEST(Weighted, ReportsATypeThatPriorityZeroStarves) {
  const System system(
      {{.name = "r"}},
      {{.name = "x", .count = 1, .priority = 1.0}, {.name = "poor", .count = 1, .priority = 0.0}},
      Rates(2, 1, {2, 9}));
  const Solution solution = weighted(system, ShareReading::kExact);
  ASSERT_TRUE(succeeded(solution));
  EXPECT_NEAR(solution.performance.throughput, 2, 1e-9);
  EXPECT_EQ(solution.performance.throughput_by_task[1], 0.0);
  EXPECT_THAT(solution.reason, HasSubstr("'poor'"));
}

// A starved type need not sit at a home that is too shallow for it.
TEST(Weighted, EndsWhenTheHomeOfAStarvedTypeIsTooDeepForIt) {
  const System system(
      {{.name = "r1"}, {.name = "r2", .min_depth = 3}},
      {{.name = "x", .count = 2, .priority = 1.0}, {.name = "y", .count = 1, .priority = 0.0}},
      Rates(2, 2, {2, 0, 1, 5}));
  SolveOptions options;
  options.stop.deadline = Clock::now() + std::chrono::seconds(2);
  const Solution solution = weighted(system, ShareReading::kExact, options);
  EXPECT_NE(solution.outcome, Outcome::kTimeLimit);
  EXPECT_TRUE(testing::keeps_depths(system, solution.assignment));
  EXPECT_NEAR(solution.performance.throughput, 2, 1e-9);
}

// Rates 3 and 1, equal shares: the slow type needs three quarters of the time. X = 2 * 3/4.
TEST(Weighted, EndsWhereRoundingTakesATimeShareAboveItsThreads) {
  // Systems in which the best time share is a whole number of threads but for rounding.
  const System tight({{.name = "r1", .servers = 3}, {.name = "r2", .servers = 4}},
                     {{.name = "t2", .count = 1, .priority = 0.18662351357795093},
                      {.name = "t3", .count = 3, .priority = 0.37614430300143004}},
                     Rates(2, 2,
                           {0.91259750354380853, 468.62939728458446,  //
                            0.17931856797634746, 0.0076449583679978911}));
  const System deep({{.name = "r0", .servers = 3},
                     {.name = "r1", .servers = 4},
                     {.name = "r2", .servers = 3, .min_depth = 4},
                     {.name = "r3", .servers = 2}},
                    {{.name = "t0", .count = 5, .priority = 0},
                     {.name = "t1", .count = 3, .priority = 2},
                     {.name = "t2", .count = 3, .priority = 1}},
                    Rates(3, 4,
                          {0, 17.38710544094155, 0.20221481481524975, 0,                   //
                           165.30113675185902, 48.954418079738339, 231.16572736393252, 0,  //
                           3.2385238306519541, 0, 0, 0}));
  for (const System* const system : {&tight, &deep}) {
    for (const ShareReading reading : {ShareReading::kExact, ShareReading::kFloor}) {
      SolveOptions options;
      options.stop.steps = 1'000'000;
      const Solution solution = weighted(*system, reading, options);
      EXPECT_TRUE(succeeded(solution)) << static_cast<int>(solution.outcome) << solution.reason;
      EXPECT_GT(solution.performance.throughput, 0);
    }
  }
}

TEST(Weighted, DividesASingleServerInProportionToShareOverRate) {
  const System system(
      {{.name = "r"}},
      {{.name = "x", .count = 5, .priority = 1.0}, {.name = "y", .count = 5, .priority = 1.0}},
      Rates(2, 1, {3, 1}));
  const Solution solution = weighted(system, ShareReading::kExact);
  EXPECT_NEAR(solution.time_shares[0], 0.25, 1e-9);
  EXPECT_NEAR(solution.time_shares[1], 0.75, 1e-9);
  EXPECT_NEAR(solution.performance.throughput, 1.5, 1e-9);
  ASSERT_FALSE(solution.binding.empty());
  EXPECT_THAT(solution.binding.front(), HasSubstr("'r'"));
}

// Ten threads of 'encode' are too few for all that fractions of tasks would allow: the cores are idle now and
// then, so they limit nothing.
TEST(Weighted, DoesNotCallAResourceBusyThatIsIdleNowAndThen) {
  const System system(
      {{.name = "cpu", .servers = 12}, {.name = "gpu", .servers = 2}, {.name = "encoder", .servers = 3}},
      {{.name = "encode", .count = 10, .priority = 60.0},
       {.name = "scale", .count = 12, .priority = 30.0},
       {.name = "caption", .count = 6, .priority = 10.0}},
      Rates(3, 3, {3.3333, 20, 30, 40, 400, 0, 0.8, 12.5, 0}));
  const Solution solution = weighted(system, ShareReading::kExact);
  const double busy = solution.time_shares[0] + solution.time_shares[3] + solution.time_shares[6];
  EXPECT_LT(busy, 11.6);
  EXPECT_THAT(solution.binding,
              ElementsAre("resource 'gpu' is busy all the time", "resource 'encoder' is busy all the time",
                          "all 6 tasks of 'encode' on 'cpu' are running",
                          "all 4 tasks of 'caption' on 'cpu' are running"));
}

// Whatever is said to limit the throughput has nothing to spare in the answer, and something is always said.
TEST(Weighted, NamesAsLimitsOnlyWhatHasNothingToSpare) {
  std::size_t sentences = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    SystemShape shape = kShape;
    shape.depths = seed % 3 == 0;
    const System system = random_system(seed, shape);
    if (has_a_share_without_threads(system)) continue;
    const auto reading = seed % 2 == 0 ? ShareReading::kExact : ShareReading::kFloor;
    const Solution solution = weighted(system, reading);
    if (!succeeded(solution)) continue;
    const auto time = [&](TaskType i, ResourceId j) {
      return solution.time_shares[index(i) * system.resource_count() + index(j)];
    };
    std::set<std::string> true_sentences;
    const auto add = [&](double running, Count of, const std::string& all, const std::string& one) {
      if (running >= static_cast<double>(of) - 1e-4) true_sentences.insert(of == 1 ? one : all);
    };
    for (const ResourceId j : system.resource_ids()) {
      double busy = 0;
      for (const TaskType i : system.types()) busy += time(i, j);
      const std::string sentence = "resource '" + system.resource(j).name + "' is busy all the time";
      add(busy, system.resource(j).servers, sentence, sentence);
    }
    for (const TaskType i : system.types()) {
      const std::string name = "'" + system.task(i).name + "'";
      double running = 0;
      for (const ResourceId j : system.resource_ids()) {
        const std::string place = name + " on '" + system.resource(j).name + "'";
        const Count n = solution.assignment(i, j);
        add(time(i, j), n, "all " + std::to_string(n) + " tasks of " + place + " are running",
            "the only task of " + place + " is running");
        running += time(i, j);
      }
      add(running, system.count(i),
          "all " + std::to_string(system.count(i)) + " threads of " + name + " are running",
          "the only thread of " + name + " is running");
    }
    EXPECT_FALSE(solution.binding.empty());
    for (const std::string& sentence : solution.binding) {
      EXPECT_TRUE(true_sentences.contains(sentence)) << sentence;
      ++sentences;
    }
  }
  EXPECT_GT(sentences, 400U);
}

// At zero error it keeps more throughput than the best even-sharing state with an error left over.
TEST(Weighted, KeepsMoreThroughputThanTheBestStateOfLeastError) {
  double weighted_kept = 0;
  double states_kept = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const System system = generate({.priorities = true, .seed = seed}).system;
    const double most =
        solve(*find_solver("exhaustive"), {system, Objective::kThroughput}).performance.throughput;
    weighted_kept += weighted(system, ShareReading::kExact).performance.throughput / most / 60;
    states_kept +=
        solve(*find_solver("exhaustive"), {system, Objective::kPriority}).performance.throughput / most / 60;
  }
  EXPECT_GT(weighted_kept, states_kept + 0.05);
}

}  // namespace
}  // namespace allot
