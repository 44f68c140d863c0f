// The model once more, naively and in long double: what the library says is compared with this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "allot/model/assignment.hpp"
#include "allot/model/system.hpp"
#include "allot/solve/solution.hpp"

namespace allot::testing {

/// X_i of a state or of time shares, straight from the formulas.
struct Completions {
  std::vector<long double> by_task;
  long double total = 0;
  long double value = 0;
};

inline Completions recomputed_completions(const System& system, const Assignment& n) {
  Completions x;
  x.by_task.assign(system.type_count(), 0);
  for (std::size_t j = 0; j < system.resource_count(); ++j) {
    const Resource& resource = system.resources()[j];
    long double tasks = 0;
    long double seconds = 0;
    for (std::size_t i = 0; i < system.type_count(); ++i) {
      const long double here = static_cast<long double>(n(task_type(i), resource_id(j)));
      tasks += here;
      if (here > 0) seconds += here / static_cast<long double>(system.rate(task_type(i), resource_id(j)));
    }
    const long double servers = static_cast<long double>(resource.servers);
    for (std::size_t i = 0; i < system.type_count(); ++i) {
      const long double here = static_cast<long double>(n(task_type(i), resource_id(j)));
      const long double rate = system.rate(task_type(i), resource_id(j));
      if (here == 0) continue;
      long double x_ij = 0;
      if (tasks <= servers) {
        x_ij = here * rate;
      } else if (resource.discipline == Discipline::kPs) {
        x_ij = servers * rate * here / tasks;
      } else {
        x_ij = servers * here / seconds;
      }
      x.by_task[i] += x_ij;
      x.total += x_ij;
      x.value += static_cast<long double>(system.tasks()[i].worth) * x_ij;
    }
  }
  return x;
}

inline Completions recomputed_completions(const System& system, std::span<const double> time_shares) {
  Completions x;
  x.by_task.assign(system.type_count(), 0);
  for (std::size_t i = 0; i < system.type_count(); ++i) {
    for (std::size_t j = 0; j < system.resource_count(); ++j) {
      const long double x_ij = static_cast<long double>(system.rate(task_type(i), resource_id(j))) *
                               static_cast<long double>(time_shares[i * system.resource_count() + j]);
      x.by_task[i] += x_ij;
      x.total += x_ij;
      x.value += static_cast<long double>(system.tasks()[i].worth) * x_ij;
    }
  }
  return x;
}

/// From the assignment, or from the time shares where the solver gives them.
inline Completions recomputed_completions(const System& system, const Solution& solution) {
  return solution.time_shares.empty() ? recomputed_completions(system, solution.assignment)
                                      : recomputed_completions(system, std::span(solution.time_shares));
}

inline double recomputed_throughput(const System& system, const Assignment& n) {
  return static_cast<double>(recomputed_completions(system, n).total);
}
inline double recomputed_throughput(const System& system, const Solution& solution) {
  return static_cast<double>(recomputed_completions(system, solution).total);
}

/// sum of (X_i / X - p_i)^2; nothing without priorities or completions.
inline std::optional<double> recomputed_error(const System& system, const Completions& x) {
  if (!system.tasks().front().priority || !(x.total > 0)) return std::nullopt;
  long double weight = 0;
  for (const TaskClass& task : system.tasks()) weight += static_cast<long double>(*task.priority);
  long double error = 0;
  for (std::size_t i = 0; i < x.by_task.size(); ++i) {
    const long double off =
        x.by_task[i] / x.total - static_cast<long double>(*system.tasks()[i].priority) / weight;
    error += off * off;
  }
  return static_cast<double>(error);
}

/// Every thread placed once, nowhere a negative number, and only where it can run.
inline bool places_every_task(const System& system, const Assignment& n) {
  if (n.types() != system.type_count() || n.resources() != system.resource_count()) return false;
  for (std::size_t i = 0; i < n.types(); ++i) {
    Count placed = 0;
    for (std::size_t j = 0; j < n.resources(); ++j) {
      const Count here = n(task_type(i), resource_id(j));
      if (here < 0 || (here > 0 && !(system.rate(task_type(i), resource_id(j)) > 0))) return false;
      placed += here;
    }
    if (placed != system.count(task_type(i))) return false;
  }
  return true;
}

inline bool keeps_depths(const System& system, const Assignment& n) {
  for (std::size_t j = 0; j < n.resources(); ++j) {
    Count tasks = 0;
    for (std::size_t i = 0; i < n.types(); ++i) tasks += n(task_type(i), resource_id(j));
    if (tasks > 0 && tasks < system.resources()[j].min_depth) return false;
  }
  return true;
}

/// `slack`: relative.
inline bool meets_floors(const System& system, const Completions& x, long double slack = 2e-9L) {
  for (std::size_t i = 0; i < x.by_task.size(); ++i) {
    const long double floor = system.tasks()[i].floor.value_or(0);
    if (x.by_task[i] < floor * (1 - slack)) return false;
  }
  return true;
}

/// Calls `visit(assignment)` for every assignment of the threads, minimum depths not considered.
template <typename Visit>
void for_each_assignment(const System& system, Visit&& visit) {
  std::vector<std::pair<std::size_t, std::size_t>> cells;  // where tasks may be, by type
  for (std::size_t i = 0; i < system.type_count(); ++i) {
    for (std::size_t j = 0; j < system.resource_count(); ++j) {
      if (system.rate(task_type(i), resource_id(j)) > 0) cells.emplace_back(i, j);
    }
  }
  Assignment n(system.type_count(), system.resource_count());
  std::vector<Count> left;
  for (const TaskClass& task : system.tasks()) left.push_back(task.count);
  const auto fill = [&](const auto& self, std::size_t at) -> void {
    if (at == cells.size()) {
      visit(std::as_const(n));
      return;
    }
    const auto [i, j] = cells[at];
    const bool last_of_type = at + 1 == cells.size() || cells[at + 1].first != i;
    for (Count here = last_of_type ? left[i] : 0; here <= left[i]; ++here) {
      n(task_type(i), resource_id(j)) = here;
      left[i] -= here;
      self(self, at + 1);
      left[i] += here;
    }
    n(task_type(i), resource_id(j)) = 0;
  };
  fill(fill, 0);
}

/// The best of all assignments that keep depths and meet floors.
struct BruteForce {
  std::uint64_t states = 0;  ///< all, feasible or not
  std::optional<double> max_throughput;
  std::optional<double> min_error;
};

inline BruteForce brute_force(const System& system) {
  BruteForce best;
  for_each_assignment(system, [&](const Assignment& n) {
    ++best.states;
    if (!keeps_depths(system, n)) return;
    const Completions x = recomputed_completions(system, n);
    if (!meets_floors(system, x, 1e-9L)) return;
    best.max_throughput = std::max(best.max_throughput.value_or(0), static_cast<double>(x.total));
    if (const std::optional<double> error = recomputed_error(system, x)) {
      best.min_error = best.min_error ? std::min(*best.min_error, *error) : *error;
    }
  });
  return best;
}

}  // namespace allot::testing
