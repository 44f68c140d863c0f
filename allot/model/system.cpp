#include "allot/model/system.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"
#include "allot/model/filling.hpp"
#include "allot/model/violations.hpp"

namespace allot {

System::System(std::vector<Resource> resources, std::vector<TaskClass> tasks, Rates rates,
               std::vector<Capacity> capacities)
    : resources_(std::move(resources)),
      tasks_(std::move(tasks)),
      rates_(std::move(rates)),
      capacities_(std::move(capacities)) {
  Rules rules;
  rules.system(resources_, tasks_, rates_.pairs(), capacities_);
  throw_if_any(rules.found());
  derive();
  derive_needs();
}

void System::derive_needs() {
  draws_begin_.assign(1, 0);
  std::vector<std::optional<ResourceId>> drawn_from(capacity_count());
  for (const TaskType i : types()) {
    for (const ResourceId j : resource_ids()) {
      const std::size_t first = draws_.size();
      if (can_run(i, j)) {
        draws_.push_back({servers_of(j), 1.0});
        for (const Need& need : task(i).needs) {
          if (need.resource != j) continue;
          if (need.capacity == servers_of(j)) {
            draws_[first].amount = need.amount;
            has_needs_ |= need.amount != 1;
          } else {
            draws_.push_back({need.capacity, need.amount});
            has_needs_ = true;
          }
        }
      }
      for (std::size_t at = first; at < draws_.size(); ++at) {
        std::optional<ResourceId>& from = drawn_from[index(draws_[at].capacity)];
        is_joined_ |= from && *from != j;
        from = j;
      }
      draws_begin_.push_back(draws_.size());
    }
  }
  if (!has_needs_) return;
  std::vector<double> most(type_count() * resource_count());
  for (const TaskType i : types()) {
    for (const ResourceId j : resources_for(i))
      most[index(i) * resource_count() + index(j)] = static_cast<double>(count(i));
  }
  approximate_ |= has_lumps(*this, most);
}

double System::most_in_service(TaskType i, ResourceId j) const noexcept {
  double most = kMaxNumber;
  for (const Draw& draw : needs(i, j)) most = std::min(most, amount(draw.capacity) / draw.amount);
  return most;
}

void System::derive() {
  seconds_per_task_.assign(tasks_.size(), resources_.size(), 0.0);
  value_rates_ = rates_.pairs();
  floors_.assign(tasks_.size(), 0.0);
  worths_.assign(tasks_.size(), 1.0);
  homes_.assign(tasks_.size(), std::nullopt);
  reach_.assign(resources_.size(), 0);
  allowed_begin_.assign(1, 0);
  for (const TaskType i : types()) {
    worths_[i] = task(i).worth;
    std::optional<ResourceId> fastest;
    for (const ResourceId j : resource_ids()) {
      if (!can_run(i, j)) continue;
      allowed_.push_back(j);
      reach_[j] += count(i);
      seconds_per_task_(i, j) = 1.0 / rate(i, j);
      value_rates_(i, j) = worth(i) * rate(i, j);
      if (!fastest || rate(i, j) > rate(i, *fastest)) fastest = j;
    }
    allowed_begin_.push_back(allowed_.size());
    homes_[i] = task(i).home ? task(i).home : fastest;
    population_ += count(i);
    floors_[i] = task(i).floor.value_or(0.0);
    if (task(i).max_response)
      floors_[i] = std::max(floors_[i], static_cast<double>(count(i)) / *task(i).max_response);
    has_floors_ |= floor(i) > 0;
    has_worths_ |= worth(i) != 1;
  }
  for (const ResourceId j : resource_ids()) {
    const Resource& r = resource(j);
    has_depths_ |= r.min_depth > 1;
    if (r.discipline != Discipline::kFcfs || r.servers == 1 || reach(j) <= r.servers ||
        reach(j) < r.min_depth) {
      continue;
    }
    double common = 0;  // with one rate for all, fcfs is exact, however many tasks wait
    for (const TaskType i : types()) {
      if (count(i) == 0 || !can_run(i, j)) continue;
      approximate_ |= common != 0 && rate(i, j) != common;
      common = rate(i, j);
    }
  }
  if (tasks_.front().priority) {
    double weight = 0;
    for (const TaskClass& task : tasks_) weight += *task.priority;
    for (const TaskClass& task : tasks_) shares_.push_back(*task.priority / weight);
  }
}

double System::power(TaskType i, ResourceId j) const noexcept {
  for (const ResourceNumber& one : task(i).power) {
    if (one.resource == j) return one.value;
  }
  return resource(j).power;
}

System System::with_counts(std::span<const Count> counts) const {
  if (counts.size() != tasks_.size()) throw InvalidModel("counts", "needs one per task type");
  std::vector<TaskClass> tasks = tasks_;
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].count = counts[i];
  return with_tasks(std::move(tasks));
}

