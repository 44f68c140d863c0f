// The arguments of `allot run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "allot/run/halt.hpp"
#include "allot/run/objective.hpp"
#include "allot/run/survey.hpp"
#include "allot/solve/options.hpp"
#include "apps/allot/commands/run_job.hpp"
#include "apps/allot/terminal/live_view.hpp"

namespace allot::app {

/// What happens to the output of tasks, besides being saved.
enum class Print { kNone, kGrouped };

struct RunArguments {
  JobWords work;
  std::string journal;
  SurveyOptions survey;
  std::string rates;
  std::string log;
  std::string metrics;
  std::optional<HaltRule> halt;
  std::optional<double> time_limit_s;
  std::optional<double> lane_timeout_s;
  RunObjective objective = RunObjective::kFinish;
  std::string policy;
  ShareReading shares = ShareReading::kFloor;
  std::optional<Print> print_asked;
  Print print = Print::kNone;  ///< as requested, otherwise the default for this job
  ProgressStyle progress = ProgressStyle::kAuto;
  int retries = 1;
  std::uint64_t seed = 1;
  bool overwrite = false;
  bool dry_run = false;
  bool json = false;
};

}  // namespace allot::app
