// What whole tasks can reach, against all packings written down one by one.
#include "allot/solve/detail/packings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "allot/model/filling.hpp"
#include "allot/model/throughput.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/amount.hpp"
#include "tests/support/dense_simplex.hpp"
#include "tests/support/random_needs.hpp"

namespace allot {
namespace {

using testing::DenseSimplex;
using testing::NeedsShape;
using testing::random_needs;

/// Every packing that could not be larger, row after row.
class AllPackings {
 public:
  explicit AllPackings(const System& system) : system_(system), tasks_(system.type_count() * width()) {
    for (const CapacityId r : system.capacity_ids()) left_.push_back(system.amount(r));
    for (const TaskType i : system.types()) threads_.push_back(system.count(i));
    place(0);
  }
  const std::vector<std::vector<int>>& all() const { return all_; }

 private:
  std::size_t width() const { return system_.resource_count(); }
  bool fits(std::size_t pair) const {
    const TaskType i = task_type(pair / width());
    const ResourceId j = resource_id(pair % width());
    if (!system_.can_run(i, j) || threads_[index(i)] == 0) return false;
    for (const Draw& draw : system_.needs(i, j)) {
      if (!system_.is_shared(draw.capacity) &&
          draw.amount > left_[index(draw.capacity)] + 1e-9 * system_.amount(draw.capacity))
        return false;
    }
    return true;
  }
  void take(std::size_t pair, int tasks) {
    const TaskType i = task_type(pair / width());
    threads_[index(i)] -= tasks;
    for (const Draw& draw : system_.needs(i, resource_id(pair % width())))
      left_[index(draw.capacity)] -= tasks * draw.amount;
    tasks_[pair] += tasks;
  }
  void place(std::size_t pair) {
    if (pair == tasks_.size()) {
      for (std::size_t other = 0; other < tasks_.size(); ++other) {
        if (fits(other)) return;
      }
      all_.push_back(tasks_);
      return;
    }
    place(pair + 1);
    int taken = 0;
    for (; fits(pair); ++taken) {
      take(pair, 1);
      place(pair + 1);
    }
    take(pair, -taken);
  }

