#include "allot/solve/detail/start.hpp"

#include <algorithm>
#include <vector>

#include "allot/solve/detail/open_sets.hpp"

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

/// Which resources with a minimum depth hold nothing.
std::vector<bool> closed_now(const System& system, const Assignment& assignment) {
  std::vector<bool> closed(system.resource_count());
  for (const ResourceId j : system.resource_ids()) {
    closed[index(j)] = system.resource(j).min_depth > 1 && assignment.column_sum(j) == 0;
  }
  return closed;
}

}  // namespace

bool keep_depths(const System& system, Assignment& assignment) {
  if (!system.has_depths()) return true;
  for (std::size_t round = 0; round < system.resource_count(); ++round) {
    std::optional<ResourceId> shallow;
    for (const ResourceId j : system.resource_ids()) {
      if (!shallow && is_shallow(system, j, assignment.column_sum(j))) shallow = j;
    }
    if (!shallow) return true;
    if (empty_out(system, assignment, *shallow)) continue;
    if (deepen(system, closed_now(system, assignment), assignment)) return true;
    break;
  }
  if (is_placement(system, assignment)) return true;
  std::vector<Assignment> others = starts_by_open_set(system, 1);
  if (others.empty()) return false;
  assignment = std::move(others.front());
  return true;
}

std::optional<Assignment> home_start(const System& system) {
  Assignment assignment = home_assignment(system);
  if (!keep_depths(system, assignment)) return std::nullopt;
  return assignment;
}

}  // namespace allot::detail
