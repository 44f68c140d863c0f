// Summarises the replications of a simulation: means, intervals, and notes on their limits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "allot/base/statistics.hpp"
#include "allot/model/scenario.hpp"
#include "allot/simulate/detail/engine.hpp"
#include "allot/simulate/simulate.hpp"
#include "allot/size/distribution.hpp"

namespace allot::detail {

struct Replication {
  Window window;
  std::unique_ptr<LogHistogram> part;  ///< of the response times, if it is not complete; 64 KiB
  std::vector<double> batch_throughput;
  std::vector<double> batch_response;
  std::vector<double> batch_value;
  std::vector<std::vector<double>> batch_rounds;  ///< by group of threads
  bool complete = false;                          ///< it was not stopped
  bool dry = false;                               ///< the work ran out before all completions
};

/// Completions per second; 0 for a moment too short to measure.
double throughput_of(const Window& window) noexcept;

/// Worth of the completed rounds, and of the completions that are not part of a round.
double value_in(const Window& window, const Scenario& scenario) noexcept;

/// The outcome of a campaign. Refers to data that the campaign owns.
struct Measured {
  const Scenario& scenario;
  const std::string& policy;
  const std::string& policy_note;
  const Distribution& sizes;
  const SimulateOptions& options;
  std::uint64_t warmup = 0;
  bool settled = true;          ///< within the pilot run
  bool stopped = false;         ///< before all was done
  std::uint64_t simulated = 0;  ///< total completions
  const std::vector<Replication>& replications;
  const LogHistogram& responses;  ///< of the complete replications
};

SimulationResult summarise(const Measured& measured);

}  // namespace allot::detail
