// What a run is for, and which policy that takes.
#pragma once

#include <optional>
#include <string_view>

namespace allot {

enum class RunObjective {
  kFinish,      ///< everything done soonest
  kThroughput,  ///< most tasks per second now
  kPriority,    ///< each type its share
};

/// "finish", "throughput", "priority"
std::string_view to_string(RunObjective objective) noexcept;
std::optional<RunObjective> parse_objective(std::string_view text) noexcept;

/// The policy that serves it: `weighted` for finish and priority, `map` for throughput.
std::string_view policy_for(RunObjective objective) noexcept;

}  // namespace allot
