#include "allot/worker/silence.hpp"

#include <gtest/gtest.h>

namespace allot {
namespace {

using namespace std::chrono_literals;

const Clock::time_point kNow{1h};

TEST(Silence, IsOverAtItsLimitForWhoListens) {
  Silence silence(15s, 2s, kNow);
  for (auto passed = 1s; passed < 15s; passed += 1s) EXPECT_FALSE(silence.over(kNow + passed));
  EXPECT_TRUE(silence.over(kNow + 15s));
}

TEST(Silence, EveryWordBeginsItAnew) {
  Silence silence(15s, 2s, kNow);
  for (auto passed = 1s; passed < 60s; passed += 1s) {
    EXPECT_FALSE(silence.over(kNow + passed));
    if (passed % 10s == 0s) silence.heard(kNow + passed);
  }
}

TEST(Silence, WhoWasAsleepHasHeardNothingAndBlamesNobody) {
  Silence silence(15s, 2s, kNow);
  EXPECT_FALSE(silence.over(kNow + 1s));
  EXPECT_FALSE(silence.over(kNow + 1000s)) << "stopped, frozen or suspended meanwhile";
  EXPECT_EQ(silence.until(), kNow + 1015s);
  for (auto passed = 1001s; passed < 1015s; passed += 1s) EXPECT_FALSE(silence.over(kNow + passed));
  EXPECT_TRUE(silence.over(kNow + 1015s)) << "from there on it counts";
}

TEST(Silence, AsksToBeLookedAtOftenEnoughToKnowALateLook) {
  Silence silence(15s, 2s, kNow);
  EXPECT_LE(silence.next_look(), kNow + 2s);
  silence.over(kNow + 1s);
  EXPECT_LE(silence.next_look(), kNow + 3s);
  Silence brief(500ms, 2s, kNow);
  EXPECT_LE(brief.next_look(), kNow + 500ms);
}

}  // namespace
}  // namespace allot
