// What every solver owes its caller. Runs over builtin_solvers(): a new solver is covered unedited.
#include "allot/solve/solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/model/generate.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random_systems.hpp"

namespace allot::solver_test {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using testing::Completions;
using testing::random_system;
using testing::recomputed_completions;
using testing::SystemShape;

struct Job {
  const SolverInfo* solver;
  Objective objective;
};

std::vector<Job> jobs() {
  std::vector<Job> result;
  for (const SolverInfo* solver : builtin_solvers()) {
    for (const Objective objective : {Objective::kThroughput, Objective::kPriority}) {
      if (supports(*solver, objective)) result.push_back({solver, objective});
    }
  }
  return result;
}

std::string job_name(const ::testing::TestParamInfo<Job>& info) {
  std::string name =
      std::string(info.param.solver->name) + "_" + std::string(to_string(info.param.objective));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// A mix of features, small enough for enumeration; the priority objective always has priorities.
struct Mix {
  const char* name;
  SystemShape shape;
};

std::vector<Mix> mixes() {
  const SystemShape plain{.max_types = 4,
                          .max_resources = 3,
                          .min_resources = 2,
                          .max_count = 5,
                          .fcfs = false,
                          .priorities = true};
  const auto with = [&](auto... changes) {
    SystemShape shape = plain;
    (changes(shape), ...);
    return shape;
  };
  const auto fcfs = [](SystemShape& s) { s.fcfs = true; };
  const auto several = [](SystemShape& s) { s.fcfs = s.several_fcfs = true; };
  const auto depths = [](SystemShape& s) { s.depths = true; };
  const auto floors = [](SystemShape& s) { s.floors = true; };
  const auto zeros = [](SystemShape& s) { s.zero_priorities = true; };
  const auto closed = [](SystemShape& s) { s.closed = true; };
  return {{"ps", plain},
          {"fcfs", with(fcfs)},
          {"several fcfs servers", with(several)},
          {"depths", with(depths)},
          {"floors", with(floors)},
          {"zero priorities", with(zeros)},
          {"closed resources", with(several, depths, closed)},
          {"all", with(several, depths, floors, zeros)}};
}

bool is_outcome_of_a_stop(Outcome outcome) {
  return outcome == Outcome::kTimeLimit || outcome == Outcome::kInterrupted || outcome == Outcome::kBudget;
}

/// Everything that must hold of any answer.
void expect_sound(const Problem& problem, const Solution& solution) {
  const System& system = problem.system;
  ASSERT_TRUE(solution.is_planned || testing::places_every_task(system, solution.assignment));
  const Completions x = recomputed_completions(system, solution);
  const double total = static_cast<double>(x.total);
  EXPECT_NEAR(solution.performance.throughput, total, 1e-12 * total);
  ASSERT_EQ(solution.performance.throughput_by_task.size(), system.type_count());
  for (std::size_t i = 0; i < system.type_count(); ++i) {
    EXPECT_NEAR(solution.performance.throughput_by_task[i], static_cast<double>(x.by_task[i]), 1e-12 * total);
  }
  const std::optional<double> error = testing::recomputed_error(system, x);
  ASSERT_EQ(solution.performance.priority_error.has_value(), error.has_value());
  if (error) {
    EXPECT_NEAR(*solution.performance.priority_error, *error, 1e-12);
  }

  if (solution.outcome == Outcome::kOptimal || solution.outcome == Outcome::kConverged) {
    EXPECT_TRUE(testing::keeps_depths(system, solution.assignment));
    EXPECT_TRUE(testing::meets_floors(system, x));
  } else {
    EXPECT_FALSE(solution.outcome == Outcome::kInfeasible && solution.reason.empty());
  }
  if (solution.proven_optimal) {
    EXPECT_EQ(solution.outcome, Outcome::kOptimal);
    EXPECT_TRUE(testing::keeps_depths(system, solution.assignment));
    EXPECT_TRUE(testing::meets_floors(system, x));
    if (problem.objective == Objective::kThroughput) {
      EXPECT_LE(solution.gap().value_or(1), 1e-9);
    }
  }
  if (solution.upper_bound) {
    EXPECT_GE(*solution.upper_bound, total * (1 - 1e-12));
    EXPECT_GE(*solution.gap(), 0.0);
  }
  if (solution.performance.approximate && solution.time_shares.empty()) {
    EXPECT_FALSE(solution.proven_optimal);
    EXPECT_NE(solution.outcome, Outcome::kOptimal);
  }
  EXPECT_GE(solution.seconds, 0.0);
}

class SolverConformance : public ::testing::TestWithParam<Job> {
 protected:
  Solution run(const System& system, const SolveOptions& options = {}) const {
    return solve(*GetParam().solver, problem(system), options);
  }
  Problem problem(const System& system) const { return {system, GetParam().objective}; }
  bool is(const char* name) const { return GetParam().solver->name == name; }
};

TEST_P(SolverConformance, PlacesEveryTaskOnceWhereItCanRunAndReportsWhatFollows) {
  for (const Mix& mix : mixes()) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      SCOPED_TRACE(::testing::Message() << mix.name << " seed=" << seed);
      const System system = random_system(seed, mix.shape);
      const Solution solution = run(system, {.stop = {.deadline = Clock::now() + std::chrono::seconds(10)}});
      expect_sound(problem(system), solution);
      EXPECT_EQ(solution.solver, GetParam().solver->name);
      EXPECT_EQ(solution.objective, GetParam().objective);
      EXPECT_FALSE(is_outcome_of_a_stop(solution.outcome)) << to_string(solution.outcome);
      if (HasFailure()) return;
    }
  }
}

