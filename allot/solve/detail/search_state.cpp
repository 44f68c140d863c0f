#include "allot/solve/detail/search_state.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace allot::detail {
namespace {

/// The running sums are recomputed after this many moves, so that rounding errors do not accumulate.
constexpr std::uint32_t kRefreshInterval = 4096;

/// A state that misses a floor costs more than any that misses none, and more the more it misses.
double floor_penalty(double missing) noexcept { return missing > 0 ? 10 + 1e3 * missing : 0.0; }

std::array<Shift, 4> shifts_of(const Exchange& e) noexcept {
  return {Shift{e.i, e.a, -e.n}, Shift{e.i, e.b, e.n}, Shift{e.k, e.b, -e.back}, Shift{e.k, e.a, e.back}};
}

}  // namespace

void SearchState::reset(const System& system, Objective objective, const Assignment& assignment) {
  assert(is_placement(system, assignment));
  system_ = &system;
  objective_ = objective;
  filled_ = system.has_needs() ? std::make_unique<FilledState>(system) : nullptr;
  is_plain_ = is_linear(objective) && !system.has_floors() && !filled_;
  counts_.assign(assignment.values().begin(), assignment.values().end());
  columns_.resize(system.resource_count());
  scale_ = 0;
  for (const ResourceId j : system.resource_ids()) {
    Column& column = columns_[index(j)];
    column.servers = system.resource(j).servers;
    column.discipline = system.resource(j).discipline;
    column.min_depth = system.resource(j).min_depth;
    double fastest = 0;
    for (const TaskType i : system.types()) fastest = std::max(fastest, system.value_rate(i, j));
    scale_ += fastest * static_cast<double>(std::min(column.servers, system.reach(j)));
  }
  if (filled_) scale_ = most_value(system);
  if (!(scale_ > 0)) scale_ = 1;
  tolerance_ = is_linear(objective) ? 1e-12 * scale_ : 1e-13;
  refresh();
}

void SearchState::restart(const Assignment& assignment) {
  if (!filled_) return reset(*system_, objective_, assignment);
  counts_.assign(assignment.values().begin(), assignment.values().end());
  refresh();
}

void SearchState::refresh() {
  stale_ = 0;
  for (const ResourceId j : system_->resource_ids()) {
    Column& column = columns_[index(j)];
    column.sums = {};
    for (const TaskType i : system_->types()) {
      if (at(i, j) != 0) column.sums = column.sums.plus(*system_, i, j, at(i, j));
    }
    settle(j);
  }
  if (filled_) filled_->place(counts_);
  const double value = this->value();
  if (!is_plain_) {
    by_task_.assign(system_->type_count(), 0.0);
    scratch_.resize(system_->type_count());
  }
  if (filled_) {
    filled_->throughputs(by_task_);
  } else if (!is_plain_) {
    for (const ResourceId j : system_->resource_ids()) {
      const Column& column = columns_[index(j)];
      const CompletionLaw law = completion_law(column.discipline, column.servers, column.sums);
      for (const TaskType i : system_->types()) {
        by_task_[index(i)] +=
            static_cast<double>(at(i, j)) * (law.per_rate * system_->rate(i, j) + law.per_task);
      }
    }
  }
  cost_ = cost_of(by_task_.data(), value);
}

/// Updates what depends on a column's sums.
void SearchState::settle(ResourceId j) noexcept {
  Column& column = columns_[index(j)];
  if (column.sums.tasks == 0) column.sums = {};
  column.value = column_value(column.discipline, column.servers, column.sums);
}

double SearchState::value_of(const std::vector<double>& by_task) const noexcept {
  if (!system_->has_worths()) return std::accumulate(by_task.begin(), by_task.end(), 0.0);
  double value = 0;
  for (const TaskType i : system_->types()) value += system_->worth(i) * by_task[index(i)];
  return value;
}

double SearchState::value() const noexcept {
  if (filled_) return filled_->value();
  double x = 0;
  for (const Column& column : columns_) x += column.value;
  return x;
}

Assignment SearchState::assignment() const {
  Assignment result;
  write(result);
  return result;
}

