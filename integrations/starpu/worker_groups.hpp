// The workers of a scheduling context, grouped into resources: all CPU workers together, and each accelerator
// separately.
#pragma once

#include <starpu.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "integrations/starpu/held_task.hpp"

namespace allot::starpu {

/// Resources are numbered in order of arrival and keep their number when their last worker leaves, in case
/// one comes back. Not thread-safe.
class WorkerGroups {
 public:
  struct Group {
    std::string name;  ///< such as "cpu" or "opencl0"
    starpu_worker_archtype kind{};
    int device = 0;
    std::vector<int> workers;
    std::size_t most = 0;  ///< maximum workers at once so far
  };

  /// The resource of an arriving worker; absent if there are more than `kMostResources`.
  std::optional<ResourceId> add(int worker);
  /// The resource of a leaving worker; absent if it was not here.
  std::optional<ResourceId> remove(int worker);

  std::size_t size() const noexcept { return groups_.size(); }
  /// Whether no worker is present now.
  bool no_workers() const noexcept {
    return std::all_of(groups_.begin(), groups_.end(),
                       [](const Group& group) { return group.workers.empty(); });
  }
  const Group& group(ResourceId j) const noexcept { return groups_[index(j)]; }
  const std::vector<Group>& groups() const noexcept { return groups_; }
  std::optional<ResourceId> resource_of(int worker) const noexcept;

 private:
  std::vector<Group> groups_;
};

}  // namespace allot::starpu
