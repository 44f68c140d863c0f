// Disciplines by hand: when does who leave, and who is busy.
#include "allot/simulate/detail/stations.hpp"

#include <gtest/gtest.h>

#include <array>

#include "allot/base/random.hpp"

namespace allot::detail {
namespace {

/// Lets the next task leave, and the clock go to that moment.
template <typename Station>
ThreadId next(Station& station, double& now) {
  ThreadId thread = ~ThreadId{0};
  now = station.due;
  if (now == kNever || !station.leave(now, thread)) return ~ThreadId{0};
  station.settle(now);
  return thread;
}

/// Two tasks of 1 and 3 s on one unit: the first leaves at 2 (half speed), the other at 4; with two units at
/// 1 and 3.
TEST(SharedStation, DividesItsUnitsEvenly) {
  for (const Count servers : {1, 2}) {
    SharedStation<ScanQueue> station(servers);
    double now = 0;
    station.enter(now, {0, 0, 1.0});
    station.enter(now, {1, 0, 3.0});
    station.settle(now);
    EXPECT_EQ(station.busy, servers == 1 ? 1 : 2);
    EXPECT_DOUBLE_EQ(station.remaining(now), 4);
    EXPECT_EQ(next(station, now), 0U);
    EXPECT_DOUBLE_EQ(now, servers == 1 ? 2 : 1);
    EXPECT_DOUBLE_EQ(station.remaining(now), 2);
    EXPECT_EQ(next(station, now), 1U);
    EXPECT_DOUBLE_EQ(now, servers == 1 ? 4 : 3);
    EXPECT_EQ(station.due, kNever);
    EXPECT_EQ(station.busy, 0);
  }
}

/// The same long run with and without virtual time being set back: leaving times agree to 1e-9 of the time
/// passed.
TEST(SharedStation, LosesNoDigitsInALongRun) {
  for (const Count servers : {1, 3}) {
    SharedStation<HeapQueue> kept(servers);
    SharedStation<HeapQueue> rebased(servers);
    RandomStream random(7);
    double now = 0;
    double now_rebased = 0;
    const auto enter = [&](ThreadId thread) {
      const double work = random.uniform(0.001, 2);
      kept.enter(now, {thread, 0, work});
      rebased.enter(now_rebased, {thread, 0, work});
    };
    for (ThreadId thread = 0; thread < 12; ++thread) enter(thread);
    kept.settle(now);
    rebased.settle(now_rebased);
    for (int step = 0; step < 300'000; ++step) {
      ThreadId a = 0;
      ThreadId b = 0;
      now = kept.due;
      now_rebased = rebased.due;
      ASSERT_TRUE(kept.leave(now, a));
      ASSERT_TRUE(rebased.leave(now_rebased, b));
      ASSERT_EQ(a, b) << "step " << step;
      ASSERT_NEAR(now, now_rebased, 1e-9 * now) << "step " << step;
      if (step % 100 == 0) rebased.rebase();
      enter(a);
      kept.settle(now);
      rebased.settle(now_rebased);
      ASSERT_NEAR(kept.remaining(now), rebased.remaining(now_rebased), 1e-6);
    }
  }
}

TEST(SingleStation, ServesInTheOrderOfArrival) {
  SingleStation station;
  std::vector<ThreadId> started;
  station.started = &started;
  double now = 0;
  for (ThreadId thread = 0; thread < 3; ++thread) station.enter(now, {thread, 0, 3.0 - thread});
  station.settle(now);
  EXPECT_EQ(started, std::vector<ThreadId>{0});
  EXPECT_DOUBLE_EQ(station.remaining(1), 5);
  EXPECT_EQ(next(station, now), 0U);
  EXPECT_DOUBLE_EQ(now, 3);
  EXPECT_EQ(next(station, now), 1U);
  EXPECT_DOUBLE_EQ(now, 5);
  EXPECT_EQ(next(station, now), 2U);
  EXPECT_DOUBLE_EQ(now, 6);
  EXPECT_EQ(started, (std::vector<ThreadId>{0, 1, 2}));
}

/// A policy that looks at sizes asks between `leave` and `settle`: those who wait still count.
TEST(SingleStation, CountsTheWaitingWhileNothingRuns) {
  SingleStation station;
  station.enter(0, {0, 0, 1.0});
  station.enter(0, {1, 0, 5.0});
  station.settle(0);
  ThreadId thread = 0;
  station.leave(1, thread);
  EXPECT_DOUBLE_EQ(station.remaining(1), 5);
}

TEST(OrderedStation, ServesByAllItsUnits) {
  OrderedStation<ScanQueue> station(2);
  double now = 0;
  for (ThreadId thread = 0; thread < 4; ++thread) station.enter(now, {thread, 0, 1.0 + thread});
  station.settle(now);
  EXPECT_EQ(station.busy, 2);
  EXPECT_DOUBLE_EQ(station.remaining(0.5), 9);
  EXPECT_EQ(next(station, now), 0U);  // at 1; the third runs until 4, the second until 2
  EXPECT_EQ(next(station, now), 1U);
  EXPECT_DOUBLE_EQ(now, 2);
  EXPECT_EQ(next(station, now), 2U);
  EXPECT_DOUBLE_EQ(now, 4);
  EXPECT_EQ(next(station, now), 3U);
  EXPECT_DOUBLE_EQ(now, 6);
}

/// One task each of two types with weights 3 and 1 on one unit: 3/4 and 1/4 of it; alone, all of it under
/// `floor` and what was planned under `exact`.
TEST(WeightedSharedStation, DividesByWeight) {
  for (const bool exact : {false, true}) {
    WeightedSharedStation<ScanQueue> station(1, 2, exact);
    const std::vector<TypeShare> shares = {{0.6, 0.6}, {0.2, 0.2}};
    station.set_shares(0, shares);
    double now = 0;
    station.enter(now, {0, 0, 3.0});
    station.enter(now, {1, 1, 3.0});
    station.settle(now);
    const double units = exact ? 0.8 : 1.0;
    EXPECT_NEAR(station.busy, units, 1e-12);
    EXPECT_EQ(next(station, now), 0U);
    EXPECT_NEAR(now, 3 / (0.75 * units), 1e-12);
    EXPECT_NEAR(station.busy, units, 1e-12);
    EXPECT_EQ(next(station, now), 1U);
    EXPECT_NEAR(now, 3 / (0.75 * units) + 2 / units, 1e-12);
  }
}

/// Weights 4, 1 and 1 on two units: nobody receives more than one unit, the others share what is left.
TEST(WeightedSharedStation, GivesNobodyMoreThanOneUnit) {
  WeightedSharedStation<ScanQueue> station(2, 3, false);
  const std::vector<TypeShare> shares = {{1, 4}, {0.5, 1}, {0.5, 1}};
  station.set_shares(0, shares);
  double now = 0;
  for (ThreadId thread = 0; thread < 3; ++thread) station.enter(now, {thread, thread, 1.0});
  station.settle(now);
  EXPECT_EQ(next(station, now), 0U);
  EXPECT_NEAR(now, 1, 1e-12);
  next(station, now);
  EXPECT_NEAR(now, 1.5, 1e-12);
}

/// Shares 0.5 and 0.25 with equal tasks: twice as many of the first, and a quarter of the time idle under
/// `exact`.
TEST(WeightedOrderStation, TakesTheTypeFurthestBehind) {
  for (const bool exact : {false, true}) {
    // Shares that are set anew, at times that are not round, must not stop the clock.
    WeightedOrderStation<ScanQueue> station(1, 2, exact);
    const std::vector<TypeShare> shares = {{0.5, 0.5}, {0.25, 0.25}};
    station.set_shares(0, shares);
    double now = 0;
    station.enter(now, {0, 0, 0.1});
    station.enter(now, {1, 1, 0.1});
    station.settle(now);
    std::array<int, 2> done{};
    double busy = 0;
    for (int step = 0; step < 3000; ++step) {
      double moment = station.due;
      ASSERT_LT(moment, kNever);
      ThreadId thread = 0;
      int wakes = 0;
      while (!station.leave(moment, thread)) {
        station.settle(moment);
        ASSERT_LT(++wakes, 3) << "the clock stands still";
        moment = station.due;
        ASSERT_LT(moment, kNever);
      }
      now = moment;
      busy += 0.1;
      ++done[thread];
      station.enter(now, {thread, thread, 0.1});
      if (step % 7 == 0) station.set_shares(now, shares);
      station.settle(now);
    }
    EXPECT_NEAR(done[0], 2000, 2);
    EXPECT_NEAR(done[1], 1000, 2);
    EXPECT_NEAR(busy / now, exact ? 0.75 : 1.0, 0.001);
  }
}

/// A type that was away does not claim that time.
TEST(WeightedOrderStation, LetsNobodyClaimTheTimeOfAnAbsence) {
  WeightedOrderStation<ScanQueue> station(1, 2, false);
  const std::vector<TypeShare> shares = {{0.5, 0.5}, {0.5, 0.5}};
  station.set_shares(0, shares);
  double now = 0;
  station.enter(now, {0, 0, 1.0});
  station.settle(now);
  for (int step = 0; step < 100; ++step) {  // alone for a long time
    ThreadId thread = 0;
    now = station.due;
    ASSERT_TRUE(station.leave(now, thread));
    station.enter(now, {0, 0, 1.0});
    station.settle(now);
  }
  station.enter(now, {1, 1, 1.0});
  std::array<int, 2> done{};
  for (int step = 0; step < 20; ++step) {
    ThreadId thread = 0;
    now = station.due;
    ASSERT_TRUE(station.leave(now, thread));
    ++done[thread];
    station.enter(now, {thread, thread, 1.0});
    station.settle(now);
  }
  EXPECT_NEAR(done[0], 10, 1);
  EXPECT_NEAR(done[1], 10, 1);
}

}  // namespace
}  // namespace allot::detail
