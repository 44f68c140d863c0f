// What is known about the rates of a job before it runs: from earlier runs, a profile, the job file.
#pragma once

#include <string>
#include <vector>

#include "allot/dispatch/rate_estimator.hpp"
#include "allot/jobs/job.hpp"
#include "apps/allot/terminal/console.hpp"

namespace allot::app {

/// Where `profile` puts the rates of a job, and `run` looks for them.
std::string rates_path(const std::string& job_path);

/// Type by resource. What an earlier run has learnt (in the journal, if there is one) comes before the
/// scenario of `rates_file`, and that before the job's own `rates`. An empty `rates_file` means the default
/// one, if it exists. Throws Failure when a file is there but cannot be used.
std::vector<RatePrior> known_rates(const Job& job, const std::string& journal_path,
                                   const std::string& rates_file, const Console& console);

}  // namespace allot::app
