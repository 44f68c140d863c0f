// The workers of a scheduling context, grouped into resources: all CPU workers together, and each
// accelerator.
#pragma once

#include <starpu.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "integrations/starpu/held_task.hpp"

namespace allot::starpu {

/// Resources are numbered as they come and keep their number when their last worker leaves, for when one
/// comes back. Not thread-safe.
class WorkerGroups {
 public:
  struct Group {
    std::string name;  ///< such as "cpu" or "opencl0"
    starpu_worker_archtype kind{};
    int device = 0;
    std::vector<int> workers;
    std::size_t most = 0;  ///< workers at once, ever
  };

  /// The resource of a worker that comes; none when there are more than `kMostResources`.
  std::optional<ResourceId> add(int worker);
  /// The resource of a worker that leaves; none when it was not here.
  std::optional<ResourceId> remove(int worker);

  std::size_t size() const noexcept { return groups_.size(); }
  /// Nobody is here now, whoever may have been.
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
