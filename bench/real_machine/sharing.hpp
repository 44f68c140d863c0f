// What tasks share on this machine: mixes measured, needs fitted, placements predicted that no fit has seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/model/scenario.hpp"
#include "bench/real_machine/closed_loop.hpp"
#include "bench/real_machine/placement.hpp"
#include "bench/real_machine/sharing_runs.hpp"
#include "bench/real_machine/table.hpp"

namespace real_machine {

struct SharingOptions {
  double warm_up_s = 0.2;
  double measure_s = 0.5;            ///< of a mix
  double placement_s = 1.0;          ///< of a placement that is predicted
  std::size_t pair_mixes = 36;       ///< see `allot::SharingDesign`
  std::size_t random_mixes = 12;     ///< the same
  std::size_t placement_mixes = 48;  ///< placements of the workloads that the fit sees
  std::size_t placements = 48;       ///< that it does not see, and predicts
  std::uint64_t seed = 1;
  std::optional<allot::Clock::time_point> deadline;  ///< what is not measured by then is left out
};

/// The columns of mixes.csv: each pair of each mix, and of each placement that is predicted.
constexpr const char* kMixColumns =
    "streams,mix,origin,type,resource,tasks,in_service,seconds,cycle,ended,window,began";

/// Rates at full speed and needs, fitted to the mixes of a design and to placements of the workloads, as a
/// system with the counts of the first workload. Then placements held fixed are predicted with the fit and,
/// for comparison, with its rates alone, and with the fit as the runs before correct it: some at random,
/// measured among the mixes in shuffled order and not shown to the fit, and those that solvers find with it.
/// Nothing if there was no time for a fit.
std::optional<allot::System> measure_sharing(const Machine& machine, std::size_t streams,
                                             const std::vector<Workload>& workloads,
                                             const SharingOptions& options, Table& mixes_file,
                                             SharingTables& tables);

}  // namespace real_machine
