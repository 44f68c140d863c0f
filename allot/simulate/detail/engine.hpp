// One replication of a simulation: threads, resources, a policy, and what happened.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "allot/base/statistics.hpp"
#include "allot/model/scenario.hpp"
#include "allot/policy/policy.hpp"
#include "allot/simulate/trace.hpp"
#include "allot/size/distribution.hpp"

namespace allot::detail {

/// What was observed between `begin_window` and `end_window`.
struct Window {
  double seconds = 0;
  std::uint64_t completions = 0;
  PerPair<std::uint64_t> completions_by_pair;
  std::vector<std::vector<std::uint64_t>>
      steps;                             ///< completions by group of threads and step of its sequence
  std::vector<double> response_by_type;  ///< sums of response times
  std::vector<double> busy;              ///< unit-seconds per resource, on tasks of its own
  std::vector<double> used;        ///< of each capacity, by all tasks, times seconds; if tasks have needs
  double population_integral = 0;  ///< task-seconds in the system
  /// Relative error of: sum of T over completions = integral of the population + ages at the start - at the
  /// end.
  double little_residual = 0;
  double oldest = 0;  ///< seconds that the oldest task present at the end has been in the system
};

/// They have numbers of 32 bits.
inline constexpr std::uint64_t kMostThreads = 0xffff'ff00;

struct EngineSetup {
  const Scenario* scenario = nullptr;
  /// For this engine alone; or, if populations are constant, shared, with the population already set.
  Policy* policy = nullptr;
  bool policy_is_shared = false;
  const Distribution* sizes = nullptr;
  std::uint64_t seed = 1;
  std::uint32_t replication = 0;
  bool random_start = true;
  bool exact_shares = true;
  const StopLimits* stop = nullptr;           ///< checked while many threads are made; not owned, may be null
  std::uint64_t most_threads = kMostThreads;  ///< present at once, arrivals included: more is InvalidModel
};

/// Thrown by an engine that is stopped before all threads have entered.
struct StoppedEarly {};

class Engine {
 public:
  virtual ~Engine() = default;
  /// Runs until this many more tasks have completed, or nothing can ever complete again, or many other
  /// events, such as arrivals, have happened, so that the caller can check the clock. Returns how many tasks
  /// completed.
  virtual std::uint64_t run(std::uint64_t completions) = 0;
  /// Whether nothing can ever complete again.
  virtual bool dry() const noexcept = 0;
  virtual double now() const noexcept = 0;
  virtual void begin_window() = 0;
  virtual Window end_window() = 0;
  /// The counts since the start of the window, without its times; and the sum of response times.
  virtual const Window& counted() const noexcept = 0;
  virtual double response_sum() const noexcept = 0;
  virtual const LogHistogram& responses() const noexcept = 0;
  /// The fewest tasks that a thread from the start has completed, among threads that ever get a turn.
  /// O(threads).
  virtual std::uint64_t fewest_turns() const noexcept = 0;
  virtual void set_trace(TraceSink* sink) = 0;
};

/// All threads have entered when it returns.
std::unique_ptr<Engine> make_engine(const EngineSetup& setup);

}  // namespace allot::detail
