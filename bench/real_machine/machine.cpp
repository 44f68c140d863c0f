#include "bench/real_machine/machine.hpp"

#include <sched.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "bench/real_machine/cpu_kernels.hpp"
#include "bench/real_machine/emulation.hpp"
#ifdef REAL_MACHINE_CUDA
#include "bench/real_machine/gpu_kernels.hpp"
#endif

namespace real_machine {
namespace {

template <typename Make>
Station station(allot::Resource resource, std::size_t servers, std::span<const int> cores, const Make& make) {
  Station station{std::move(resource), {}};
  station.resource.servers = static_cast<allot::Count>(servers);
  for (std::size_t s = 0; s < servers; ++s) {
    Server server;
    for (std::size_t type = 0; type < kWorks; ++type) server.kernels.push_back(make(static_cast<Work>(type)));
    if (s < cores.size()) server.core = cores[s];
    station.servers.push_back(std::move(server));
  }
  return station;
}

/// The numbers of the cores that this process may use.
std::vector<int> usable_cores() {
  std::vector<int> cores;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

}  // namespace

Gpu open_gpu([[maybe_unused]] const Inputs& inputs) {
#ifdef REAL_MACHINE_CUDA
  Gpu gpu{describe_gpu(), nullptr};
  if (gpu.description.empty()) return gpu;
  pin_inputs(inputs);
  gpu.engine = make_jpeg_engine_kernel(inputs);
  return gpu;
#else
  return {};
#endif
}

Machine real_machine(const Inputs& inputs, const MachineOptions& options) {
  std::vector<int> cores = usable_cores();
  Machine machine;
  machine.description = std::to_string(cores.size()) + " cores";
  for (const std::string_view name : kWorkNames) machine.types.emplace_back(name);
  machine.inputs = Inputs::kVariety;
  // From the first on; the CPU gets those that are left.
  const auto take = [&cores](std::size_t count) {
    const auto end = cores.begin() + static_cast<std::ptrdiff_t>(std::min(count, cores.size()));
    std::vector<int> taken(cores.begin(), end);
    cores.erase(cores.begin(), end);
    return taken;
  };
#ifdef REAL_MACHINE_CUDA
  if (!options.gpu.description.empty()) {
    machine.description += "; " + options.gpu.description;
    machine.stations.push_back(station({.name = "gpu"}, options.streams, take(options.streams),
                                       [&](Work work) { return make_gpu_kernel(work, inputs); }));
    if (options.gpu.engine != nullptr) {
      machine.stations.push_back(station({.name = "jpeg"}, 1, take(1), [&](Work work) {
        return work == Work::kDecode ? options.gpu.engine : nullptr;
      }));
    }
  }
#endif
  // One core is left to whoever plans and measures.
  const std::size_t free = cores.size() > 1 ? cores.size() - 1 : 1;
  const std::size_t servers = options.cpu_servers > 0 ? options.cpu_servers : free;
  const bool pinned = servers <= cores.size();
  machine.stations.insert(machine.stations.begin(),
                          station({.name = "cpu"}, servers, pinned ? take(servers) : std::vector<int>{},
                                  [&](Work work) { return make_cpu_kernel(work, inputs); }));
  return machine;
}

Machine emulated_machine(const allot::System& system, std::optional<std::size_t> streams) {
  Machine machine;
  machine.description = "emulated by sleeping";
  machine.inputs = Sleep::kInputs;
  const auto dormitory = std::make_shared<Dormitory>(system);
  for (const auto& task : system.tasks()) machine.types.push_back(task.name);
  for (const allot::ResourceId j : system.resource_ids()) {
    Station station{system.resource(j), {}};
    if (streams && station.resource.name == "gpu")
      station.resource.servers = static_cast<allot::Count>(*streams);
    for (allot::Count s = 0; s < station.resource.servers; ++s) {
      Server server;
      for (const allot::TaskType i : system.types()) {
        const std::size_t pair = index(i) * system.resource_count() + index(j);
        server.kernels.push_back(system.can_run(i, j)
                                     ? std::make_unique<Sleep>(dormitory, pair, system.seconds_per_task(i, j))
                                     : nullptr);
      }
      station.servers.push_back(std::move(server));
    }
    machine.stations.push_back(std::move(station));
  }
  return machine;
}

}  // namespace real_machine
