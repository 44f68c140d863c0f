// The objective of a run, and the policy for it.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace allot {

enum class RunObjective {
  kFinish,      ///< all tasks done soonest
  kThroughput,  ///< most tasks per second at any time
  kPriority,    ///< each type gets its share
};
inline constexpr std::array<std::string_view, 3> kRunObjectiveWords = {"finish", "throughput", "priority"};

constexpr std::string_view to_string(RunObjective objective) noexcept {
  return kRunObjectiveWords[static_cast<std::size_t>(objective)];
}

/// The policy for the objective; with needs, the one that supports them.
constexpr std::string_view policy_for(RunObjective objective, bool has_needs) noexcept {
  if (has_needs) return "planned";
  return objective == RunObjective::kThroughput ? "map" : "weighted";
}

}  // namespace allot
