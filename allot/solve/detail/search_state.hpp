// A state that a search walks through. The effect of a move is computed in O(1) for the throughput and in
// O(T) for floors and priorities.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "allot/model/system.hpp"
#include "allot/model/throughput.hpp"
#include "allot/solve/detail/filled_state.hpp"
#include "allot/solve/solution.hpp"

namespace allot::detail {

/// `n` tasks of type `i` go from `a` to `b`, and `back` tasks of type `k` from `b` to `a` (0: nothing
/// returns).
struct Exchange {
  TaskType i{};
  ResourceId a{};
  ResourceId b{};
  Count n = 0;
  TaskType k{};
  Count back = 0;
};

/// `n` tasks of type `i` go from `a` to `b`, and `out` tasks of another type `k` from `b` to `d`, which may
/// be `a`.
struct Chain {
  TaskType i{};
  ResourceId a{};
  ResourceId b{};
  Count n = 0;
  TaskType k{};
  ResourceId d{};
  Count out = 0;
};

/// Minimum depths hold in every state, since `smallest_move` offers no other moves; floors are part of the
/// cost. Reusable: `reset` allocates nothing after the first time for systems of one size.
class SearchState {
 public:
  /// The weight of the throughput, so small that it decides only between errors that are equal up to
  /// rounding.
  static constexpr double kTieWeight = 1e-9;

  SearchState() = default;

  /// Starts at the assignment, which must be a placement of the system. The system must outlive the state.
  void reset(const System& system, Objective objective, const Assignment& assignment);

  /// Goes to another assignment of the same system, which has not changed.
  void restart(const Assignment& assignment);

  const System& system() const noexcept { return *system_; }
  Objective objective() const noexcept { return objective_; }
  Count at(TaskType i, ResourceId j) const noexcept { return counts_[index(i) * columns_.size() + index(j)]; }
  Count tasks_at(ResourceId j) const noexcept { return columns_[index(j)].sums.tasks; }
  /// Value per second.
  double value() const noexcept;
  Assignment assignment() const;
  /// The same into existing storage, which is reused when its shape fits.
  void write(Assignment& assignment) const;

  /// Change of the value of j when n tasks of a type come (n > 0) or leave (n < 0). O(1). Not for tasks with
  /// needs.
  double change(TaskType i, ResourceId j, Count n) const noexcept {
    const Column& column = columns_[index(j)];
    return column_value(column.discipline, column.servers,
                        column.sums.plus(*system_, i, j, n, column.discipline)) -
           column.value;
  }

  /// Eq. 8 as printed, n (mu_ij - X_j) / n_j, for a single ps server that has tasks; elsewhere, `change`.
  double printed_change(TaskType i, ResourceId j, Count n) const noexcept {
    const Column& column = columns_[index(j)];
    if (column.discipline != Discipline::kPs || column.servers != 1 || column.sums.tasks == 0)
      return change(i, j, n);
    return static_cast<double>(n) * (system_->value_rate(i, j) - column.value) /
           static_cast<double>(column.sums.tasks);
  }

  /// Change of the value when tasks of one type move, everything else staying.
  double value_change(TaskType i, ResourceId a, ResourceId b, Count n) const {
    return filled_ ? filled_->value_change(std::array{Shift{i, a, -n}, Shift{i, b, n}})
                   : change(i, a, -n) + change(i, b, n);
  }

  /// How many more tasks of a type a resource can take without any task having to wait; below 0 if some wait.
  Count room(TaskType i, ResourceId j) const noexcept {
    return filled_ ? filled_->room(i, j) : columns_[index(j)].servers - columns_[index(j)].sums.tasks;
  }

  /// The fewest tasks of type i that can go from a to b at once so that both keep their minimum depth; 0 if
  /// none can. 1 wherever depths do not matter.
  Count smallest_move(TaskType i, ResourceId a, ResourceId b) const noexcept {
    if (!system_->has_depths()) return at(i, a) > 0 ? 1 : 0;
    return smallest_deep_move(i, a, b);
  }
  /// Whether both resources keep their minimum depth.
  bool keeps_depths(const Exchange& e) const noexcept;

  /// With the priority objective: how much of the error a gain in throughput may cost. The cost becomes error
  /// - weight * X / (the throughput that rates and servers would allow). The default is so small that it
  /// decides only between equal errors; `reset` keeps it.
  void set_throughput_weight(double weight) noexcept { throughput_weight_ = weight; }

  /// What the search minimises: -V, or the priority error, with missed floors above everything else.
  double cost() const noexcept { return cost_; }
  /// The cost after an exchange, minus the cost now. O(1) for value without floors, otherwise O(T).
  double cost_change(const Exchange& e) const noexcept {
    return is_plain_ ? plain_cost_change(e) : general_cost_change(e);
  }
  void apply(const Exchange& e) noexcept;

  /// The same for a chain.
  bool keeps_depths(const Chain& c) const noexcept;
  double cost_change(const Chain& c) const noexcept;
  void apply(const Chain& c) noexcept;

  /// A move must improve the cost by more than this to be kept: well above rounding, well below anything
  /// real.
  double tolerance() const noexcept { return tolerance_; }

  /// Recomputes all running sums, so that they depend only on the assignment.
  void refresh();

 private:
  struct Column {
    ColumnSums sums;
    double value = 0;
    Count servers = 1;
    Count min_depth = 1;
    Discipline discipline = Discipline::kPs;
  };

  double needs_cost_change(std::span<const Shift> shifts) const;
  Count smallest_deep_move(TaskType i, ResourceId a, ResourceId b) const noexcept;
  double plain_cost_change(const Exchange& e) const noexcept;
  double general_cost_change(const Exchange& e) const noexcept;
  ColumnSums sums_after(const Exchange& e, bool at_source) const noexcept;
  ColumnSums sums_plus(ResourceId j, TaskType i, Count n) const noexcept {
    return columns_[index(j)].sums.plus(*system_, i, j, n, columns_[index(j)].discipline);
  }
  void foresee_column(ResourceId j, const ColumnSums& sums) const noexcept;
  void foresee_shift(ResourceId j, const ColumnSums& sums, TaskType i, Count n) const noexcept;
  double value_of(const std::vector<double>& by_task) const noexcept;
  double cost_of(const double* by_task, double value) const noexcept;
  void settle(ResourceId j) noexcept;

  const System* system_ = nullptr;
  Objective objective_ = Objective::kThroughput;
  bool is_plain_ = true;
  double scale_ = 1;
  double tolerance_ = 0;
  double throughput_weight_ = kTieWeight;
  double cost_ = 0;
  std::vector<Count> counts_;
  std::vector<Column> columns_;
  std::vector<double> by_task_;          // X_i, kept only when the cost needs it
  mutable std::vector<double> scratch_;  // X_i after an exchange
  std::unique_ptr<FilledState> filled_;  // if tasks have needs; replaces the values of columns
  std::uint32_t stale_ = 0;              // moves since the sums were last recomputed
};

}  // namespace allot::detail
