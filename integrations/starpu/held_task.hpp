// A task of StarPU's in the hands of the policy, from push to the end of its execution.
#pragma once

#include <cstdint>
#include <optional>

#include "allot/dispatch/late_dispatch.hpp"
#include "allot/dispatch/line.hpp"

struct starpu_task;

namespace allot::starpu {

/// A set of resources, one bit each.
using ResourceSet = std::uint64_t;
inline constexpr std::size_t kMostResources = 64;
constexpr ResourceSet set_of(ResourceId j) noexcept { return ResourceSet{1} << index(j); }
constexpr bool holds(ResourceSet set, ResourceId j) noexcept { return (set & set_of(j)) != 0; }

/// `starpu_task::sched_data` points to it. Its urgency is StarPU's priority. While a worker has it, `next` is
/// the one that the worker took after it.
struct HeldTask : WaitingTask {
  starpu_task* task = nullptr;
  ResourceSet able = 0;                      ///< where it can run
  ResourceId placed{};                       ///< where it was put first; its ticket says where it is now
  bool choosy = false;                       ///< not on every worker of a resource, perhaps
  bool pinned = false;                       ///< to a worker, by the program: it never waits here
  double taken = 0;                          ///< when a worker took it, in seconds
  std::optional<LateDispatch::Start> start;  ///< under late binding, once a worker has taken it
};

/// What is in a line here, or a worker's, is held.
inline HeldTask* as_held(WaitingTask* task) noexcept { return static_cast<HeldTask*>(task); }
inline const HeldTask& as_held(const WaitingTask& task) noexcept {
  return static_cast<const HeldTask&>(task);
}

}  // namespace allot::starpu
