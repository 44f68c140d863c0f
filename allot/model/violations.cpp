#include "allot/model/violations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "allot/base/control.hpp"
#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"

namespace allot {
namespace {

Count whole(double value) { return static_cast<Count>(value); }

bool runs_on_some(std::span<const double> rates) {
  return std::any_of(rates.begin(), rates.end(), [](double rate) { return rate > 0; });
}

}  // namespace

std::string to_string(const FieldPlace& place) {
  std::string text(place.table);
  if (place.entry) text += "[" + std::to_string(*place.entry) + "]";
  if (!place.key.empty()) text += "." + std::string(place.key);
  if (!place.inner.empty()) text += "." + place.inner;
  if (!place.inmost.empty()) text += "." + place.inmost;
  if (place.element) text += "[" + std::to_string(*place.element) + "]";
  return text;
}

std::string to_string(const Violation& violation) {
  return violation.message + (violation.value.empty() ? "" : ", is " + violation.value);
}

void throw_if_any(const std::vector<Violation>& violations) {
  if (!violations.empty())
    throw InvalidModel(to_string(violations.front().place), to_string(violations.front()));
}

std::string wanted_number(double value, double least, double most) {
  if (value >= least && value <= most) return {};
  if (std::isfinite(value) && value > most)
    return "must be at most " + (most == kMaxNumber ? std::string("1e100") : quote::number(most));
  if (least == 1 / kMaxNumber)
    return std::isfinite(value) && value > 0 ? "must be at least 1e-100" : "must be a finite number > 0";
  return "must be a finite number >= " + std::to_string(whole(least));
}

std::string wanted_rate(double rate) {
  if (rate > 0 && rate < 1 / kMaxNumber) return "must be 0 or at least 1e-100";
  return wanted_number(rate, 0, kMaxNumber);
}

std::string wanted_whole(double least, double most) {
  // The largest Count is no double: the nearest one is above it.
  if (most >= static_cast<double>(std::numeric_limits<Count>::max()))
    return "must be a whole number >= " + std::to_string(whole(least));
  return "must be a whole number from " + std::to_string(whole(least)) + " to " + std::to_string(whole(most));
}

// ---- collecting

void Rules::unread(std::string_view table, std::size_t entry, std::string_view key) {
  wrong_.emplace(table, key, entry);
}

void Rules::add(FieldPlace place, std::string message, std::string value, std::optional<FieldPlace> first) {
  if (place.entry) unread(place.table, *place.entry, place.key);
  found_.push_back({std::move(place), std::move(message), std::move(value), std::move(first)});
}

void Rules::conclude(FieldPlace place, std::string message) {
  found_.push_back({std::move(place), std::move(message), {}, {}});
}

bool Rules::is_sound(std::string_view table, std::size_t entry, std::string_view key) const {
  return wrong_.empty() || !wrong_.contains({table, key, entry});
}

bool Rules::all_sound(std::string_view table, std::string_view key) const {
  const auto first = wrong_.lower_bound({table, key, 0});
  return first == wrong_.end() || std::get<0>(*first) != table || std::get<1>(*first) != key;
}

void Rules::check_whole(const FieldPlace& place, Count value, double least, double most) {
  if (value < whole(least) || value > whole(most))
    add(place, wanted_whole(least, most), std::to_string(value));
}

void Rules::check_number(const FieldPlace& place, double value, double least, double most) {
  if (value >= least && value <= most) return;
  add(place, wanted_number(value, least, most), quote::number(value));
}

// ---- what several files have in common

void Rules::names(std::string_view table, std::string_view noun, std::span<const std::string_view> names) {
  std::unordered_map<std::string_view, std::size_t> first;
  for (std::size_t at = 0; at < names.size(); ++at) {
    if (!is_sound(table, at, "name")) continue;
    const FieldPlace place{table, at, "name"};
    const std::string shown = quote::name(names[at]);
    if (names[at].empty()) {
      add(place, "must not be empty");
    } else if (has_control_character(names[at])) {
      add(place, "must not hold control characters", "the string " + shown);
    } else if (const auto [known, is_new] = first.emplace(names[at], at); !is_new) {
      add(place, std::string(noun) + " name " + shown + " is used twice", "",
          FieldPlace{table, known->second, "name"});
    }
  }
}

void Rules::scenario(std::string_view name, const std::optional<double>& power_cap) {
  title(name);
  if (power_cap) check_number({"power_cap", {}}, *power_cap, 0, kMaxNumber);
}

void Rules::title(std::string_view name) {
  if (has_control_character(name))
    add({"name", {}}, "must not hold control characters", "the string " + quote::name(name));
}

void Rules::priorities(std::span<const std::optional<double>> priorities) {
  std::optional<std::size_t> first;
  double weight = 0;
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    if (!priorities[i]) continue;
    if (!first) first = i;
    weight += *priorities[i];
  }
  if (!first) return;
  if (weight == 0 && all_sound("tasks", "priority"))
    add({"tasks", first, "priority"},
        "the priorities must not all be 0: they are weights of the completions");
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    if (priorities[i] || !is_sound("tasks", i, "priority")) continue;
    add({"tasks", i, "priority"},
        "needs 'priority', since other tasks have one: give it for all task types or for none (they are "
        "weights, divided by their sum)");
  }
}

