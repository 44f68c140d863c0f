#include "allot/model/throughput.hpp"

#include "allot/model/filling.hpp"

namespace allot {
namespace {

/// Derives the other members from X_i and X_j.
void complete(const System& system, Performance& p) {
  p.throughput = 0;
  for (const double x : p.throughput_by_resource) p.throughput += x;
  p.value = system.has_worths() ? 0 : p.throughput;
  for (const TaskType i : system.types()) {
    if (system.has_worths()) p.value += system.worth(i) * p.throughput_by_task[index(i)];
  }
  p.response_time_by_task.assign(system.type_count(), std::nullopt);
  for (const TaskType i : system.types()) {
    const double x = p.throughput_by_task[index(i)];
    if (system.count(i) > 0 && x > 0)
      p.response_time_by_task[index(i)] = static_cast<double>(system.count(i)) / x;
  }
  if (!(p.throughput > 0)) return;
  p.response_time = static_cast<double>(system.population()) / p.throughput;
  for (const double x : p.throughput_by_task) p.shares.push_back(x / p.throughput);
  if (!system.shares().empty()) {
    p.priority_error = priority_error(p.throughput_by_task, p.throughput, system.shares());
  }
}

/// Whether tasks with different rates are at resource j.
bool rates_differ(const System& system, const Assignment& assignment, ResourceId j) noexcept {
  double common = 0;
  for (const TaskType i : system.types()) {
    if (assignment(i, j) == 0) continue;
    if (common != 0 && system.rate(i, j) != common) return true;
    common = system.rate(i, j);
  }
  return false;
}

/// Adds the completions of pairs that share by the two fillings: all pairs except those at fcfs resources.
void add_filled(const System& system, const Assignment& assignment, Performance& p) {
  std::vector<double> tasks(system.type_count() * system.resource_count());
  const PairSpan by_pair(tasks, system.resource_count());
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      if (system.resource(j).discipline == Discipline::kPs)
        by_pair(i, j) = static_cast<double>(assignment(i, j));
    }
  }
  EvenSharing sharing(system);
  const PairSpan served(sharing(tasks).at_full_speed, system.resource_count());
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      const double x = system.rate(i, j) * served(i, j);
      p.throughput_by_task[index(i)] += x;
      p.throughput_by_resource[index(j)] += x;
    }
  }
  p.approximate |= has_lumps(system, tasks);
}

}  // namespace

ColumnSums column_sums(const System& system, const Assignment& assignment, ResourceId j) noexcept {
  ColumnSums sums;
  for (const TaskType i : system.types()) {
    const Count n = assignment(i, j);
    if (n != 0) sums = sums.plus(system, i, j, n);
  }
  return sums;
}

Performance evaluate(const System& system, const Assignment& assignment) {
  Performance p;
  p.throughput_by_task.assign(system.type_count(), 0.0);
  p.throughput_by_resource.assign(system.resource_count(), 0.0);
  for (const ResourceId j : system.resource_ids()) {
    const Resource& resource = system.resource(j);
    if (system.has_needs() && resource.discipline == Discipline::kPs) continue;
    const ColumnSums sums = column_sums(system, assignment, j);
    double& here = p.throughput_by_resource[index(j)];
    if (!system.has_worths()) here = column_value(resource.discipline, resource.servers, sums);
    p.approximate |= resource.discipline == Discipline::kFcfs && resource.servers > 1 &&
                     sums.tasks > resource.servers && rates_differ(system, assignment, j);
    const CompletionLaw law = completion_law(resource.discipline, resource.servers, sums);
    for (const TaskType i : system.types()) {
      const double x =
          static_cast<double>(assignment(i, j)) * (law.per_rate * system.rate(i, j) + law.per_task);
      p.throughput_by_task[index(i)] += x;
      if (system.has_worths()) here += x;
    }
  }
  if (system.has_needs()) add_filled(system, assignment, p);
  complete(system, p);
  return p;
}

std::vector<double> throughput_by_pair(const System& system, const Assignment& assignment) {
  std::vector<double> values = system.rates().values();
  if (system.has_needs()) {
    const std::vector<double> tasks(assignment.values().begin(), assignment.values().end());
    EvenSharing sharing(system);
    const std::span<const double> served = sharing(tasks).at_full_speed;
    for (std::size_t at = 0; at < values.size(); ++at) values[at] *= served[at];
    return values;
  }
  const PairSpan by_pair(values, system.resource_count());
  for (const ResourceId j : system.resource_ids()) {
    const Resource& resource = system.resource(j);
    const CompletionLaw law =
        completion_law(resource.discipline, resource.servers, column_sums(system, assignment, j));
    for (const TaskType i : system.types())
      by_pair(i, j) = static_cast<double>(assignment(i, j)) * (law.per_rate * by_pair(i, j) + law.per_task);
  }
  return values;
}

Performance evaluate_time_shares(const System& system, std::span<const double> time_shares) {
  Performance p;
  p.throughput_by_task.assign(system.type_count(), 0.0);
  p.throughput_by_resource.assign(system.resource_count(), 0.0);
  const PairSpan shares(time_shares, system.resource_count());
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resource_ids()) {
      const double x = system.rate(i, j) * shares(i, j);
      p.throughput_by_task[index(i)] += x;
      p.throughput_by_resource[index(j)] += x;
    }
  }
  complete(system, p);
  return p;
}

double priority_error(std::span<const double> throughput_by_task, double throughput,
                      std::span<const double> shares) noexcept {
  double error = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double off = throughput_by_task[i] / throughput - shares[i];
    error += off * off;
  }
  return error;
}

double floor_shortfall(const System& system, std::span<const double> throughput_by_task) noexcept {
  double missing = 0;
  for (const TaskType i : system.types()) {
    const double floor = system.floor(i);
    const double x = throughput_by_task[index(i)];
    if (floor > 0 && x < floor * (1 - kFloorTolerance)) missing += (floor - x) / floor;
  }
  return missing;
}

}  // namespace allot
