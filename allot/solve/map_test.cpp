#include "allot/solve/map.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "allot/model/generate.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/oracle.hpp"
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
      options.sensitivity = sensitivity;
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
