// Checks the paths that a run writes to before the run starts.
#pragma once

#include <span>

#include "allot/jobs/job.hpp"
#include "apps/allot/commands/run_arguments.hpp"

namespace allot::app {

/// Throws Failure with all paths that cannot be written: the journal and the files beside it, and the folders
/// of the outputs of tasks that run on this machine. Leaves nothing behind.
void check_paths(const RunArguments& arguments, const Job& job, std::span<const JobItem> items);

/// Why a file of this name cannot be created or written; empty if it can. Does not change an existing file.
std::string why_not_writable(const std::string& path);

}  // namespace allot::app
