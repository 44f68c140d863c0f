#include "allot/policy/service_order.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/model/throughput.hpp"

namespace allot {
namespace {

/// A device with some units that run one task after the other. Each type has a constant number of tasks
/// there: one that ends is followed at once by another of its type. The times are exponential.
struct Device {
  std::vector<Count> tasks;
  std::vector<double> rates;
  std::size_t units = 1;
};

/// Completions per second of each type, when `choose` says what is next. `choose` may answer none.
template <typename Choose, typename Served>
std::vector<double> run(const Device& device, double seconds, std::uint64_t seed, Choose choose,
                        Served served, const ServiceOrder* order = nullptr) {
  RandomStream random(seed);
  const std::size_t types = device.tasks.size();
  std::vector<Count> waiting = device.tasks;
  std::vector<double> completions(types, 0.0);
  struct Unit {
    double free_at = 0;
    double service = 0;
    std::optional<TaskType> task;
  };
  std::vector<Unit> units(device.units);
  double now = 0;
  while (now < seconds) {
    double wake = HUGE_VAL;
    for (Unit& unit : units) {
      if (unit.task) continue;
      unit.task = choose(waiting, now);
      if (!unit.task) {
        if (order != nullptr && order->idle_until()) wake = std::min(wake, *order->idle_until());
        continue;
      }
      --waiting[index(*unit.task)];
      unit.service = -std::log(random.uniform()) / device.rates[index(*unit.task)];
      unit.free_at = now + unit.service;
    }
    Unit* first = nullptr;
    for (Unit& unit : units) {
      if (unit.task && (first == nullptr || unit.free_at < first->free_at)) first = &unit;
    }
    if (first == nullptr || wake < first->free_at) {
      if (wake == HUGE_VAL) break;
      now = std::max(now, wake);
      continue;
    }
    now = first->free_at;
    served(*first->task, first->service);
    ++completions[index(*first->task)];
    ++waiting[index(*first->task)];
    first->task.reset();
  }
  for (double& n : completions) n /= now;
  return completions;
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

// One fast and one slow type, n = (3, 2), mu = (10, 1). Processor sharing: 3/5 of the time at 10 and 2/5
// at 1. First come, first served: each completes in proportion to its count.
TEST(ServiceOrder, GetsTheRateOfProcessorSharingFromADeviceThatRunsOneTaskAfterTheOther) {
  const Device device{{3, 2}, {10, 1}};
  ServiceOrder order(2);
  order.set_weights(device.tasks);
  const auto shared = run(
      device, 20'000, 1, [&](const auto& waiting, double now) { return order.next(waiting, now); },
      [&](TaskType i, double seconds) { order.served(i, seconds); });
  EXPECT_NEAR(shared[0], 10 * 3.0 / 5, 0.02 * 6);
  EXPECT_NEAR(shared[1], 1 * 2.0 / 5, 0.02 * 0.4);

  // In order of arrival: a queue.
  std::vector<TaskType> queue;
  for (std::size_t i = 0; i < 2; ++i)
    queue.insert(queue.end(), static_cast<std::size_t>(device.tasks[i]), task_type(i));
  const auto fcfs = run(
      device, 20'000, 1,
      [&](const auto&, double) {
        const TaskType i = queue.front();
        queue.erase(queue.begin());
        return std::optional(i);
      },
      [&](TaskType i, double) { queue.push_back(i); });
  const ColumnSums sums = ColumnSums().plus(3, 10, 0.1).plus(2, 1, 1);
  EXPECT_NEAR(sum(fcfs), column_value(Discipline::kFcfs, 1, sums), 0.02 * sum(fcfs));
  EXPECT_NEAR(sum(shared), column_value(Discipline::kPs, 1, sums), 0.02 * sum(shared));
  EXPECT_GT(sum(shared), 2 * sum(fcfs));
}

TEST(ServiceOrder, SharesSeveralUnitsAsProcessorSharingDoes) {
  const Device device{{6, 4, 2}, {5, 2, 1}, 3};
  ServiceOrder order(3);
  order.set_weights(device.tasks);
  const auto shared = run(
      device, 20'000, 2, [&](const auto& waiting, double now) { return order.next(waiting, now); },
      [&](TaskType i, double seconds) { order.served(i, seconds); });
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(shared[i], 3 * device.rates[i] * static_cast<double>(device.tasks[i]) / 12, 0.03 * shared[i]);
  }
}

TEST(ServiceOrder, DividesTheTimeByWeights) {
  const Device device{{2, 2}, {4, 1}};
  ServiceOrder order(2);
  const double shares[] = {0.2, 0.6};
  order.set_weights(shares);
  const auto got = run(
      device, 20'000, 3, [&](const auto& waiting, double now) { return order.next(waiting, now); },
      [&](TaskType i, double seconds) { order.served(i, seconds); });
  EXPECT_NEAR(got[0], 4 * 0.25, 0.02);  // nothing idles: 0.2 to 0.6 is one to three
  EXPECT_NEAR(got[1], 1 * 0.75, 0.02);
}

TEST(ServiceOrder, LeavesAUnitIdleOnPurposeWhenEveryTypeIsAhead) {
  const Device device{{2, 2}, {4, 1}};
  ServiceOrder order(2, ServiceOrder::WhenAhead::kIdle);
  const double shares[] = {0.2, 0.6};
  order.set_weights(shares);
  const auto got = run(
      device, 20'000, 4, [&](const auto& waiting, double now) { return order.next(waiting, now); },
      [&](TaskType i, double seconds) { order.served(i, seconds); }, &order);
  EXPECT_NEAR(got[0], 4 * 0.2, 0.02);
  EXPECT_NEAR(got[1], 1 * 0.6, 0.02);
}

TEST(ServiceOrder, ATypeThatReturnsIsOwedNothing) {
  ServiceOrder order(2);
  const Count only_first[] = {1, 0};
  const Count both[] = {1, 1};
  double now = 0;
  for (int k = 0; k < 100; ++k) {
    ASSERT_EQ(order.next(only_first, now), task_type(0));
    order.served(task_type(0), 1);
    now += 1;
  }
  int second = 0;
  for (int k = 0; k < 20; ++k) {
    const auto next = order.next(both, now);
    ASSERT_TRUE(next);
    second += *next == task_type(1) ? 1 : 0;
    order.served(*next, 1);
    now += 1;
  }
  EXPECT_NEAR(second, 10, 1);  // not all twenty
}

TEST(ServiceOrder, ATypeWithoutAWeightIsServedNowAndThen) {
  ServiceOrder order(2);
  const double weights[] = {1, 0};
  order.set_weights(weights);
  const Count both[] = {1, 1};
  int second = 0;
  for (int k = 0; k < 1010; ++k) {
    const auto next = order.next(both, k);
    second += *next == task_type(1) ? 1 : 0;
    order.served(*next, 1);
  }
  EXPECT_NEAR(second, 10, 2);
}

/// A task that a type had as a stray counts as the seconds it took, also once the type has a weight: 20 ms,
/// of which the other type catches up within a few of its own.
TEST(ServiceOrder, AChangeOfWeightsKeepsWhatATypeIsAheadInSecondsOfService) {
  const Count both[] = {1, 1};
  for (const auto when_ahead : {ServiceOrder::WhenAhead::kServe, ServiceOrder::WhenAhead::kIdle}) {
    ServiceOrder order(2, when_ahead);
    order.set_weights(std::vector<double>{1, 0});
    const Count only_second[] = {0, 1};
    ASSERT_EQ(order.next(only_second, 0), task_type(1));
    order.served(task_type(1), 0.020);
    double now = 0.020;
    order.set_weights(std::vector<double>{0.5, 0.5});
    int first = 0;
    while (true) {
      const auto next = order.next(both, now);
      if (next == task_type(1)) break;
      if (next) {
        order.served(*next, 0.008);
        now += 0.008;
        ASSERT_LT(++first, 10);
      } else {
        now = *order.idle_until();
      }
    }
    EXPECT_GE(first, 1);
  }
}

/// Type 0 keeps its mean of 1 s and its place behind type 1, however often its task cannot be started.
TEST(ServiceOrder, WhatIsGivenBackWasNeverChosen) {
  ServiceOrder order(2);
  const std::vector<Count> both{1, 1};
  ASSERT_EQ(order.next(both, 0), task_type(0));
  order.served(task_type(0), 1);
  ASSERT_EQ(order.next(both, 1), task_type(1));
  order.served(task_type(1), 0.5);
  ASSERT_EQ(order.next(both, 2), task_type(1));
  order.served(task_type(1), 1.0);  // 1 s of type 0, 1.5 s of type 1
  for (int k = 0; k < 100; ++k) {
    ASSERT_EQ(order.next(both, 3), task_type(0));
    order.given_back(task_type(0));
  }
  ASSERT_EQ(order.next(both, 3), task_type(0));
  EXPECT_EQ(order.next(both, 3), task_type(1)) << "which has 1.5 s; type 0 has 1 s and is charged 1 s";
}

// Under a plan it is others that kept a type away.
TEST(ServiceOrder, UnderAPlanATypeThatWasAwayIsOwedItsPart) {
  ServiceOrder order(2, ServiceOrder::WhenAhead::kIdleFarAhead);
  order.set_weights(std::vector<double>{0.5, 0.5});
  order.expect(std::vector<double>{1, 1});
  const Count first_alone[] = {1, 0};
  double now = 0;
  int alone = 0;
  while (now < 10) {
    if (!order.next(first_alone, now)) {
      now = *order.idle_until();
      continue;
    }
    order.served(task_type(0), 1);
    now += 1;
    ++alone;
  }
  EXPECT_LE(alone, 8) << "half of the time, and two tasks ahead";
  const Count both[] = {1, 1};
  int owed = 0;
  while (order.next(both, now) == task_type(1)) {
    order.served(task_type(1), 1);
    now += 1;
    ASSERT_LT(++owed, 20);
  }
  EXPECT_GE(owed, 5);
}

// Long tasks and short ones that have both missed more than is made up for.
TEST(ServiceOrder, UnderAPlanATypeThatCannotKeepUpDoesNotGoFirstForEver) {
  ServiceOrder order(2, ServiceOrder::WhenAhead::kIdleFarAhead);
  order.set_weights(std::vector<double>{0.9, 0.1});
  order.expect(std::vector<double>{10, 0.1});
  const Count both[] = {1, 1};
  double now = 1e6;
  int before = 0;
  while (order.next(both, now) == task_type(0)) {
    order.served(task_type(0), 10);
    now += 10;
    ASSERT_LT(++before, 3);
  }
}

TEST(ServiceOrder, AfterItIsSettledNobodyIsOwedAnything) {
  ServiceOrder order(2, ServiceOrder::WhenAhead::kIdleFarAhead);
  order.set_weights(std::vector{0.5, 0.5});
  for (double now = 0; now < 1000; ++now) {
    order.next(std::vector<Count>{1, 0}, now, false);
    order.served(task_type(0), 1);
  }
  order.settle();
  int second = 0;
  for (double now = 1000; now < 1100; ++now) {
    const auto type = order.next(std::vector<Count>{1, 1}, now, false);
    order.served(*type, 1);
    second += *type == task_type(1) ? 1 : 0;
  }
  EXPECT_NEAR(second, 50, 1);
}

TEST(ServiceOrder, AnswersNoneWhenNothingWaits) {
  ServiceOrder order(2);
  const Count nothing[] = {0, 0};
  EXPECT_EQ(order.next(nothing, 0), std::nullopt);
  EXPECT_EQ(order.idle_until(), std::nullopt);
}

}  // namespace
}  // namespace allot
