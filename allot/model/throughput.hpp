// The throughput of a state: section 3.1 of the paper, for any discipline and number of servers.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "allot/model/assignment.hpp"
#include "allot/model/system.hpp"

namespace allot {

/// How the completions of one resource follow from its tasks: X_ij = n_ij (per_rate * mu_ij + per_task).
/// Processor sharing completes in proportion to the rates, a waiting fcfs queue in proportion to the counts.
struct CompletionLaw {
  double per_rate = 0;
  double per_task = 0;
};

/// What the value per second of one resource depends on: the number of its tasks, and the sums of their
/// values per second, of their times 1 / mu, and of their worths. Adding or removing tasks is O(1) under
/// every discipline. If every worth is 1, value is throughput.
struct ColumnSums {
  Count tasks = 0;
  double rates = 0;    ///< sum of n_ij v_i mu_ij
  double seconds = 0;  ///< sum of n_ij / mu_ij
  double worths = 0;   ///< sum of n_ij v_i

  ColumnSums plus(Count n, double value_rate, double seconds_per_task, double worth = 1.0) const noexcept {
    const double m = static_cast<double>(n);
    return {tasks + n, rates + m * value_rate, seconds + m * seconds_per_task, worths + m * worth};
  }
  ColumnSums plus(const System& system, TaskType i, ResourceId j, Count n) const noexcept {
    return plus(n, system.value_rate(i, j), system.seconds_per_task(i, j), system.worth(i));
  }
  /// The same, except for sums that the discipline does not need.
  ColumnSums plus(const System& system, TaskType i, ResourceId j, Count n,
                  Discipline discipline) const noexcept {
    if (discipline != Discipline::kPs) return plus(system, i, j, n);
    return {tasks + n, rates + static_cast<double>(n) * system.value_rate(i, j), seconds, worths};
  }
};

/// Value per second of a resource with `servers` servers under `discipline`. O(1).
/// ps: min(n, c) times the mean rate. fcfs: the sum of the rates while no task waits, else c times the
/// mean worth over the mean time (exact for one server and if all rates are the same, else an
/// approximation).
inline double column_value(Discipline discipline, Count servers, const ColumnSums& sums) noexcept {
  if (sums.tasks <= servers) return sums.tasks == 0 ? 0.0 : sums.rates;
  const double n = static_cast<double>(sums.tasks);
  const double c = static_cast<double>(servers);
  return discipline == Discipline::kPs ? c * sums.rates / n : c * sums.worths / sums.seconds;
}

/// The law behind `column_value`, per type.
inline CompletionLaw completion_law(Discipline discipline, Count servers, const ColumnSums& sums) noexcept {
  if (sums.tasks <= servers) return {1.0, 0.0};
  const double c = static_cast<double>(servers);
  if (discipline == Discipline::kPs) return {c / static_cast<double>(sums.tasks), 0.0};
  return {0.0, c / sums.seconds};
}

/// The sums of column j of an assignment.
ColumnSums column_sums(const System& system, const Assignment& assignment, ResourceId j) noexcept;

/// Everything the model says about a state, or about time shares.
struct Performance {
  double throughput = 0;                       ///< X
  double value = 0;                            ///< V, the sum of worth times X_i
  std::vector<double> throughput_by_task;      ///< X_i
  std::vector<double> throughput_by_resource;  ///< X_j
  std::optional<double>
      response_time;  ///< Q / X (Little, paper Eq. 1); absent without threads or completions
  std::vector<std::optional<double>> response_time_by_task;  ///< N_i / X_i
  std::vector<double> shares;                                ///< X_i / X; empty when X = 0
  std::optional<double>
      priority_error;        ///< sum of (X_i / X - p_i)^2 (paper Eq. 6); absent without priorities or X
  bool approximate = false;  ///< some resource is in a state without an exact formula
  friend bool operator==(const Performance&, const Performance&) = default;
};

/// Cost O(T R). The assignment must have the system's shape and tasks only where they can run.
Performance evaluate(const System& system, const Assignment& assignment);

/// Completions per second of each pair, row-major; where tasks have needs, as even sharing fills the
/// capacities.
std::vector<double> throughput_by_pair(const System& system, const Assignment& assignment);

/// The same for time shares f (row-major, T x R): X_ij = mu_ij f_ij (weighted service).
Performance evaluate_time_shares(const System& system, std::span<const double> time_shares);

/// sum of (X_i / X - p_i)^2.
double priority_error(std::span<const double> throughput_by_task, double throughput,
                      std::span<const double> shares) noexcept;

/// Relative tolerance within which a floor counts as met: it covers only rounding in the sums.
inline constexpr double kFloorTolerance = 1e-9;

/// The sum of the relative amounts by which floors are missed; 0 if all are met.
double floor_shortfall(const System& system, std::span<const double> throughput_by_task) noexcept;

}  // namespace allot
