// What becomes of a task after an attempt: done, failed for good, or tried again; when, where, and with whom.
#pragma once

#include "allot/jobs/attempt.hpp"

namespace allot {

/// What a task has behind it.
struct TaskTally {
  int attempts = 0;
  int failures = 0;     ///< that count against its retries
  int lost = 0;         ///< while nothing else ran on the worker: these count against its requeues
  int lost_shared = 0;  ///< together with others, of which any may have been the cause: nobody is blamed
};

struct RetryLimits {
  int retries = 1;               ///< after a failure
  int requeues = 3;              ///< after a loss
  double first_backoff_s = 0.2;  ///< doubles with each failure or loss, up to a minute
};

/// How an attempt ended, as far as the rule is concerned.
struct AttemptOutcome {
  AttemptStatus status = AttemptStatus::kOk;
  bool not_found = false;  ///< the command cannot be executed there: that says nothing about the task
  bool shared = false;     ///< of kLost: other tasks were lost with it
  bool stuck = false;      ///< of kLost: it could not be killed, and may be there still
};

struct Verdict {
  bool is_final = false;
  bool forgiven = false;  ///< does not count against the task
  bool avoid = false;     ///< rather not at the same resource again
  bool alone = false;     ///< with nothing else on its worker, so that a loss has one cause
  double wait_s = 0;      ///< before it may be started again
};

/// How long nothing else is started on the worker of a task that runs alone and is expected to take so many
/// seconds: not for ever, since it may hang; longer each time, so that the one that takes its worker with it
/// is found in the end.
double seconds_alone(const TaskTally& tally, double expected_s) noexcept;

/// Updates the tally, and says what follows. A task that was lost twice with others runs alone from then on:
/// the one that takes its worker with it is found, and its neighbours are not blamed.
Verdict judge(TaskTally& tally, const AttemptOutcome& outcome, const RetryLimits& limits) noexcept;

}  // namespace allot
