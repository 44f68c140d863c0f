#include "allot/model/system.hpp"

#include <cmath>
#include <unordered_set>
#include <utility>

#include "allot/base/control.hpp"
#include "allot/base/error.hpp"

namespace allot {
namespace {

std::string field(const char* table, std::size_t at, const char* key) {
  return std::string(table) + "[" + std::to_string(at) + "]." + key;
}

void check_names(const char* table, const auto& entries) {
  std::unordered_set<std::string> seen;
  for (std::size_t at = 0; at < entries.size(); ++at) {
    if (entries[at].name.empty()) throw InvalidModel(field(table, at, "name"), "must not be empty");
    if (has_control_character(entries[at].name))
      throw InvalidModel(field(table, at, "name"), "must not hold control characters");
    if (!seen.insert(entries[at].name).second) {
      throw InvalidModel(field(table, at, "name"), "'" + entries[at].name + "' is used twice");
    }
  }
}

void check_range(const char* table, std::size_t at, const char* key, Count value, Count least) {
  if (value < least || value > kMaxCount) {
    throw InvalidModel(field(table, at, key), "must be a whole number from " + std::to_string(least) +
                                                  " to " + std::to_string(kMaxCount) + ", is " +
                                                  std::to_string(value));
  }
}

void check_not_negative(const char* table, std::size_t at, const char* key, double value) {
  if (!(value >= 0 && value <= kMaxNumber)) {
    throw InvalidModel(field(table, at, key),
                       "must be a finite number >= 0 and at most 1e100, is " + std::to_string(value));
  }
}

}  // namespace

System::System(std::vector<Resource> resources, std::vector<TaskClass> tasks, Rates rates)
    : resources_(std::move(resources)), tasks_(std::move(tasks)), rates_(std::move(rates)) {
  if (resources_.empty()) throw InvalidModel("resources", "needs at least one");
  if (tasks_.empty()) throw InvalidModel("tasks", "needs at least one");
  if (rates_.types() != tasks_.size() || rates_.resources() != resources_.size()) {
    throw InvalidModel("rates", "must have one row per task type and one column per resource");
  }
  check_names("resources", resources_);
  check_names("tasks", tasks_);
  for (std::size_t j = 0; j < resources_.size(); ++j) {
    check_range("resources", j, "servers", resources_[j].servers, 1);
    check_range("resources", j, "min_depth", resources_[j].min_depth, 1);
    check_not_negative("resources", j, "power", resources_[j].power);
    check_not_negative("resources", j, "idle_power", resources_[j].idle_power);
    if (resources_[j].kind != Kind::kSpecialized) continue;
    std::size_t able = 0;
    for (const TaskType i : types()) able += can_run(i, resource_id(j)) ? 1 : 0;
    if (able > 1) {
      throw InvalidModel(field("resources", j, "kind"), "an accelerator runs one task type only, " +
                                                            std::to_string(able) + " have a rate on it");
    }
  }
  std::size_t with_priority = 0;
  double weight = 0;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const TaskClass& task = tasks_[i];
    check_range("tasks", i, "count", task.count, 0);
    if (task.floor) check_not_negative("tasks", i, "floor", *task.floor);
    if (task.priority) {
      check_not_negative("tasks", i, "priority", *task.priority);
      ++with_priority;
      weight += *task.priority;
    }
    if (task.home && (index(*task.home) >= resources_.size() || !can_run(task_type(i), *task.home))) {
      throw InvalidModel(field("tasks", i, "home"), "must be a resource that can run the type");
    }
    bool runs_somewhere = false;
    for (const ResourceId j : resource_ids()) runs_somewhere |= can_run(task_type(i), j);
    if (task.count > 0 && !runs_somewhere) {
      throw InvalidModel(field("tasks", i, "rates"), "'" + task.name + "' has threads but can run nowhere");
    }
  }
  if (with_priority != 0) {
    if (with_priority != tasks_.size()) {
      throw InvalidModel("tasks", "priorities must be given for all task types or for none");
    }
    if (!(weight > 0)) throw InvalidModel("tasks", "priorities must not all be zero");
  }
  derive();
}

void System::derive() {
  seconds_per_task_.assign(tasks_.size(), resources_.size(), 0.0);
  homes_.assign(tasks_.size(), std::nullopt);
  reach_.assign(resources_.size(), 0);
  allowed_begin_.assign(1, 0);
  for (const TaskType i : types()) {
    std::optional<ResourceId> fastest;
    for (const ResourceId j : resource_ids()) {
      if (!can_run(i, j)) continue;
      allowed_.push_back(j);
      reach_[j] += count(i);
      seconds_per_task_(i, j) = 1.0 / rate(i, j);
      if (!fastest || rate(i, j) > rate(i, *fastest)) fastest = j;
    }
    allowed_begin_.push_back(allowed_.size());
    homes_[i] = task(i).home ? task(i).home : fastest;
    population_ += count(i);
    has_floors_ |= floor(i) > 0;
  }
  for (const ResourceId j : resource_ids()) {
    const Resource& r = resource(j);
    has_depths_ |= r.min_depth > 1;
    if (r.discipline != Discipline::kFcfs || r.servers == 1 || reach(j) <= r.servers ||
        reach(j) < r.min_depth) {
      continue;
    }
    double common = 0;  // with one rate for all, fcfs is exact however many wait
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

bool System::has_affinity() const noexcept {
  for (const TaskType i : types()) {
    for (const ResourceId j : resources_for(i)) {
      if (rate(i, j) > rate(i, *home(i))) return false;
    }
  }
  return true;
}

System System::with_counts(std::span<const Count> counts) const {
  if (counts.size() != tasks_.size()) throw InvalidModel("counts", "needs one per task type");
  std::vector<TaskClass> tasks = tasks_;
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].count = counts[i];
  return System(resources_, std::move(tasks), rates_);
}

System System::with_servers(ResourceId j, Count servers) const {
  std::vector<Resource> resources = resources_;
  resources[index(j)].servers = servers;
  return System(std::move(resources), tasks_, rates_);
}

System System::with_rate(TaskType i, ResourceId j, double rate) const {
  return System(resources_, tasks_, rates_.with(i, j, rate));
}

System System::with_discipline(Discipline discipline) const {
  std::vector<Resource> resources = resources_;
  for (Resource& resource : resources) resource.discipline = discipline;
  return System(std::move(resources), tasks_, rates_);
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
