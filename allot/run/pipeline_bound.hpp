// A lower bound on the time of a batch whose types depend on each other.
#pragma once

#include <optional>
#include <span>

#include "allot/jobs/job.hpp"
#include "allot/model/system.hpp"

namespace allot {

/// At least batch_bound(), and at least the longest path through the stages: a type that comes after another
/// begins when all tasks of that are done, and the last output of a type must still be processed when it is
/// made. 0 if nothing is left; absent if batch_bound() is. `left`: by type; `packings`: as in batch_bound().
std::optional<double> pipeline_bound(const Job& job, const System& system, std::span<const Count> left,
                                     bool packings = true);

}  // namespace allot
