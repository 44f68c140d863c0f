#include "allot/run/halting.hpp"

#include <gtest/gtest.h>

#include "allot/run/overdue.hpp"

namespace allot {
namespace {

using namespace std::chrono_literals;

const Clock::time_point kNow{1h};

TEST(Halting, PhasesOnlyGoForward) {
  Halting halting(5s, 7s);
  EXPECT_EQ(halting.phase(), RunPhase::kRunning);
  EXPECT_TRUE(halting.terminate(kNow));
  EXPECT_FALSE(halting.drain());
  EXPECT_FALSE(halting.terminate(kNow + 1s));
  EXPECT_EQ(halting.phase(), RunPhase::kTerminating);
  EXPECT_EQ(halting.next(), kNow + 5s) << "the second TERM does not begin the grace anew";
}

TEST(Halting, TimeAloneMovesFromTermToKillToGivingUp) {
  Halting halting(5s, 7s);
  EXPECT_EQ(halting.next(), Clock::time_point::max());
  halting.drain();
  EXPECT_EQ(halting.next(), Clock::time_point::max()) << "running tasks may finish";
  halting.terminate(kNow);
  EXPECT_TRUE(halting.kill(kNow + 5s));
  EXPECT_EQ(halting.next(), kNow + 12s);
  EXPECT_TRUE(halting.abandon());
  EXPECT_EQ(halting.next(), Clock::time_point::max());
  EXPECT_FALSE(halting.kill(kNow + 20s));
}

TEST(Halting, SleepIsNoTime) {
  Halting halting(5s, 7s);
  halting.slept(1h);
  halting.terminate(kNow);
  halting.slept(10s);
  EXPECT_EQ(halting.next(), kNow + 15s);
}

TEST(Overdue, KillsFirstAndGivesUpLater) {
  Overdue overdue(3s);
  overdue.watch(1, kNow + 10s);
  overdue.watch(2, kNow + 20s);
  EXPECT_EQ(overdue.next(), kNow + 10s);
  EXPECT_TRUE(overdue.due(kNow + 9s).empty());
  EXPECT_EQ(overdue.due(kNow + 10s), (std::vector<Overdue::Due>{{1, false}}));
  EXPECT_EQ(overdue.next(), kNow + 13s);
  EXPECT_EQ(overdue.due(kNow + 13s), (std::vector<Overdue::Due>{{1, true}}));
  EXPECT_EQ(overdue.next(), kNow + 20s);
}

TEST(Overdue, ForgetsWhatHasEnded) {
  Overdue overdue(3s);
  overdue.watch(1, kNow);
  overdue.forget(1);
  overdue.forget(7);
  EXPECT_TRUE(overdue.due(kNow + 1h).empty());
  EXPECT_EQ(overdue.next(), Clock::time_point::max());
}

TEST(Overdue, SleepIsNoTime) {
  Overdue overdue(3s);
  overdue.watch(1, kNow);
  overdue.slept(10s);
  EXPECT_TRUE(overdue.due(kNow + 9s).empty());
  EXPECT_EQ(overdue.due(kNow + 10s).size(), 1U);
}

}  // namespace
}  // namespace allot
