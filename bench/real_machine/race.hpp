// Policies with several streams against each other, and against policies with one, in one shuffled run.
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

namespace real_machine {

struct RaceOptions {
  double warm_up_s = 1;  ///< of policies with a plan, which learn
  double measure_s = 1;
  double short_warm_up_s = 0.5;  ///< of the others
  double short_measure_s = 0.8;
  std::size_t repeats = 5;
  std::uint64_t seed = 1;
  std::filesystem::path folder;
  std::optional<allot::Clock::time_point> deadline;  ///< no run begins after it
};

/// race.csv and shares.csv: every entrant on every workload, `repeats` times; within a repeat in shuffled
/// order, so that a run that is cut short has as many of each. Policies with `several` streams know what is
/// shared (`system`) and learn the rates; rivals know nothing of it. Placements held fixed are those that the
/// solvers find for the profile.
void race(const Machine& one, const Machine& several, std::size_t streams, const allot::System& system,
          const std::vector<Workload>& workloads, const RaceOptions& options);

}  // namespace real_machine
