#include "allot/model/throughput.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "allot/base/random.hpp"
#include "allot/model/system.hpp"

namespace allot {
namespace {

/// X_ij of the table of formulas, naively and in long double: straight from its four rows.
long double table_throughput(const System& system, const Assignment& n, TaskType i, ResourceId j) {
  long double waiting = 0;  // n_j
  long double seconds = 0;  // sum of n_lj / mu_lj
  for (const TaskType l : system.types()) {
    waiting += static_cast<long double>(n(l, j));
    if (n(l, j) > 0)
      seconds += static_cast<long double>(n(l, j)) / static_cast<long double>(system.rate(l, j));
  }
  const long double c = static_cast<long double>(system.resource(j).servers);
  const long double mu = system.rate(i, j);
  const long double n_ij = static_cast<long double>(n(i, j));
  if (n_ij == 0) return 0;
  if (system.resource(j).discipline == Discipline::kPs) return std::min(waiting, c) * mu * n_ij / waiting;
  if (waiting <= c) return n_ij * mu;
  return c * n_ij / seconds;
}

System one_resource(Discipline discipline, Count servers, const std::vector<double>& rates,
                    const std::vector<Count>& counts, const std::vector<double>& priorities = {}) {
  std::vector<TaskClass> tasks;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    tasks.push_back({.name = "t" + std::to_string(i), .count = counts[i]});
    if (!priorities.empty()) tasks.back().priority = priorities[i];
  }
  return System({{.name = "r", .servers = servers, .discipline = discipline}}, std::move(tasks),
                Rates(rates.size(), 1, rates));
}

double throughput_of(Discipline discipline, Count servers, const std::vector<double>& rates,
                     const std::vector<Count>& counts) {
  const System system = one_resource(discipline, servers, rates, counts);
  return evaluate(system, home_assignment(system)).throughput;
}

// One fast and one slow task: sharing completes the mean rate, alternating the harmonic mean.
TEST(Throughput, OfTheFastAndTheSlowTaskDependsOnTheDiscipline) {
  EXPECT_DOUBLE_EQ(throughput_of(Discipline::kPs, 1, {10, 1}, {1, 1}), 5.5);
  EXPECT_DOUBLE_EQ(throughput_of(Discipline::kFcfs, 1, {10, 1}, {1, 1}), 2 / 1.1);
}

TEST(Throughput, AtTheBoundaryNobodyWaitsSoTheDisciplineDoesNotMatter) {
  for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
    EXPECT_DOUBLE_EQ(throughput_of(discipline, 2, {10, 1}, {1, 1}), 11);  // n = c
    EXPECT_DOUBLE_EQ(throughput_of(discipline, 5, {10, 1}, {1, 1}), 11);  // n < c
    EXPECT_DOUBLE_EQ(throughput_of(discipline, 1, {10, 1}, {1, 0}), 10);
    EXPECT_DOUBLE_EQ(throughput_of(discipline, 1, {10, 1}, {0, 0}), 0);  // an idle resource delivers nothing
  }
  EXPECT_DOUBLE_EQ(throughput_of(Discipline::kPs, 2, {10, 1}, {1, 2}), 2 * 12.0 / 3);  // n = c + 1
  EXPECT_DOUBLE_EQ(throughput_of(Discipline::kFcfs, 2, {10, 1}, {1, 2}), 2 * 3 / 2.1);
}

TEST(Throughput, OfAnIdleAcceleratorIsZero) {
  const System system({{.name = "gp"}, {.name = "sa", .kind = Kind::kSpecialized}},
                      {{.name = "t", .count = 2}}, Rates(1, 2, {3, 100}));
  Assignment all_on_gp(1, 2);
  all_on_gp(task_type(0), resource_id(0)) = 2;
  const Performance performance = evaluate(system, all_on_gp);
  EXPECT_DOUBLE_EQ(performance.throughput, 3);
  EXPECT_EQ(performance.throughput_by_resource[1], 0.0);
}