void Rules::accelerator(std::size_t entry, const Resource& resource, std::span<const std::string_view> users,
                        std::string_view what) {
  if (resource.kind != Kind::kSpecialized || users.size() < 2) return;
  add({"resources", entry, "kind"}, quote::name(resource.name) +
                                        " is an accelerator (\"sa\"): only one task type may have a " +
                                        std::string(what) + " on it, not " + quote::names(users));
}

// ---- a system

std::string Rules::name_of(ResourceId j) const {
  return resources_ && index(j) < resources_->size() ? (*resources_)[index(j)].name : std::string();
}

std::string Rules::name_of(CapacityId r) const {
  if (!resources_ || !capacities_ || index(r) >= resources_->size() + capacities_->size()) return {};
  return index(r) < resources_->size() ? (*resources_)[index(r)].name
                                       : (*capacities_)[index(r) - resources_->size()].name;
}

/// Checks that the needs of a type can be met.
void Rules::needs(std::size_t i, const TaskClass& task, std::span<const double> runs, std::string_view what,
                  std::string_view key) {
  for (std::size_t k = 0; k < task.needs.size(); ++k) {
    const Need& need = task.needs[k];
    const FieldPlace place{"tasks", i, "needs", name_of(need.resource), {}, name_of(need.capacity)};
    if (index(need.resource) >= resources_->size()) {
      add({"tasks", i, "needs"}, "there is no such resource");
      continue;
    }
    if (index(need.capacity) >= resources_->size() + capacities_->size()) {
      add({"tasks", i, "needs", place.inner}, "there is no such capacity");
      continue;
    }
    if (!(runs[index(need.resource)] > 0) && is_sound("tasks", i, key)) {
      const bool is_told =
          std::any_of(task.needs.begin(), task.needs.begin() + static_cast<std::ptrdiff_t>(k),
                      [&](const Need& other) { return other.resource == need.resource; });
      if (!is_told)
        conclude({"tasks", i, "needs", place.inner}, "must be absent: " + quote::name(task.name) +
                                                         " has no " + std::string(what) + " on " +
                                                         quote::name(place.inner));
    }
    for (std::size_t other = 0; other < k; ++other) {
      if (task.needs[other].resource == need.resource && task.needs[other].capacity == need.capacity)
        conclude(place, "the need is given twice");
    }
    const bool is_servers = index(need.capacity) < resources_->size();
    const Capacity* const named =
        is_servers ? nullptr : &(*capacities_)[index(need.capacity) - resources_->size()];
    if (named &&
        (named->shared || !is_sound("capacities", index(need.capacity) - resources_->size(), "amount") ||
         !is_sound("capacities", index(need.capacity) - resources_->size(), "shared")))
      continue;
    if (is_servers && !is_sound("resources", index(need.capacity), "servers")) continue;
    const double amount =
        named ? named->amount : static_cast<double>((*resources_)[index(need.capacity)].servers);
    if (need.amount > amount && need.amount <= kMaxNumber) {
      const std::string there = named
                                    ? quote::number(amount) + " available"
                                    : std::to_string(whole(amount)) + (amount == 1 ? " server" : " servers");
      add(place,
          "must be at most the " + there + " of " + quote::name(place.inmost) +
              ", or no task could ever start",
          quote::number(need.amount));
    }
  }
}

void Rules::capacities(const std::vector<Resource>& resources, const std::vector<Capacity>& capacities) {
  std::vector<std::string_view> known;
  for (const Capacity& capacity : capacities) known.emplace_back(capacity.name);
  names("capacities", "capacity", known);
  for (std::size_t r = 0; r < capacities.size(); ++r) {
    fields("capacities", r, capacities[r], capacity_fields());
    for (std::size_t j = 0; j < resources.size(); ++j) {
      if (resources[j].name == capacities[r].name && is_sound("capacities", r, "name"))
        add({"capacities", r, "name"},
            "must be a name of its own: a resource is called " + quote::name(capacities[r].name) +
                ", which stands for its servers",
            "", FieldPlace{"resources", j, "name"});
    }
  }
}

