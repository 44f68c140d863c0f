// The workers of a scheduling context, as resources: all CPU workers together, and each accelerator.
#pragma once

#include <starpu.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "integrations/starpu/job.hpp"

namespace allot::starpu {

/// Resources are numbered as they come and keep their number when their last worker leaves, for when one
/// comes back. Not thread-safe.
class Crew {
 public:
  struct Place {
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

  std::size_t size() const noexcept { return places_.size(); }
  /// Nobody is here, whoever may have been.
  bool deserted() const noexcept {
    return std::all_of(places_.begin(), places_.end(),
                       [](const Place& place) { return place.workers.empty(); });
  }
  const Place& place(ResourceId j) const noexcept { return places_[index(j)]; }
  const std::vector<Place>& places() const noexcept { return places_; }
  std::optional<ResourceId> resource_of(int worker) const noexcept;

 private:
  std::vector<Place> places_;
};

}  // namespace allot::starpu
