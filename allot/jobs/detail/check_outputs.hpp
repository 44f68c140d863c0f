// Whether the tasks of a job keep out of each other's way.
#pragma once

#include <span>

#include "allot/format/problems.hpp"
#include "allot/jobs/job.hpp"

namespace allot::detail {

/// Two tasks that write the same file would undo each other's work; one that writes elsewhere would undo
/// that of somebody else.
/// `nodes`: where the file gives the output of each task type; null where it gives none.
void check_outputs(const Job& job, std::span<const Node* const> nodes, Problems& problems);

}  // namespace allot::detail