// No state has more throughput, or less error, than the best found by naive enumeration; and an answer must
// not be called infeasible by proof when a feasible state exists.
TEST_P(SolverConformance, NeverBeatsNaiveEnumerationAndMeetsItWhenProven) {
  for (const Mix& mix : mixes()) {
    for (std::uint64_t seed = 1000; seed < 1040; ++seed) {
      SCOPED_TRACE(::testing::Message() << mix.name << " seed=" << seed);
      SystemShape shape = mix.shape;
      shape.max_types = 3;
      const System system = random_system(seed, shape);
      const Solution solution = run(system);
      if (!solution.time_shares.empty()) continue;  // no state
      const testing::BruteForce best = testing::brute_force(system);
      const bool feasible = solution.outcome == Outcome::kOptimal || solution.outcome == Outcome::kConverged;
      if (feasible) {
        ASSERT_TRUE(best.max_throughput.has_value());
      }
      const bool maximises = GetParam().objective == Objective::kThroughput;
      if (feasible && maximises) {
        EXPECT_LE(solution.performance.throughput, *best.max_throughput * (1 + 1e-12));
        if (solution.proven_optimal) {
          EXPECT_NEAR(solution.performance.throughput, *best.max_throughput, 1e-9 * *best.max_throughput);
        }
      } else if (feasible && best.min_error) {
        EXPECT_GE(*solution.performance.priority_error, *best.min_error - 1e-12);
        if (solution.proven_optimal) {
          EXPECT_NEAR(*solution.performance.priority_error, *best.min_error, 1e-9);
        }
      }
      if (solution.upper_bound && best.max_throughput) {
        EXPECT_GE(*solution.upper_bound, *best.max_throughput * (1 - 1e-9));
      }
      if (is("exhaustive") || is("exact")) {
        EXPECT_EQ(solution.outcome == Outcome::kInfeasible, !best.max_throughput.has_value());
      }
    }
  }
}

