// The exact Markov chain of a policy: exponential sizes, small systems, no sampling.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/policy/policy.hpp"

namespace allot {

struct AnalyzeOptions {
  std::uint64_t max_states = 200'000;  ///< refused beyond
  bool random_start = true;            ///< threads enter in a random order, or as listed
  bool optimal_control = false;        ///< also solve the average-reward decision process
  StopLimits stop;
};

struct Analysis {
  std::uint64_t states = 0;      ///< reachable states, the policy's memory included
  std::uint32_t classes = 1;     ///< closed classes; with several, all figures are weighted by the chance of each
  double throughput = 0;
  std::vector<double> throughput_by_task;
  std::vector<double> throughput_by_resource;
  double response_time = 0;
  std::vector<double> occupancy;             ///< mean n_ij, row-major
  double best_state_probability = 0;         ///< of being in a state with the largest X(n)
  double best_state_throughput = 0;          ///< that largest X(n)
  std::optional<double> optimal_control_throughput;
};

/// Throws InvalidModel, with the number of states, when there are too many; when the policy looks at sizes; or for
/// resources the chain does not describe (docs/reference/command.md says which).
Analysis analyze(const System& system, const PolicyInfo& policy, const AnalyzeOptions& options = {},
                 const PolicyOptions& policy_options = {});

/// The largest long-run throughput that any policy can reach, by the average-reward decision process. Under ps with
/// even sharing it equals the best X(n) (Lemma 1); under fcfs it can be larger.
double optimal_control(const System& system, const AnalyzeOptions& options = {});

}  // namespace allot
