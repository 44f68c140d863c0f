#include "allot/model/objective.hpp"

#include <array>

namespace allot {
namespace {

double worth(const System& system, TaskType i) { return system.worth(i); }

// clang-format off
constexpr std::array<ObjectiveInfo, 5> kObjectives = {{
    {.objective = Objective::kThroughput, .name = "throughput", .summary = "the most value per second", .weight = worth},
    {.objective = Objective::kPriority, .name = "priority", .summary = "completions in the shares that the priorities ask for",
     .needs_shares = true},
    {.objective = Objective::kMaxMin, .name = "max-min",
     .summary = "the most for the task type that completes least for its priority, then for the next", .is_planned = true},
    {.objective = Objective::kProportional, .name = "proportional",
     .summary = "proportional fairness: the largest sum of priority times log of completions", .is_planned = true},
    {.objective = Objective::kEnergy, .name = "energy", .summary = "the least power that keeps most of the value", .is_planned = true},
}};
// clang-format on

}  // namespace

std::span<const ObjectiveInfo> objectives() noexcept { return kObjectives; }

const ObjectiveInfo& info(Objective objective) noexcept {
  return kObjectives[static_cast<std::size_t>(objective)];
}

std::string_view to_string(Objective objective) noexcept { return info(objective).name; }

std::optional<Objective> parse_objective_name(std::string_view name) noexcept {
  for (const ObjectiveInfo& known : kObjectives) {
    if (known.name == name) return known.objective;
  }
  return std::nullopt;
}

}  // namespace allot
