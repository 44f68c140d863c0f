#include "allot/solve/whatif.hpp"

#include <algorithm>

#include "allot/solve/best.hpp"
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/solver.hpp"

namespace allot {
namespace {

/// All changes together get about kStepsOfAll steps, and each at least kLeastSteps, within the caller's
/// limit.
constexpr std::uint64_t kStepsOfAll = 40'000'000;
constexpr std::uint64_t kLeastSteps = 20'000;

Solution best_of(const System& system, SolveOptions options, const Assignment& start) {
  options.start = start;
  return best_known(system, options);
}

/// `visits`: whether a type has work other than that of its own threads.
template <typename Visits>
std::vector<Change> possible_changes(const System& system, Visits&& visits) {
  std::vector<Change> changes;
  for (const ResourceId j : system.resource_ids()) {
    if (system.resource(j).servers < kMaxCount)
      changes.push_back({.what = Change::What::kServer, .resource = j, .capacity = servers_of(j)});
  }
  for (const CapacityId r : system.capacity_ids()) {
    if (!system.is_servers(r)) changes.push_back({.what = Change::What::kCapacity, .capacity = r});
  }
  for (const TaskType i : system.types()) {
    if (!system.resources_for(i).empty() && system.count(i) < kMaxCount) {
      changes.push_back({Change::What::kThread, i, std::nullopt});
    }
  }
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      if (system.count(i) > 0 || visits(i)) changes.push_back({Change::What::kRate, i, j});
    }
  }
  return changes;
}

System changed(const System& system, const Change& change) {
  switch (change.what) {
    case Change::What::kServer:
      return system.with_servers(*change.resource, system.resource(*change.resource).servers + 1);
    case Change::What::kCapacity:
      return system.with_amount(*change.capacity, system.amount(*change.capacity) + 1);
    case Change::What::kThread: {
      std::vector<Count> counts;
      for (const TaskType i : system.types()) counts.push_back(system.count(i) + (i == *change.task ? 1 : 0));
      return system.with_counts(counts);
    }
    case Change::What::kRate:
      break;
  }
  return system.with_rate(*change.task, *change.resource,
                          kFasterPair * system.rate(*change.task, *change.resource));
}

void take(Change& change, const Performance& performance) {
  change.throughput = performance.throughput;
  change.value = performance.value;
  change.approximate = performance.approximate;
}

/// The gain in the most that whole tasks can reach, if both bounds are known. It may take `steps`.
std::optional<double> gain_of_whole_tasks(const Solution& base, const Problem& other, SolveOptions options,
                                          std::uint64_t steps) {
  if (!base.plan.packing_bound || !(*base.plan.packing_bound > 0)) return {};
  options.stop.steps = std::min(options.stop.steps, steps);
  const Solution packed = solve(*find_solver("planned"), other, options);
  if (!packed.plan.packing_bound) return {};
  return *packed.plan.packing_bound / *base.plan.packing_bound - 1;
}

/// The largest gain first.
WhatIf finished(WhatIf result, const StopPoll& poll, const SolveOptions& options) {
  std::stable_sort(result.changes.begin(), result.changes.end(),
                   [](const Change& a, const Change& b) { return a.gain > b.gain; });
  result.outcome = detail::outcome_of(poll);
  if (options.share_done && !poll.stopped()) options.share_done(1.0);
  return result;
}

}  // namespace

