// What tasks share on this machine: mixes measured, needs fitted, placements predicted that no fit has seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/model/scenario.hpp"
#include "bench/real_machine/closed_loop.hpp"
#include "bench/real_machine/placement.hpp"
#include "bench/real_machine/table.hpp"

namespace real_machine {

struct SharingOptions {
  double warm_up_s = 0.2;
  double measure_s = 0.5;            ///< of a mix
  double placement_s = 1.0;          ///< of a placement that is predicted
  std::size_t pair_mixes = 24;       ///< see `allot::SharingDesign`
  std::size_t random_mixes = 12;     ///< the same
  std::size_t placement_mixes = 48;  ///< placements of the workloads that the fit sees
  std::size_t placements = 48;       ///< that it does not see, and predicts
  std::uint64_t seed = 1;
  std::optional<allot::Clock::time_point> deadline;  ///< what is not measured by then is left out
};

/// The files of all machines that are measured in one run. Every row says with how many streams.
struct SharingTables {
  explicit SharingTables(const std::filesystem::path& folder);
  Table mixes;        ///< mixes.csv: each pair of each mix
  Table fits;         ///< fits.csv: rates and needs with their intervals
  Table errors;       ///< errors.csv: of the fit, on mixes that it has seen and that were left out
  Table predictions;  ///< predictions.csv
};

/// Rates at full speed and needs, fitted to the mixes of a design and to placements of the workloads, as a
/// system with the counts of the first workload. Then placements held fixed are predicted with the fit and,
/// for comparison, with its rates alone: some at random, measured among the mixes in shuffled order and not
/// shown to the fit, and those that solvers find with it. Nothing if there was no time for a fit.
std::optional<allot::System> measure_sharing(const Machine& machine, std::size_t streams,
                                             const std::vector<Workload>& workloads,
                                             const SharingOptions& options, SharingTables& tables);

/// The same system with nothing shared.
allot::System without_sharing(const allot::System& system);

}  // namespace real_machine
