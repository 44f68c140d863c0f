#include "allot/run/retry_rule.hpp"

#include <algorithm>
#include <cmath>

namespace allot {
namespace {

constexpr double kLongestBackoff = 60;
/// Shared losses after which a task runs alone.
constexpr int kSuspicious = 2;
/// Initial time alone: this many seconds, or this many times the expected time.
constexpr double kAlone = 30;
constexpr double kAloneFactor = 10;

}  // namespace

double seconds_alone(const TaskTally& tally, double expected_s) noexcept {
  const int times = std::clamp(tally.lost_shared - kSuspicious, 0, 20);
  return std::max(kAlone, kAloneFactor * expected_s) * std::ldexp(1.0, 2 * times);
}

Verdict judge(TaskTally& tally, const AttemptOutcome& outcome, const RetryLimits& limits) noexcept {
  Verdict verdict;
  switch (outcome.status) {
    case AttemptStatus::kOk:
      verdict.is_final = true;
      return verdict;
    case AttemptStatus::kStarted:
    case AttemptStatus::kKilled:
      return verdict;
    case AttemptStatus::kFailed:
    case AttemptStatus::kTimeout:
      if (outcome.not_found) {
        verdict.forgiven = true;
        return verdict;
      }
      verdict.is_final = ++tally.failures > limits.retries;
      verdict.avoid = true;
      break;
    case AttemptStatus::kLost:
      verdict.forgiven = outcome.shared;
      if (outcome.shared) {
        ++tally.lost_shared;
      } else {
        verdict.is_final = ++tally.lost > limits.requeues;
      }
      verdict.avoid = outcome.stuck;
      break;
  }
  verdict.alone = tally.lost_shared >= kSuspicious;
  const int times = std::max(1, tally.failures + tally.lost);
  verdict.wait_s = std::min(kLongestBackoff, limits.first_backoff_s * std::ldexp(1.0, times - 1));
  return verdict;
}

}  // namespace allot
