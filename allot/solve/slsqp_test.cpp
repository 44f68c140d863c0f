// SLSQP on the relaxed problem: its function, gradient, starts and roundings, each against something
// independent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "allot/model/generate.hpp"
#include "allot/solve/detail/relaxation.hpp"
#include "allot/solve/detail/rounding.hpp"
#include "allot/solve/detail/states.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/amount.hpp"
#include "tests/support/random_systems.hpp"

namespace allot {
namespace {

using detail::Relaxation;
using testing::random_system;
using testing::SystemShape;

Solution slsqp(const System& system, const SolveOptions& options = {}) {
  return solve(*find_solver("slsqp"), {system, Objective::kThroughput}, options);
}

/// Section 2 of the model for real numbers, column by column, written down once more.
double relaxed_throughput(const System& system, std::span<const double> n) {
  const std::size_t resources = system.resource_count();
  double total = 0;
  for (const ResourceId j : system.resource_ids()) {
    double tasks = 0;
    double rates = 0;
    double seconds = 0;
    for (const TaskType i : system.types()) {
      const double here = n[index(i) * resources + index(j)];
      tasks += here;
      rates += here * system.rate(i, j);
      if (here > 0) seconds += here / system.rate(i, j);
    }
    if (tasks == 0) continue;
    const double busy = std::min(tasks, static_cast<double>(system.resource(j).servers));
    total += system.resource(j).discipline == Discipline::kPs ? busy * rates / tasks : busy * tasks / seconds;
  }
  return total;
}

/// A point in the interior: every variable positive, every row summing to its count.
std::vector<double> random_point(const Relaxation& relaxation, RandomStream& random) {
  std::vector<double> point(relaxation.size());
  for (double& n : point) n = random.uniform(0.2, 2);
  relaxation.clean(point.data());
  return point;
}

constexpr SystemShape kEverything{.several_fcfs = true, .depths = true, .floors = true};

TEST(Relaxation, HasTheModelsValueAtRealAndWholeNumbers) {
  for (std::uint64_t seed = 0; seed < testing::amount(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, kEverything);
    const Relaxation relaxation(system, true);
    RandomStream random(seed, 1);
    const std::vector<double> point = random_point(relaxation, random);
    const double x = relaxation.value(point.data(), nullptr);
    EXPECT_NEAR(x, relaxed_throughput(system, relaxation.matrix(point)), 1e-12 * (1 + x));
    double by_type = 0;
    for (const Relaxation::Row& row : relaxation.rows()) {
      by_type += relaxation.throughput_of(row.type, point.data(), nullptr);
    }
    EXPECT_NEAR(by_type, x, 1e-12 * (1 + x));
    if (system.approximate() || relaxation.size() == 0) continue;
    // Where nobody waits at several fcfs servers the relaxation differs on purpose; here there are none.
    Assignment home = home_assignment(system);
    detail::occupy_all(system, home);
    const double whole = relaxation.value(relaxation.home_start().data(), nullptr);
    EXPECT_NEAR(whole, evaluate(system, home).throughput, 1e-12 * (1 + whole));
  }
}

TEST(Relaxation, GradientsAgreeWithFiniteDifferences) {
  for (std::uint64_t seed = 0; seed < testing::amount(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, kEverything);
    for (const bool occupied : {true, false}) {
      const Relaxation relaxation(system, occupied);
      RandomStream random(seed, 2);
      std::vector<double> point = random_point(relaxation, random);
      for (double& n : point) n *= random.uniform(0.9, 1.1);  // off the kinks, which lie at whole numbers
      std::vector<double> gradient(relaxation.size());
      const auto check = [&](const auto& function) {
        function(point.data(), gradient.data());
        constexpr double kStep = 1e-6;
        for (std::size_t v = 0; v < point.size(); ++v) {
          const double at = point[v];
          point[v] = at + kStep;
          const double above = function(point.data(), nullptr);
          point[v] = at - kStep;
          const double below = function(point.data(), nullptr);
          point[v] = at;
          EXPECT_NEAR(gradient[v], (above - below) / (2 * kStep), 1e-5) << "variable " << v;
        }
      };
      check([&](const double* n, double* g) { return relaxation.value(n, g); });
      for (const Relaxation::Row& row : relaxation.rows()) {
        check([&](const double* n, double* g) { return relaxation.throughput_of(row.type, n, g); });
      }
    }
  }
}

TEST(Relaxation, AnEmptyColumnDeliversNothingAndInvitesTasks) {
  const System system({{.name = "a"}, {.name = "b"}}, {{.name = "t", .count = 3}}, Rates(1, 2, {2, 5}));
  const Relaxation relaxation(system, false);
  const double point[] = {3, 0};
  double gradient[2];
  EXPECT_DOUBLE_EQ(relaxation.value(point, gradient), 2);
  EXPECT_DOUBLE_EQ(gradient[0], 0);
  EXPECT_DOUBLE_EQ(gradient[1], 5);
}

/// Any speck of the fastest type gives a resource its full rate, but no speck at all gives nothing.
TEST(Relaxation, ThePapersSupremumIsNotAttained) {
  const System system({{.name = "a"}, {.name = "b"}}, {{.name = "s", .count = 1}, {.name = "t", .count = 1}},
                      Rates(2, 2, {4, 4, 1, 0}));
  const Relaxation paper(system, false);
  double last = 0;
  for (const double speck : {1e-1, 1e-3, 1e-5, 1e-7}) {
    const double point[] = {1 - speck, speck, 1};
    const double x = paper.value(point, nullptr);
    EXPECT_GT(x, last);
    last = x;
  }
  EXPECT_NEAR(last, 6.5, 1e-6);
  const double limit[] = {1, 0, 1};
  EXPECT_DOUBLE_EQ(paper.value(limit, nullptr), 2.5);
}

TEST(Relaxation, StartsPlaceEveryTaskAndKeepColumnsOccupied) {
  std::uint64_t occupied = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(500); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, kEverything);
    const Relaxation relaxation(system, true);
    for (const std::vector<double>& start : {relaxation.home_start(), relaxation.even_start()}) {
      EXPECT_TRUE(relaxation.feasible(start.data(), 1e-12));
    }
    if (!relaxation.occupied().empty()) ++occupied;
  }
  EXPECT_GT(occupied, testing::amount(250));
}

