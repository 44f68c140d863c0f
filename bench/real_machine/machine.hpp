// The resources as the model sees them, each with the kernels that its servers run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allot/model/scenario.hpp"
#include "bench/real_machine/inputs.hpp"
#include "bench/real_machine/kernel.hpp"

namespace real_machine {

struct Server {
  std::vector<std::shared_ptr<Kernel>> kernels;  ///< by type; null: cannot run it
  int core = -1;                                 ///< that its thread stays on; -1: any
};

struct Station {
  allot::Resource resource;
  std::vector<Server> servers;
};

struct Machine {
  std::string description;
  std::vector<std::string> types;
  std::vector<Station> stations;
  std::size_t inputs = 1;  ///< different inputs that kernels take

  bool can_run(std::size_t type, std::size_t station) const {
    return stations[station].servers.front().kernels[type] != nullptr;
  }
};

/// What all machines that are made use of the GPU.
struct Gpu {
  std::string description;         ///< empty: there is none
  std::shared_ptr<Kernel> engine;  ///< the JPEG engines; null: none
};

/// Once, before machines are made. The inputs are pinned for it.
Gpu open_gpu(const Inputs& inputs);

struct MachineOptions {
  std::size_t cpu_servers = 0;  ///< 0: all cores that no other server needs
  std::size_t streams = 1;      ///< servers of the GPU
  Gpu gpu;
};

/// This machine: its cores, and the GPU and the JPEG engines where they are there. The inputs must outlive
/// it. There may be several, with different numbers of streams; one of them works at a time.
Machine real_machine(const Inputs& inputs, const MachineOptions& options);

/// A machine whose tasks sleep for as long as the scenario's rates say, give or take a fifth, and longer
/// where they draw on shared capacities together. `streams`: servers of the resource `gpu`, where not those
/// of the scenario.
Machine emulated_machine(const allot::System& system, std::optional<std::size_t> streams);

}  // namespace real_machine
