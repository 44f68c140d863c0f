// The output of `allot run --dry-run`: what a run would do.
#pragma once

#include <span>

#include "allot/jobs/job.hpp"
#include "allot/run/runner.hpp"
#include "allot/run/survey.hpp"
#include "apps/allot/commands/run_arguments.hpp"
#include "apps/allot/terminal/console.hpp"

namespace allot::app {

void dry_run(const RunArguments& arguments, const Job& job, std::span<const JobItem> items,
             const Survey& survey, const RunOptions& options, Console& console);

}  // namespace allot::app
