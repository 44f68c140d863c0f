// What this machine has to run tasks on, as the system lists it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allot/model/assignment.hpp"

namespace allot::app {

/// Cores that are alike.
struct CoreKind {
  std::string name;  ///< "cpu"; of a machine with several kinds "p-core", "e-core", "big", "little", ...
  Count cores = 0;
  std::string threads;  ///< its hardware threads as taskset takes them: "0-7,16"
  friend bool operator==(const CoreKind&, const CoreKind&) = default;
};

/// Graphics processors that are alike, and that programs count one after the other from `first` on.
struct GpuKind {
  std::string name;   ///< "gpu", "gpu-2", ...
  std::string model;  ///< on one line
  std::string
      visible_by;   ///< the environment variable that says which cards a program sees; empty: none known
  Count first = 0;  ///< the number of the first in that variable. Several of a kind begin with 0
  Count count = 0;
  std::uint64_t memory = 0;  ///< bytes of each; 0: not known
  friend bool operator==(const GpuKind&, const GpuKind&) = default;
};

/// Of a Slurm cluster.
struct Partition {
  std::string name;
  Count nodes = 0;
  std::string gres;  ///< such as "gpu:4"; empty: nothing special
  friend bool operator==(const Partition&, const Partition&) = default;
};

struct Machine {
  std::string processor;        ///< its model, on one line; empty: not known
  std::vector<CoreKind> cores;  ///< at least one
  std::vector<GpuKind> gpus;
  std::uint64_t memory = 0;  ///< bytes of main memory; 0: not known
  std::vector<Partition> partitions;
};

/// Reads /sys and /proc, and asks nvidia-smi and sinfo where they are, all of them below `root`. What is not
/// allowed to this process, by its affinity or a quota, is left out. Never fails: what cannot be found out is
/// not there.
Machine look_at_machine(const std::string& root = "");

}  // namespace allot::app
