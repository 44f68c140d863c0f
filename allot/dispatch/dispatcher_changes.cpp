// Changes while a dispatcher is at work. All except reports request a new plan.
#include <string>

#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"
#include "allot/dispatch/detail/dispatcher_state.hpp"

namespace allot {
namespace {

using detail::Access;
using detail::KnownSystem;
using Presence = KnownSystem::Presence;

void store_count(KnownSystem& known, TaskType i, Count count) {
  known.check(i);
  if (count < 0 || count > kMaxCount) throw InvalidModel("count", "must be from 0 to 1e9");
  if (known.types[index(i)].count != count) known.expect(i, count);
}

/// Renumbers the capacities that follow the servers of resources, when a resource is added or removed.
void renumber_capacities(KnownSystem& known, std::size_t first, int by) {
  for (TaskClass& type : known.types) {
    for (Need& need : type.needs) {
      if (index(need.capacity) >= first)
        need.capacity = capacity_id(static_cast<std::size_t>(static_cast<int>(index(need.capacity)) + by));
    }
  }
}

/// Throws InvalidModel if a task that may come takes more servers than there would be.
void check_needs(const KnownSystem& known, ResourceId j, Count servers) {
  for (const TaskType i : known.type_ids()) {
    const TaskClass& type = known.types[index(i)];
    for (const Need& need : type.needs) {
      if (index(need.capacity) != index(j) || need.amount <= static_cast<double>(servers)) continue;
      if (!known.pair(i, need.resource).exists) continue;
      throw InvalidModel("servers", "must be at least the " + quote::number(need.amount) + " that " +
                                        quote::name(type.name) + " takes of them: disable it there first");
    }
  }
}

/// No new tasks go to the resource.
void close_all(KnownSystem& known, ResourceId j) {
  known.check(j);
  if (known.presence[index(j)] == Presence::kHere) known.presence[index(j)] = Presence::kDrained;
  for (const TaskType i : known.type_ids()) known.close(i, j);
  known.changed = true;
}

}  // namespace

void Dispatcher::set_count(TaskType i, Count count) {
  const State::Change known(*state_);
  store_count(*known, i, count);
}

void Dispatcher::set_counts(std::span<const Count> counts) {
  const State::Change known(*state_);
  for (std::size_t i = 0; i < counts.size(); ++i) store_count(*known, task_type(i), counts[i]);
}

void Dispatcher::set_priorities(std::span<const double> priorities) {
  const State::Change known(*state_);
  if (priorities.size() != known->types.size()) throw InvalidModel("priorities", "needs one for each type");
  const std::vector<TaskClass> before = known->types;
  for (const TaskType i : known->type_ids()) known->types[index(i)].priority = priorities[index(i)];
  try {
    known->check_all();
  } catch (...) {
    known->types = before;
    throw;
  }
  known->changed = true;
}

void Dispatcher::set_needs(TaskType i, std::vector<Need> needs) {
  const State::Change known(*state_);
  known->check(i);
  std::vector<Need>& present = known->types[index(i)].needs;
  if (present == needs) return;
  present.swap(needs);
  try {
    known->check_all();
  } catch (...) {
    present.swap(needs);
    throw;
  }
  known->sharing.reset();
  known->changed = true;
}

TaskType Dispatcher::add_type(const TaskClass& type, std::span<const RatePrior> by_resource) {
  const State::Change known(*state_);
  if (known->types.size() == known->counts.type_room())
    throw InvalidModel("types", "no room: see more_types");
  if (by_resource.size() != known->resources.size())
    throw InvalidModel("priors", "needs one for each resource");
  const TaskType i = task_type(known->types.size());
  known->types.push_back(type);
  known->populations.emplace_back();
  known->expect(i, type.count);
  known->removed.push_back(false);
  try {
    for (const ResourceId j : known->resource_ids()) known->make_pair(i, j, by_resource[index(j)]);
    known->check_all();
  } catch (...) {
    for (const ResourceId j : known->resource_ids()) known->counts.set_access(i, j, Access::kClosed);
    known->types.pop_back();
    known->populations.pop_back();
    known->removed.pop_back();
    throw;
  }
  known->sharing.reset();
  for (const ResourceId j : known->resource_ids()) {
    if (!known->present(i, j)) known->counts.set_access(i, j, Access::kClosed);
  }
  known->counts.types.store(known->types.size(), std::memory_order_release);
  known->changed = true;
  return i;
}

ResourceId Dispatcher::add_resource(const Resource& resource, std::span<const RatePrior> by_type) {
  const State::Change known(*state_);
  if (known->resources.size() == known->counts.resource_room()) {
    throw InvalidModel("resources", "no room: see more_resources");
  }
  if (by_type.size() != known->types.size()) throw InvalidModel("priors", "needs one for each type");
  const ResourceId j = resource_id(known->resources.size());
  known->resources.push_back(resource);
  known->presence.push_back(Presence::kHere);
  renumber_capacities(*known, index(j), +1);
  try {
    for (const TaskType i : known->type_ids()) known->make_pair(i, j, by_type[index(i)]);
    known->check_all();
  } catch (...) {
    for (const TaskType i : known->type_ids()) known->counts.set_access(i, j, Access::kClosed);
    known->resources.pop_back();
    known->presence.pop_back();
    renumber_capacities(*known, index(j) + 1, -1);
    throw;
  }
  for (const TaskType i : known->type_ids()) {
    if (!known->present(i, j)) known->counts.set_access(i, j, Access::kClosed);
  }
  known->sharing.reset();
  known->counts.servers(j).store(resource.servers, std::memory_order_relaxed);
  known->counts.resources.store(known->resources.size(), std::memory_order_release);
  known->changed = true;
  return j;
}

void Dispatcher::remove_type(TaskType i) {
  const State::Change known(*state_);
  known->check(i);
  known->removed[index(i)] = true;
  for (const ResourceId j : known->resource_ids()) known->close(i, j);
  known->changed = true;
}

void Dispatcher::set_servers(ResourceId j, Count servers) {
  const State::Change known(*state_);
  known->check(j);
  if (servers < 1 || servers > kMaxCount) throw InvalidModel("servers", "must be from 1 to 1e9");
  check_needs(*known, j, servers);
  known->changed |= known->resources[index(j)].servers != servers;
  known->resources[index(j)].servers = servers;
  known->sharing.reset();
  known->counts.servers(j).store(servers, std::memory_order_relaxed);
}

void Dispatcher::drain(ResourceId j) {
  const State::Change known(*state_);
  close_all(*known, j);
}

void Dispatcher::lose(ResourceId j) {
  const State::Change known(*state_);
  close_all(*known, j);
  known->presence[index(j)] = Presence::kLost;
  known->counts.lost(j).store(true, std::memory_order_relaxed);
}

void Dispatcher::restore(ResourceId j) {
  const State::Change known(*state_);
  known->check(j);
  known->presence[index(j)] = Presence::kHere;
  known->counts.lost(j).store(false, std::memory_order_relaxed);
  for (const TaskType i : known->type_ids()) {
    if (known->present(i, j)) known->counts.set_access(i, j, Access::kOpen);
  }
  known->changed = true;
}

void Dispatcher::disable(TaskType i, ResourceId j) {
  const State::Change known(*state_);
  known->check(i);
  known->check(j);
  known->pair(i, j).exists = false;
  known->sharing.reset();
  known->close(i, j);
  known->changed = true;
}

void Dispatcher::report_running(TaskType i, ResourceId j, std::span<const double> busy_seconds) {
  const State::Change known(*state_);
  known->check(i);
  known->check(j);
  known->pair(i, j).estimator.set_running(busy_seconds);
}

}  // namespace allot
