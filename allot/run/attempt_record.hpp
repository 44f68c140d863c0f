// From what a worker says about a task to what the journal keeps.
#pragma once

#include "allot/jobs/attempt.hpp"
#include "allot/run/attempts.hpp"
#include "allot/worker/task.hpp"

namespace allot {

AttemptStatus status_of(TaskStatus status) noexcept;

/// The attempt's record under the status that it is given; `counted` says whether its time tells a rate.
AttemptEnd end_of(const RunningAttempt& attempt, const TaskRecord& record, AttemptStatus status);

}  // namespace allot
