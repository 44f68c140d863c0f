// How soon a batch can be done at all whose types follow each other.
#pragma once

#include <optional>
#include <span>

#include "allot/jobs/job.hpp"
#include "allot/model/system.hpp"

namespace allot {

/// batch_bound(), and no less than the longest way through the stages: who comes after a type begins when all
/// of that is done, and the last output of a type is still to be worked on when it is made. 0 when nothing is
/// left; nothing where batch_bound() has no answer. `left`: by type; `packings`: as there.
std::optional<double> pipeline_bound(const Job& job, const System& system, std::span<const Count> left,
                                     bool packings = true);

}  // namespace allot
