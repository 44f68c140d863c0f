// What is known about the rates of a job before it runs: from earlier runs, a profile, the job file.
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

/// Where `profile` puts the rates of a job, and `run` looks for them.
std::string rates_path(const std::string& job_path);

/// What earlier runs have learned, by their journal; nothing where there is none that can be read.
std::vector<LearntRate> learnt_rates(const std::string& journal_path);

/// Type by resource. What earlier runs have learned comes before what was measured, and that before the job's
/// own `rates`. Names that the job does not have are passed over.
std::vector<RatePrior> known_rates(const Job& job, const std::optional<Scenario>& measured,
                                   std::span<const LearntRate> learnt);

}  // namespace allot
