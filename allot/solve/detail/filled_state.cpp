#include "allot/solve/detail/filled_state.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace allot::detail {
namespace {

constexpr std::size_t kNowhere = ~std::size_t{0};

bool is_plain(std::span<const Draw> draws) noexcept { return draws.size() == 1 && draws.front().amount == 1; }

}  // namespace

/// Gives all resources that are joined by capacities the same number; numbers run from 0 without gaps.
void FilledState::join(std::vector<std::size_t>& group_of) const {
  std::vector<std::size_t> parent(system_->resource_count());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t j) {
    while (parent[j] != j) j = parent[j] = parent[parent[j]];
    return j;
  };
  std::vector<std::size_t> user(system_->capacity_count(), kNowhere);
  for (const TaskType i : system_->types()) {
    if (system_->count(i) == 0) continue;
    for (const ResourceId j : system_->resources_for(i)) {
      for (const Draw& draw : system_->needs(i, j)) {
        std::size_t& other = user[index(draw.capacity)];
        if (other == kNowhere) other = index(j);
        parent[root(index(j))] = root(other);
      }
    }
  }
  std::vector<std::size_t> number(parent.size(), kNowhere);
  std::size_t next = 0;
  group_of.resize(parent.size());
  for (std::size_t j = 0; j < parent.size(); ++j) {
    std::size_t& group = number[root(j)];
    if (group == kNowhere) group = next++;
    group_of[j] = group;
  }
}

FilledState::FilledState(const System& system) : system_(&system), drawn_(system.capacity_count()) {
  join(group_of_);
  groups_.resize(group_of_.empty() ? 0 : *std::max_element(group_of_.begin(), group_of_.end()) + 1);
  at_.assign(system.type_count() * system.resource_count(), kNowhere);
  std::vector<bool> plain(groups_.size(), true);
  for (const ResourceId j : system.resource_ids()) {
    Group& group = groups_[group_of_[index(j)]];
    plain[group_of_[index(j)]] = plain[group_of_[index(j)]] && group.pairs.empty();
    group.discipline = system.resource(j).discipline;
    group.servers = system.resource(j).servers;
    for (const TaskType i : system.types()) {
      if (system.count(i) == 0 || !system.can_run(i, j)) continue;
      at_[index(i) * system.resource_count() + index(j)] = group.pairs.size();
      group.pairs.push_back({{i, j}, system.rate(i, j), system.value_rate(i, j)});
      if (!is_plain(system.needs(i, j))) plain[group_of_[index(j)]] = false;
    }
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    group.tasks.assign(group.pairs.size(), 0.0);
    group.completed.assign(group.pairs.size(), 0.0);
    if (plain[g]) continue;
    std::vector<PairId> ids;
    for (const Pair& pair : group.pairs) ids.push_back(pair.id);
    group.sharing.emplace(system, ids);
  }
}

/// Fills in X_ij of a group for these numbers of tasks, and returns its value.
double FilledState::complete(Group& group, std::span<const double> tasks, std::vector<double>& completed) {
  completed.resize(tasks.size());
  if (group.sharing) {
    const std::span<const double> served = (*group.sharing)(tasks).at_full_speed;
    for (std::size_t at = 0; at < tasks.size(); ++at) completed[at] = group.pairs[at].rate * served[at];
  } else {
    ColumnSums sums;
    for (std::size_t at = 0; at < tasks.size(); ++at)
      sums = sums.plus(static_cast<Count>(tasks[at]), group.pairs[at].value_rate, 1 / group.pairs[at].rate);
    const CompletionLaw law = completion_law(group.discipline, group.servers, sums);
    for (std::size_t at = 0; at < tasks.size(); ++at)
      completed[at] = tasks[at] * (law.per_rate * group.pairs[at].rate + law.per_task);
  }
  double value = 0;
  for (std::size_t at = 0; at < tasks.size(); ++at)
    value += system_->worth(group.pairs[at].id.type) * completed[at];
  return value;
}

void FilledState::add_up() noexcept {
  value_ = 0;
  for (const Group& group : groups_) value_ += group.value;
}

