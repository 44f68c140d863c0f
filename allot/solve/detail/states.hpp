// All states of a system, one after the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allot/model/system.hpp"
#include "allot/model/throughput.hpp"
#include "allot/solve/detail/filled_state.hpp"

namespace allot::detail {

/// The number of assignments, regardless of minimum depths. Exact up to 2^53, then rounded; may be infinite.
double count_states(const System& system);

/// "825", "1,200,000" or "3.4e+21".
std::string format_states(double states);

/// Walks through all assignments in lexicographic order, keeping column sums as it goes.
class StateVisitor {
 public:
  explicit StateVisitor(const System& system);

  /// Calls `visit()` in every state until it returns false.
  template <typename Visit>
  void visit_all(Visit&& visit) {
    place(0, 0, visit);
  }

  double value() const {
    if (filled_) return fill().value();
    double x = 0;
    for (const Column& column : columns_) x += column_value(column.discipline, column.servers, column.sums);
    return x;
  }
  /// Fills in X_i and returns V.
  double value_and_throughputs(std::vector<double>& by_task) const;
  bool keeps_depths() const noexcept {
    for (const Column& column : columns_) {
      if (column.sums.tasks != 0 && column.sums.tasks < column.min_depth) return false;
    }
    return true;
  }
  void write(Assignment& assignment) const { assignment = counts_; }

 private:
  struct Column {
    ColumnSums sums;
    Count servers = 1;
    Count min_depth = 1;
    Discipline discipline = Discipline::kPs;
  };

  /// Distributes what is left of type `at_type` over its resources from the `choice`-th on.
  template <typename Visit>
  bool place(std::size_t at_type, std::size_t choice, Visit&& visit) {
    if (at_type == system_->type_count()) return visit();
    const TaskType i = task_type(at_type);
    if (choice == 0) left_[at_type] = system_->count(i);
    if (left_[at_type] == 0) return place(at_type + 1, 0, visit);
    const auto allowed = system_->resources_for(i);
    const ResourceId j = allowed[choice];
    Column& column = columns_[index(j)];
    const ColumnSums before = column.sums;
    const Count all = left_[at_type];
    const bool last = choice + 1 == allowed.size();
    bool going = true;
    for (Count n = last ? all : 0; n <= all && going; ++n) {
      counts_(i, j) = n;
      column.sums = before.plus(*system_, i, j, n);
      left_[at_type] = all - n;
      going = last || left_[at_type] == 0 ? place(at_type + 1, 0, visit) : place(at_type, choice + 1, visit);
    }
    counts_(i, j) = 0;
    column.sums = before;
    left_[at_type] = all;
    return going;
  }

  const FilledState& fill() const {
    filled_->place(counts_.values());
    return *filled_;
  }

  const System* system_;
  mutable std::optional<FilledState> filled_;  // if tasks have needs
  std::vector<Column> columns_;
  std::vector<Count> left_;
  Assignment counts_;
};

}  // namespace allot::detail
