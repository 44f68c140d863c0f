#include "allot/check/detail/claims.hpp"

#include <gmpxx.h>

#include "allot/check/detail/exact.hpp"

namespace allot::check::detail {
namespace {

mpq_class least_completions(const Task& task) {
  return mpq_class(task.floor) * mpq_class(kFloorTolerance - 1, kFloorTolerance);
}

/// Every thread placed once, only where it can run, and no resource between empty and its minimum depth.
std::string problem_of_placement(const Machine& machine,
                                 const std::vector<std::vector<std::int64_t>>& assignment) {
  for (std::size_t i = 0; i < machine.tasks.size(); ++i) {
    std::int64_t placed = 0;
    for (std::size_t j = 0; j < machine.resources.size(); ++j) {
      if (assignment[i][j] > 0 && machine.rates[i][j] == 0) {
        return "the assignment places " + quoted(machine.tasks[i].name) + " at " +
               quoted(machine.resources[j].name) + ", which cannot run it";
      }
      placed += assignment[i][j];
    }
    if (placed != machine.tasks[i].count) {
      return "the assignment places " + std::to_string(placed) + " threads of " +
             quoted(machine.tasks[i].name) + ", which has " + std::to_string(machine.tasks[i].count);
    }
  }
  for (std::size_t j = 0; j < machine.resources.size(); ++j) {
    std::int64_t depth = 0;
    for (const auto& row : assignment) depth += row[j];
    if (depth > 0 && depth < machine.resources[j].min_depth) {
      return "the assignment leaves " + quoted(machine.resources[j].name) + " with " + std::to_string(depth) +
             " tasks, below its minimum depth of " + std::to_string(machine.resources[j].min_depth);
    }
  }
  return {};
}

/// Adds what each type completes at resource j; false if the state has no exact formula.
bool add_completions(const Machine& machine, const std::vector<std::vector<std::int64_t>>& assignment,
                     std::size_t j, std::vector<mpq_class>& by_task) {
  const Resource& resource = machine.resources[j];
  mpq_class tasks = 0;
  mpq_class seconds = 0;
  double common = 0;
  bool one_rate = true;
  for (std::size_t i = 0; i < machine.tasks.size(); ++i) {
    if (assignment[i][j] == 0) continue;
    tasks += exact(assignment[i][j]);
    seconds += exact(assignment[i][j]) / mpq_class(machine.rates[i][j]);
    one_rate = one_rate && (common == 0 || common == machine.rates[i][j]);
    common = machine.rates[i][j];
  }
  const mpq_class servers = exact(resource.servers);
  const bool waits = tasks > servers;
  if (waits && resource.fcfs && resource.servers > 1 && !one_rate) return false;
  for (std::size_t i = 0; i < machine.tasks.size(); ++i) {
    const mpq_class n = exact(assignment[i][j]);
    if (n == 0) continue;
    const mpq_class rate(machine.rates[i][j]);
    if (!waits) {
      by_task[i] += n * rate;
    } else if (resource.fcfs) {
      by_task[i] += servers * n / seconds;  // one server, or one rate
    } else {
      by_task[i] += servers * n * rate / tasks;
    }
  }
  return true;
}

std::string problem_of_throughput(const Certificate& certificate) {
  const Machine& machine = certificate.machine;
  std::vector<mpq_class> by_task(machine.tasks.size());
  for (std::size_t j = 0; j < machine.resources.size(); ++j) {
    if (!add_completions(machine, certificate.claim.assignment, j, by_task)) {
      return "tasks of different rates wait at " + quoted(machine.resources[j].name) +
             ", which is fcfs with several servers: that state has no exact formula";
    }
  }
  mpq_class total = 0;
  for (std::size_t i = 0; i < by_task.size(); ++i) {
    total += mpq_class(machine.tasks[i].worth) * by_task[i];
    if (by_task[i] < least_completions(machine.tasks[i])) {
      return "the assignment completes " + shown(by_task[i]) + " tasks/s of " +
             quoted(machine.tasks[i].name) + ", below its floor of " + shown(machine.tasks[i].floor);
    }
  }
  if (total < mpq_class(certificate.claim.at_least)) {
    return "the assignment has a value of " + shown(total) + " per second, less than the " +
           shown(certificate.claim.at_least) + " that are claimed";
  }
  return {};
}

/// Scaled down by one factor until they fit, with each type then slowed down to the common level, the time
/// shares keep the shares exactly. This determines their worth.
std::string problem_of_shares(const Certificate& certificate) {
  const Machine& machine = certificate.machine;
  const auto& time = certificate.claim.time_shares;
  mpq_class factor = 1;
  const auto limit = [&](const mpq_class& used, const mpq_class& available) {
    if (used > factor * available) factor = used / available;
  };
  for (std::size_t i = 0; i < machine.tasks.size(); ++i) {
    for (std::size_t j = 0; j < machine.resources.size(); ++j) {
      if (time[i][j] == 0) continue;
      if (certificate.claim.assignment[i][j] == 0) {
        return quoted(machine.tasks[i].name) + " has time at " + quoted(machine.resources[j].name) +
               ", but no task there";
      }
      limit(mpq_class(time[i][j]), exact(certificate.claim.assignment[i][j]));
    }
  }
  for (std::size_t j = 0; j < machine.resources.size(); ++j) {
    mpq_class used = 0;
    for (const auto& row : time) used += mpq_class(row[j]);
    limit(used, exact(machine.resources[j].servers));
  }
  mpq_class weight = 0;
  mpq_class level = -1;
  for (std::size_t i = 0; i < machine.tasks.size(); ++i) {
    const mpq_class priority(*machine.tasks[i].priority);
    weight += priority;
    if (priority == 0) continue;
    mpq_class completed = 0;
    for (std::size_t j = 0; j < machine.resources.size(); ++j) {
      completed += mpq_class(time[i][j]) * mpq_class(machine.rates[i][j]);
    }
    const mpq_class reached = completed / priority / factor;
    if (level < 0 || reached < level) level = reached;
  }
  for (const Task& task : machine.tasks) {
    if (mpq_class(*task.priority) * level < least_completions(task)) {
      return "the time shares complete " + shown(mpq_class(*task.priority) * level) + " tasks/s of " +
             quoted(task.name) + ", below its floor of " + shown(task.floor);
    }
  }
  if (weight * level < mpq_class(certificate.claim.at_least)) {
    return "with every share kept, the time shares complete " + shown(weight * level) +
           " tasks/s, less than the " + shown(certificate.claim.at_least) + " that are claimed";
  }
  return {};
}

}  // namespace

std::string problem_of_answer(const Certificate& certificate) {
  if (std::string problem = problem_of_placement(certificate.machine, certificate.claim.assignment);
      !problem.empty()) {
    return problem;
  }
  return certificate.objective == Objective::kThroughput ? problem_of_throughput(certificate)
                                                         : problem_of_shares(certificate);
}

}  // namespace allot::check::detail
