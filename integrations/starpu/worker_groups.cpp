#include "integrations/starpu/worker_groups.hpp"

#include <algorithm>

namespace allot::starpu {
namespace {

/// "cpu", "opencl0". Worker names are not yet known when workers arrive.
std::string name_of(starpu_worker_archtype kind, int device) {
  if (kind == STARPU_CPU_WORKER) return "cpu";
  if (kind == STARPU_CUDA_WORKER) return "cuda" + std::to_string(device);
  if (kind == STARPU_OPENCL_WORKER) return "opencl" + std::to_string(device);
  return "kind" + std::to_string(static_cast<int>(kind)) + "-" + std::to_string(device);
}

}  // namespace

std::optional<ResourceId> WorkerGroups::resource_of(int worker) const noexcept {
  for (std::size_t j = 0; j < groups_.size(); ++j) {
    const std::vector<int>& workers = groups_[j].workers;
    if (std::find(workers.begin(), workers.end(), worker) != workers.end()) return resource_id(j);
  }
  return std::nullopt;
}

std::optional<ResourceId> WorkerGroups::add(int worker) {
  if (const auto known = resource_of(worker)) return known;
  const starpu_worker_archtype kind = starpu_worker_get_type(worker);
  const int device = kind == STARPU_CPU_WORKER ? 0 : starpu_worker_get_devid(worker);
  const auto same = [&](const Group& group) { return group.kind == kind && group.device == device; };
  auto found = std::find_if(groups_.begin(), groups_.end(), same);
  if (found == groups_.end()) {
    if (groups_.size() == kMostResources) return std::nullopt;
    groups_.push_back({name_of(kind, device), kind, device, {}, 0});
    found = groups_.end() - 1;
  }
  found->workers.push_back(worker);
  found->most = std::max(found->most, found->workers.size());
  return resource_id(static_cast<std::size_t>(found - groups_.begin()));
}

std::optional<ResourceId> WorkerGroups::remove(int worker) {
  const auto resource = resource_of(worker);
  if (resource) std::erase(groups_[index(*resource)].workers, worker);
  return resource;
}

}  // namespace allot::starpu
