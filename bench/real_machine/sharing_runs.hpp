// Mixes and placements that were held for a while, as `share` measures them and files keep them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "allot/dispatch/sharing_fit.hpp"
#include "allot/model/system.hpp"
#include "bench/real_machine/machine.hpp"
#include "bench/real_machine/placement.hpp"
#include "bench/real_machine/table.hpp"

namespace real_machine {

struct SharingRun {
  std::size_t number = 0;  ///< in the order of time
  double began = 0;        ///< seconds since the first began
  std::string origin;      ///< design, random, a solver, or the workload of a placement that the fit sees
  std::string workload;    ///< of a placement that is predicted and that the fit does not see; else empty
  allot::Assignment placement;
  allot::MixMeasurement measured;
  double throughput = 0;           ///< tasks per second that ended, of what is predicted
  double little = 0;               ///< the same: X E[T] over the tasks in flight
  std::vector<double> by_station;  ///< the same: tasks per second that ended

  bool is_predicted() const { return !workload.empty(); }
};

/// The files of all machines that are measured in one run. Every row says with how many streams.
struct SharingTables {
  explicit SharingTables(const std::filesystem::path& folder);
  Table fits;         ///< fits.csv: rates and needs with their intervals
  Table errors;       ///< errors.csv: of the fit, on mixes that it has seen and that were left out
  Table predictions;  ///< predictions.csv
};

/// The shape of the machine: all rates 1 until they are measured.
allot::System shape_of(const Machine& machine, const std::vector<allot::Count>& counts);

/// How many tasks of each pair are in service, evenly shared.
allot::PerPair<double> in_service(const allot::System& shape, const allot::Assignment& placement);

/// The same system with nothing shared.
allot::System without_sharing(const allot::System& system);

/// Rates and needs from the runs that are not predicted; into fits.csv and errors.csv. Mixes of a design
/// count less than placements, which are what is planned.
allot::SharingFit fit_runs(const allot::System& shape, std::size_t streams, std::vector<SharingRun>& runs,
                           std::uint64_t seed, SharingTables& tables);

/// Whether the fit has a rate for every pair that can run; says which it lacks.
bool has_all_rates(const allot::System& shape, const allot::SharingFit& fit);

/// predictions.csv: with the fit, with its rates alone, and with the fit corrected by the runs that began
/// earlier (`allot::SharingCorrection`), predicted or not. Runs are in the order of time.
void predict_runs(const allot::System& shape, std::size_t streams, const allot::SharingFit& fit,
                  const std::vector<SharingRun>& runs, SharingTables& tables);

/// What mixes.csv and predictions.csv of a folder say about one number of streams, in the order of time.
/// Files without the columns `began` and `mix`: runs took a second each, and predicted placements fill the
/// gaps in the numbers of the mixes. Throws std::runtime_error.
std::vector<SharingRun> read_runs(const std::filesystem::path& folder, const allot::System& shape,
                                  std::size_t streams);

}  // namespace real_machine