/// Whether all columns can be occupied at once, by looking at every state.
TEST(Relaxation, OccupiesAllColumnsExactlyWhenSomeStateDoes) {
  for (std::uint64_t seed = 0; seed < testing::amount(400); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, {.max_types = 3, .max_count = 2});
    bool possible = false;
    Assignment state;
    detail::StateVisitor visitor(system);
    visitor.visit_all([&] {
      visitor.write(state);
      bool all = true;
      for (const ResourceId j : system.resource_ids())
        all = all && (system.reach(j) == 0 || state.column_sum(j) > 0);
      possible = possible || all;
      return !possible;
    });
    Assignment home = home_assignment(system);
    EXPECT_EQ(detail::occupy_all(system, home), possible);
    for (const TaskType i : system.types()) EXPECT_EQ(home.row_sum(i), system.count(i));
  }
}

TEST(Rounding, KeepsWholeNumbersAsTheyAre) {
  const System system = generate({.seed = 3}).system;
  const Assignment home = home_assignment(system);
  std::vector<double> relaxed(home.values().begin(), home.values().end());
  for (double& n : relaxed) n += n > 0 ? -1e-10 : 1e-11;
  StopPoll poll({});
  EXPECT_EQ(detail::best_rounding(system, relaxed, poll), home);
}

/// Up to kMaxRoundings the answer is the best of all floors and ceilings: found here by walking through all
/// states.
TEST(Rounding, IsTheBestFloorOrCeilingWhereThoseAreFew) {
  for (std::uint64_t seed = 0; seed < testing::amount(200); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, {.max_types = 3, .max_resources = 3, .max_count = 5});
    const Relaxation relaxation(system, false);
    RandomStream random(seed, 3);
    const std::vector<double> relaxed = relaxation.matrix(random_point(relaxation, random));
    double best = -1;
    Assignment state;
    detail::StateVisitor visitor(system);
    visitor.visit_all([&] {
      visitor.write(state);
      for (std::size_t v = 0; v < relaxed.size(); ++v) {
        if (std::abs(static_cast<double>(state.values()[v]) - relaxed[v]) >= 1) return true;
      }
      best = std::max(best, visitor.value());
      return true;
    });
    StopPoll poll({});
    const auto rounded = detail::best_rounding(system, relaxed, poll);
    ASSERT_TRUE(rounded.has_value());
    EXPECT_TRUE(is_placement(system, *rounded));
    EXPECT_NEAR(evaluate(system, *rounded).throughput, best, 1e-12 * (1 + best));
  }
}

