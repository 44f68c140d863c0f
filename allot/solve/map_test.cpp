#include "allot/solve/map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "allot/model/generate.hpp"
#include "allot/solve/detail/climb.hpp"
#include "allot/solve/detail/shared_climb.hpp"
#include "allot/solve/solver.hpp"
#include "allot/solve/whatif.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random_box.hpp"
#include "tests/support/random_systems.hpp"

namespace allot {
namespace {

using testing::random_system;
using testing::recomputed_throughput;

// One workspace over systems of all sizes, against a fresh one for each.
TEST(MapSolver, GivesTheAnswerOfTheSolverMapWhateverItSolvedBefore) {
  MapSolver solver;
  Assignment assignment;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system =
        random_system(seed, {.several_fcfs = true, .depths = seed % 2 == 0, .floors = seed % 3 == 0});
    for (const Sensitivity sensitivity : {Sensitivity::kExact, Sensitivity::kDerivative}) {
      SolveOptions options;
      options.settings.set("sensitivity", sensitivity);
      const MapSolver::Result result = solver.solve(system, assignment, options);
      const Solution solution = solve(*find_solver("map"), {system, Objective::kThroughput}, options);
      ASSERT_EQ(result.outcome == Outcome::kInfeasible && !is_placement(system, assignment),
                !is_placement(system, solution.assignment));
      if (!is_placement(system, assignment)) continue;
      ASSERT_EQ(assignment, solution.assignment);
      ASSERT_NEAR(result.throughput, recomputed_throughput(system, assignment), 1e-12 * result.throughput);
    }
  }
}

// Under even sharing the climb has a form of its own, which must make the moves of the general one.
TEST(MapSolver, ClimbsUnderSharingAsTheGeneralClimbDoes) {
  detail::SharedClimb shared;
  detail::SearchState state;
  Assignment n;
  int same = 0;
  const int cases = 1000;
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    GenerateOptions shape;
    shape.general = 1 + seed % 7;
    shape.specialized = seed % 4;
    shape.threads = static_cast<Count>(10 + seed % 190);
    shape.rule = seed % 2 == 0 ? AffinityRule::kRow : AffinityRule::kNone;
    shape.seed = seed;
    const System system = generate(shape).system;
    ASSERT_TRUE(detail::shares_evenly(system));
    for (const MapMoves moves : {MapMoves::kSingle, MapMoves::kBulk}) {
      StopPoll poll({});
      const Assignment home = home_assignment(system);
      shared.run(system, home, moves, poll);
      shared.write(n);
      ASSERT_TRUE(is_placement(system, n));
      EXPECT_NEAR(shared.value(), recomputed_throughput(system, n), 1e-12 * shared.value());
      state.reset(system, Objective::kThroughput, home);
      detail::climb(state, Sensitivity::kExact, moves, poll);
      // One task fewer among equals costs exactly nothing: of two such ends, the last digit decides.
      if (n == state.assignment()) ++same;
    }
  }
  EXPECT_GE(same, 2 * cases * 95 / 100);
}

// Bulk moves come only where single ones have ended.
TEST(MapSolver, IsNeverWorseWithBulkMovesThanWithSingleOnes) {
  MapSolver solver;
  Assignment n;
  int better = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, {.max_count = 9});
    SolveOptions single;
    single.settings.set("map_moves", MapMoves::kSingle);
    const MapSolver::Result before = solver.solve(system, n, single);
    if (before.outcome == Outcome::kInfeasible) continue;
    const double after = solver.solve(system, n).throughput;
    if (system.has_floors()) continue;  // missed floors weigh more than throughput
    EXPECT_GE(after, before.throughput * (1 - 1e-12));
    if (after > before.throughput * (1 + 1e-9)) ++better;
  }
  EXPECT_GT(better, 10);
}

// Algorithm 1 ends when a full pass changes nothing: no single task can be moved with profit.
TEST(MapSolver, EndsWhereNoSingleMoveHelps) {
  MapSolver solver;
  Assignment n;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, {.max_count = 9, .depths = false});
    solver.solve(system, n);
    const double x = recomputed_throughput(system, n);
    for (const TaskType i : system.types()) {
      for (const ResourceId a : system.resources_for(i)) {
        if (n(i, a) == 0) continue;
        for (const ResourceId b : system.resources_for(i)) {
          Assignment moved = n;
          --moved(i, a);
          ++moved(i, b);
          EXPECT_LE(recomputed_throughput(system, moved), x * (1 + 1e-10));
        }
      }
    }
    if (HasFailure()) return;
  }
}

// It starts at home and only climbs.
TEST(MapSolver, IsNeverWorseThanEveryTaskAtHome) {
  MapSolver solver;
  Assignment n;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed);
    const double x = solver.solve(system, n).throughput;
    EXPECT_GE(x, recomputed_throughput(system, home_assignment(system)) * (1 - 1e-12));
  }
}

