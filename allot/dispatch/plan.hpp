// The plan of a dispatcher, and what it has seen so far: plain structs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allot/dispatch/rate_estimator.hpp"
#include "allot/model/system.hpp"
#include "allot/model/throughput.hpp"

namespace allot {

class Policy;

/// Whether other rates inside their 95% intervals would have led to another plan.
struct PlanDoubt {
  std::size_t draws = 0;      ///< number of sets of rates that were tried
  bool would_change = false;  ///< one of them has another target that is better by more than 1%
  double at_stake =
      0;  ///< the most that this target would lose against the other, relative to the throughput
};

/// Immutable once published.
struct Plan {
  std::uint64_t number = 0;  ///< counts up from 1
  /// With the rates and counts it was made for: see `DispatcherOptions::follow_counts`. A pair that is not in
  /// use now (drained, lost, failing, or not tried yet while others are known) has rate 0, and a type that
  /// can go nowhere now has count 0.
  System system;
  std::optional<Assignment> target;  ///< n_ij, if the policy holds one
  std::vector<double> time_shares;   ///< f_ij, row-major, of `weighted`; otherwise empty
  /// The model's prediction for the target or the planned service; absent for a policy that has neither.
  std::optional<Performance> predicted;
  std::string note;  ///< of the policy, such as a missed floor; empty while rates are learnt, and usually
  double solve_seconds = 0;
  bool stale = false;           ///< the previous plan, because no new one could be made: `note` says why
  std::vector<double> service;  ///< x_ij, row-major, of `planned`, which binds late; otherwise empty
  std::shared_ptr<const Policy> policy;  ///< the policy that carries it out

  /// How much the type should have of the resource: its planned service or time share, or its number of tasks
  /// there. This is the weight of its line. Absent for a policy that holds no target.
  std::optional<double> part(TaskType i, ResourceId j) const {
    if (!service.empty()) return PairSpan(service, system.resource_count())(i, j);
    if (!time_shares.empty()) return PairSpan(time_shares, system.resource_count())(i, j);
    if (!target) return std::nullopt;
    return static_cast<double>((*target)(i, j));
  }
};

/// A task that has been placed; give it back to `complete` or `cancel` exactly once.
struct Ticket {
  TaskType type{};
  ResourceId resource{};
  bool explores = false;       ///< sent there to learn its rate rather than by the policy
  std::uint64_t start_ns = 0;  ///< when it was placed, since the dispatcher was made
  std::uint32_t tasks = 1;     ///< the number of tasks: one server runs them one after another
  float expected_ns = 0;       ///< for each of them, if the policy looks at that
};

/// Since the dispatcher was made. Each number is exact; together they are from about the same moment.
struct DispatchStatistics {
  std::vector<std::uint64_t> completions;  ///< successful, by pair, row-major
  std::vector<std::uint64_t> failures;     ///< by pair, row-major
  std::vector<Count> in_flight;            ///< n_ij, row-major
  std::uint64_t placed = 0;                ///< without cancelled ones
  std::uint64_t ended = 0;                 ///< successful or not
  std::uint64_t explored = 0;              ///< placements that were made to learn a rate
  std::uint64_t unseen = 0;  ///< completions that no estimator saw, because more came than the planner took
  double seconds = 0;
  double throughput = 0;      ///< X: successful completions per second
  double departures = 0;      ///< all that ended, per second
  double mean_response = 0;   ///< E[T] over those that ended: from placement to completion
  double mean_in_flight = 0;  ///< L
  /// Little's law: departures E[T] / L. Near 1 once many more tasks have ended than are in flight; if it
  /// stays below 1, tickets were never given back.
  double little = 1;
};

}  // namespace allot
