#include "allot/run/objective.hpp"

namespace allot {

std::string_view to_string(RunObjective objective) noexcept {
  switch (objective) {
    case RunObjective::kFinish:
      return "finish";
    case RunObjective::kThroughput:
      return "throughput";
    case RunObjective::kPriority:
      return "priority";
  }
  return "";
}

std::optional<RunObjective> parse_objective(std::string_view text) noexcept {
  for (const RunObjective objective :
       {RunObjective::kFinish, RunObjective::kThroughput, RunObjective::kPriority}) {
    if (to_string(objective) == text) return objective;
  }
  return std::nullopt;
}

std::string_view policy_for(RunObjective objective) noexcept {
  return objective == RunObjective::kThroughput ? "map" : "weighted";
}

}  // namespace allot