WhatIf what_if(const System& system, const SolveOptions& options) {
  WhatIf result;
  StopPoll poll(options.stop, 1);
  result.base = best_known(system, options);
  const std::vector<Change> possible = possible_changes(system, [](TaskType) { return false; });
  SolveOptions each = options;
  each.stop.steps =
      std::min({options.stop.steps, kBestSteps, std::max(kLeastSteps, kStepsOfAll / (possible.size() + 1))});
  for (std::size_t at = 0; at < possible.size(); ++at) {
    if (options.share_done)
      options.share_done(static_cast<double>(at + 1) / static_cast<double>(possible.size() + 1));
    Change change = possible[at];
    if (poll.should_stop_now()) break;
    const System other = changed(system, change);
    Assignment start = result.base.assignment;
    if (change.what == Change::What::kThread) ++start(*change.task, *system.home(*change.task));
    const Solution solution = best_of(other, each, start);
    if (poll.should_stop_now()) break;  // that answer may have been cut short
    if (solution.outcome == Outcome::kInfeasible) continue;
    take(change, solution.performance);
    result.changes.push_back(change);
    if (change.what == Change::What::kThread) continue;
    // The answer for a changed machine may also be better than the base on the unchanged machine. It then
    // replaces the base: a gain must be due to the change.
    const Performance unchanged = evaluate(system, solution.assignment);
    if (!result.base.proven_optimal && unchanged.value > result.base.performance.value &&
        floor_shortfall(system, unchanged.throughput_by_task) == 0) {
      result.base.assignment = solution.assignment;
      result.base.performance = unchanged;
      result.base.upper_bound = std::max(result.base.upper_bound.value_or(0), unchanged.value);
    }
  }
  const double base = result.base.performance.value;
  for (Change& change : result.changes) {
    if (change.what != Change::What::kThread) {
      // The base's own answer remains possible when a server, a unit or speed is added.
      const System other = changed(system, change);
      const Performance kept = evaluate(other, result.base.assignment);
      if (kept.value > change.value && floor_shortfall(other, kept.throughput_by_task) == 0) {
        take(change, kept);
      }
    }
    change.gain = base > 0 ? change.value / base - 1 : 0.0;
  }
  return finished(std::move(result), poll, options);
}

WhatIf what_if_planned(const Problem& problem, const SolveOptions& options) {
  const SolverInfo& planned = *find_solver("planned");
  WhatIf result;
  StopPoll poll(options.stop, 1);
  result.base = solve(planned, problem, options);
  const auto visits = [&](TaskType i) {
    const auto has = [i](const ThreadGroup& group) {
      return std::find(group.sequence.begin(), group.sequence.end(), i) != group.sequence.end();
    };
    return std::any_of(problem.threads.begin(), problem.threads.end(), has) ||
           std::any_of(problem.arrivals.begin(), problem.arrivals.end(),
                       [i](const Arrivals& stream) { return stream.task == i; });
  };
  std::vector<Change> possible = possible_changes(problem.system, visits);
  std::erase_if(possible, [&](const Change& change) {
    return change.what == Change::What::kThread && problem.system.count(*change.task) == 0;
  });
  const double base = result.base.objective_value;
  SolveOptions each = options;
  each.bound_packings = false;
  const std::uint64_t steps = std::max(kLeastSteps, kStepsOfAll / (possible.size() + 1));
  for (std::size_t at = 0; at < possible.size() && !poll.should_stop_now(); ++at) {
    if (options.share_done)
      options.share_done(static_cast<double>(at) / static_cast<double>(possible.size()));
    Change change = possible[at];
    Problem other = problem;
    other.system = changed(problem.system, change);
    const Solution solution = solve(planned, other, each);
    if (solution.outcome != Outcome::kOptimal && solution.outcome != Outcome::kConverged) continue;
    take(change, solution.performance);
    change.gain = base > 0 ? solution.objective_value / base - 1 : 0.0;
    if (change.capacity && !result.base.plan.capacities.empty())
      change.price = result.base.plan.capacities[index(*change.capacity)].price;
    if (problem.system.has_needs())
      change.whole_gain = gain_of_whole_tasks(result.base, other, options, steps);
    result.changes.push_back(change);
  }
  return finished(std::move(result), poll, options);
}

std::string_view to_string(Change::What what) noexcept {
  switch (what) {
    case Change::What::kServer:
      return "server";
    case Change::What::kCapacity:
      return "capacity";
    case Change::What::kThread:
      return "thread";
    case Change::What::kRate:
      return "rate";
  }
  return "";
}

}  // namespace allot
