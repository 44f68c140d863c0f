// The command line of real_machine.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/real_machine/experiment.hpp"
#include "bench/real_machine/inputs.hpp"
#include "bench/real_machine/race.hpp"
#include "bench/real_machine/sharing.hpp"

namespace real_machine {

struct Arguments {
  std::string command;
  std::filesystem::path out = "real-machine";
  std::filesystem::path from;  ///< what `refit` reads
  std::optional<std::string> emulate;
  std::string pair;
  std::vector<std::size_t> streams = {1};  ///< servers of the GPU: a machine for each
  bool has_streams = false;                ///< they were given
  std::size_t cpu_servers = 0;             ///< 0: all cores that no other server needs
  ExperimentOptions experiment;
  SharingOptions sharing;
  RaceOptions race;
  Sizes sizes;
};

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

const char* help();

/// Throws UsageError. Prints the help and ends the program where it was asked for.
Arguments parse(int count, char** words);

}  // namespace real_machine
