// The exact Markov chain of a policy: exponential sizes, small systems, no sampling.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/model/scenario.hpp"
#include "allot/policy/policy.hpp"

namespace allot {

struct AnalyzeOptions {
  std::uint64_t max_states = 200'000;  ///< chains with more are refused
  bool random_start = true;            ///< threads enter in a random order, or as listed
  bool optimal_control = false;        ///< also solve the average-reward decision process
  StopLimits stop;
  /// Called from the calling thread with the number of states found so far.
  std::function<void(std::uint64_t)> progress{};
};

/// Long-run means of a policy. With several closed classes, each figure is a mean over the starts: the
/// figures of the classes, weighted by the probability of reaching them. This includes the response time, as
/// in a simulation of many replications; it is then not Q / X of the mean throughput.
struct Analysis {
  std::uint64_t states = 0;  ///< reachable states, including the order of fcfs queues and the policy's memory
  std::uint32_t classes = 1;     ///< closed classes: sets of states that are never left once entered
  double lowest_throughput = 0;  ///< of the closed classes; equal to the highest if there is one class
  double highest_throughput = 0;
  double throughput = 0;
  double value = 0;  ///< worth of the completions per second; if types change, of the rounds
  std::vector<double> throughput_by_task;
  std::vector<double> throughput_by_resource;
  double response_time = 0;  ///< mean over the starts of Q / X (Little); 0 without threads
  /// Mean over the starts of N_i / X_i; absent without threads, or if some start leaves the type without
  /// service forever.
  std::vector<std::optional<double>> response_time_by_task;
  std::vector<double> occupancy;      ///< mean n_ij, row-major
  double best_state_probability = 0;  ///< of being in a state with the largest V(n) (even sharing)
  double best_state_throughput = 0;   ///< X(n) of such a state
  double best_state_value = 0;        ///< that largest V(n), regardless of floors and minimum depths
  bool best_state_approximate =
      false;  ///< fcfs with several servers and a queue: that V(n) has no exact formula
  std::optional<double> optimal_control_throughput;  ///< of a policy with the largest value
  std::optional<double> optimal_control_value;       ///< that largest value
  std::string note;                                  ///< a note of the policy about its target, or empty
  /// Not kNone if the stop limits were reached first: then only the figures known by then are set.
  StopReason stopped = StopReason::kNone;
};

/// The stationary behaviour of a policy when sizes are exponential. A state is the number of tasks of each
/// type at each resource (and their order in an fcfs queue) with the policy's memory; in state n tasks of
/// type i complete at j at rate X_ij(n). Resources may be ps or fcfs with any number of servers; under a
/// policy with time shares, only ps. Throws InvalidModel if there are too many states (with their number), if
/// the policy looks at sizes, for time shares with needs or on an fcfs resource where tasks may wait, and for
/// needs on an fcfs resource. Cost: about a microsecond per transition, then a sparse solve.
/// Thread-safe.
Analysis analyze(const System& system, const PolicyInfo& policy, const AnalyzeOptions& options = {},
                 const PolicyOptions& policy_options = {});

/// The same for a policy that is not built in.
Analysis analyze(const System& system, const NamedPolicy& policy, const AnalyzeOptions& options = {},
                 const PolicyOptions& policy_options = {});

/// The same for threads whose types change, each starting at the front of its sequence; the system's counts
/// are not used. `policy` is not told about the population, which changes all the time: it sees the counts in
/// the situation. best_state_* and the optimal control are not set.
Analysis analyze(const System& system, std::span<const ThreadGroup> threads, const Policy& policy,
                 const AnalyzeOptions& options = {});

/// The result of the decision process: the optimum is between `value` and `upper_bound`.
struct OptimalControl {
  double value = 0;        ///< some policy reaches it
  double upper_bound = 0;  ///< no policy has more value
  double throughput = 0;   ///< of a policy that reaches `value`; 0 if it was not reached
  std::uint64_t states = 0;
  std::uint64_t sweeps = 0;  ///< of value iteration
  /// kNone: the two bounds agree to 1e-9, relatively. kBudget: they no longer converge, because rates are too
  /// far apart.
  StopReason stopped = StopReason::kNone;
};

/// Where each successor should go for the largest long-run value: the average-reward Markov decision process
/// on the same states, with knowledge of everything except the sizes. Without `threads`, types are
/// constant, and the value is that of the completions; with them it is that of the rounds. Throws
/// InvalidModel, with the number of states, if there are too many. Thread-safe.
OptimalControl solve_optimal_control(const System& system, const AnalyzeOptions& options = {},
                                     std::span<const ThreadGroup> threads = {});

/// The largest long-run value that any policy that places tasks can reach, by the average-reward decision
/// process. Under ps with even sharing, also with needs, it equals the best V(n) (Lemma 1); under fcfs it can
/// be larger.
double optimal_control(const System& system, const AnalyzeOptions& options = {});

}  // namespace allot