// Pools of cores, GPUs and engines, against the proven optimum.
TEST(MapSolver, IsNearlyOptimalOnBoxes) {
  MapSolver solver;
  Assignment n;
  double below = 0;
  double worst = 0;
  const int boxes = 100;
  for (std::uint64_t seed = 1; seed <= boxes; ++seed) {
    const System system = allot::testing::random_box(seed);
    const Solution best = solve(*find_solver("exact"), {system, Objective::kThroughput});
    ASSERT_TRUE(best.proven_optimal);
    const double gap = 1 - solver.solve(system, n).throughput / best.performance.throughput;
    below += gap;
    worst = std::max(worst, gap);
  }
  EXPECT_LT(below / boxes, 0.0015);
  EXPECT_LT(worst, 0.05);
}

// The paper's form ends where it always did: only moves of one task, only from home.
TEST(MapSolver, WithSingleMovesStaysAsPrinted) {
  const System system({{.name = "big"}, {.name = "little", .servers = 4}},
                      {{.name = "a", .count = 3}, {.name = "b", .count = 5}}, Rates(2, 2, {9, 2, 6, 3}));
  SolveOptions single;
  single.settings.set("map_moves", MapMoves::kSingle);
  Assignment n;
  MapSolver().solve(system, n, single);
  detail::SearchState state;
  state.reset(system, Objective::kThroughput, home_assignment(system));
  StopPoll poll({});
  detail::climb(state, Sensitivity::kExact, MapMoves::kSingle, poll);
  EXPECT_EQ(n, state.assignment());
}

/// A type that is hopeless on one resource, and another that takes six tasks or none.
System six_or_none() {
  return System({{.name = "r0", .discipline = Discipline::kFcfs},
                 {.name = "r1", .discipline = Discipline::kFcfs, .min_depth = 6}},
                {{.name = "t0", .count = 2},
                 {.name = "t1", .count = 4},
                 {.name = "t2", .count = 1},
                 {.name = "t3", .count = 2},
                 {.name = "t4", .count = 1}},
                Rates(5, 2, {0.75, 0.96, 0.56, 0.49, 0.97, 0.89, 0.94, 0.5, 0.0005, 0.34}));
}

TEST(MapSolver, OpensAResourceThatTakesManyTasksOrNone) {
  const Problem problem{six_or_none(), Objective::kThroughput};
  for (const char* solver : {"map", "local"}) {
    EXPECT_NEAR(solve(*find_solver(solver), problem).performance.throughput, 1.499, 5e-4) << solver;
  }
  EXPECT_NEAR(what_if(problem.system).base.performance.throughput, 1.499, 5e-4);
}

// With minimum depths, against enumeration: every feasible system has an answer, and it is nearly the best.
TEST(MapSolver, IsNearlyOptimalWithLeastDepths) {
  double below_map = 0;
  double below_local = 0;
  int cases = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const Problem problem{random_system(seed, {.max_types = 4, .max_resources = 3, .depths = true}),
                          Objective::kThroughput};
    const Solution best = solve(*find_solver("exhaustive"), problem);
    if (!best.proven_optimal || best.performance.throughput == 0) continue;
    ++cases;
    const Solution map = solve(*find_solver("map"), problem);
    const Solution local = solve(*find_solver("local"), problem);
    ASSERT_NE(map.outcome, Outcome::kInfeasible);
    ASSERT_NE(local.outcome, Outcome::kInfeasible);
    below_map += 1 - map.performance.throughput / best.performance.throughput;
    below_local += 1 - local.performance.throughput / best.performance.throughput;
  }
  ASSERT_GT(cases, 200);
  EXPECT_LT(below_map / cases, 0.001);
  EXPECT_LT(below_local / cases, 0.0005);
}

// Counts of a thousand million take no longer than counts of hundreds.
TEST(MapSolver, EndsSoonWhateverTheCounts) {
  const Count many = 1'000'000'000;
  const System system(
      {{.name = "a", .servers = 7}, {.name = "b"}, {.name = "c", .servers = 3}},
      {{.name = "x", .count = many}, {.name = "y", .count = many - 1}, {.name = "z", .count = 12}},
      Rates(3, 3, {5, 3, 1, 2, 7, 4, 1, 1, 9}));
  for (const char* solver : {"map", "local", "best"}) {
    SolveOptions options;
    options.stop.steps = 5'000'000;  // far more than it takes
    const Solution solution = solve(*find_solver(solver), {system, Objective::kThroughput}, options);
    EXPECT_NE(solution.outcome, Outcome::kBudget) << solver;
  }
}

TEST(MapSolver, CanBeMoved) {
  const System system = generate({.seed = 4}).system;
  MapSolver first;
  Assignment before;
  first.solve(system, before);
  MapSolver second = std::move(first);
  Assignment after;
  second.solve(system, after);
  EXPECT_EQ(before, after);
  MapSolver third;
  third = std::move(second);
  third.solve(system, after);
  EXPECT_EQ(before, after);
}

TEST(MapSolver, SaysWhenNoPlacementKeepsTheDepths) {
  const System system({{.name = "r", .min_depth = 3}}, {{.name = "x", .count = 2}}, Rates(1, 1, {1}));
  Assignment n;
  EXPECT_EQ(MapSolver().solve(system, n).outcome, Outcome::kInfeasible);
  EXPECT_EQ(n.row_sum(task_type(0)), 2);
}

}  // namespace
}  // namespace allot
