#include "allot/solve/detail/open_sets.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "allot/model/throughput.hpp"
#include "allot/solve/detail/overflow_starts.hpp"

namespace allot::detail {
namespace {

/// With at most this many resources with a minimum depth, all sets are tried.
constexpr std::size_t kAllSets = 4;
/// With more resources, this many sets are tried.
constexpr std::size_t kMostSets = 64;

/// How many tasks a resource must hold while it is open.
Count depth_of(const System& system, ResourceId j) noexcept {
  return system.resource(j).min_depth > 1 ? system.resource(j).min_depth : 0;
}

/// One step of a chain of moves: tasks of a type come to a resource from the next one.
struct Step {
  bool seen = false;
  TaskType type{};
  ResourceId to{};
};

/// Moves tasks to `shallow` along a shortest chain that ends at a resource with tasks to spare.
bool augment(const System& system, const std::vector<bool>& closed, Assignment& assignment,
             ResourceId shallow) {
  std::vector<Step> steps(system.resource_count());
  std::vector<ResourceId> queue = {shallow};
  steps[index(shallow)].seen = true;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const ResourceId to = queue[at];
    for (const TaskType i : system.types()) {
      if (system.count(i) == 0 || !system.can_run(i, to)) continue;
      for (const ResourceId from : system.resources_for(i)) {
        if (assignment(i, from) == 0 || closed[index(from)] || steps[index(from)].seen) continue;
        steps[index(from)] = {true, i, to};
        queue.push_back(from);
        const Count spare = assignment.column_sum(from) - depth_of(system, from);
        if (spare <= 0) continue;
        Count n = std::min(spare, depth_of(system, shallow) - assignment.column_sum(shallow));
        for (ResourceId a = from; a != shallow; a = steps[index(a)].to) {
          n = std::min(n, assignment(steps[index(a)].type, a));
        }
        for (ResourceId a = from; a != shallow; a = steps[index(a)].to) {
          assignment(steps[index(a)].type, a) -= n;
          assignment(steps[index(a)].type, steps[index(a)].to) += n;
        }
        return true;
      }
    }
  }
  return false;
}

std::vector<ResourceId> with_depths(const System& system) {
  std::vector<ResourceId> result;
  for (const ResourceId j : system.resource_ids()) {
    if (system.resource(j).min_depth > 1) result.push_back(j);
  }
  return result;
}

std::vector<std::vector<bool>> closed_sets(const System& system) {
  const std::vector<ResourceId> deep = with_depths(system);
  std::vector<std::vector<bool>> sets;
  const auto add = [&](auto&& is_closed) {
    std::vector<bool> closed(system.resource_count());
    for (std::size_t at = 0; at < deep.size(); ++at) {
      closed[index(deep[at])] = is_closed(at) || system.reach(deep[at]) < system.resource(deep[at]).min_depth;
    }
    if (std::find(sets.begin(), sets.end(), closed) == sets.end()) sets.push_back(std::move(closed));
  };
  if (deep.size() <= kAllSets) {
    for (std::size_t set = 0; set < std::size_t{1} << deep.size(); ++set) {
      add([&](std::size_t at) { return (set >> at & 1) != 0; });
    }
    return sets;
  }
  add([](std::size_t) { return false; });
  add([](std::size_t) { return true; });
  for (const bool alone_closed : {true, false}) {
    for (std::size_t one = 0; one < deep.size() && sets.size() < kMostSets; ++one) {
      add([&](std::size_t at) { return (at == one) == alone_closed; });
    }
  }
  return sets;
}

}  // namespace

bool deepen(const System& system, const std::vector<bool>& closed, Assignment& assignment) {
  Assignment trial = assignment;
  for (const ResourceId j : system.resource_ids()) {
    if (closed[index(j)]) continue;
    while (trial.column_sum(j) < depth_of(system, j)) {
      if (!augment(system, closed, trial, j)) return false;
    }
  }
  assignment = std::move(trial);
  return true;
}

bool turn_resource(const System& system, Assignment& assignment, ResourceId j) {
  Assignment trial = assignment;
  std::vector<bool> closed(system.resource_count());
  for (const ResourceId other : system.resource_ids()) {
    closed[index(other)] = depth_of(system, other) > 0 && trial.column_sum(other) == 0;
  }
  closed[index(j)] = !closed[index(j)];
  if (closed[index(j)]) {
    for (const TaskType i : system.types()) {
      std::optional<ResourceId> best;
      for (const ResourceId b : system.resources_for(i)) {
        if (!closed[index(b)] && (!best || system.rate(i, b) > system.rate(i, *best))) best = b;
      }
      if (trial(i, j) == 0) continue;
      if (!best) return false;
      trial(i, *best) += std::exchange(trial(i, j), 0);
    }
  }
  if (!deepen(system, closed, trial)) return false;
  assignment = std::move(trial);
  return true;
}

std::vector<Assignment> starts_by_open_set(const System& system, std::size_t most) {
  std::vector<std::pair<double, Assignment>> found;
  OverflowStarts starts;
  for (const std::vector<bool>& closed : closed_sets(system)) {
    starts.make(system, closed);
    if (starts.size() == 0) continue;
    Assignment start;
    starts.write(0, start);
    if (!deepen(system, closed, start)) continue;
    const double value = evaluate(system, start).value;
    found.emplace_back(value, std::move(start));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Assignment> result;
  for (auto& [value, start] : found) {
    if (result.size() < most) result.push_back(std::move(start));
  }
  return result;
}

}  // namespace allot::detail