TEST(Throughput, FollowsTheTableInRandomStates) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed, 77);
    const std::size_t types = 1 + random.below(5);
    const std::size_t resources = 1 + random.below(4);
    std::vector<Resource> machine;
    bool waits_behind_several = false;
    for (std::size_t j = 0; j < resources; ++j) {
      machine.push_back({.name = "r" + std::to_string(j),
                         .servers = 1 + static_cast<Count>(random.below(4)),
                         .discipline = random.below(2) == 0 ? Discipline::kPs : Discipline::kFcfs});
    }
    std::vector<TaskClass> tasks;
    std::vector<double> rates;
    for (std::size_t i = 0; i < types; ++i) {
      tasks.push_back({.name = "t" + std::to_string(i), .priority = random.uniform()});
      for (std::size_t j = 0; j < resources; ++j) {
        rates.push_back(j > 0 && random.below(4) == 0 ? 0.0 : std::exp(random.uniform(-7, 7)));
      }
    }
    Assignment n(types, resources);
    for (std::size_t i = 0; i < types; ++i) {
      for (std::size_t j = 0; j < resources; ++j) {
        if (rates[i * resources + j] > 0 && random.below(3) > 0) {
          n(task_type(i), resource_id(j)) = static_cast<Count>(random.below(4));
        }
      }
      tasks[i].count = n.row_sum(task_type(i));
    }
    const System system(machine, tasks, Rates(types, resources, rates));
    const Performance p = evaluate(system, n);

    long double x = 0;
    std::vector<long double> by_task(types);
    for (std::size_t j = 0; j < resources; ++j) {
      long double x_j = 0;
      for (std::size_t i = 0; i < types; ++i) {
        const long double x_ij = table_throughput(system, n, task_type(i), resource_id(j));
        by_task[i] += x_ij;
        x_j += x_ij;
      }
      x += x_j;
      ASSERT_NEAR(p.throughput_by_resource[j], static_cast<double>(x_j), 1e-13 * static_cast<double>(x_j));
      std::set<double> present;
      for (std::size_t i = 0; i < types; ++i) {
        if (n(task_type(i), resource_id(j)) > 0) present.insert(rates[i * resources + j]);
      }
      waits_behind_several |= machine[j].discipline == Discipline::kFcfs && machine[j].servers > 1 &&
                              n.column_sum(resource_id(j)) > machine[j].servers && present.size() > 1;
    }
    ASSERT_NEAR(p.throughput, static_cast<double>(x), 1e-13 * static_cast<double>(x));
    ASSERT_EQ(p.approximate, waits_behind_several);
    ASSERT_EQ(p.response_time.has_value(), system.population() > 0);
    long double error = 0;
    for (std::size_t i = 0; i < types; ++i) {
      ASSERT_NEAR(p.throughput_by_task[i], static_cast<double>(by_task[i]),
                  1e-13 * static_cast<double>(by_task[i]));
      ASSERT_EQ(p.response_time_by_task[i].has_value(), tasks[i].count > 0);
      if (tasks[i].count > 0) {
        ASSERT_NEAR(*p.response_time_by_task[i] * p.throughput_by_task[i],
                    static_cast<double>(tasks[i].count), 1e-12 * static_cast<double>(tasks[i].count));
      }
      if (x > 0) {
        const long double share = by_task[i] / x;
        ASSERT_NEAR(p.shares[i], static_cast<double>(share), 1e-13);
        error += (share - static_cast<long double>(system.shares()[i])) *
                 (share - static_cast<long double>(system.shares()[i]));
      }
    }
    if (x > 0) {
      ASSERT_NEAR(*p.response_time * p.throughput, static_cast<double>(system.population()),  // Little
                  1e-12 * static_cast<double>(system.population()));
      ASSERT_NEAR(*p.priority_error, static_cast<double>(error), 1e-13);
    }
  }
}

TEST(Throughput, WithoutThreadsThereIsNoResponseTimeNoShareAndNoError) {
  const System system = one_resource(Discipline::kPs, 1, {10, 1}, {0, 0}, {1, 1});
  const Performance performance = evaluate(system, home_assignment(system));
  EXPECT_EQ(performance.throughput, 0.0);
  EXPECT_FALSE(performance.response_time.has_value());
  EXPECT_FALSE(performance.response_time_by_task[0].has_value());
  EXPECT_TRUE(performance.shares.empty());
  EXPECT_FALSE(performance.priority_error.has_value());
}