void Rules::tasks(const std::vector<Resource>& resources, const std::vector<Capacity>& capacities,
                  const std::vector<TaskClass>& tasks, std::span<const Field<TaskClass>> fields,
                  const PerPair<double>& runs, std::string_view what, std::string_view key) {
  resources_ = &resources;
  capacities_ = &capacities;
  for (std::size_t i = 0; i < tasks.size(); ++i) this->fields("tasks", i, tasks[i], fields);
  for (std::size_t i = 0; i < tasks.size(); ++i) needs(i, tasks[i], runs.row(task_type(i)), what, key);
  resources_ = nullptr;
  capacities_ = nullptr;
}

void Rules::rates(const std::vector<Resource>& resources, const PerPair<double>& rates) {
  for (const TaskType i : rates.type_ids()) {
    for (const ResourceId j : rates.resource_ids()) {
      const double rate = rates(i, j);
      if (rate == 0 || (rate >= 1 / kMaxNumber && rate <= kMaxNumber)) continue;
      add({"tasks", index(i), "rates", resources[index(j)].name}, wanted_rate(rate), quote::number(rate));
    }
  }
}

void Rules::system(const std::vector<Resource>& resources, const std::vector<TaskClass>& tasks,
                   const PerPair<double>& rates, const std::vector<Capacity>& capacities) {
  if (resources.empty()) add({"resources", {}}, "needs at least one");
  if (tasks.empty()) add({"tasks", {}}, "needs at least one");
  if (rates.types() != tasks.size() || rates.resources() != resources.size()) {
    add({"rates", {}}, "must have one row per task type and one column per resource");
    return;
  }
  std::vector<std::string_view> known;
  for (const Resource& resource : resources) known.emplace_back(resource.name);
  names("resources", "resource", known);
  known.clear();
  for (const TaskClass& task : tasks) known.emplace_back(task.name);
  names("tasks", "task", known);
  this->capacities(resources, capacities);
  for (std::size_t j = 0; j < resources.size(); ++j) fields("resources", j, resources[j], resource_fields());
  this->rates(resources, rates);
  this->tasks(resources, capacities, tasks, task_fields(), rates, "rate > 0", "rates");

  for (std::size_t j = 0; j < resources.size(); ++j) {
    if (resources[j].kind != Kind::kSpecialized) continue;
    std::vector<std::string_view> users;
    for (const TaskType i : rates.type_ids()) {
      if (rates(i, resource_id(j)) > 0) users.emplace_back(tasks[index(i)].name);
    }
    accelerator(j, resources[j], users, "rate");
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const TaskClass& task = tasks[i];
    if (!is_sound("tasks", i, "rates")) continue;
    const std::span<const double> row = rates.row(task_type(i));
    if (task.count > 0 && is_sound("tasks", i, "count") && !runs_on_some(row)) {
      conclude({"tasks", i, "rates"},
               quote::name(task.name) +
                   " has threads but can run nowhere: 'rates' needs a rate > 0 on at least one resource");
    }
    if (!task.home || (index(*task.home) < row.size() && row[index(*task.home)] > 0)) continue;
    add({"tasks", i, "home"},
        "must be a resource that can run the type" +
            (index(*task.home) < row.size()
                 ? ", but it has no rate > 0 on " + quote::name(resources[index(*task.home)].name)
                 : ""));
  }
  std::vector<std::optional<double>> weights;
  for (const TaskClass& task : tasks) weights.push_back(task.priority);
  priorities(weights);
}

// ---- what varies over time

void Rules::runs_somewhere(const FieldPlace& place, TaskType task, const std::vector<TaskClass>& tasks,
                           const PerPair<double>& rates) {
  const bool is_read = is_sound(place.table, *place.entry, place.key);
  if (index(task) >= tasks.size()) {
    if (is_read) add(place, "there is no such task type");
    return;
  }
  if ((!is_read && !place.element) || !is_sound("tasks", index(task), "rates")) return;
  if (runs_on_some(rates.row(task))) return;
  conclude(place, quote::name(tasks[index(task)].name) +
                      " can run nowhere: its 'rates' need a rate > 0 on at least one resource");
}

/// Checks that no count falls below 0 or rises above the limit when the changes apply by time; changes at the
/// same time apply in order.
void Rules::counts_over_time(const std::vector<TaskClass>& tasks,
                             const std::vector<PopulationChange>& population) {
  if (!all_sound("tasks", "count")) return;
  for (const std::string_view key : {"at", "task", "change"}) {
    if (!all_sound("population", key)) return;
  }
  std::vector<std::size_t> order(population.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return population[a].at < population[b].at; });
  std::vector<Count> counts;
  for (const TaskClass& task : tasks) counts.push_back(task.count);
  for (const std::size_t k : order) {
    Count& count = counts[index(population[k].task)];
    const Count before = count;
    count += population[k].change;
    if (count >= 0 && count <= kMaxCount) continue;
    add({"population", k, "change"}, "'change' would take the count of " +
                                         quote::name(tasks[index(population[k].task)].name) + " from " +
                                         std::to_string(before) + " to " + std::to_string(count) +
                                         "; it must stay from 0 to " + std::to_string(kMaxCount));
    count = before;
  }
}

