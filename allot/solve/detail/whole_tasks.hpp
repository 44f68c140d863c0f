// From the mixtures of the configuration bound's linear program to assignments of whole tasks.
#pragma once

#include <optional>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/model/system.hpp"
#include "allot/solve/detail/configuration_bound.hpp"

namespace allot::detail {

/// The mean content that the program gives each resource, rounded within each type to whole tasks.
Assignment rounded(const System& system, const ConfigurationBound& bound,
                   const std::vector<WeightedContent>& support);

/// The mean totals that the program gives the resources, rounded so that they sum to Q.
std::vector<Count> rounded_totals(const System& system, const std::vector<WeightedContent>& support);

struct Transport {
  Assignment assignment;
  Prices prices;  ///< at which the Lagrangian bound of these totals is the assignment's throughput
};

/// The best assignment with given totals, if every resource is ps or never has a waiting task: a
/// transportation problem, whose linear program has whole solutions. `scale`: the magnitude of the
/// throughputs. Nothing if there is no such assignment, or if rounding prevents an answer.
std::optional<Transport> transport(const System& system, const std::vector<Count>& totals, double scale,
                                   StopPoll& poll);

}  // namespace allot::detail
