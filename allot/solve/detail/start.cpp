#include "allot/solve/detail/start.hpp"

#include <algorithm>
#include <vector>

namespace allot::detail {
namespace {

bool is_shallow(const System& system, ResourceId j, Count tasks) noexcept {
  return tasks != 0 && tasks < system.resource(j).min_depth;
}

/// Sends every task of j to the fastest other resource that is, or thereby becomes, deep enough.
bool empty_out(const System& system, Assignment& assignment, ResourceId j) {
  Assignment trial = assignment;
  for (const TaskType i : system.types()) {
    const Count n = trial(i, j);
    if (n == 0) continue;
    std::optional<ResourceId> best;
    for (const ResourceId b : system.resources_for(i)) {
      if (b == j || is_shallow(system, b, trial.column_sum(b) + n)) continue;
      if (!best || system.rate(i, b) > system.rate(i, *best)) best = b;
    }
    if (!best) return false;
    trial(i, j) = 0;
    trial(i, *best) += n;
  }
  assignment = trial;
  return true;
}

/// Brings tasks to j, the least loss of rate first, from resources that stay deep enough without them or
/// that are shallow themselves.
bool fill_up(const System& system, Assignment& assignment, ResourceId j) {
  Assignment trial = assignment;
  for (Count missing = system.resource(j).min_depth - trial.column_sum(j); missing > 0;) {
    std::optional<TaskType> type;
    ResourceId source{};
    Count spare = 0;
    for (const TaskType i : system.types()) {
      if (!system.can_run(i, j)) continue;
      for (const ResourceId a : system.resources_for(i)) {
        const Count there = trial.column_sum(a);
        const Count surplus = is_shallow(system, a, there) ? there : there - system.resource(a).min_depth;
        if (a == j || trial(i, a) == 0 || surplus <= 0) continue;
        const double loss = system.rate(i, a) / system.rate(i, j);
        if (!type || loss < system.rate(*type, source) / system.rate(*type, j)) {
          type = i;
          source = a;
          spare = std::min(surplus, trial(i, a));
        }
      }
    }
    if (!type) return false;
    const Count n = std::min(spare, missing);
    trial(*type, source) -= n;
    trial(*type, j) += n;
    missing -= n;
  }
  assignment = trial;
  return true;
}

}  // namespace

bool keep_depths(const System& system, Assignment& assignment) {
  if (!system.has_depths()) return true;
  // Every step settles one resource; filling may unsettle another, so the number of rounds is bounded.
  for (std::size_t round = 0; round < 2 * system.resource_count(); ++round) {
    std::optional<ResourceId> shallow;
    for (const ResourceId j : system.resource_ids()) {
      if (!shallow && is_shallow(system, j, assignment.column_sum(j))) shallow = j;
    }
    if (!shallow) return true;
    if (!empty_out(system, assignment, *shallow) && !fill_up(system, assignment, *shallow)) return false;
  }
  return is_placement(system, assignment);
}

std::optional<Assignment> home_start(const System& system) {
  Assignment assignment = home_assignment(system);
  if (!keep_depths(system, assignment)) return std::nullopt;
  return assignment;
}

}  // namespace allot::detail