void SearchState::write(Assignment& assignment) const {
  assignment.reset(system_->type_count(), system_->resource_count());
  for (const TaskType i : system_->types()) {
    for (const ResourceId j : system_->resource_ids()) assignment(i, j) = at(i, j);
  }
}

Count SearchState::smallest_deep_move(TaskType i, ResourceId a, ResourceId b) const noexcept {
  const Count here = at(i, a);
  if (here == 0) return 0;
  const Column& from = columns_[index(a)];
  const Column& to = columns_[index(b)];
  Count n = std::max<Count>(1, to.min_depth - to.sums.tasks);
  if (n > here) return 0;
  const Count left = from.sums.tasks - n;
  if (left != 0 && left < from.min_depth) n = from.sums.tasks;  // then the resource must be emptied
  return n <= here ? n : 0;
}

bool SearchState::keeps_depths(const Exchange& e) const noexcept {
  if (!system_->has_depths()) return true;
  const Column& from = columns_[index(e.a)];
  const Column& to = columns_[index(e.b)];
  const Count from_tasks = from.sums.tasks - e.n + e.back;
  const Count to_tasks = to.sums.tasks + e.n - e.back;
  return (from_tasks == 0 || from_tasks >= from.min_depth) && (to_tasks == 0 || to_tasks >= to.min_depth);
}

ColumnSums SearchState::sums_after(const Exchange& e, bool at_source) const noexcept {
  const ResourceId j = at_source ? e.a : e.b;
  const Count sign = at_source ? -1 : 1;
  const Discipline discipline = columns_[index(j)].discipline;
  ColumnSums sums = columns_[index(j)].sums.plus(*system_, e.i, j, sign * e.n, discipline);
  if (e.back != 0) {
    sums = sums.plus(*system_, e.k, j, -sign * e.back, discipline);
  }
  return sums;
}

double SearchState::plain_cost_change(const Exchange& e) const noexcept {
  const Column& from = columns_[index(e.a)];
  const Column& to = columns_[index(e.b)];
  return from.value + to.value - column_value(from.discipline, from.servers, sums_after(e, true)) -
         column_value(to.discipline, to.servers, sums_after(e, false));
}

double SearchState::cost_of(const double* by_task, double value) const noexcept {
  if (is_plain_) return -value;
  const std::span<const double> x(by_task, system_->type_count());
  const double penalty = system_->has_floors() ? floor_penalty(floor_shortfall(*system_, x)) : 0.0;
  if (is_linear(objective_)) return -value + scale_ * penalty;
  double throughput = value;
  if (system_->has_worths()) throughput = std::accumulate(x.begin(), x.end(), 0.0);
  // Without completions there are no shares: worse than every state that completes something.
  const double error = throughput > 0 ? priority_error(x, throughput, system_->shares()) : 4.0;
  return error - throughput_weight_ * value / scale_ + penalty;
}

/// Updates X_i in scratch_ for the new sums of j, without the tasks that come or go.
void SearchState::foresee_column(ResourceId j, const ColumnSums& sums) const noexcept {
  const Column& column = columns_[index(j)];
  const CompletionLaw before = completion_law(column.discipline, column.servers, column.sums);
  const CompletionLaw after = completion_law(column.discipline, column.servers, sums);
  const double rate_change = after.per_rate - before.per_rate;
  const double task_change = after.per_task - before.per_task;
  for (const TaskType i : system_->types()) {
    const Count n = at(i, j);
    if (n != 0)
      scratch_[index(i)] += static_cast<double>(n) * (rate_change * system_->rate(i, j) + task_change);
  }
}

/// Adds the tasks that come to a resource, or leave it.
void SearchState::foresee_shift(ResourceId j, const ColumnSums& sums, TaskType i, Count n) const noexcept {
  const Column& column = columns_[index(j)];
  const CompletionLaw after = completion_law(column.discipline, column.servers, sums);
  scratch_[index(i)] += static_cast<double>(n) * (after.per_rate * system_->rate(i, j) + after.per_task);
}

double SearchState::needs_cost_change(std::span<const Shift> shifts) const {
  if (is_linear(objective_) && !system_->has_floors()) return -filled_->value_change(shifts);
  filled_->throughputs_after(shifts, scratch_);
  return cost_of(scratch_.data(), value_of(scratch_)) - cost_;
}