/// Worth and response time limits that a type must not have, since `threads` visit it or its tasks arrive.
void Rules::limits_of_visited(const std::vector<TaskClass>& tasks, const std::vector<ThreadGroup>& threads,
                              const std::vector<Arrivals>& arrivals) {
  std::vector<bool> is_visited(tasks.size());
  for (const ThreadGroup& group : threads) {
    for (const TaskType i : group.sequence) {
      if (index(i) < tasks.size()) is_visited[index(i)] = true;
    }
  }
  std::vector<bool> arrive(tasks.size());
  for (const Arrivals& stream : arrivals) {
    if (index(stream.task) < tasks.size()) arrive[index(stream.task)] = true;
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (is_visited[i] && tasks[i].worth != 1 && is_sound("tasks", i, "worth"))
      add({"tasks", i, "worth"},
          "'worth' of a type that 'threads' visit must be absent: give the group a worth, which is that of a "
          "round");
    if (!tasks[i].max_response || !is_sound("tasks", i, "max_response")) continue;
    if (is_visited[i]) {
      add({"tasks", i, "max_response"},
          "'max_response' of a type that 'threads' visit must be absent: give the group one, for a whole "
          "round");
    } else if (arrive[i]) {
      add({"tasks", i, "max_response"},
          "'max_response' of a type with 'arrivals' must be absent: how long its tasks wait is not planned");
    }
  }
}

void Rules::work(const std::vector<TaskClass>& tasks, const PerPair<double>& rates,
                 const std::vector<ThreadGroup>& threads, const std::vector<PopulationChange>& population,
                 const std::vector<Arrivals>& arrivals) {
  Count total = 0;
  for (std::size_t k = 0; k < threads.size(); ++k) {
    const ThreadGroup& group = threads[k];
    fields("threads", k, group, thread_fields());
    if (has_control_character(group.name))
      add({"threads", k, "name"}, "must not hold control characters",
          "the string " + quote::name(group.name));
    if (is_sound("threads", k, "count")) total += group.count;
    if (group.sequence.empty() && is_sound("threads", k, "sequence"))
      add({"threads", k, "sequence"}, "'sequence' needs at least one task name");
    for (std::size_t at = 0; at < group.sequence.size(); ++at)
      runs_somewhere({"threads", k, "sequence", "", at}, group.sequence[at], tasks, rates);
  }
  if (total > kMaxCount) {
    add({"threads", {}}, "the groups have " + std::to_string(total) + " threads in all; at most " +
                             std::to_string(kMaxCount) + " are possible");
  }
  limits_of_visited(tasks, threads, arrivals);
  for (std::size_t k = 0; k < population.size(); ++k) {
    const PopulationChange& change = population[k];
    fields("population", k, change, population_fields());
    if (change.change == 0 && is_sound("population", k, "change"))
      add({"population", k, "change"}, "must not be 0: how many threads come, or go when negative");
    if (change.change > 0) {
      runs_somewhere({"population", k, "task"}, change.task, tasks, rates);
    } else if (index(change.task) >= tasks.size()) {
      add({"population", k, "task"}, "there is no such task type");
    }
  }
  counts_over_time(tasks, population);
  for (std::size_t k = 0; k < arrivals.size(); ++k) {
    fields("arrivals", k, arrivals[k], arrival_fields());
    runs_somewhere({"arrivals", k, "task"}, arrivals[k].task, tasks, rates);
  }
}

void Rules::counts_or_threads(const std::vector<TaskClass>& tasks, const std::vector<ThreadGroup>& threads) {
  for (std::size_t i = 0; i < tasks.size() && !threads.empty(); ++i) {
    if (tasks[i].count > 0)
      add({"tasks", i, "count"}, "must be 0 or absent where 'threads' are given, which take its place");
  }
}

void Rules::measured(const std::vector<MeasuredRate>& measured) {
  for (std::size_t k = 0; k < measured.size(); ++k) {
    fields("measured", k, measured[k], measured_fields());
    const bool is_read = is_sound("measured", k, "low") && is_sound("measured", k, "high");
    if (is_read && measured[k].high < measured[k].low)
      add({"measured", k, "high"}, "must not be below 'low'");
  }
}

}  // namespace allot
