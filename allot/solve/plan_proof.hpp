// Why no plan of planned service is better than a bound, or why limits exclude each other, as data: the
// source of a certificate. docs/background/plans.md explains why prices prove it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace allot {

/// The mean number of tasks in service, by kind of work. All row-major, by task type and resource.
struct PlanService {
  std::vector<double> tasks;                  ///< of the types' own threads
  std::vector<std::vector<double>> groups;    ///< per group of threads
  std::vector<std::vector<double>> arrivals;  ///< per stream, by resource
};

/// What one more unit of each limit would add, as an amount: >= 0, except for stages and shares.
struct PlanPrices {
  std::vector<double> units;                ///< per capacity
  std::vector<double> threads;              ///< per type
  std::vector<double> group_threads;        ///< per group
  std::vector<std::vector<double>> stages;  ///< per group and type
  std::vector<double> streams;              ///< per stream of arrivals
  std::vector<double> floors;               ///< per type
  std::vector<double> responses;            ///< per type
  std::vector<double> group_responses;      ///< per group
  double power = 0;                         ///< of the power_cap
  double arrivals = 0;                      ///< for carrying all of them; < 0: for their upper limit
  std::vector<double> shares;               ///< per type: objective `priority`
  std::vector<double> levels;               ///< per type: `max-min`
  std::vector<double> group_levels;         ///< per group
  double value = 0;                         ///< of the minimum value: `energy`
  std::vector<double>
      tangents;  ///< per type: completions where the tangent touches the logarithm: `proportional`
  std::vector<double> group_tangents;  ///< per group
};

/// A limit of the scenario that may be impossible to meet.
struct PlanLimit {
  enum class Kind { kFloor, kResponse, kRoundResponse, kPower, kArrivals };
  Kind kind = Kind::kFloor;
  std::size_t at = 0;  ///< task type or group
};

struct PlanProof {
  /// Absent: the limits of the conflict exclude each other.
  std::optional<double> bound;
  std::vector<PlanLimit> conflict;
  PlanPrices prices;
  /// Absent: no plan meets all limits within the tolerance of a checker; only the bound is proven.
  std::optional<PlanService> service;
  double reached = 0;        ///< by the plan; rounded to the safe side
  double value = 0;          ///< `energy`: the minimum value
  bool is_headroom = false;  ///< there are only arrivals, and the proof is about the largest multiple of them
};

}  // namespace allot
