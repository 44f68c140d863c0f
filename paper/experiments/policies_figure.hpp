// Figures 2, 3 and 4 are one experiment under three size distributions.
#pragma once

#include <string>

#include "allot/sweep/experiment.hpp"

namespace allot::experiments {

/// The four metrics of six policies on 2 GP + 1 SA with 18 threads, random rates and counts. `figure`: 2, 3
/// or 4; `sizes`: a distribution, and its name in the paper. The systems are the same in all three.
Experiment policies_figure(int figure, const std::string& sizes, const std::string& name);

}  // namespace allot::experiments