TEST_P(SolverConformance, GivesTheSameAnswerForTheSameSeed) {
  for (const Mix& mix : mixes()) {
    for (std::uint64_t seed = 2000; seed < 2020; ++seed) {
      SCOPED_TRACE(::testing::Message() << mix.name << " seed=" << seed);
      const System system = random_system(seed, mix.shape);
      const Solution first = run(system, {.seed = seed});
      const Solution again = run(system, {.seed = seed});
      EXPECT_EQ(first.assignment, again.assignment);
      EXPECT_EQ(first.performance, again.performance);
      EXPECT_EQ(first.time_shares, again.time_shares);
      EXPECT_EQ(first.upper_bound, again.upper_bound);
      EXPECT_EQ(first.outcome, again.outcome);
    }
  }
}

TEST_P(SolverConformance, ReturnsAtOnceWhenTheDeadlineHasPassedOrTheFlagIsSet) {
  const StopFlag flag = true;
  for (const Mix& mix : mixes()) {
    for (std::uint64_t seed = 3000; seed < 3020; ++seed) {
      for (const bool interrupted : {false, true}) {
        SCOPED_TRACE(::testing::Message() << mix.name << " seed=" << seed << " interrupted=" << interrupted);
        const System system = random_system(seed, mix.shape);
        SolveOptions options;
        if (interrupted) {
          options.stop.flag = &flag;
        } else {
          options.stop.deadline = Clock::now() - std::chrono::hours(1);
        }
        const Solution solution = run(system, options);
        expect_sound(problem(system), solution);
        // A method may be done before it asks, or have found out that nothing is feasible; but it must not
        // name the wrong reason.
        EXPECT_NE(solution.outcome, interrupted ? Outcome::kTimeLimit : Outcome::kInterrupted);
      }
    }
  }
}

TEST_P(SolverConformance, SaysWhyItStoppedOnASystemThatTakesLong) {
  if (is("best-fit")) GTEST_SKIP() << "is done before it could be stopped";
  const System system =
      generate({.general = 20, .specialized = 10, .threads = 4000, .priorities = true, .seed = 5}).system;
  const StopFlag flag = true;
  for (const bool interrupted : {false, true}) {
    SolveOptions options;
    options.settings.set("max_states", std::numeric_limits<double>::infinity());
    if (interrupted) {
      options.stop.flag = &flag;
    } else {
      options.stop.deadline = Clock::now() - std::chrono::seconds(1);
    }
    const auto start = Clock::now();
    const Solution solution = run(system, options);
    EXPECT_LT(duration<double>(Clock::now() - start).count(), 2.0);
    expect_sound(problem(system), solution);
    EXPECT_EQ(solution.outcome, interrupted ? Outcome::kInterrupted : Outcome::kTimeLimit);
    EXPECT_FALSE(solution.proven_optimal);
  }
}

TEST_P(SolverConformance, AcceptsASystemWithoutThreads) {
  const System system({{.name = "a"}, {.name = "b"}},
                      {{.name = "x", .priority = 1.0}, {.name = "y", .priority = 1.0}},
                      Rates(2, 2, {1, 2, 3, 0}));
  const Solution solution = run(system);
  EXPECT_EQ(solution.assignment, Assignment(2, 2));
  EXPECT_EQ(solution.performance.throughput, 0.0);
  EXPECT_FALSE(solution.performance.response_time.has_value());
  EXPECT_EQ(solution.gap().value_or(0), 0.0);
}

TEST_P(SolverConformance, PutsEverythingOnTheOnlyResource) {
  const System system(
      {{.name = "a", .servers = 2}},
      {{.name = "x", .count = 3, .priority = 1.0}, {.name = "y", .count = 2, .priority = 1.0}},
      Rates(2, 1, {4, 1}));
  const Solution solution = run(system);
  if (!solution.is_planned) {
    EXPECT_EQ(solution.assignment(task_type(0), resource_id(0)), 3);
    EXPECT_EQ(solution.assignment(task_type(1), resource_id(0)), 2);
  }
  if (solution.time_shares.empty()) {
    EXPECT_DOUBLE_EQ(solution.performance.throughput, 2 * 14.0 / 5);
  }
}

