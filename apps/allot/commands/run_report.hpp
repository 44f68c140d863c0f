// The final report of `allot run`: the summary for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "allot/jobs/job.hpp"
#include "allot/run/runner.hpp"
#include "apps/allot/commands/run_arguments.hpp"
#include "apps/allot/exit.hpp"
#include "apps/allot/terminal/console.hpp"

namespace allot::app {

void print_json(Console& console, const RunArguments& arguments, const Job& job, const RunSummary& summary,
                const std::string& run_id);

/// `failures`: the first tasks that failed in this run, one per line.
void print_summary(Console& console, const RunArguments& arguments, const Job& job, const RunSummary& summary,
                   const std::vector<std::string>& failures);

}  // namespace allot::app