  const System& system_;
  std::vector<double> left_;
  std::vector<Count> threads_;
  std::vector<int> tasks_;
  std::vector<std::vector<int>> all_;
};

double best_mix(const System& system, const std::vector<std::vector<int>>& packings) {
  const std::size_t width = system.resource_count();
  const std::size_t pairs = system.type_count() * width;
  const std::size_t size = pairs + packings.size();
  std::vector<long double> gains(size, 0);
  for (std::size_t p = 0; p < pairs; ++p)
    gains[p] = system.value_rate(task_type(p / width), resource_id(p % width));
  DenseSimplex program(gains);
  for (std::size_t p = 0; p < pairs; ++p) {
    std::vector<long double> row(size, 0);
    row[p] = 1;
    // A task that needs more of a shared capacity than there is never runs at full speed.
    long double speed = 1;
    for (const Draw& draw : system.needs(task_type(p / width), resource_id(p % width))) {
      if (system.is_shared(draw.capacity))
        speed = std::min(speed, static_cast<long double>(system.amount(draw.capacity)) / draw.amount);
    }
    for (std::size_t k = 0; k < packings.size(); ++k) row[pairs + k] = -packings[k][p] * speed;
    program.at_most(row, 0);
  }
  std::vector<long double> mix(size, 0);
  for (std::size_t k = 0; k < packings.size(); ++k) mix[pairs + k] = 1;
  program.at_most(mix, 1);
  for (const CapacityId r : system.capacity_ids()) {
    std::vector<long double> row(size, 0);
    for (std::size_t p = 0; p < pairs; ++p) {
      for (const Draw& draw : system.needs(task_type(p / width), resource_id(p % width))) {
        if (draw.capacity == r) row[p] = draw.amount;
      }
    }
    program.at_most(row, system.amount(r) * (1 + 1e-9L));
  }
  return static_cast<double>(program.solve().value());
}

/// The packing that is worth most if it is always in service, or any part of it.
double best_kept(const System& system, const std::vector<std::vector<int>>& packings) {
  Filling shared(system, Filling::Of::kShared);
  double best = 0;
  std::vector<double> tasks;
  const auto look = [&](const auto& self, const std::vector<int>& most, std::size_t pair) -> void {
    if (pair < most.size()) {
      for (tasks[pair] = 0; tasks[pair] <= most[pair]; ++tasks[pair]) self(self, most, pair + 1);
      tasks[pair] = 0;
      return;
    }
    const auto levels = shared.levels(tasks);
    double value = 0;
    for (std::size_t p = 0; p < most.size(); ++p)
      value +=
          tasks[p] * levels[p] *
          system.value_rate(task_type(p / system.resource_count()), resource_id(p % system.resource_count()));
    best = std::max(best, value);
  };
  for (const std::vector<int>& packing : packings) {
    tasks.assign(packing.size(), 0.0);
    look(look, packing, 0);
  }
  return best;
}

Solution plan_of(const Problem& problem) { return solve(*find_solver("planned"), problem); }

TEST(Packings, BoundIsTheBestMixOfAllPackings) {
  int checked = 0;
  int lumpy = 0;
  int exact_rows = 0;
  double reached = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(400); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed, 0x9ac);
    const System system = random_needs(random, {.most_types = 3, .most_resources = 3, .most_threads = 3});
    const auto packings = AllPackings(system).all();
    if (packings.size() > 300) continue;
    const Solution found = plan_of({system, Objective::kThroughput});
    const double plain = *found.upper_bound;
    if (!(plain > 0)) continue;
    ++checked;
    const double best = best_mix(system, packings);
    StopPoll poll({}, 1);
    const double rows = detail::packing_bound_of_rows({system, Objective::kThroughput}, plain, poll).value();
    const double kept = best_kept(system, packings);
    EXPECT_GE(found.plan.packing_bound.value(), kept * (1 - 2e-9));
    EXPECT_LE(found.plan.packing_bound.value(), best * (1 + 2e-7));
    const bool shares = std::any_of(system.capacities().begin(), system.capacities().end(),
                                    [](const Capacity& c) { return c.shared; });
    if (!shares) {
      EXPECT_NEAR(found.plan.packing_bound.value(), best, 2e-7 * best);
    }
    if (!found.plan.packing_tasks.empty()) {
      EXPECT_NEAR(found.plan.packing_bound.value(),
                  evaluate_time_shares(system, found.plan.packing_shares).value, 1e-6 * best);
    }
    EXPECT_GE(rows, best * (1 - 2e-9));
    EXPECT_LE(rows, plain * (1 + 1e-12));
    EXPECT_NEAR(found.performance.value, plain, 1e-9 * plain);
    if (best > plain * (1 - 1e-6)) continue;
    ++lumpy;
    reached += best / plain;
    exact_rows += rows < best * (1 + 1e-6) ? 1 : 0;
  }
  EXPECT_GT(checked, static_cast<int>(testing::amount(200)));
  EXPECT_GE(lumpy, static_cast<int>(testing::amount(30)));
  RecordProperty("checked", checked);
  RecordProperty("lumpy", lumpy);
  RecordProperty("rows_exact", exact_rows);
  RecordProperty("best_part_of_plain", std::to_string(reached / lumpy));
}

System memory_of(double gigabytes, double need) {
  return System({{.name = "gpu", .servers = 4}},
                {{.name = "train", .count = 4, .needs = {{resource_id(0), capacity_id(1), need}}}},
                Rates(1, 1, {10.0}), {{.name = "memory", .amount = gigabytes}});
}

