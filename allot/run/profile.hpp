// How fast each type runs on each resource, measured like a benchmark: alone, with all slots of the resource
// busy, and in a mix of all types.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/base/stop.hpp"
#include "allot/dispatch/sharing_fit.hpp"
#include "allot/jobs/job.hpp"
#include "allot/run/crew.hpp"

namespace allot {

/// Times of one pair under one condition, without the time to launch.
struct Timing {
  std::uint64_t runs = 0;  ///< runs that count: not the first, and no failures
  double mean_s = 0;
  double half_s = 0;       ///< half width of the mean's 95% interval
  double spent_s = 0;      ///< total time of the runs that count
  bool converged = false;  ///< the interval has the requested precision
  double rate() const noexcept { return mean_s > 0 ? 1 / mean_s : 0; }
};

struct PairProfile {
  bool possible = false;          ///< the job has a command for it
  Timing alone;                   ///< nothing else runs
  Timing full;                    ///< all slots of the resource run this type; `alone` if there is one slot
  std::optional<double> mixed_s;  ///< mean time while all resources run a mix
  std::uint64_t failures = 0;
  std::string problem;  ///< why it is not used; empty: it is used
};

struct Profile {
  PerPair<PairProfile> pairs;
  std::vector<double> launch_s;  ///< by resource: time of an empty command
  /// By resource: time of its tasks in the mix / with only its own slots full; 1: no interference.
  std::vector<std::optional<double>> interference;
  /// What tasks share and how fast they are alone, if requested and if there was enough time.
  std::optional<SharingFit> sharing;
  bool interrupted = false;
};

struct ProfileOptions {
  double precision = 0.05;  ///< half width of the 95% interval / mean
  std::uint64_t least_runs = 10;
  double least_s = 3;
  double most_s = 60;     ///< maximum for a pair under one condition; after it, the pair has not converged
  double mixed_s = 5;     ///< duration of the pass that runs a mix on all resources; 0 skips it
  bool sharing = false;   ///< find out what tasks share, from many mixes
  double mix_s = 1;       ///< minimum duration of each mix, with at least two tasks on every slot
  int most_failures = 3;  ///< in a row without a success: the pair is left out
  std::uint64_t seed = 1;
  const StopFlag* stop = nullptr;
  CrewOptions crew;
  /// Called from time to time with the results so far; `doing` names the current measurement.
  std::function<void(const Profile&, const std::string& doing)> progress;
};

/// Runs tasks of the job to time them, each with a random input; their output goes to files that are removed.
/// Rounds visit all unfinished pairs in random order, so that changes of the machine affect all pairs
/// equally. Leaves no process behind.
Profile measure_profile(const Job& job, const ProfileOptions& options);

}  // namespace allot
