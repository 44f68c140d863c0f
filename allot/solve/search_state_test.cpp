#include "allot/solve/detail/search_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/amount.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random_systems.hpp"

namespace allot::detail {
namespace {

using allot::testing::random_system;
using allot::testing::recomputed_throughput;

Assignment after(const SearchState& state, const Exchange& e) {
  Assignment n = state.assignment();
  n(e.i, e.a) -= e.n;
  n(e.i, e.b) += e.n;
  n(e.k, e.b) -= e.back;
  n(e.k, e.a) += e.back;
  return n;
}

/// A random exchange of tasks that are there, between two different resources that can run them.
std::optional<Exchange> random_exchange(const SearchState& state, RandomStream& random) {
  const System& system = state.system();
  Exchange e;
  e.i = task_type(random.below(system.type_count()));
  e.k = task_type(random.below(system.type_count()));
  e.a = resource_id(random.below(system.resource_count()));
  e.b = resource_id(random.below(system.resource_count()));
  if (e.a == e.b || state.at(e.i, e.a) == 0 || !system.can_run(e.i, e.b)) return std::nullopt;
  e.n = 1 + static_cast<Count>(random.below(static_cast<std::uint64_t>(state.at(e.i, e.a))));
  if (e.i != e.k && state.at(e.k, e.b) > 0 && system.can_run(e.k, e.a) && random.below(2) == 0) {
    e.back = 1 + static_cast<Count>(random.below(static_cast<std::uint64_t>(state.at(e.k, e.b))));
  }
  return e;
}

// The same for chains over three resources, or back to the first.
TEST(SearchState, ForetellsWhatAChainChanges) {
  std::uint64_t seen = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(200); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, {.min_types = 2,
                                               .min_resources = 2,
                                               .max_count = 9,
                                               .several_fcfs = true,
                                               .floors = seed % 3 == 0,
                                               .priorities = true});
    RandomStream random(seed, 6);
    for (const Objective objective : {Objective::kThroughput, Objective::kPriority}) {
      SearchState state;
      state.reset(system, objective, home_assignment(system));
      for (int step = 0; step < 60; ++step) {
        Chain c;
        c.i = task_type(random.below(system.type_count()));
        c.k = task_type(random.below(system.type_count()));
        c.a = resource_id(random.below(system.resource_count()));
        c.b = resource_id(random.below(system.resource_count()));
        c.d = resource_id(random.below(system.resource_count()));
        if (c.i == c.k || c.a == c.b || c.d == c.b || state.at(c.i, c.a) == 0 || state.at(c.k, c.b) == 0 ||
            !system.can_run(c.i, c.b) || !system.can_run(c.k, c.d))
          continue;
        c.n = 1 + static_cast<Count>(random.below(static_cast<std::uint64_t>(state.at(c.i, c.a))));
        c.out = 1 + static_cast<Count>(random.below(static_cast<std::uint64_t>(state.at(c.k, c.b))));
        Assignment next = state.assignment();
        next(c.i, c.a) -= c.n;
        next(c.i, c.b) += c.n;
        next(c.k, c.b) -= c.out;
        next(c.k, c.d) += c.out;
        const double before = state.cost();
        const double foretold = state.cost_change(c);
        SearchState fresh;
        fresh.reset(system, objective, next);
        const double scale = 1 + std::abs(before) + std::abs(fresh.cost());
        ASSERT_NEAR(before + foretold, fresh.cost(), 1e-9 * scale);
        state.apply(c);
        ASSERT_EQ(state.assignment(), next);
        ASSERT_NEAR(state.cost(), fresh.cost(), 1e-9 * scale);
        ++seen;
      }
    }
  }
  EXPECT_GT(seen, testing::amount(200));
}

// Walks at random; the change foretold, the running sums and a fresh evaluation must agree all the way.
TEST(SearchState, ForetellsWhatAnExchangeChanges) {
  for (std::uint64_t seed = 0; seed < testing::amount(150); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(
        seed, {.max_count = 9, .several_fcfs = true, .floors = seed % 3 == 0, .priorities = true});
    RandomStream random(seed, 5);
    for (const Objective objective : {Objective::kThroughput, Objective::kPriority}) {
      SearchState state;
      state.reset(system, objective, home_assignment(system));
      for (int step = 0; step < 60; ++step) {
        const std::optional<Exchange> e = random_exchange(state, random);
        if (!e) continue;
        const Assignment next = after(state, *e);
        const double foretold = state.cost_change(*e);
        const double before = state.cost();
        SearchState fresh;
        fresh.reset(system, objective, next);
        const double scale = 1 + std::abs(before) + std::abs(fresh.cost());
        ASSERT_NEAR(before + foretold, fresh.cost(), 1e-10 * scale);
        if (objective == Objective::kThroughput && e->back == 0) {
          ASSERT_NEAR(state.change(e->i, e->a, -e->n) + state.change(e->i, e->b, e->n),
                      recomputed_throughput(system, next) - recomputed_throughput(system, state.assignment()),
                      1e-10 * scale);
        }
        state.apply(*e);
        ASSERT_EQ(state.assignment(), next);
        ASSERT_NEAR(state.value(), recomputed_throughput(system, next), 1e-10 * scale);
        ASSERT_NEAR(state.cost(), fresh.cost(), 1e-10 * scale);
      }
    }
  }
}

