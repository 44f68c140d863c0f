// A world to run a job in, drawn from one seed: the job, and everything that will go wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allot/jobs/job.hpp"
#include "allot/run/runner.hpp"

namespace allot::worlds {

/// How a task behaves, wherever it runs.
enum class Manner {
  kWell,
  kFails,         ///< always
  kFailsAtFirst,  ///< once or twice
  kSlow,          ///< 30 times as long
  kHangs,         ///< until it is told to end
  kStubborn,      ///< the same, and minds KILL alone
  kUnkillable,    ///< not even that
  kKillsWorker,   ///< its worker dies of it
  kClaimsKilled,  ///< its worker says that it was killed, unasked
  kTooLarge,      ///< cannot be sent at all
};

/// How the workers of a resource behave. Times in seconds.
struct LaneManner {
  double opens_after = 0.05;
  int fails_to_open = 0;     ///< so often, at first
  bool never_opens = false;  ///< waits in a queue for ever
  bool not_found = false;    ///< its launcher cannot be executed
  double lives_for = 1e9;    ///< mean; then it is lost
  bool deaf = false;         ///< talks, and reports on nothing
};

struct Signal {
  enum class Kind { kDrain, kTerminate, kKill, kPause, kTimeIsUp };
  double at = 0;
  Kind kind{};
  double pause_s = 0;  ///< of kPause
};

/// Everything stands still, or this process alone.
struct Freeze {
  double at = 0;
  double length = 0;
  bool whole_machine = true;
};

/// A resource becomes slower.
struct Drift {
  double at = 0;
  std::size_t resource = 0;
  double factor = 1;
};

struct Scene {
  std::uint64_t seed = 0;
  Job job;
  RunOptions options;
  std::vector<double> seconds;      ///< true mean times, type by resource
  std::vector<bool> not_found;      ///< commands that are not there, type by resource
  std::vector<double> fails;        ///< with this probability, type by resource
  std::vector<Manner> manners;      ///< by task
  std::vector<LaneManner> lanes;    ///< by resource
  std::vector<Signal> signals;      ///< in order of time
  std::vector<Freeze> freezes;      ///< the same
  std::vector<double> kills;        ///< of the run itself, seconds after each start
  std::optional<double> disk_full;  ///< from then on
  double plan_delay = 0;            ///< seconds between looks of the planner
  double commit_delay = 0.01;
  bool watched = true;     ///< somebody is shown the run
  double variation = 0.7;  ///< of the times tasks take: 0 none, 1 exponential
  std::optional<Drift> drift;

  /// One line, for people who replay it.
  std::string text() const;
};

Scene draw_scene(std::uint64_t seed);

}  // namespace allot::worlds
