#include "allot/solve/detail/states.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "tests/support/oracle.hpp"
#include "tests/support/random_systems.hpp"

namespace allot::detail {
namespace {

using allot::testing::random_system;
using allot::testing::SystemShape;

const SystemShape kShape{
    .max_types = 3, .max_resources = 4, .max_count = 5, .several_fcfs = true, .depths = true};

TEST(States, AreCountedAsTheyAreVisited) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, kShape);
    std::uint64_t naive = 0;
    allot::testing::for_each_assignment(system, [&](const Assignment&) { ++naive; });
    std::uint64_t visited = 0;
    StateVisitor(system).visit_all([&] { return ++visited, true; });
    EXPECT_EQ(visited, naive);
    EXPECT_EQ(count_states(system), static_cast<double>(naive));
  }
}

// Every state once, in lexicographic order, with the throughput of the formulas.
TEST(States, AreAllVisitedOnceWithTheirThroughput) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, kShape);
    StateVisitor visitor(system);
    std::set<std::vector<Count>> seen;
    std::vector<double> by_task;
    Assignment n;
    visitor.visit_all([&] {
      visitor.write(n);
      EXPECT_TRUE(allot::testing::places_every_task(system, n));
      EXPECT_TRUE(seen.insert({n.values().begin(), n.values().end()}).second);
      const auto x = allot::testing::recomputed_completions(system, n);
      const double total = static_cast<double>(x.total);
      EXPECT_NEAR(visitor.value(), total, 1e-12 * total);
      EXPECT_NEAR(visitor.value_and_throughputs(by_task), total, 1e-12 * total);
      for (std::size_t i = 0; i < by_task.size(); ++i) {
        EXPECT_NEAR(by_task[i], static_cast<double>(x.by_task[i]), 1e-12 * total);
      }
      EXPECT_EQ(visitor.keeps_depths(), allot::testing::keeps_depths(system, n));
      return !::testing::Test::HasFailure();
    });
  }
}

TEST(States, VisitEndsWhenTold) {
  const System system = random_system(3, kShape);
  int visits = 0;
  StateVisitor(system).visit_all([&] { return ++visits < 5; });
  EXPECT_EQ(visits, 5);
}

// C(6+1,1) * C(6+1,1) * C(6+2,2): two types on two GPs, one on these and its accelerator.
TEST(States, OfTheSmallPaperSystem) {
  const System system({{.name = "a"}, {.name = "b"}, {.name = "c", .kind = Kind::kSpecialized}},
                      {{.name = "x", .count = 6}, {.name = "y", .count = 6}, {.name = "z", .count = 6}},
                      Rates(3, 3, {1, 1, 0, 1, 1, 0, 1, 1, 1}));
  EXPECT_EQ(count_states(system), 7 * 7 * 28);
}

TEST(States, BeyondCountingAreStillANumber) {
  std::vector<Resource> machine(64);
  for (std::size_t j = 0; j < 64; ++j) machine[j].name = "r" + std::to_string(j);
  std::vector<TaskClass> tasks(64);
  for (std::size_t i = 0; i < 64; ++i) tasks[i] = {.name = "t" + std::to_string(i), .count = kMaxCount};
  const System system(machine, tasks, Rates(64, 64, std::vector<double>(64 * 64, 1.0)));
  EXPECT_GT(count_states(system), 1e300);
}

TEST(States, AreWrittenForReaders) {
  EXPECT_EQ(format_states(1), "1");
  EXPECT_EQ(format_states(825), "825");
  EXPECT_EQ(format_states(1000), "1,000");
  EXPECT_EQ(format_states(1'200'000), "1,200,000");
  EXPECT_EQ(format_states(999'999'999'999'999), "999,999,999,999,999");
  EXPECT_EQ(format_states(3.4e21), "3.4e+21");
}

}  // namespace
}  // namespace allot::detail
