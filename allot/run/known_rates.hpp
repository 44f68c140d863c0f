// The rates of a job that are known before it runs: from earlier runs, a profile, or the job file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allot/dispatch/rate_estimator.hpp"
#include "allot/jobs/attempt.hpp"
#include "allot/jobs/job.hpp"
#include "allot/model/scenario.hpp"

namespace allot {

/// The file where `profile` puts the rates of a job, and where `run` looks for them.
std::string rates_path(const std::string& job_path);

/// The rates learned by earlier runs, from their journal; empty if there is no readable journal.
std::vector<LearntRate> learnt_rates(const std::string& journal_path);

/// Type by resource. Rates learned by earlier runs take precedence over measured ones, and those over the
/// job's own `rates`. Names that the job does not have are ignored.
std::vector<RatePrior> known_rates(const Job& job, const std::optional<Scenario>& measured,
                                   std::span<const LearntRate> learnt);

}  // namespace allot
