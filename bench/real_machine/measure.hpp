// The machine measured: how many servers each resource really has, how it shares them, and how fast it is.
#pragma once

#include <cstdint>
#include <filesystem>

#include "allot/model/scenario.hpp"
#include "bench/real_machine/closed_loop.hpp"
#include "bench/real_machine/placement.hpp"

namespace real_machine {

struct MeasureOptions {
  double warm_up_s = 0.3;
  double seconds = 1;           ///< of one measurement, after the warm-up
  std::size_t placements = 18;  ///< that rates under load are a mean over
  std::uint64_t seed = 1;
  std::filesystem::path folder;
};

/// servers.csv: throughput of each pair with 1, 2, 4... servers in use and nothing else running.
void measure_servers(const Machine& machine, const MeasureOptions& options);

/// disciplines.csv: for each resource and two of its types in equal numbers, the throughput by arrival and by
/// service, beside what the model says for first come first served and for processor sharing.
void measure_disciplines(const Machine& machine, const allot::System& system, const MeasureOptions& options);

/// The rates of all pairs with 95% intervals, as a scenario with the counts of the first workload. A rate is
/// that of one server under the load that there will be: the mean over placements of the workloads drawn at
/// random. Also rates.csv: alone, with the resource full of one type, and under load.
allot::Scenario measure_rates(const Machine& machine, const std::vector<Workload>& workloads,
                              const MeasureOptions& options);

}  // namespace real_machine
