// States of tasks with needs once more: the throughput from the scenario's own words in long double, and the
// best state by looking at all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "allot/model/system.hpp"
#include "allot/model/throughput.hpp"
#include "tests/support/random_needs.hpp"

namespace allot::testing {

/// What a state completes, by the definition: levels rise together, and whoever needs a capacity that is used
/// up stops.
class NeedsOracle {
 public:
  explicit NeedsOracle(const System& system) : system_(system), width_(system.resource_count()) {
    for (const Resource& resource : system.resources())
      amounts_.push_back(static_cast<long double>(resource.servers));
    shared_.assign(width_, false);
    for (const Capacity& capacity : system.capacities()) {
      amounts_.push_back(capacity.amount);
      shared_.push_back(capacity.shared);
    }
    needs_.assign(system.type_count() * width_, std::vector<long double>(amounts_.size(), 0));
    for (std::size_t i = 0; i < system.type_count(); ++i) {
      for (std::size_t j = 0; j < width_; ++j) needs_[i * width_ + j][j] = 1;
      for (const Need& need : system.task(task_type(i)).needs)
        needs_[i * width_ + index(need.resource)][index(need.capacity)] = need.amount;
    }
  }

  std::vector<double> throughput_by_task(const Assignment& state) const {
    std::vector<long double> tasks;
    for (const Count n : state.values()) tasks.push_back(static_cast<long double>(n));
    fill(tasks, false);
    fill(tasks, true);
    std::vector<double> by_task(system_.type_count());
    for (std::size_t pair = 0; pair < tasks.size(); ++pair) {
      by_task[pair / width_] += static_cast<double>(
          system_.rate(task_type(pair / width_), resource_id(pair % width_)) * tasks[pair]);
    }
    return by_task;
  }

  double value(const std::vector<double>& by_task) const {
    double value = 0;
    for (std::size_t i = 0; i < by_task.size(); ++i) value += system_.task(task_type(i)).worth * by_task[i];
    return value;
  }

  /// Every placement that keeps minimum depths.
  void visit(const std::function<void(const Assignment&)>& visitor) const {
    Assignment state(system_.type_count(), width_);
    place(state, 0, 0, system_.count(task_type(0)), visitor);
  }

  /// The largest value of a state that meets every floor; nothing where none does.
  std::optional<double> most_value() const {
    std::optional<double> most;
    visit([&](const Assignment& state) {
      const std::vector<double> by_task = throughput_by_task(state);
      if (floor_shortfall(system_, by_task) == 0) most = std::max(most.value_or(0), value(by_task));
    });
    return most;
  }

 private:
  /// Takes the tasks down to what their levels leave of them.
  void fill(std::vector<long double>& tasks, bool shared) const {
    const std::vector<long double> all = tasks;
    std::vector<bool> rises(tasks.size());
    for (std::size_t pair = 0; pair < tasks.size(); ++pair) rises[pair] = tasks[pair] > 0;
    for (long double level = 0; level < 1;) {
      std::vector<long double> stops(amounts_.size(), 2);
      for (std::size_t r = 0; r < amounts_.size(); ++r) {
        long double used = 0;
        long double rising = 0;
        for (std::size_t pair = 0; pair < all.size() && shared_[r] == shared; ++pair)
          (rises[pair] ? rising : used) += needs_[pair][r] * (rises[pair] ? all[pair] : tasks[pair]);
        if (rising > 0) stops[r] = std::max(level, (amounts_[r] - used) / rising);
      }
      level = std::min(1.0L, *std::min_element(stops.begin(), stops.end()));
      if (!(level < 1)) break;
      for (std::size_t pair = 0; pair < all.size(); ++pair) {
        for (std::size_t r = 0; r < amounts_.size() && rises[pair]; ++r) {
          if (stops[r] > level * (1 + 1e-15L) || needs_[pair][r] == 0) continue;
          rises[pair] = false;
          tasks[pair] = all[pair] * level;
        }
      }
    }
  }

  void place(Assignment& state, std::size_t i, std::size_t j, Count left,
             const std::function<void(const Assignment&)>& visitor) const {
    if (i == system_.type_count()) {
      if (is_placement(system_, state)) visitor(state);
      return;
    }
    if (j == width_) {
      if (left != 0) return;
      place(state, i + 1, 0, i + 1 < system_.type_count() ? system_.count(task_type(i + 1)) : 0, visitor);
      return;
    }
    const Count most = system_.can_run(task_type(i), resource_id(j)) ? left : 0;
    for (Count n = 0; n <= most; ++n) {
      state(task_type(i), resource_id(j)) = n;
      place(state, i, j + 1, left - n, visitor);
    }
    state(task_type(i), resource_id(j)) = 0;
  }

  const System& system_;
  std::size_t width_;
  std::vector<long double> amounts_;
  std::vector<bool> shared_;
  std::vector<std::vector<long double>> needs_;  // by pair, then by capacity
};

/// How many placements there are, minimum depths not considered.
inline double states_of(const System& system) {
  double states = 1;
  for (const TaskType i : system.types()) {
    const double others = static_cast<double>(system.resources_for(i).size()) - 1;
    for (double k = 1; k <= others && system.count(i) > 0; ++k)
      states *= (static_cast<double>(system.count(i)) + k) / k;
  }
  return std::round(states);
}

/// The same system, now and then with floors that some state meets, minimum depths and priorities.
inline System with_limits(const System& system, RandomStream& random) {
  std::vector<Resource> machine = system.resources();
  if (random.below(4) == 0) {
    for (Resource& resource : machine) resource.min_depth = 1 + static_cast<Count>(random.below(3));
  }
  std::vector<TaskClass> tasks = system.tasks();
  if (random.below(3) == 0) {
    const Performance some = evaluate(system, random_placement(system, random));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (random.below(2) == 0 && some.throughput_by_task[i] > 0)
        tasks[i].floor = some.throughput_by_task[i] * random.uniform(0.1, 1);
    }
  }
  if (random.below(2) == 0) {
    for (TaskClass& task : tasks) task.priority = random.uniform(0.05, 1);
  }
  return system.with_resources(std::move(machine)).with_tasks(std::move(tasks));
}

}  // namespace allot::testing
