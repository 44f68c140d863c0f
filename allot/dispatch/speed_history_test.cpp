#include "allot/dispatch/detail/speed_history.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace allot::detail {
namespace {

TEST(SpeedHistory, SaysNothingBeforeTheFirstLook) { EXPECT_EQ(SpeedHistory().at_full_speed(0, 10, 3), 3); }

TEST(SpeedHistory, AddsUpWhatTheSpeedsWere) {
  SpeedHistory history;
  history.record(0, std::array{1.0, 0.5});
  history.record(10, std::array{1.0, 0.5});
  history.record(20, std::array{0.5, 0.5});
  EXPECT_NEAR(history.at_full_speed(0, 10, 4), 4, 1e-12);
  EXPECT_NEAR(history.at_full_speed(1, 10, 4), 2, 1e-12);
  EXPECT_NEAR(history.at_full_speed(0, 20, 10), 7.5, 1e-12) << "the speed falls evenly";
  EXPECT_NEAR(history.at_full_speed(0, 20, 20), 17.5, 1e-12);
  EXPECT_NEAR(history.at_full_speed(0, 24, 4), 2, 1e-12) << "after the last look as at it";
  EXPECT_NEAR(history.at_full_speed(1, 5, 8), 4, 1e-12) << "before the first look as at it";
}

TEST(SpeedHistory, RemembersLongTasksThoughItForgetsTheDetails) {
  SpeedHistory history;
  double exact = 0;  // of all seconds up to the last look
  const auto speed = [](int look) { return 0.6 + 0.3 * std::sin(look / 700.0); };
  const int looks = 20'000;
  for (int look = 0; look < looks; ++look) {
    if (look > 0) exact += 0.5 * (speed(look) + speed(look - 1));
    history.record(look, std::array{speed(look)});
  }
  EXPECT_NEAR(history.at_full_speed(0, looks - 1, looks - 1), exact, 1e-6 * exact);
  double latest = 0;
  for (int look = looks - 100; look < looks; ++look) latest += 0.5 * (speed(look) + speed(look - 1));
  EXPECT_NEAR(history.at_full_speed(0, looks - 1, 100), latest, 1e-9 * latest);
}

TEST(SpeedHistory, StartsAnewWithOtherPairs) {
  SpeedHistory history;
  history.record(0, std::array{0.5});
  history.record(1, std::array{0.25, 0.5});
  EXPECT_NEAR(history.at_full_speed(0, 1, 1), 0.25, 1e-12);
  EXPECT_EQ(history.at_full_speed(7, 1, 1), 1) << "nothing is known of it";
}

TEST(SpeedHistory, TakesNoSpeedForMoreThanFullOrForNothing) {
  SpeedHistory history;
  history.record(0, std::array{5.0, 0.0});
  EXPECT_EQ(history.at_full_speed(0, 1, 1), 1);
  EXPECT_GT(history.at_full_speed(1, 1, 1), 0);
}

}  // namespace
}  // namespace allot::detail
