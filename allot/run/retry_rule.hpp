// What happens to a task after an attempt: done, failed finally, or tried again; when, where, and with whom.
#pragma once

#include "allot/jobs/attempt.hpp"

namespace allot {

/// The history of a task.
struct TaskTally {
  int attempts = 0;
  int failures = 0;     ///< count against its retries
  int lost = 0;         ///< while nothing else ran on the worker: count against its requeues
  int lost_shared = 0;  ///< together with other tasks: any of them may have been the cause, so these do not
                        ///< count
};

struct RetryLimits {
  int retries = 1;               ///< after a failure
  int requeues = 3;              ///< after a loss
  double first_backoff_s = 0.2;  ///< doubles with each failure or loss, up to a minute
};

/// How an attempt ended, for the rule.
struct AttemptOutcome {
  AttemptStatus status = AttemptStatus::kOk;
  bool not_found = false;  ///< the command cannot be executed there, which says nothing about the task
  bool shared = false;     ///< of kLost: other tasks were lost with it
  bool stuck = false;      ///< of kLost: it could not be killed, and may still be running
};

struct Verdict {
  bool is_final = false;
  bool forgiven = false;  ///< does not count against the task
  bool avoid = false;     ///< preferably not on the same resource again
  bool alone = false;     ///< with nothing else on its worker, so that the cause of a loss is known
  double wait_s = 0;      ///< before it may be started again
};

/// How long nothing else is started on the worker of a task that runs alone and is expected to take
/// `expected_s`: not forever, because it may hang; longer each time, so that a task that kills its worker is
/// found in the end.
double seconds_alone(const TaskTally& tally, double expected_s) noexcept;

/// Updates the tally, and returns what to do. A task that was lost twice with others runs alone from then on:
/// the one that kills its worker is found, and its neighbours are not blamed.
Verdict judge(TaskTally& tally, const AttemptOutcome& outcome, const RetryLimits& limits) noexcept;

}  // namespace allot
