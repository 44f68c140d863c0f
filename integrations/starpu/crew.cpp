#include "integrations/starpu/crew.hpp"

#include <algorithm>

namespace allot::starpu {
namespace {

/// "cpu", "opencl0". Worker names are not known yet when workers come.
std::string name_of(starpu_worker_archtype kind, int device) {
  if (kind == STARPU_CPU_WORKER) return "cpu";
  if (kind == STARPU_CUDA_WORKER) return "cuda" + std::to_string(device);
  if (kind == STARPU_OPENCL_WORKER) return "opencl" + std::to_string(device);
  return "kind" + std::to_string(static_cast<int>(kind)) + "-" + std::to_string(device);
}

}  // namespace

std::optional<ResourceId> Crew::resource_of(int worker) const noexcept {
  for (std::size_t j = 0; j < places_.size(); ++j) {
    const std::vector<int>& workers = places_[j].workers;
    if (std::find(workers.begin(), workers.end(), worker) != workers.end()) return resource_id(j);
  }
  return std::nullopt;
}

std::optional<ResourceId> Crew::add(int worker) {
  if (const auto known = resource_of(worker)) return known;
  const starpu_worker_archtype kind = starpu_worker_get_type(worker);
  const int device = kind == STARPU_CPU_WORKER ? 0 : starpu_worker_get_devid(worker);
  const auto same = [&](const Place& place) { return place.kind == kind && place.device == device; };
  auto found = std::find_if(places_.begin(), places_.end(), same);
  if (found == places_.end()) {
    if (places_.size() == kMostResources) return std::nullopt;
    places_.push_back({name_of(kind, device), kind, device, {}, 0});
    found = places_.end() - 1;
  }
  found->workers.push_back(worker);
  found->most = std::max(found->most, found->workers.size());
  return resource_id(static_cast<std::size_t>(found - places_.begin()));
}

std::optional<ResourceId> Crew::remove(int worker) {
  const auto resource = resource_of(worker);
  if (resource) std::erase(places_[index(*resource)].workers, worker);
  return resource;
}

}  // namespace allot::starpu
