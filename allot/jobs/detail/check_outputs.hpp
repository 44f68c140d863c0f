// Checks that the tasks of a job do not overwrite each other's files.
#pragma once

#include <span>

#include "allot/format/problems.hpp"
#include "allot/jobs/job.hpp"

namespace allot::detail {

/// Reports tasks that write the same file, because they would undo each other's work, and tasks that write
/// outside the job's folder without permission.
/// `nodes`: the output of each task type in the file; null if it has none.
void check_outputs(const Job& job, std::span<const Node* const> nodes, Problems& problems);

}  // namespace allot::detail