TEST(SearchState, CostIsMinusTheThroughputOrTheErrorOfTheShares) {
  const System system = random_system(8, {.max_types = 3, .max_count = 5, .priorities = true});
  ASSERT_GT(system.population(), 0);
  SearchState state;
  const Assignment n = home_assignment(system);
  state.reset(system, Objective::kThroughput, n);
  EXPECT_NEAR(-state.cost(), recomputed_throughput(system, n), 1e-12);
  state.reset(system, Objective::kPriority, n);
  EXPECT_NEAR(state.cost(),
              *allot::testing::recomputed_error(system, allot::testing::recomputed_completions(system, n)),
              2 * SearchState::kTieWeight);
}

// Any state that misses a floor costs more than any that misses none.
TEST(SearchState, PutsFloorsAboveEverythingElse) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(400); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, {.max_types = 3,
                                               .max_resources = 3,
                                               .min_types = 2,
                                               .min_resources = 2,
                                               .max_count = 4,
                                               .floors = true,
                                               .priorities = true});
    if (!system.has_floors() || system.population() == 0) continue;
    for (const Objective objective : {Objective::kThroughput, Objective::kPriority}) {
      double worst_feasible = -1e300;
      double best_infeasible = 1e300;
      SearchState state;
      allot::testing::for_each_assignment(system, [&](const Assignment& n) {
        state.reset(system, objective, n);
        if (allot::testing::meets_floors(system, allot::testing::recomputed_completions(system, n), 1e-9L)) {
          worst_feasible = std::max(worst_feasible, state.cost());
        } else {
          best_infeasible = std::min(best_infeasible, state.cost());
        }
      });
      EXPECT_LT(worst_feasible, best_infeasible);
      compared += worst_feasible > -1e300 && best_infeasible < 1e300 ? 1 : 0;
    }
  }
  EXPECT_GT(compared, testing::amount(20));
}

// Paper Eq. 8: D_tj = (mu_tj - X_j) / n_j, for one ps server that has tasks.
TEST(SearchState, GivesThePrintedDerivativeWhereItIsDefined) {
  const System system({{.name = "a"}, {.name = "b"}}, {{.name = "x", .count = 2}, {.name = "y", .count = 1}},
                      Rates(2, 2, {6, 1, 3, 2}));
  SearchState state;
  Assignment n(2, 2);
  n(task_type(0), resource_id(0)) = 2;
  n(task_type(1), resource_id(0)) = 1;
  state.reset(system, Objective::kThroughput, n);  // X_a = 5
  EXPECT_DOUBLE_EQ(state.printed_change(task_type(0), resource_id(0), -1), -(6 - 5.0) / 3);
  EXPECT_DOUBLE_EQ(state.printed_change(task_type(1), resource_id(0), 1), (3 - 5.0) / 3);
  EXPECT_DOUBLE_EQ(state.printed_change(task_type(1), resource_id(1), 1), 2);  // empty: the exact difference
}

TEST(SearchState, OffersOnlyMovesThatKeepTheDepths) {
  for (std::uint64_t seed = 0; seed < testing::amount(100); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, {.max_types = 3,
                                               .max_resources = 3,
                                               .min_types = 2,
                                               .min_resources = 2,
                                               .max_count = 6,
                                               .max_servers = 1,
                                               .depths = true});
    SearchState state;
    allot::testing::for_each_assignment(system, [&](const Assignment& n) {
      if (!allot::testing::keeps_depths(system, n)) return;
      state.reset(system, Objective::kThroughput, n);
      for (const TaskType i : system.types()) {
        for (const ResourceId a : system.resources_for(i)) {
          for (const ResourceId b : system.resources_for(i)) {
            if (a == b) continue;
            // The smallest number by trying all.
            Count smallest = 0;
            for (Count m = n(i, a); m >= 1; --m) {
              Assignment moved = n;
              moved(i, a) -= m;
              moved(i, b) += m;
              if (allot::testing::keeps_depths(system, moved)) smallest = m;
            }
            ASSERT_EQ(state.smallest_move(i, a, b), smallest)
                << "type " << index(i) << " from " << index(a) << " to " << index(b);
          }
        }
      }
    });
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace allot::detail
