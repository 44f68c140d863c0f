#include "allot/base/stop.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace allot {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(StopPoll, NeverStopsWithoutLimits) {
  StopPoll poll(StopLimits{}, 4);
  for (int step = 0; step < 1000; ++step) ASSERT_FALSE(poll.should_stop());
  EXPECT_FALSE(poll.should_stop_now());
  EXPECT_FALSE(poll.stopped());
  EXPECT_EQ(poll.reason(), StopReason::kNone);
}

TEST(StopPoll, StopsAtItsFirstStepWhenTheDeadlineHasPassed) {
  StopPoll poll({.deadline = Clock::now() - milliseconds(1)}, 1'000'000);
  EXPECT_TRUE(poll.stopped());
  EXPECT_TRUE(poll.should_stop());
  EXPECT_EQ(poll.reason(), StopReason::kTimeLimit);
}

TEST(StopPoll, ADeadlineOfNowHasPassed) {
  StopPoll poll({.deadline = Clock::now()});
  EXPECT_TRUE(poll.should_stop());
}

TEST(StopPoll, StopsAtItsFirstStepWhenTheFlagIsAlreadySet) {
  const StopFlag flag = true;
  StopPoll poll({.flag = &flag}, 1'000'000);
  EXPECT_TRUE(poll.should_stop());
  EXPECT_EQ(poll.reason(), StopReason::kInterrupted);
}

TEST(StopPoll, TheFlagComesBeforeTheDeadline) {
  const StopFlag flag = true;
  StopPoll poll({.deadline = Clock::now() - hours(1), .flag = &flag});
  EXPECT_EQ(poll.reason(), StopReason::kInterrupted);
}

TEST(StopPoll, NoticesTheFlagWithinOneStride) {
  StopFlag flag = false;
  constexpr std::uint32_t kStride = 16;
  StopPoll poll({.flag = &flag}, kStride);
  for (int step = 0; step < 1000; ++step) ASSERT_FALSE(poll.should_stop());
  flag = true;
  std::uint32_t steps = 1;
  while (!poll.should_stop() && steps <= kStride) ++steps;
  EXPECT_LE(steps, kStride);
  EXPECT_EQ(poll.reason(), StopReason::kInterrupted);
}

TEST(StopPoll, AsksAtOnceWhenToldTo) {
  StopFlag flag = false;
  StopPoll poll({.flag = &flag}, 1'000'000);
  EXPECT_FALSE(poll.should_stop_now());
  flag = true;
  EXPECT_FALSE(poll.should_stop());  // within the stride: does not look
  EXPECT_TRUE(poll.should_stop_now());
}

TEST(StopPoll, StaysStoppedWithItsFirstReason) {
  StopFlag flag = true;
  StopPoll poll({.deadline = Clock::now() + hours(1), .flag = &flag}, 2);
  EXPECT_TRUE(poll.should_stop());
  flag = false;
  for (int step = 0; step < 10; ++step) EXPECT_TRUE(poll.should_stop());
  EXPECT_TRUE(poll.should_stop_now());
  EXPECT_EQ(poll.reason(), StopReason::kInterrupted);

  StopPoll late({.deadline = Clock::now() - hours(1), .flag = &flag}, 2);
  flag = true;
  EXPECT_TRUE(late.should_stop_now());
  EXPECT_EQ(late.reason(), StopReason::kTimeLimit);
}

TEST(StopPoll, StopsOnceTheDeadlineComes) {
  const auto start = Clock::now();
  StopPoll poll({.deadline = start + milliseconds(20)}, 8);
  while (!poll.should_stop()) {
    ASSERT_LT(Clock::now() - start, std::chrono::seconds(10));
  }
  EXPECT_GE(Clock::now() - start, milliseconds(20));
  EXPECT_EQ(poll.reason(), StopReason::kTimeLimit);
}

TEST(StopPoll, StopsAfterSoManySteps) {
  for (const std::uint32_t stride : {1U, 7U, 256U}) {
    StopPoll poll({.steps = 1000}, stride);
    std::uint64_t steps = 0;
    while (!poll.should_stop()) ++steps;
    EXPECT_GE(steps + stride, 1000U);
    EXPECT_LE(steps, 1000U + stride);
    EXPECT_EQ(poll.reason(), StopReason::kBudget);
  }
  EXPECT_TRUE(StopPoll({.steps = 0}).stopped());
}

TEST(StopPoll, CountsStepsThatWereDoneElsewhere) {
  StopPoll poll({.steps = 1000}, 100);
  poll.spend(50);
  for (int step = 0; step < 40; ++step) ASSERT_FALSE(poll.should_stop());
  poll.spend(800);
  EXPECT_FALSE(poll.stopped());
  poll.spend(200);
  EXPECT_TRUE(poll.stopped());
  EXPECT_EQ(poll.reason(), StopReason::kBudget);
}

TEST(StopPoll, LooksAtTheFlagWhenStepsWereDoneElsewhere) {
  StopFlag flag = false;
  StopPoll poll({.flag = &flag}, 1000);
  flag = true;
  poll.spend(10);
  EXPECT_FALSE(poll.stopped());
  poll.spend(1000);
  EXPECT_EQ(poll.reason(), StopReason::kInterrupted);
}

}  // namespace
}  // namespace allot