TEST(Rounding, NeverSplitsOrLosesATaskWhateverItIsGiven) {
  for (std::uint64_t seed = 0; seed < testing::amount(200); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed);
    RandomStream random(seed, 4);
    std::vector<double> nonsense(system.type_count() * system.resource_count());
    for (double& n : nonsense) n = random.uniform(-2, 8);
    StopPoll poll({});
    const auto rounded = detail::best_rounding(system, nonsense, poll);
    ASSERT_TRUE(rounded.has_value());
    EXPECT_TRUE(is_placement(system, *rounded));
  }
}

TEST(Slsqp, ReportsARelaxedAssignmentThatPlacesAllTasksAndHasItsThroughput) {
  for (std::uint64_t seed = 0; seed < testing::amount(150); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, kEverything);
    const Solution solution = slsqp(system);
    ASSERT_EQ(solution.relaxed_assignment.size(), system.type_count() * system.resource_count());
    ASSERT_TRUE(solution.relaxed_throughput.has_value());
    EXPECT_FALSE(solution.upper_bound.has_value());
    EXPECT_FALSE(solution.proven_optimal);
    for (const TaskType i : system.types()) {
      double placed = 0;
      for (const ResourceId j : system.resource_ids()) {
        const double n = solution.relaxed_assignment[index(i) * system.resource_count() + index(j)];
        EXPECT_GE(n, 0);
        EXPECT_TRUE(system.can_run(i, j) || n == 0);
        placed += n;
      }
      EXPECT_NEAR(placed, static_cast<double>(system.count(i)), 1e-9);
    }
    EXPECT_NEAR(*solution.relaxed_throughput, relaxed_throughput(system, solution.relaxed_assignment),
                1e-9 * (1 + *solution.relaxed_throughput));
  }
}

/// A rounding that misses a depth or a floor is never passed off as an answer, and where enumeration finds no
/// feasible state neither does SLSQP.
TEST(Slsqp, NeverReportsAnInfeasibleRounding) {
  int feasible = 0;
  int found = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system =
        random_system(seed, {.max_types = 3, .max_resources = 3, .depths = true, .floors = true});
    const Solution solution = slsqp(system);
    for (const TaskType i : system.types()) EXPECT_EQ(solution.assignment.row_sum(i), system.count(i));
    const Solution best = solve(*find_solver("exhaustive"), {system, Objective::kThroughput});
    if (best.outcome == Outcome::kOptimal) ++feasible;
    if (solution.outcome == Outcome::kInfeasible) {
      EXPECT_FALSE(solution.reason.empty());
      continue;
    }
    ++found;
    EXPECT_EQ(best.outcome, Outcome::kOptimal);
    EXPECT_TRUE(is_placement(system, solution.assignment));
    EXPECT_EQ(floor_shortfall(system, solution.performance.throughput_by_task), 0);
    EXPECT_LE(solution.performance.throughput, best.performance.throughput * (1 + 1e-12));
  }
  EXPECT_GT(found, feasible * 9 / 10) << "of " << feasible << " feasible ones";
}

TEST(Slsqp, KeepsResourcesOccupiedWhenThreadsSuffice) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = generate({.general = 3, .specialized = 1, .threads = 32, .seed = seed}).system;
    const Solution solution = slsqp(system);
    for (const ResourceId j : system.resource_ids()) {
      double tasks = 0;
      for (const TaskType i : system.types()) {
        tasks += solution.relaxed_assignment[index(i) * system.resource_count() + index(j)];
      }
      EXPECT_GE(tasks, 1 - 1e-6);
    }
  }
}

/// In the paper's smallest setting the relaxation, which has more room, nearly always ends at or above the
/// best assignment; not always, as the method finds local optima only. Measured: 574 of 600.
TEST(Slsqp, MostlyReachesTheBestAssignmentInThePapersSmallestSetting) {
  constexpr int kCases = 200;
  int reached = 0;
  double lost = 0;
  for (int seed = 1; seed <= kCases; ++seed) {
    const System system = generate({.seed = static_cast<std::uint64_t>(seed)}).system;
    const Solution best = solve(*find_solver("exhaustive"), {system, Objective::kThroughput});
    const Solution solution = slsqp(system);
    EXPECT_LE(solution.performance.throughput, best.performance.throughput * (1 + 1e-12));
    if (*solution.relaxed_throughput >= best.performance.throughput * (1 - 1e-7)) ++reached;
    lost += 1 - solution.performance.throughput / best.performance.throughput;
  }
  RecordProperty("reached", reached);
  EXPECT_GE(reached, kCases * 9 / 10);
  EXPECT_LT(lost / kCases, 0.01);
}

