#include "allot/solve/detail/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "allot/model/throughput.hpp"

namespace allot::detail {
namespace {

/// A column with less than this counts as empty: quotients of such amounts are meaningless.
constexpr double kNothing = 1e-13;

}  // namespace

bool occupy_all(const System& system, Assignment& assignment) {
  const std::size_t resources = system.resource_count();
  const Assignment before = assignment;
  for (const ResourceId empty : system.resource_ids()) {
    if (system.reach(empty) == 0 || assignment.column_sum(empty) > 0) continue;
    // Breadth-first search from the empty resource: a resource gives it a task and, if that was its last,
    // takes one from another, and so on until one can spare a task.
    struct Step {
      TaskType type{};
      ResourceId to{};
    };
    std::vector<std::optional<Step>> step(resources);
    std::deque<ResourceId> queue{empty};
    std::optional<ResourceId> giver;
    while (!queue.empty() && !giver) {
      const ResourceId to = queue.front();
      queue.pop_front();
      for (const TaskType i : system.types()) {
        if (!system.can_run(i, to)) continue;
        for (const ResourceId from : system.resources_for(i)) {
          if (from == empty || step[index(from)] || assignment(i, from) == 0) continue;
          step[index(from)] = Step{i, to};
          if (!giver && assignment.column_sum(from) > 1) giver = from;
          queue.push_back(from);
        }
      }
    }
    if (!giver) {
      assignment = before;
      return false;
    }
    for (ResourceId from = *giver; from != empty;) {
      const auto [type, to] = *step[index(from)];
      --assignment(type, from);
      ++assignment(type, to);
      from = to;
    }
  }
  return true;
}

Relaxation::Relaxation(const System& system, bool occupied)
    : system_(system), any_amount_works_(!occupied), occupied_home_(home_assignment(system)) {
  std::vector<std::size_t> column_of(system.resource_count());
  for (const ResourceId j : system.resource_ids()) {
    if (system.reach(j) == 0) continue;
    column_of[index(j)] = columns_.size();
    columns_.push_back({j, {}});
  }
  for (const TaskType i : system.types()) {
    if (system.count(i) == 0) continue;
    Row row{i, pairs_.size(), 0, static_cast<double>(system.count(i))};
    for (const ResourceId j : system.resources_for(i)) {
      columns_[column_of[index(j)]].variables.push_back(pairs_.size());
      pairs_.push_back(
          {i, column_of[index(j)], system.rate(i, j), system.seconds_per_task(i, j), system.worth(i)});
    }
    row.end = pairs_.size();
    rows_.push_back(row);
    if (system.floor(i) > 0) floors_.push_back(i);
  }
  if (occupied && occupy_all(system, occupied_home_)) occupied_ = columns_;
}

Relaxation::Sums Relaxation::sums(const Column& column, const double* point) const noexcept {
  Sums sums;
  for (const std::size_t v : column.variables) {
    const double n = std::max(0.0, point[v]);
    sums.tasks += n;
    sums.rates += n * (pairs_[v].worth * pairs_[v].rate);
    sums.seconds += n * pairs_[v].seconds;
    sums.worths += n * pairs_[v].worth;
  }
  return sums;
}

Relaxation::Busy Relaxation::busy(const Column& column, double tasks) const noexcept {
  const double servers = static_cast<double>(system_.resource(column.resource).servers);
  if (tasks >= servers) return {servers, 0};
  if (any_amount_works_ && tasks < 1) return {1, 0};
  return {tasks, 1};
}

double Relaxation::value(const double* point, double* gradient) const noexcept {
  double total = 0;
  for (const Column& column : columns_) {
    const auto [n, rates, seconds, worths] = sums(column, point);
    if (n < kNothing) {
      if (gradient != nullptr) {
        for (const std::size_t v : column.variables) gradient[v] = pairs_[v].worth * pairs_[v].rate;
      }
      continue;
    }
    const auto [units, slope] = busy(column, n);
    const bool shared = system_.resource(column.resource).discipline == Discipline::kPs;
    const double mean = shared ? rates / n : worths / seconds;
    total += units * mean;
    if (gradient == nullptr) continue;
    for (const std::size_t v : column.variables) {
      const double mean_slope = shared ? (pairs_[v].worth * pairs_[v].rate - mean) / n
                                       : (pairs_[v].worth - mean * pairs_[v].seconds) / seconds;
      gradient[v] = slope * mean + units * mean_slope;
    }
  }
  return total;
}

double Relaxation::throughput_of(TaskType i, const double* point, double* gradient) const noexcept {
  double total = 0;
  for (const Column& column : columns_) {
    if (gradient != nullptr) {
      for (const std::size_t v : column.variables) gradient[v] = 0;
    }
    const auto mine = std::find_if(column.variables.begin(), column.variables.end(),
                                   [&](std::size_t v) { return pairs_[v].type == i; });
    if (mine == column.variables.end()) continue;
    const Pair& pair = pairs_[*mine];
    const auto [n, rates, seconds, worths] = sums(column, point);
    if (n < kNothing) {
      if (gradient != nullptr) gradient[*mine] = pair.rate;
      continue;
    }
    const auto [units, slope] = busy(column, n);
    const bool shared = system_.resource(column.resource).discipline == Discipline::kPs;
    const double weight = shared ? pair.rate : 1.0;
    const double whole = shared ? n : seconds;
    const double part =
        weight * std::max(0.0, point[*mine]) / whole;  // completions of the type per busy unit
    total += units * part;
    if (gradient == nullptr) continue;
    for (const std::size_t v : column.variables) {
      gradient[v] = slope * part - units * part * (shared ? 1.0 : pairs_[v].seconds) / whole;
    }
    gradient[*mine] += units * weight / whole;
  }
  return total;
}

double Relaxation::shortfall(const double* point) const noexcept {
  double missing = 0;
  for (const TaskType i : floors_) {
    const double x = throughput_of(i, point, nullptr);
    if (x < system_.floor(i) * (1 - kFloorTolerance)) missing += 1 - x / system_.floor(i);
  }
  return missing;
}

void Relaxation::clean(double* point) const noexcept {
  for (const Row& row : rows_) {
    double sum = 0;
    for (std::size_t v = row.begin; v < row.end; ++v) {
      if (!(point[v] > 1e-12 * row.count)) point[v] = 0;
      sum += point[v];
    }
    if (!(sum > 0)) continue;
    for (std::size_t v = row.begin; v < row.end; ++v) point[v] *= row.count / sum;
  }
}

bool Relaxation::feasible(const double* point, double tolerance) const noexcept {
  for (const Row& row : rows_) {
    double sum = 0;
    for (std::size_t v = row.begin; v < row.end; ++v) {
      if (!(point[v] >= -tolerance * row.count)) return false;
      sum += point[v];
    }
    if (!(std::abs(sum - row.count) <= tolerance * row.count)) return false;
  }
  return std::all_of(occupied_.begin(), occupied_.end(),
                     [&](const Column& column) { return sums(column, point).tasks >= 1 - tolerance; });
}

std::vector<double> Relaxation::home_start() const { return *point_of(occupied_home_); }

std::vector<double> Relaxation::even_start() const {
  std::vector<double> even(size());
  for (const Row& row : rows_) {
    for (std::size_t v = row.begin; v < row.end; ++v)
      even[v] = row.count / static_cast<double>(row.end - row.begin);
  }
  // Towards the home start, which keeps every column occupied, as far as the emptiest column needs.
  const std::vector<double> home = home_start();
  double blend = 0;
  for (const Column& column : occupied_) {
    const double here = sums(column, even.data()).tasks;
    if (here < 1) blend = std::max(blend, (1 - here) / (sums(column, home.data()).tasks - here));
  }
  for (std::size_t v = 0; v < size(); ++v) even[v] += blend * (home[v] - even[v]);
  return even;
}

std::optional<std::vector<double>> Relaxation::point_of(const Assignment& assignment) const {
  std::vector<double> point(size());
  for (std::size_t v = 0; v < size(); ++v) {
    point[v] = static_cast<double>(assignment(pairs_[v].type, columns_[pairs_[v].column].resource));
  }
  if (!feasible(point.data(), 1e-9)) return std::nullopt;
  return point;
}

std::vector<double> Relaxation::matrix(std::span<const double> point) const {
  std::vector<double> values(system_.type_count() * system_.resource_count());
  for (std::size_t v = 0; v < size(); ++v) {
    values[index(pairs_[v].type) * system_.resource_count() + index(columns_[pairs_[v].column].resource)] =
        point[v];
  }
  return values;
}

}  // namespace allot::detail
