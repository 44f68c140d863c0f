#include "allot/solve/detail/whole_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "allot/solve/detail/linear_program.hpp"

namespace allot::detail {
namespace {

/// Rounds by largest remainders, so that the row sums to N_i.
void round_row(const System& system, TaskType i, std::vector<double>& mean, Assignment& result) {
  Count placed = 0;
  for (const ResourceId j : system.resources_for(i)) {
    const double whole = std::floor(mean[index(j)] + 1e-9);
    result(i, j) = static_cast<Count>(whole);
    mean[index(j)] -= whole;
    placed += result(i, j);
  }
  while (placed != system.count(i)) {
    const Count step = placed < system.count(i) ? 1 : -1;
    std::optional<ResourceId> best;
    for (const ResourceId j : system.resources_for(i)) {
      if (step < 0 && result(i, j) == 0) continue;
      if (!best ||
          static_cast<double>(step) * mean[index(j)] > static_cast<double>(step) * mean[index(*best)]) {
        best = j;
      }
    }
    // A row far from its sum (the program was stopped early) is corrected at a single resource at once.
    const Count missing = std::abs(system.count(i) - placed);
    const Count n = missing > static_cast<Count>(system.resource_count()) ? missing : 1;
    const Count moved = step > 0 ? n : std::min(n, result(i, *best));
    result(i, *best) += step * moved;
    mean[index(*best)] -= static_cast<double>(step * moved);
    placed += step * moved;
  }
}

}  // namespace

Assignment rounded(const System& system, const ConfigurationBound& bound,
                   const std::vector<WeightedContent>& support) {
  Assignment result(system.type_count(), system.resource_count());
  std::vector<double> mean(system.resource_count());
  for (const TaskType i : system.types()) {
    if (system.count(i) == 0) continue;
    std::fill(mean.begin(), mean.end(), 0.0);
    for (const WeightedContent& part : support) {
      const auto types = bound.pricer(part.resource).types();
      const auto at = std::lower_bound(types.begin(), types.end(), i);
      if (at != types.end() && *at == i) {
        mean[index(part.resource)] +=
            part.weight * static_cast<double>((*part.content)[static_cast<std::size_t>(at - types.begin())]);
      }
    }
    round_row(system, i, mean, result);
  }
  return result;
}

std::vector<Count> rounded_totals(const System& system, const std::vector<WeightedContent>& support) {
  std::vector<double> mean(system.resource_count());
  for (const WeightedContent& part : support) {
    mean[index(part.resource)] += part.weight * static_cast<double>(part.total);
  }
  std::vector<Count> totals;
  Count sum = 0;
  for (const double m : mean) {
    totals.push_back(static_cast<Count>(std::floor(m + 1e-9)));
    sum += totals.back();
  }
  for (; sum < system.population(); ++sum) {
    std::size_t largest = 0;
    for (std::size_t j = 1; j < mean.size(); ++j) {
      if (mean[j] - static_cast<double>(totals[j]) > mean[largest] - static_cast<double>(totals[largest]))
        largest = j;
    }
    ++totals[largest];
  }
  return totals;
}

std::optional<Transport> transport(const System& system, const std::vector<Count>& totals, double scale,
                                   StopPoll& poll) {
  LinearProgram programme;
  for (const TaskType i : system.types()) {
    programme.add_row(static_cast<double>(system.count(i)), static_cast<double>(system.count(i)));
  }
  for (const ResourceId j : system.resource_ids()) {
    programme.add_row(static_cast<double>(totals[index(j)]), static_cast<double>(totals[index(j)]));
  }
  LinearProgram::Batch batch;
  std::vector<std::pair<TaskType, ResourceId>> places;
  for (const TaskType i : system.types()) {
    if (system.count(i) == 0) continue;
    for (const ResourceId j : system.resources_for(i)) {
      const Count m = totals[index(j)];
      if (m == 0) continue;
      const double weight =
          static_cast<double>(std::min(m, system.resource(j).servers)) / static_cast<double>(m);
      batch.begin_column(-weight * system.value_rate(i, j) / scale);
      batch.entry(static_cast<int>(index(i)), 1.0);
      batch.entry(static_cast<int>(system.type_count() + index(j)), 1.0);
      places.emplace_back(i, j);
    }
  }
  programme.add_columns(std::move(batch));
  if (programme.solve(&poll) != LinearProgram::Status::kOptimal) return std::nullopt;
  Transport result;
  result.assignment.reset(system.type_count(), system.resource_count());
  const auto solution = programme.columns();
  for (std::size_t at = 0; at < places.size(); ++at) {
    result.assignment(places[at].first, places[at].second) = static_cast<Count>(std::llround(solution[at]));
  }
  const auto duals = programme.duals();
  for (const TaskType i : system.types()) {
    if (result.assignment.row_sum(i) != system.count(i)) return std::nullopt;
    result.prices.task.push_back(-duals[index(i)] * scale);
  }
  return result;
}

}  // namespace allot::detail
