// A plan and the policy that carries it out, as every placement reads them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "allot/dispatch/detail/thread_slot.hpp"
#include "allot/dispatch/plan.hpp"
#include "allot/policy/policy.hpp"

namespace allot::detail {

/// At most this many counts of pairs are copied to the stack by a placement.
inline constexpr std::size_t kOnStack = 1024;

struct ActivePlan {
  std::shared_ptr<const Plan> plan;
  const Policy* policy = nullptr;  ///< the plan's, like all members below
  std::size_t types = 0;
  std::size_t resources = 0;
  std::vector<std::uint8_t> can_go;  ///< whether a type can run anywhere
  bool shows_work = false;           ///< the policy looks at sizes
  bool is_small = false;             ///< the counts for a placement fit on the stack
  std::size_t remembered = 0;        ///< values in the policy's memory
  std::size_t memory_stride = 0;     ///< distance to the memory of the next slot; 0: all threads share one
  std::vector<std::atomic<std::uint32_t>> memory;  ///< the policy's

  std::size_t memory_of(std::size_t slot) const noexcept { return memory_stride * std::min(slot, kOwnSlots); }
};

/// Makes the policy for the system and lets it solve for the system's counts: may take as long as
/// `options.solve` allows. Keeps the memory of `before` if it fits. Throws InvalidModel as the policy does.
std::unique_ptr<ActivePlan> make_active_plan(const PolicyInfo& policy, const System& system,
                                             PolicyOptions options, std::uint64_t number,
                                             const ActivePlan* before);

/// What the model predicts for a policy's target, or for its time shares; absent without a target.
std::optional<Performance> predict(const System& system, const Assignment* target,
                                   std::span<const double> time_shares);

}  // namespace allot::detail
