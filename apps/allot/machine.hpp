// The hardware of this machine on which tasks can run, as listed by the system.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allot/model/assignment.hpp"

namespace allot::app {

/// Cores of the same kind.
struct CoreKind {
  std::string name;  ///< "cpu"; on a machine with several kinds "p-core", "e-core", "big", "little", ...
  Count cores = 0;
  std::string threads;  ///< its hardware threads in the format of taskset: "0-7,16"
  friend bool operator==(const CoreKind&, const CoreKind&) = default;
};

/// Graphics processors of the same kind, which programs number consecutively from `first`.
struct GpuKind {
  std::string name;   ///< "gpu", "gpu-2", ...
  std::string model;  ///< on one line
  std::string
      visible_by;   ///< the environment variable that selects the cards that a program sees; empty: unknown
  Count first = 0;  ///< the number of the first in that variable. Several of a kind start at 0
  Count count = 0;
  std::uint64_t memory = 0;  ///< bytes of each; 0: unknown
  friend bool operator==(const GpuKind&, const GpuKind&) = default;
};

/// A partition of a Slurm cluster.
struct Partition {
  std::string name;
  Count nodes = 0;
  std::string gres;  ///< such as "gpu:4"; empty: none
  friend bool operator==(const Partition&, const Partition&) = default;
};

struct Machine {
  std::string processor;        ///< its model, on one line; empty: unknown
  std::vector<CoreKind> cores;  ///< at least one
  std::vector<GpuKind> gpus;
  std::uint64_t memory = 0;  ///< bytes of main memory; 0: unknown
  std::vector<Partition> partitions;
};

/// Reads /sys and /proc, and runs nvidia-smi and sinfo if they exist, all below `root`. Leaves out what this
/// process may not use, by its affinity or a quota. Never fails: unknown hardware is missing.
Machine look_at_machine(const std::string& root = "");

}  // namespace allot::app
