#include "allot/run/retry_rule.hpp"

#include <gtest/gtest.h>

namespace allot {
namespace {

using enum AttemptStatus;

Verdict after(TaskTally& tally, AttemptStatus status, RetryLimits limits = {}) {
  return judge(tally, {status}, limits);
}

TEST(RetryRule, ASuccessIsFinal) {
  TaskTally tally;
  EXPECT_TRUE(after(tally, kOk).is_final);
}

TEST(RetryRule, FailuresAreFinalAfterTheRetriesAndGoElsewhere) {
  for (const AttemptStatus status : {kFailed, kTimeout}) {
    TaskTally tally;
    const RetryLimits limits{2, 0};
    for (int attempt = 0; attempt < 2; ++attempt) {
      const Verdict verdict = after(tally, status, limits);
      EXPECT_FALSE(verdict.is_final);
      EXPECT_TRUE(verdict.avoid);
      EXPECT_FALSE(verdict.forgiven);
    }
    EXPECT_TRUE(after(tally, status, limits).is_final);
  }
}

TEST(RetryRule, WaitsTwiceAsLongEachTimeUpToAMinute) {
  TaskTally tally;
  const RetryLimits limits{1000, 0, 0.5};
  EXPECT_EQ(after(tally, kFailed, limits).wait_s, 0.5);
  EXPECT_EQ(after(tally, kFailed, limits).wait_s, 1);
  EXPECT_EQ(after(tally, kTimeout, limits).wait_s, 2);
  for (int attempt = 0; attempt < 100; ++attempt) EXPECT_LE(after(tally, kFailed, limits).wait_s, 60);
}

TEST(RetryRule, ACommandThatIsNotThereBurnsNoRetry) {
  TaskTally tally;
  const Verdict verdict = judge(tally, {kFailed, true}, {0, 0});
  EXPECT_FALSE(verdict.is_final);
  EXPECT_TRUE(verdict.forgiven);
  EXPECT_EQ(verdict.wait_s, 0);
  EXPECT_EQ(tally.failures, 0);
}

TEST(RetryRule, ALossAloneCounts) {
  TaskTally tally;
  const RetryLimits limits{0, 2};
  EXPECT_FALSE(after(tally, kLost, limits).is_final);
  EXPECT_FALSE(after(tally, kLost, limits).is_final);
  EXPECT_TRUE(after(tally, kLost, limits).is_final);
}

TEST(RetryRule, ALossWithOthersBlamesNobodyAndTheSecondTimeTheyAreSetApart) {
  TaskTally tally;
  const AttemptOutcome shared{kLost, false, true};
  const Verdict first = judge(tally, shared, {0, 0});
  EXPECT_FALSE(first.is_final);
  EXPECT_TRUE(first.forgiven);
  EXPECT_FALSE(first.alone);
  const Verdict second = judge(tally, shared, {0, 0});
  EXPECT_FALSE(second.is_final);
  EXPECT_TRUE(second.alone);
  EXPECT_TRUE(after(tally, kLost, {0, 0}).is_final) << "and alone it is its own";
}

TEST(RetryRule, ATaskThatCouldNotBeKilledGoesElsewhere) {
  TaskTally tally;
  const Verdict verdict = judge(tally, {kLost, false, false, true}, {});
  EXPECT_TRUE(verdict.avoid);
  EXPECT_EQ(tally.lost, 1);
}

TEST(RetryRule, KilledOnRequestIsPendingAgainAtOnce) {
  TaskTally tally;
  const Verdict verdict = after(tally, kKilled, {0, 0});
  EXPECT_FALSE(verdict.is_final);
  EXPECT_EQ(verdict.wait_s, 0);
  EXPECT_EQ(tally.failures + tally.lost, 0);
}

TEST(RetryRule, TimeAloneGrowsWithEveryLossSoThatACauseIsFoundInTheEnd) {
  TaskTally tally{0, 0, 0, 2};
  const double first = seconds_alone(tally, 1);
  EXPECT_GE(first, 10);
  ++tally.lost_shared;
  EXPECT_GT(seconds_alone(tally, 1), 2 * first);
  EXPECT_GT(seconds_alone({0, 0, 0, 2}, 3600), 3600) << "a long task is not disturbed half-way";
}

}  // namespace
}  // namespace allot
