// The paths that a run writes to, tried before anything is done.
#pragma once

#include <span>

#include "allot/jobs/job.hpp"
#include "apps/allot/commands/run_arguments.hpp"

namespace allot::app {

/// Throws Failure, naming every path that cannot be written: the journal and what lies beside it, and the
/// folders of the outputs of tasks that run on this machine. Leaves nothing behind.
void check_paths(const RunArguments& arguments, const Job& job, std::span<const JobItem> items);

/// Why a file of this name cannot be made or written; empty when it can. Leaves what is there as it is.
std::string why_not_writable(const std::string& path);

}  // namespace allot::app
