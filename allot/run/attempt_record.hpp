// Converts a worker's record of a task to the journal's record.
#pragma once

#include "allot/jobs/attempt.hpp"
#include "allot/run/attempts.hpp"
#include "allot/worker/task.hpp"

namespace allot {

AttemptStatus status_of(TaskStatus status) noexcept;

/// The attempt's record with the given status; `counted`: whether its time counts for the rate.
AttemptEnd end_of(const RunningAttempt& attempt, const TaskRecord& record, AttemptStatus status);

}  // namespace allot