// One type: every resource that gets a task adds its own rate, so with ten threads all five are used and X is
// the sum of their rates.
TEST_P(SolverConformance, SpreadsASingleTypeOverAllResources) {
  const System system({{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}, {.name = "e"}},
                      {{.name = "x", .count = 10, .priority = 1.0}}, Rates(1, 5, {5, 4, 3, 2, 1}));
  const Solution solution = run(system);
  expect_sound(problem(system), solution);
  if (GetParam().objective == Objective::kThroughput && !is("best-fit")) {
    EXPECT_NEAR(solution.performance.throughput, 15, 1e-9);
  }
}

TEST_P(SolverConformance, AcceptsATypeThatCanRunNowhereAndHasNoThreads) {
  const System system({{.name = "a"}, {.name = "b"}},
                      {{.name = "x", .count = 2, .priority = 1.0}, {.name = "none", .priority = 0.0}},
                      Rates(2, 2, {3, 2, 0, 0}));
  const Solution solution = run(system);
  expect_sound(problem(system), solution);
  EXPECT_EQ(solution.assignment.row_sum(task_type(1)), 0);
  EXPECT_GT(solution.performance.throughput, 0.0);
}

TEST_P(SolverConformance, AcceptsAnAcceleratorThatNobodyUses) {
  const System system(
      {{.name = "a"}, {.name = "sa", .kind = Kind::kSpecialized}},
      {{.name = "x", .count = 2, .priority = 1.0}, {.name = "y", .count = 1, .priority = 1.0}},
      Rates(2, 2, {3, 0, 2, 0}));
  expect_sound(problem(system), run(system));
}

TEST_P(SolverConformance, ReturnsInTimeFromABillionThreads) {
  for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
    for (const Count servers : {Count{1}, Count{1'000'000}}) {
      SCOPED_TRACE(::testing::Message()
                   << "fcfs=" << (discipline == Discipline::kFcfs) << " servers=" << servers);
      const System system({{.name = "a", .servers = discipline == Discipline::kPs ? servers : 1},
                           {.name = "b", .discipline = discipline},
                           {.name = "c"}},
                          {{.name = "x", .count = kMaxCount, .priority = 1.0},
                           {.name = "y", .count = 7, .priority = 2.0},
                           {.name = "z", .count = kMaxCount, .priority = 1.0}},
                          Rates(3, 3, {3, 2, 1, 1, 4, 2, 1, 1, 5}));
      const auto start = Clock::now();
      const Solution solution = run(system, {.stop = {.deadline = start + milliseconds(200)}});
      EXPECT_LT(duration<double>(Clock::now() - start).count(), 5.0);
      expect_sound(problem(system), solution);
    }
  }
}

TEST_P(SolverConformance, ReturnsInTimeFromAWideSystem) {
  for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
    const System system =
        generate({.general = 43, .specialized = 21, .threads = 8192, .priorities = true, .seed = 3})
            .system.with_discipline(discipline);
    const auto start = Clock::now();
    const Solution solution = run(system, {.stop = {.deadline = start + milliseconds(200)}});
    EXPECT_LT(duration<double>(Clock::now() - start).count(), 5.0);
    expect_sound(problem(system), solution);
  }
}

TEST_P(SolverConformance, SurvivesExtremeRates) {
  for (const double unit : {1e-99, 1e-9, 1e9, 1e99}) {
    SCOPED_TRACE(::testing::Message() << "unit=" << unit);
    const System system = testing::scaled(
        System({{.name = "a"}, {.name = "b", .discipline = Discipline::kFcfs}},
               {{.name = "x", .count = 3, .priority = 1.0}, {.name = "y", .count = 2, .priority = 2.0}},
               Rates(2, 2, {3, 2, 1, 4})),
        unit);
    const Solution solution = run(system);
    expect_sound(problem(system), solution);
    EXPECT_TRUE(std::isfinite(solution.performance.throughput));
  }
}

