#include "allot/run/batch.hpp"

#include <algorithm>
#include <vector>

#include "allot/solve/solver.hpp"

namespace allot {
namespace {

/// Of about a microsecond each: the loop of a run waits for the answer.
constexpr std::uint64_t kMostSteps = 10'000;

}  // namespace

std::optional<double> batch_bound(const System& system, std::span<const Count> left) {
  const SolverInfo* const weighted = find_solver("weighted");
  std::vector<TaskClass> tasks = system.tasks();
  Count servers = 0;
  for (const Resource& resource : system.resources()) servers += resource.servers;
  double all = 0;
  for (const TaskType i : system.types()) {
    TaskClass& task = tasks[index(i)];
    // With more threads than servers any time shares can be had, so the answer is the programme's own: a
    // bound also for the last few tasks, which cannot be everywhere.
    task.count =
        left[index(i)] > 0
            ? std::min(kMaxCount, left[index(i)] + servers + static_cast<Count>(system.resource_count()))
            : 0;
    task.priority = static_cast<double>(left[index(i)]);
    task.floor.reset();
    all += static_cast<double>(left[index(i)]);
    if (left[index(i)] > 0 && system.resources_for(i).empty()) return std::nullopt;
  }
  if (all == 0) return 0;
  if (weighted == nullptr) return std::nullopt;
  std::vector<Resource> resources = system.resources();
  for (Resource& resource : resources) resource.min_depth = 1;
  SolveOptions options;
  options.stop.steps = kMostSteps;
  const Solution solution =
      solve(*weighted,
            {system.with_resources(std::move(resources)).with_tasks(std::move(tasks)), Objective::kPriority},
            options);
  if (solution.outcome == Outcome::kBudget || !(solution.performance.throughput > 0)) return std::nullopt;
  return all / solution.performance.throughput;
}

}  // namespace allot
