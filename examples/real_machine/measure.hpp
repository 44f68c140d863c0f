// The machine measured: how many servers each resource really has, how it shares them, and how fast it is.
#pragma once

#include <cstdint>
#include <filesystem>

#include "allot/model/scenario.hpp"
#include "examples/real_machine/closed_loop.hpp"

namespace real_machine {

struct MeasureOptions {
  double seconds = 1;  ///< of one measurement, after a fifth of it as warm-up
  std::uint64_t seed = 1;
  std::filesystem::path folder;
};

/// servers.csv: throughput of each pair with 1, 2, 4... servers in use and nothing else running.
void measure_servers(const Machine& machine, const MeasureOptions& options);

/// disciplines.csv: for each resource and two of its types in equal numbers, the throughput by arrival and by
/// service, beside what the model says for first come first served and for processor sharing.
void measure_disciplines(const Machine& machine, const allot::System& system, const MeasureOptions& options);

/// The rates of all pairs with 95% intervals, as a scenario with the counts given: of one server while all
/// servers of all resources run a mix of everything. Also rates.csv: alone, with the resource full, and in
/// the mix.
allot::Scenario measure_rates(const Machine& machine, const std::vector<allot::Count>& counts,
                              const MeasureOptions& options);

}  // namespace real_machine
