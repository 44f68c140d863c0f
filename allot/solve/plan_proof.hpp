// Why no plan of planned service is better than a bound, or why limits exclude each other, as data: what a
// certificate is written from. docs/background/plans.md says why prices convince.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace allot {

/// The mean number of tasks in service, by whose they are. All row-major, by task type and resource.
struct PlanService {
  std::vector<double> tasks;                  ///< of threads of the types' own
  std::vector<std::vector<double>> groups;    ///< per group of threads
  std::vector<std::vector<double>> arrivals;  ///< per stream, by resource
};

/// What one more unit of each limit would add, as an amount: >= 0, but for stages and shares.
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
  double arrivals = 0;                      ///< of carrying them all; < 0: of there being no more
  std::vector<double> shares;               ///< per type: objective `priority`
  std::vector<double> levels;               ///< per type: `max-min`
  std::vector<double> group_levels;         ///< per group
  double value = 0;                         ///< of the value to keep: `energy`
  std::vector<double> tangents;             ///< per type: where logarithms are touched: `proportional`
  std::vector<double> group_tangents;       ///< per group
};

/// Something that was asked for and may be too much.
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
  /// Absent: no plan meets all limits to within what a checker allows, and the bound is all that is proven.
  std::optional<PlanService> service;
  double reached = 0;        ///< by the plan; rounded so that it is true
  double value = 0;          ///< `energy`: that is kept
  bool is_headroom = false;  ///< nothing but arrivals: the largest multiple of them is what is proven
};

}  // namespace allot