// Rates that differ by many orders of magnitude between types, up to all that the model allows.
TEST_P(SolverConformance, SurvivesRatesOfVeryDifferentSize) {
  for (const double factor : {1e12, 1e24, 1e50, 1e99}) {
    SCOPED_TRACE(::testing::Message() << "factor=" << factor);
    const System system(
        {{.name = "a"}, {.name = "b"}},
        {{.name = "x", .count = 3, .priority = 1.0}, {.name = "y", .count = 2, .priority = 2.0}},
        Rates(2, 2, {3 * factor, 2 * factor, 1, 4}));
    const Solution solution = run(system);
    expect_sound(problem(system), solution);
    EXPECT_TRUE(!solution.proven_optimal || solution.performance.throughput > 0);
  }
}

TEST_P(SolverConformance, IsRefusedAnObjectiveItDoesNotSupportOrPrioritiesThatAreMissing) {
  const Objective other =
      GetParam().objective == Objective::kThroughput ? Objective::kPriority : Objective::kThroughput;
  const System system = random_system(1, {.priorities = true});
  if (!supports(*GetParam().solver, other)) {
    EXPECT_THROW(solve(*GetParam().solver, {system, other}), InvalidModel);
  }
  if (GetParam().objective == Objective::kPriority) {
    EXPECT_THROW(run(random_system(1)), InvalidModel);
  }
}

INSTANTIATE_TEST_SUITE_P(Builtin, SolverConformance, ::testing::ValuesIn(jobs()), job_name);

// An optimal start cannot be improved, and must not be lost.
TEST(WarmStart, IsNeverMadeWorse) {
  for (const char* name : {"local", "exact"}) {
    for (const bool no_time : {false, true}) {
      for (std::uint64_t seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(::testing::Message() << name << " seed=" << seed << " no_time=" << no_time);
        const System system = random_system(
            seed, {.max_types = 4, .max_resources = 3, .max_count = 4, .depths = seed % 2 == 0});
        const Problem problem{system, Objective::kThroughput};
        const Solution best = solve(*find_solver("exhaustive"), problem);
        if (best.outcome == Outcome::kInfeasible) continue;
        SolveOptions options;
        options.start = best.assignment;
        if (no_time) options.stop.deadline = Clock::now() - milliseconds(1);
        const Solution again = solve(*find_solver(name), problem, options);
        EXPECT_NEAR(again.performance.throughput, best.performance.throughput,
                    1e-12 * best.performance.throughput);
      }
    }
  }
}

TEST(WarmStart, IsNeverMadeWorseForPriorities) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system =
        random_system(seed, {.max_types = 4, .max_resources = 3, .max_count = 4, .priorities = true});
    if (system.population() == 0) continue;
    const Problem problem{system, Objective::kPriority};
    const Solution best = solve(*find_solver("exhaustive"), problem);
    SolveOptions options;
    options.start = best.assignment;
    const Solution again = solve(*find_solver("local"), problem, options);
    EXPECT_NEAR(*again.performance.priority_error, *best.performance.priority_error, 1e-12);
  }
}

TEST(WarmStart, IsIgnoredWhenItDoesNotFit) {
  const System system = random_system(4, {.max_types = 3, .max_resources = 3});
  Assignment surplus = home_assignment(system);
  surplus(task_type(0), resource_id(0)) += 1;
  for (const SolverInfo* solver : builtin_solvers()) {
    if (!supports(*solver, Objective::kThroughput)) continue;
    const Problem problem{system, Objective::kThroughput};
    for (const Assignment& misfit : {Assignment(1, 1), Assignment(9, 9), surplus}) {
      SCOPED_TRACE(solver->name);
      SolveOptions options;
      options.start = misfit;
      EXPECT_EQ(solve(*solver, problem, options).assignment, solve(*solver, problem).assignment);
    }
  }
}

}  // namespace
}  // namespace allot::solver_test
