#include "allot/model/objective.hpp"

#include <array>

namespace allot {
namespace {

double worth(const System& system, TaskType i) { return system.worth(i); }

// clang-format off
constexpr std::array<ObjectiveInfo, 5> kObjectives = {{
    {.objective = Objective::kThroughput, .name = "throughput", .summary = "maximise value per second", .weight = worth},
    {.objective = Objective::kPriority, .name = "priority", .summary = "match the shares that the priorities ask for",
     .needs_shares = true},
    {.objective = Objective::kMaxMin, .name = "max-min",
     .summary = "max-min fairness: raise the task type with the fewest completions for its priority, then the next", .is_planned = true},
    {.objective = Objective::kProportional, .name = "proportional",
     .summary = "proportional fairness: maximise the sum of priority times log of completions", .is_planned = true},
    {.objective = Objective::kEnergy, .name = "energy", .summary = "minimise power while keeping most of the value", .is_planned = true,
     .is_for_live_work = false},
}};
// clang-format on

}  // namespace

std::span<const ObjectiveInfo> objectives() noexcept { return kObjectives; }

const ObjectiveInfo& info(Objective objective) noexcept {
  return kObjectives[static_cast<std::size_t>(objective)];
}

std::string_view to_string(Objective objective) noexcept { return info(objective).name; }

}  // namespace allot
