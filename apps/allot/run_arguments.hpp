// What `allot run` was asked for on its command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "allot/run/halt.hpp"
#include "allot/run/objective.hpp"
#include "allot/solve/options.hpp"
#include "apps/allot/live_view.hpp"

namespace allot::app {

/// What happens to what tasks print, besides being kept.
enum class Print { kNone, kGrouped };

struct RunArguments {
  std::string file;
  std::string journal;
  std::string rates;
  std::string log;
  std::optional<HaltRule> halt;
  std::optional<double> time_limit_s;
  std::optional<double> lane_timeout_s;
  RunObjective objective = RunObjective::kFinish;
  std::string policy;
  bool policy_given = false;
  ShareReading shares = ShareReading::kFloor;
  Print print = Print::kNone;
  ProgressStyle progress = ProgressStyle::kAuto;
  int retries = 1;
  int requeues = 3;
  std::uint64_t seed = 1;
  bool retry_failed = false;
  bool fresh = false;
  bool accept_changed = false;
  bool dry_run = false;
  bool json = false;
};

}  // namespace allot::app
