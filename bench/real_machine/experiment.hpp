// The experiments: what the model predicts against what the machine does, and the policies side by side.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "allot/model/scenario.hpp"
#include "bench/real_machine/closed_loop.hpp"
#include "bench/real_machine/placement.hpp"

namespace real_machine {

struct ExperimentOptions {
  double warm_up_s = 1.5;
  double measure_s = 2;
  std::size_t placements = 36;
  std::size_t repeats = 3;
  std::uint64_t seed = 1;
  std::filesystem::path folder;
};

/// predictions.csv: placements held fixed, drawn from a seed over all workloads, with those of the solvers
/// among them. Predicted twice: from the rates of the profile, and from rates that follow the machine as a
/// live scheduler's do: those of the runs before, never of the run that is predicted.
void predict(const Machine& machine, const allot::System& system, const std::vector<Workload>& workloads,
             const ExperimentOptions& options);

/// policies.csv: every policy on every workload, `repeats` times in shuffled order, with learned rates; and
/// shares.csv: what each type got where shares were asked for. optima.csv has the certified optimum of the
/// measured rates.
void compare_policies(const Machine& machine, const allot::System& system,
                      const std::vector<Workload>& workloads, const ExperimentOptions& options);

/// gantt.csv: a second of a policy, task by task.
void trace_policies(const Machine& machine, const Workload& workload,
                    const std::vector<std::string>& policies, const ExperimentOptions& options);

}  // namespace real_machine
