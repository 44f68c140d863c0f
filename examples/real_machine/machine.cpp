#include "examples/real_machine/machine.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "examples/real_machine/cpu_kernels.hpp"
#ifdef REAL_MACHINE_CUDA
#include "examples/real_machine/gpu_kernels.hpp"
#endif

namespace real_machine {
namespace {

template <typename Make>
Station station(allot::Resource resource, std::size_t servers, int first_core, const Make& make) {
  Station station{std::move(resource), {}};
  station.resource.servers = static_cast<allot::Count>(servers);
  for (std::size_t s = 0; s < servers; ++s) {
    Server server;
    for (std::size_t type = 0; type < kWorks; ++type) server.kernels.push_back(make(static_cast<Work>(type)));
    if (first_core >= 0) server.core = first_core + static_cast<int>(s);
    station.servers.push_back(std::move(server));
  }
  return station;
}

class Sleep : public Kernel {
 public:
  static constexpr std::size_t kInputs = 5;

  explicit Sleep(double seconds) : seconds_(seconds) {}
  void run(std::size_t input) override {
    const double factor = 0.8 + 0.1 * static_cast<double>(input % kInputs);
    std::this_thread::sleep_for(std::chrono::duration<double>(factor * seconds_));
  }

 private:
  double seconds_;
};

}  // namespace

Machine real_machine(const Inputs& inputs, const MachineOptions& options) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  Machine machine;
  machine.description = std::to_string(cores) + " cores";
  for (const std::string_view name : kWorkNames) machine.types.emplace_back(name);
  machine.inputs = Inputs::kVariety;
  std::size_t others = 0;  // servers beside those of the CPU; each has a thread that waits for its device
#ifdef REAL_MACHINE_CUDA
  if (const std::string gpu = describe_gpu(); !gpu.empty()) {
    machine.description += "; " + gpu;
    pin_inputs(inputs);
    machine.stations.push_back(station({.name = "gpu"}, options.streams, 0,
                                       [&](Work work) { return make_gpu_kernel(work, inputs); }));
    others = options.streams;
    Station engine = station({.name = "jpeg"}, 1, static_cast<int>(others), [&](Work work) {
      return work == Work::kDecode ? make_jpeg_engine_kernel(inputs) : nullptr;
    });
    if (engine.servers.front().kernels[0] != nullptr) {
      machine.stations.push_back(std::move(engine));
      ++others;
    }
  }
#endif
  // One core is left to whoever plans and measures.
  const std::size_t free = cores > others + 1 ? cores - others - 1 : 1;
  const std::size_t servers = options.cpu_servers > 0 ? options.cpu_servers : free;
  const bool pinned = servers + others <= cores;
  machine.stations.insert(machine.stations.begin(),
                          station({.name = "cpu"}, servers, pinned ? static_cast<int>(others) : -1,
                                  [&](Work work) { return make_cpu_kernel(work, inputs); }));
  return machine;
}

Machine emulated_machine(const allot::System& system) {
  Machine machine;
  machine.description = "emulated by sleeping";
  machine.inputs = Sleep::kInputs;
  for (const auto& task : system.tasks()) machine.types.push_back(task.name);
  for (const allot::ResourceId j : system.resource_ids()) {
    Station station{system.resource(j), {}};
    for (allot::Count s = 0; s < system.resource(j).servers; ++s) {
      Server server;
      for (const allot::TaskType i : system.types()) {
        server.kernels.push_back(system.can_run(i, j) ? std::make_unique<Sleep>(system.seconds_per_task(i, j))
                                                      : nullptr);
      }
      station.servers.push_back(std::move(server));
    }
    machine.stations.push_back(std::move(station));
  }
  return machine;
}

}  // namespace real_machine
