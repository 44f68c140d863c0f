// Simulation of the closed network (paper section 5.1): runs a policy on a scenario and gives confidence
// intervals.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allot/base/statistics.hpp"
#include "allot/base/stop.hpp"
#include "allot/model/scenario.hpp"
#include "allot/policy/policy.hpp"
#include "allot/size/distribution.hpp"
#include "allot/solve/solution.hpp"

namespace allot {

class TraceSink;

struct SimulateOptions {
  std::uint64_t completions = 100'000;  ///< completions per replication, after the warm-up
  std::optional<std::uint64_t> warmup;  ///< completions; absent: found by MSER-5 on a pilot run
  std::uint32_t replications = 10;
  std::optional<double> precision;        ///< wanted relative half-width of X; replicates until it is reached
  std::uint32_t max_replications = 1000;  ///< when `precision` gives up
  bool random_start = true;               ///< threads enter in a random order, the same for every policy
  std::uint64_t seed = 1;
  unsigned threads = 0;  ///< worker threads; 0: all cores
  PolicyOptions policy;
  StopLimits stop;  ///< when stopped, the result has the replications done so far, marked partial
  /// Called from worker threads, one at a time, with the share of the work done (0 to 1).
  std::function<void(double)> progress;
  TraceSink* trace = nullptr;  ///< events of the first replication, after the warm-up; not owned
};

/// The replication that a value belongs to.
struct ReplicationMark {
  std::uint32_t number = 0;
  bool complete = true;  ///< false: it was stopped, and the value covers a part of it
};

struct SimulationResult {
  std::string policy;
  std::string distribution;
  std::uint64_t seed = 0;
  std::uint32_t replications = 0;  ///< completed replications
  std::uint64_t completions = 0;   ///< of each
  std::uint64_t warmup = 0;
  bool partial = false;  ///< stopped before all was done
  bool precise =
      true;  ///< the wanted precision was reached (true if none was wanted, unless nothing was measured)
  double population = 0;  ///< mean number of tasks in the system
  Estimate throughput;
  Estimate value;  ///< worth per second of rounds, and of completions that do not belong to a round
  Estimate response_time;
  double p50 = 0;  ///< percentiles of the response time, relative error below 1%
  double p95 = 0;
  double p99 = 0;
  std::vector<Estimate> throughput_by_task;
  std::vector<Estimate> throughput_by_resource;
  std::vector<Estimate> rounds;  ///< per second, of each group of threads
  std::vector<Estimate> response_time_by_task;
  std::vector<double> utilization;  ///< mean servers taken, including by tasks elsewhere / servers
  /// Mean use of each capacity, the servers of resources first; empty if tasks have no needs.
  std::vector<double> capacity_use;
  double energy_per_task = 0;  ///< joules
  double edp = 0;              ///< energy per task * mean response time
  double little = 0;           ///< mean over the replications of X * E[T]; compare it with `population`
  double little_residual = 0;  ///< largest relative error of the exact identity over all replications
  std::vector<double> throughput_by_replication;
  std::vector<double> value_by_replication;        ///< of the same
  std::vector<ReplicationMark> replication_marks;  ///< of each of these, in increasing order
  std::vector<std::string> notes;                  ///< caveats, such as an unsampled heavy tail
  double wall_seconds = 0;
  double completions_per_second = 0;
};

/// Throws InvalidModel if the policy cannot be made for the scenario, or if the scenario names a task type
/// that can run nowhere. If there is no work, or all of it is done, the result covers what happened, with a
/// note. Thread-safe.
SimulationResult simulate(const Scenario& scenario, const PolicyInfo& policy, const Distribution& sizes,
                          const SimulateOptions& options = {});

/// The same for a policy that is not built in.
SimulationResult simulate(const Scenario& scenario, const NamedPolicy& policy, const Distribution& sizes,
                          const SimulateOptions& options = {});

struct Difference {
  std::string policy;
  std::string against;
  Estimate throughput;             ///< of the paired differences
  bool significant = false;        ///< the interval of the throughput excludes 0
  Estimate value;                  ///< of the paired differences
  bool value_significant = false;  ///< the interval of the value excludes 0
};

/// Paired by replication, over those that both completed. Empty if there are none.
std::optional<Difference> paired_difference(const SimulationResult& result, const SimulationResult& against);

/// Every result against the first, where there are pairs.
std::vector<Difference> differences_from_first(std::span<const SimulationResult> results);

struct Comparison {
  std::vector<SimulationResult> policies;
  std::vector<Difference> differences;  ///< from the first
};

/// Several policies with the same random numbers: the k-th task of a thread has the same size under all of
/// them. When stopped, the result has the policies simulated so far.
Comparison compare(const Scenario& scenario, std::span<const PolicyInfo* const> policies,
                   const Distribution& sizes, const SimulateOptions& options = {});

/// The reference for policies: the best constant assignment that `exact` finds with limited effort, about two
/// seconds, counted in steps so that it does not depend on the clock. Absent if there is none, if the work
/// varies, or if the stop limits were reached first.
std::optional<Solution> reference_assignment(const Scenario& scenario, const StopLimits& stop = {});

}  // namespace allot
