// A task of StarPU while the policy holds it, from push to the end of its execution.
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
/// the task that the worker took after it.
struct HeldTask : WaitingTask {
  starpu_task* task = nullptr;
  ResourceSet able = 0;                      ///< where it can run
  ResourceId placed{};                       ///< where it was placed first; its ticket has the present place
  bool choosy = false;                       ///< some workers of a resource may be unable to run it
  bool pinned = false;                       ///< bound to a worker by the program: it never waits here
  double taken = 0;                          ///< when a worker took it, in seconds
  std::optional<LateDispatch::Start> start;  ///< under late binding, once a worker has taken it
};

/// Everything in a line here, or in a worker's list, is a HeldTask.
inline HeldTask* as_held(WaitingTask* task) noexcept { return static_cast<HeldTask*>(task); }
inline const HeldTask& as_held(const WaitingTask& task) noexcept {
  return static_cast<const HeldTask&>(task);
}

}  // namespace allot::starpu