TEST(Slsqp, SplitsATaskBetweenItsEqualResourcesWithoutHarm) {
  const System system({{.name = "a"}, {.name = "b"}}, {{.name = "t", .count = 3}}, Rates(1, 2, {2, 2}));
  const Solution solution = slsqp(system);
  EXPECT_EQ(solution.outcome, Outcome::kConverged);
  EXPECT_DOUBLE_EQ(solution.performance.throughput, 4);
  EXPECT_NEAR(*solution.relaxed_throughput, 4, 1e-6);
}

TEST(Slsqp, DoesNotDependOnTheUnitOfTime) {
  const System system = generate({.general = 3, .specialized = 1, .threads = 32, .seed = 5}).system;
  const double x = slsqp(system).performance.throughput;
  for (const double unit : {1e-9, 1e9}) {
    std::vector<double> rates = system.rates().values();
    for (double& rate : rates) rate *= unit;
    const System other(system.resources(), system.tasks(),
                       Rates(system.type_count(), system.resource_count(), std::move(rates)));
    EXPECT_NEAR(slsqp(other).performance.throughput / unit, x, 1e-6 * x);
  }
}

TEST(Slsqp, AnswersWithoutThreads) {
  const System system({{.name = "a"}}, {{.name = "t", .count = 0}}, Rates(1, 1, {1}));
  const Solution solution = slsqp(system);
  EXPECT_EQ(solution.outcome, Outcome::kConverged);
  EXPECT_EQ(solution.relaxed_throughput, 0);
  EXPECT_THAT(solution.relaxed_assignment, ::testing::ElementsAre(0.0));
}

TEST(Slsqp, RefusesProblemsWhoseStepsCannotBeInterruptedInTime) {
  const System system = generate({.general = 40, .specialized = 0, .threads = 100, .seed = 1}).system;
  const Solution solution = slsqp(system);
  EXPECT_EQ(solution.outcome, Outcome::kBudget);
  EXPECT_THAT(solution.reason, ::testing::HasSubstr("1600 variables"));
  EXPECT_TRUE(is_placement(system, solution.assignment));
}

class SlsqpStops : public ::testing::Test {
 protected:
  /// Takes seconds when nobody stops it, a hundredth of one between two looks at the clock.
  System large_ = generate({.general = 11, .specialized = 5, .threads = 512, .seed = 1}).system;
};

TEST_F(SlsqpStops, AtOnceWhenTheFlagIsAlreadySet) {
  const StopFlag flag = true;
  SolveOptions options;
  options.stop.flag = &flag;
  const Solution solution = slsqp(large_, options);
  EXPECT_EQ(solution.outcome, Outcome::kInterrupted);
  EXPECT_TRUE(is_placement(large_, solution.assignment));
  EXPECT_GT(*solution.relaxed_throughput, 0);
}

TEST_F(SlsqpStops, WhenTheFlagIsSetFromOutside) {
  StopFlag flag = false;
  SolveOptions options;
  options.stop.flag = &flag;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    flag = true;
  });
  const Solution solution = slsqp(large_, options);
  other.join();
  EXPECT_EQ(solution.outcome, Outcome::kInterrupted);
  EXPECT_TRUE(is_placement(large_, solution.assignment));
}

TEST_F(SlsqpStops, AtTheDeadlineWithTheBestSoFar) {
  SolveOptions options;
  options.stop.deadline = Clock::now() + std::chrono::milliseconds(100);
  const Solution solution = slsqp(large_, options);
  EXPECT_EQ(solution.outcome, Outcome::kTimeLimit);
  EXPECT_TRUE(is_placement(large_, solution.assignment));
  EXPECT_GE(*solution.relaxed_throughput, evaluate(large_, home_assignment(large_)).throughput * (1 - 1e-9));
}

TEST_F(SlsqpStops, AtADeadlineThatHasPassed) {
  SolveOptions options;
  options.stop.deadline = Clock::now() - std::chrono::seconds(1);
  const Solution solution = slsqp(large_, options);
  EXPECT_EQ(solution.outcome, Outcome::kTimeLimit);
  EXPECT_TRUE(is_placement(large_, solution.assignment));
}

}  // namespace
}  // namespace allot