System System::with_servers(ResourceId j, Count servers) const {
  std::vector<Resource> resources = resources_;
  resources[index(j)].servers = servers;
  return with_resources(std::move(resources));
}

System System::with_amount(CapacityId r, double amount) const {
  if (is_servers(r)) {
    if (!(std::abs(amount) <= static_cast<double>(kMaxCount)) || amount != std::floor(amount))
      throw InvalidModel("resources[" + std::to_string(index(r)) + "].servers",
                         "must be a whole number, is " + quote::number(amount));
    return with_servers(resource_id(index(r)), static_cast<Count>(amount));
  }
  std::vector<Capacity> capacities = capacities_;
  capacities[index(r) - resources_.size()].amount = amount;
  return System(resources_, tasks_, rates_, std::move(capacities));
}

System System::with_tasks(std::vector<TaskClass> tasks) const {
  return System(resources_, std::move(tasks), rates_, capacities_);
}

System System::with_resources(std::vector<Resource> resources) const {
  return System(std::move(resources), tasks_, rates_, capacities_);
}

System System::with_rates(Rates rates) const {
  std::vector<TaskClass> tasks = tasks_;
  for (std::size_t i = 0; i < tasks.size() && i < rates.types();
       ++i) {  // where it cannot run, it needs nothing
    std::erase_if(tasks[i].needs, [&](const Need& need) {
      return index(need.resource) < rates.resources() && rates(task_type(i), need.resource) == 0;
    });
  }
  return System(resources_, std::move(tasks), std::move(rates), capacities_);
}

System System::with_rate(TaskType i, ResourceId j, double rate) const {
  return with_rates(rates_.with(i, j, rate));
}

System System::with_worths(std::span<const double> worths) const {
  if (worths.size() != tasks_.size()) throw InvalidModel("worths", "needs one per task type");
  std::vector<TaskClass> tasks = tasks_;
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].worth = worths[i];
  return with_tasks(std::move(tasks));
}

System System::with_discipline(Discipline discipline) const {
  std::vector<Resource> resources = resources_;
  for (Resource& resource : resources) resource.discipline = discipline;
  return with_resources(std::move(resources));
}

Assignment home_assignment(const System& system) {
  Assignment assignment;
  home_assignment(system, assignment);
  return assignment;
}

void home_assignment(const System& system, Assignment& assignment) {
  assignment.reset(system.type_count(), system.resource_count());
  for (const TaskType i : system.types()) {
    if (system.count(i) > 0) assignment(i, *system.home(i)) = system.count(i);
  }
}

bool is_placement(const System& system, const Assignment& assignment) {
  if (assignment.types() != system.type_count() || assignment.resources() != system.resource_count())
    return false;
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resource_ids()) {
      if (assignment(i, j) < 0 || (assignment(i, j) > 0 && !system.can_run(i, j))) return false;
    }
    if (assignment.row_sum(i) != system.count(i)) return false;
  }
  for (const ResourceId j : system.resource_ids()) {
    const Count depth = assignment.column_sum(j);
    if (depth != 0 && depth < system.resource(j).min_depth) return false;
  }
  return true;
}

}  // namespace allot