TEST(Packings, OneTaskFitsWhereTwoNeedALittleMoreThanThereIs) {
  const Solution lumpy = plan_of({memory_of(80, 41), Objective::kThroughput});
  EXPECT_NEAR(lumpy.performance.value, 800.0 / 41, 1e-9);
  EXPECT_NEAR(lumpy.plan.packing_bound.value(), 10, 1e-6);
  const Solution even = plan_of({memory_of(80, 40), Objective::kThroughput});
  EXPECT_NEAR(even.plan.packing_bound.value(), 20, 1e-6);
}

TEST(Packings, AreWhatKeepsThreeTypesThatEachHoldTwoOfThreeUnits) {
  std::vector<TaskClass> tasks;
  for (int i = 0; i < 3; ++i) {
    tasks.push_back({.name = std::string(1, static_cast<char>('a' + i)), .count = 1});
    for (int k = 0; k < 2; ++k)
      tasks.back().needs.push_back(
          {resource_id(0), capacity_id(1 + static_cast<std::size_t>((i + k) % 3)), 1});
  }
  const System system({{.name = "host", .servers = 8}}, tasks, Rates(3, 1, {1, 1, 1}),
                      {{.name = "x"}, {.name = "y"}, {.name = "z"}});
  const Problem problem{system, Objective::kThroughput};
  const Solution found = plan_of(problem);
  EXPECT_NEAR(found.performance.value, 1.5, 1e-9);
  EXPECT_NEAR(found.plan.packing_bound.value(), 1, 1e-6);
  StopPoll poll({}, 1);
  EXPECT_NEAR(detail::packing_bound_of_rows(problem, 1.5, poll).value(), 1.5, 1e-6);  // of one capacity each
}

TEST(Packings, OfArrivalsSayWhatPartOfThemIsCarried) {
  const System system = memory_of(80, 41).with_counts(std::vector<Count>{0});
  const Solution found =
      plan_of({system, Objective::kThroughput, {}, {{.task = task_type(0), .rate = 15}}, {}});
  EXPECT_NEAR(found.plan.headroom.value(), 800.0 / 41 / 15, 1e-9);
  EXPECT_NEAR(found.performance.value, 15, 1e-9);
  EXPECT_NEAR(found.plan.packing_bound.value(), 10, 1e-6);
}

TEST(Packings, OfMoreTasksThanCouldBeCountedAreFound) {
  const System system({{.name = "cpu", .servers = 1'000'000'000}},
                      {{.name = "grain", .needs = {{resource_id(0), capacity_id(0), 1e-9}}}},
                      Rates(1, 1, {1.0}));
  const Solution found =
      plan_of({system, Objective::kThroughput, {}, {{.task = task_type(0), .rate = 3}}, {}});
  EXPECT_NEAR(found.plan.headroom.value() / 1e18, 1.0 / 3, 1e-9);
  EXPECT_NEAR(found.performance.value, 3, 1e-9);
}

TEST(Packings, HaveNoBoundWhereNoneKeepsTheLimits) {
  std::vector<TaskClass> tasks = memory_of(80, 41).tasks();
  tasks[0].floor = 12;
  const Solution found = plan_of({memory_of(80, 41).with_tasks(tasks), Objective::kThroughput});
  EXPECT_EQ(found.outcome, Outcome::kOptimal);
  EXPECT_FALSE(found.plan.packing_bound.has_value());
  EXPECT_NE(found.reason.find("whole tasks cannot meet all limits"), std::string::npos);
}

TEST(Packings, OfManyPairsAreBoundedByRows) {
  RandomStream random(7, 0x9ad);
  const NeedsShape shape{.most_types = 60, .most_resources = 40, .most_threads = 50, .extreme = false};
  int checked = 0;
  for (int draw = 0; draw < 6; ++draw) {
    const System system = random_needs(random, shape);
    const Solution found = plan_of({system, Objective::kThroughput});
    if (!(*found.upper_bound > 0)) continue;
    ++checked;
    EXPECT_LE(found.plan.packing_bound.value(), *found.upper_bound);
    EXPECT_GT(found.plan.packing_bound.value(), 0);
  }
  EXPECT_GT(checked, 2);
}

}  // namespace
}  // namespace allot