double SearchState::general_cost_change(const Exchange& e) const noexcept {
  if (filled_) return needs_cost_change(shifts_of(e));
  std::copy(by_task_.begin(), by_task_.end(), scratch_.begin());
  for (const bool at_source : {true, false}) {
    const ResourceId j = at_source ? e.a : e.b;
    const ColumnSums sums = sums_after(e, at_source);
    foresee_column(j, sums);
    foresee_shift(j, sums, e.i, at_source ? -e.n : e.n);
    if (e.back != 0) foresee_shift(j, sums, e.k, at_source ? e.back : -e.back);
  }
  return cost_of(scratch_.data(), value_of(scratch_)) - cost_;
}

bool SearchState::keeps_depths(const Chain& c) const noexcept {
  if (!system_->has_depths()) return true;
  const auto deep = [&](ResourceId j, Count change) {
    const Count tasks = columns_[index(j)].sums.tasks + change;
    return tasks == 0 || tasks >= columns_[index(j)].min_depth;
  };
  if (!deep(c.b, c.n - c.out)) return false;
  return c.d == c.a ? deep(c.a, c.out - c.n) : deep(c.a, -c.n) && deep(c.d, c.out);
}

double SearchState::cost_change(const Chain& c) const noexcept {
  if (c.d == c.a) return cost_change(Exchange{c.i, c.a, c.b, c.n, c.k, c.out});
  if (filled_) {
    return needs_cost_change(std::array{Shift{c.i, c.a, -c.n}, Shift{c.i, c.b, c.n}, Shift{c.k, c.b, -c.out},
                                        Shift{c.k, c.d, c.out}});
  }
  const ColumnSums from = sums_plus(c.a, c.i, -c.n);
  const ColumnSums through =
      sums_plus(c.b, c.i, c.n).plus(*system_, c.k, c.b, -c.out, columns_[index(c.b)].discipline);
  const ColumnSums to = sums_plus(c.d, c.k, c.out);
  if (is_plain_) {
    double change = 0;
    const auto add = [&](ResourceId j, const ColumnSums& sums) {
      const Column& column = columns_[index(j)];
      change += column.value - column_value(column.discipline, column.servers, sums);
    };
    add(c.a, from);
    add(c.b, through);
    add(c.d, to);
    return change;
  }
  std::copy(by_task_.begin(), by_task_.end(), scratch_.begin());
  foresee_column(c.a, from);
  foresee_shift(c.a, from, c.i, -c.n);
  foresee_column(c.b, through);
  foresee_shift(c.b, through, c.i, c.n);
  foresee_shift(c.b, through, c.k, -c.out);
  foresee_column(c.d, to);
  foresee_shift(c.d, to, c.k, c.out);
  return cost_of(scratch_.data(), value_of(scratch_)) - cost_;
}

void SearchState::apply(const Chain& c) noexcept {
  if (c.d == c.a) {
    apply(Exchange{c.i, c.a, c.b, c.n, c.k, c.out});
  } else {
    apply(Exchange{c.i, c.a, c.b, c.n, {}, 0});
    apply(Exchange{c.k, c.b, c.d, c.out, {}, 0});
  }
}

void SearchState::apply(const Exchange& e) noexcept {
  if (filled_) {
    filled_->apply(shifts_of(e));
    filled_->throughputs(by_task_);
    cost_ = cost_of(by_task_.data(), filled_->value());
  } else {
    cost_ += cost_change(e);
    if (!is_plain_) by_task_.swap(scratch_);  // where cost_change left X_i after the exchange
  }
  for (const bool at_source : {true, false}) {
    const ResourceId j = at_source ? e.a : e.b;
    columns_[index(j)].sums = sums_after(e, at_source);
    settle(j);
  }
  const std::size_t width = columns_.size();
  counts_[index(e.i) * width + index(e.a)] -= e.n;
  counts_[index(e.i) * width + index(e.b)] += e.n;
  if (e.back != 0) {
    counts_[index(e.k) * width + index(e.b)] -= e.back;
    counts_[index(e.k) * width + index(e.a)] += e.back;
  }
  if (++stale_ >= kRefreshInterval) refresh();
}

}  // namespace allot::detail