TEST(Throughput, PriorityErrorIsTheSquaredDistanceOfTheShares) {
  const double by_task[] = {3, 1};
  const double half[] = {0.5, 0.5};
  const double met[] = {0.75, 0.25};
  EXPECT_DOUBLE_EQ(priority_error(by_task, 4, half), 2 * 0.0625);
  EXPECT_DOUBLE_EQ(priority_error(by_task, 4, met), 0);
  // In a system: sharing (1, 1) with rates (3, 1) completes shares 3/4 and 1/4.
  const System system = one_resource(Discipline::kPs, 1, {3, 1}, {1, 1}, {1, 1});
  EXPECT_DOUBLE_EQ(*evaluate(system, home_assignment(system)).priority_error, 0.125);
  // First come first served completes equal shares, whatever the rates.
  const System fcfs = one_resource(Discipline::kFcfs, 1, {3, 1}, {1, 1}, {1, 1});
  EXPECT_NEAR(*evaluate(fcfs, home_assignment(fcfs)).priority_error, 0, 1e-30);
  EXPECT_FALSE(
      evaluate(one_resource(Discipline::kPs, 1, {3, 1}, {1, 1}), home_assignment(system)).priority_error);
}

TEST(Throughput, OfTimeSharesIsTheRateTimesTheShare) {
  const System system(
      {{.name = "a"}, {.name = "b"}},
      {{.name = "x", .count = 2, .priority = 1.0}, {.name = "y", .count = 2, .priority = 3.0}},
      Rates(2, 2, {10, 4, 2, 8}));
  const double f[] = {0.5, 0.25, 0.5, 0.75};
  const Performance p = evaluate_time_shares(system, f);
  EXPECT_DOUBLE_EQ(p.throughput_by_task[0], 6);
  EXPECT_DOUBLE_EQ(p.throughput_by_task[1], 7);
  EXPECT_DOUBLE_EQ(p.throughput_by_resource[0], 6);
  EXPECT_DOUBLE_EQ(p.throughput_by_resource[1], 7);
  EXPECT_DOUBLE_EQ(p.throughput, 13);
  EXPECT_DOUBLE_EQ(*p.response_time, 4 / 13.0);
  EXPECT_DOUBLE_EQ(*p.priority_error, (6 / 13.0 - 0.25) * (6 / 13.0 - 0.25) * 2);
  EXPECT_FALSE(p.approximate);
}

TEST(FloorShortfall, SumsWhatIsMissingRelativeToEachFloor) {
  const System system({{.name = "r"}},
                      {{.name = "x", .count = 1, .floor = 4.0},
                       {.name = "y", .count = 1, .floor = 2.0},
                       {.name = "z", .count = 1}},
                      Rates(3, 1, {1, 1, 1}));
  const double both_missed[] = {3, 1, 0};
  const double one_missed[] = {5, 1, 0};
  const double met[] = {4, 2, 0};
  const double met_but_for_rounding[] = {4 * (1 - 1e-12), 2, 0};
  EXPECT_DOUBLE_EQ(floor_shortfall(system, both_missed), 0.25 + 0.5);
  EXPECT_DOUBLE_EQ(floor_shortfall(system, one_missed), 0.5);
  EXPECT_EQ(floor_shortfall(system, met), 0.0);
  EXPECT_EQ(floor_shortfall(system, met_but_for_rounding), 0.0);
}

TEST(ColumnSums, AddAndTakeAwayTasks) {
  const ColumnSums sums = ColumnSums{}.plus(3, 4.0, 0.25).plus(2, 8.0, 0.125);
  EXPECT_EQ(sums.tasks, 5);
  EXPECT_DOUBLE_EQ(sums.rates, 28);
  EXPECT_DOUBLE_EQ(sums.seconds, 1);
  const ColumnSums fewer = sums.plus(-3, 4.0, 0.25);
  EXPECT_EQ(fewer.tasks, 2);
  EXPECT_DOUBLE_EQ(fewer.rates, 16);
  EXPECT_DOUBLE_EQ(column_value(Discipline::kPs, 1, sums), 28.0 / 5);
  EXPECT_DOUBLE_EQ(column_value(Discipline::kFcfs, 1, sums), 5);
}

}  // namespace
}  // namespace allot
