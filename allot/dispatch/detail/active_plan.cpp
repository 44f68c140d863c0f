#include "allot/dispatch/detail/active_plan.hpp"

#include <chrono>
#include <utility>

namespace allot::detail {
namespace {

/// The number of memory values in a cache line.
constexpr std::size_t kInLine = kCacheLine / sizeof(std::uint32_t);

std::vector<Count> counts_of(const System& system) {
  std::vector<Count> counts;
  for (const TaskType i : system.types()) counts.push_back(system.count(i));
  return counts;
}

/// Whether every type can go to the same resources in both: then a policy's memory keeps its meaning.
bool same_choices(const System& a, const System& b) {
  if (a.type_count() != b.type_count() || a.resource_count() != b.resource_count()) return false;
  for (const TaskType i : a.types()) {
    for (const ResourceId j : a.resource_ids()) {
      if (a.can_run(i, j) != b.can_run(i, j)) return false;
    }
  }
  return true;
}

/// Each slot begins where the previous one would be after one decision, so that threads with one task each do
/// not all begin at the same resource.
void spread_memory(ActivePlan& active, const Policy& policy, const System& system) {
  Situation nothing;
  nothing.system = &system;
  RandomStream random(0, 0);
  std::vector<std::uint32_t> memory(active.remembered, 0);
  for (std::size_t slot = 0; slot <= kOwnSlots; ++slot) {
    for (std::size_t at = 0; at < memory.size(); ++at)
      active.memory[active.memory_of(slot) + at].store(memory[at], std::memory_order_relaxed);
    for (const TaskType i : system.types()) {
      if (!system.resources_for(i).empty()) (void)policy.place(i, nothing, memory, random);
    }
  }
}

}  // namespace

std::optional<Performance> predict(const System& system, const Assignment* target,
                                   std::span<const double> time_shares) {
  if (!time_shares.empty()) return evaluate_time_shares(system, time_shares);
  if (target == nullptr) return std::nullopt;
  return evaluate(system, *target);
}

std::unique_ptr<ActivePlan> make_active_plan(const PolicyInfo& info, const System& system,
                                             PolicyOptions options, std::uint64_t number,
                                             const ActivePlan* before) {
  const Clock::time_point begin = Clock::now();
  if (before != nullptr && before->plan->target) options.start = *before->plan->target;
  std::shared_ptr<Policy> policy = info.make(system, options);
  policy->set_population(counts_of(system));

  auto active = std::make_unique<ActivePlan>();
  active->remembered = policy->memory_size();
  active->types = system.type_count();
  if (info.remembers_by_type && active->remembered > 0)
    active->memory_stride =
        (active->remembered + 2 * kInLine - 1) / kInLine * kInLine;  // a cache line between two
  active->memory = std::vector<std::atomic<std::uint32_t>>(active->memory_of(kOwnSlots) + active->remembered);
  if (before != nullptr && before->memory.size() == active->memory.size() &&
      same_choices(before->plan->system, system)) {
    for (std::size_t at = 0; at < active->memory.size(); ++at) {
      active->memory[at].store(before->memory[at].load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
  } else if (active->memory_stride > 0) {
    spread_memory(*active, *policy, system);
  }
  Plan plan{number, system, {}, {}, {}, {}, 0, false, {}, policy};
  if (policy->target() != nullptr) plan.target = *policy->target();
  plan.time_shares.assign(policy->time_shares().begin(), policy->time_shares().end());
  plan.service.assign(policy->planned_service().begin(), policy->planned_service().end());
  plan.predicted = predict(system, policy->target(), plan.service.empty() ? plan.time_shares : plan.service);
  plan.note = policy->note();
  plan.solve_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  active->plan = std::make_shared<const Plan>(std::move(plan));
  active->policy = policy.get();
  active->shows_work = policy->looks_at_sizes();
  active->resources = system.resource_count();
  for (const TaskType i : system.types()) active->can_go.push_back(system.resources_for(i).empty() ? 0 : 1);
  active->is_small = active->types * active->resources <= kOnStack && active->resources <= kOnStack / 4 &&
                     2 * active->remembered <= kOnStack / 4;
  return active;
}

}  // namespace allot::detail
