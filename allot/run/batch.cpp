#include "allot/run/batch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "allot/solve/solver.hpp"

namespace allot {
namespace {

/// A step takes about a microsecond; the loop of a run waits for the answer.
constexpr std::uint64_t kMostSteps = 10'000;
/// Number of worths that are tried for the bound for whole tasks.
constexpr int kRounds = 24;
/// Minimum part of the total worth for a type with tasks, and maximum pace that one round counts.
constexpr double kLeastPart = 1e-6;
constexpr double kMostPace = 4;

/// The minimum cost of a task of each type, by the prices of a plan.
std::vector<double> worths_by_price(const System& system, const Solution& plan) {
  std::vector<double> worths;
  for (const TaskType i : system.types()) {
    double least = std::numeric_limits<double>::infinity();
    for (const ResourceId j : system.resources_for(i)) {
      double price = 0;
      for (const Draw& draw : system.needs(i, j))
        price += draw.amount * plan.plan.capacities[index(draw.capacity)].price;
      least = std::min(least, price * system.seconds_per_task(i, j));
    }
    worths.push_back(system.count(i) > 0 && least < kMaxNumber ? std::max(0.0, least) : 0.0);
  }
  return worths;
}

/// The bound for whole tasks: for any worths, all tasks together take at least their total worth divided by
/// the maximum worth of a packing per second. Starts with the worths of the plan and approaches those that
/// give the largest bound: types that the best packing does much of are worth less in the next round.
double packing_bound(const System& system, const Solution& plan, std::span<const Count> left) {
  if (plan.plan.capacities.size() != system.capacity_count()) return 0;
  std::vector<double> parts = worths_by_price(system, plan);  // of the worth of all tasks, by type
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] *= static_cast<double>(left[i]);
  SolveOptions options;
  options.bound_packings = true;
  options.stop.steps = kMostSteps;
  double best = 0;
  for (int round = 1; round <= kRounds; ++round) {
    const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
    if (!(all > 0)) break;
    std::vector<double> worths(parts.size(), 0.0);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i] /= all;
      if (left[i] > 0) worths[i] = std::max(parts[i], kLeastPart) / static_cast<double>(left[i]);
    }
    const Solution packed =
        solve(*find_solver("planned"), {system.with_worths(worths), Objective::kThroughput}, options);
    const double value = packed.plan.packing_bound.value_or(0);
    if (!(value > 0)) break;
    double done = 0;  // sum of the parts, which kLeastPart may have made larger than 1
    for (std::size_t i = 0; i < parts.size(); ++i) done += worths[i] * static_cast<double>(left[i]);
    best = std::max(best, done / value);
    if (packed.plan.packing_shares.empty()) break;
    const PairSpan<const double> shares(packed.plan.packing_shares, system.resource_count());
    for (const TaskType i : system.types()) {
      if (left[index(i)] == 0) continue;
      double rate = 0;
      for (const ResourceId j : system.resources_for(i)) rate += system.rate(i, j) * shares(i, j);
      const double pace = rate / static_cast<double>(left[index(i)]) / value;  // 1: same pace as the others
      parts[index(i)] *= std::exp((1 - std::min(pace, kMostPace)) / std::sqrt(static_cast<double>(round)));
    }
  }
  return best;
}

}  // namespace

std::optional<double> batch_bound(const System& system, std::span<const Count> left, bool packings) {
  const SolverInfo* const weighted = find_solver(system.has_needs() ? "planned" : "weighted");
  std::vector<TaskClass> tasks = system.tasks();
  Count servers = 0;
  for (const Resource& resource : system.resources()) servers += resource.servers;
  double all = 0;
  for (const TaskType i : system.types()) {
    TaskClass& task = tasks[index(i)];
    // With more threads than servers all time shares are possible, so the answer is the program's own: a
    // bound also for the last few tasks, which cannot be everywhere.
    task.count =
        left[index(i)] > 0
            ? std::min(kMaxCount, left[index(i)] + servers + static_cast<Count>(system.resource_count()))
            : 0;
    task.priority = static_cast<double>(left[index(i)]);
    task.floor.reset();
    task.max_response.reset();
    all += static_cast<double>(left[index(i)]);
    if (left[index(i)] > 0 && system.resources_for(i).empty()) return std::nullopt;
  }
  if (all == 0) return 0;
  if (weighted == nullptr) return std::nullopt;
  std::vector<Resource> resources = system.resources();
  for (Resource& resource : resources) resource.min_depth = 1;
  SolveOptions options;
  options.stop.steps = kMostSteps;
  options.bound_packings = false;
  const System batch = system.with_resources(std::move(resources)).with_tasks(std::move(tasks));
  const Solution solution = solve(*weighted, {batch, Objective::kPriority}, options);
  if (solution.outcome == Outcome::kBudget || !(solution.performance.throughput > 0)) return std::nullopt;
  const double bound = all / solution.performance.throughput;
  if (!packings || !system.has_needs()) return bound;
  return std::max(bound, packing_bound(batch, solution, left));
}

}  // namespace allot