void FilledState::place(std::span<const Count> counts) {
  std::fill(drawn_.begin(), drawn_.end(), 0.0);
  for (Group& group : groups_) {
    bool changed = false;
    for (std::size_t at = 0; at < group.pairs.size(); ++at) {
      const auto [i, j] = group.pairs[at].id;
      const double n = static_cast<double>(counts[index(i) * group_of_.size() + index(j)]);
      changed |= group.tasks[at] != n;
      group.tasks[at] = n;
      if (n == 0) continue;
      for (const Draw& draw : system_->needs(i, j)) drawn_[index(draw.capacity)] += draw.amount * n;
    }
    if (changed) group.value = complete(group, group.tasks, group.completed);
  }
  add_up();
}

void FilledState::throughputs(std::span<double> by_task) const noexcept {
  std::fill(by_task.begin(), by_task.end(), 0.0);
  for (const Group& group : groups_) {
    for (std::size_t at = 0; at < group.pairs.size(); ++at)
      by_task[index(group.pairs[at].id.type)] += group.completed[at];
  }
}

/// Writes the affected groups to `foreseen_`.
double FilledState::foresee(std::span<const Shift> shifts) {
  touched_ = 0;
  for (const Shift& shift : shifts) {
    if (shift.n == 0) continue;
    const std::size_t g = group_of_[index(shift.resource)];
    const auto touched = foreseen_.begin() + static_cast<std::ptrdiff_t>(touched_);
    auto known =
        std::find_if(foreseen_.begin(), touched, [g](const Foreseen& one) { return one.group == g; });
    if (known == touched) {
      if (touched_ == foreseen_.size()) {
        foreseen_.emplace_back();
        known = foreseen_.end() - 1;
      }
      ++touched_;
      known->group = g;
      known->tasks = groups_[g].tasks;
    }
    known->tasks[at_[index(shift.type) * group_of_.size() + index(shift.resource)]] +=
        static_cast<double>(shift.n);
  }
  double change = 0;
  for (std::size_t k = 0; k < touched_; ++k) {
    Foreseen& one = foreseen_[k];
    one.value = complete(groups_[one.group], one.tasks, one.completed);
    change += one.value - groups_[one.group].value;
  }
  return change;
}

void FilledState::throughputs_after(std::span<const Shift> shifts, std::span<double> by_task) {
  foresee(shifts);
  std::fill(by_task.begin(), by_task.end(), 0.0);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::vector<double>* completed = &groups_[g].completed;
    for (std::size_t k = 0; k < touched_; ++k) {
      if (foreseen_[k].group == g) completed = &foreseen_[k].completed;
    }
    for (std::size_t at = 0; at < completed->size(); ++at)
      by_task[index(groups_[g].pairs[at].id.type)] += (*completed)[at];
  }
}

void FilledState::apply(std::span<const Shift> shifts) {
  foresee(shifts);
  for (std::size_t k = 0; k < touched_; ++k) {
    Group& group = groups_[foreseen_[k].group];
    std::swap(group.tasks, foreseen_[k].tasks);
    std::swap(group.completed, foreseen_[k].completed);
    group.value = foreseen_[k].value;
  }
  std::fill(drawn_.begin(), drawn_.end(), 0.0);
  for (const Group& group : groups_) {
    for (std::size_t at = 0; at < group.pairs.size(); ++at) {
      if (group.tasks[at] == 0) continue;
      for (const Draw& draw : system_->needs(group.pairs[at].id.type, group.pairs[at].id.resource))
        drawn_[index(draw.capacity)] += draw.amount * group.tasks[at];
    }
  }
  add_up();
}

Count FilledState::room(TaskType i, ResourceId j) const noexcept {
  double room = static_cast<double>(system_->count(i));
  for (const Draw& draw : system_->needs(i, j)) {
    const double left = system_->amount(draw.capacity) - drawn_[index(draw.capacity)];
    room = std::min(room, left / draw.amount * (1 + 1e-12));
  }
  return static_cast<Count>(std::max(0.0, std::floor(room)));
}

double most_value(const System& system) noexcept {
  double by_servers = 0;
  double by_threads = 0;
  for (const ResourceId j : system.resource_ids()) {
    double most = 0;
    for (const TaskType i : system.types()) {
      if (system.can_run(i, j)) most = std::max(most, system.value_rate(i, j) / system.servers_taken(i, j));
    }
    by_servers += most * static_cast<double>(system.resource(j).servers);
  }
  for (const TaskType i : system.types()) {
    double most = 0;
    for (const ResourceId j : system.resources_for(i)) most = std::max(most, system.value_rate(i, j));
    by_threads += most * static_cast<double>(system.count(i));
  }
  return std::min(by_servers, by_threads);
}

}  // namespace allot::detail
