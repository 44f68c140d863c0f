// The relaxed problem: tasks may be split, so the throughput is a function of real numbers with a gradient.
//
// One variable n_ij >= 0 for each type that has threads and each resource that can run it; the variables of a
// type sum to N_i. With n_j the sum of a column and a_j = min(n_j, c_j) busy units, X_ij is
//
//     ps     a_j mu_ij n_ij / n_j
//     fcfs   a_j n_ij / sum_l (n_lj / mu_lj)
//
// and 0 in an empty column: the model's formulas, except for an fcfs resource with several servers and no
// waiting tasks, where the harmonic mean is kept so that X stays continuous.
//
// The paper's own relaxation lets any amount of tasks, however small, keep one unit busy: a_j = min(max(n_j,
// 1), c_j). Its supremum is not attained: an arbitrarily small amount of the fastest type gives a resource
// its full rate. If every column holds at least one task, as `occupied` demands, the two agree.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "allot/model/system.hpp"

namespace allot::detail {

class Relaxation {
 public:
  /// `occupied`: keep at least one task at every resource that can have one; if there are too few threads for
  /// that, no column is kept occupied. If false, the paper's relaxation. The system must outlive the
  /// relaxation.
  Relaxation(const System& system, bool occupied);

  /// Number of variables.
  std::size_t size() const noexcept { return pairs_.size(); }

  /// The variables of a type are neighbours, in order of their resources.
  struct Row {
    TaskType type{};
    std::size_t begin = 0;
    std::size_t end = 0;
    double count = 0;  ///< what they sum to
  };
  std::span<const Row> rows() const noexcept { return rows_; }

  /// A column and its variables.
  struct Column {
    ResourceId resource{};
    std::vector<std::size_t> variables;
  };
  /// The columns that must sum to at least 1.
  std::span<const Column> occupied() const noexcept { return occupied_; }
  /// Types with threads and a floor.
  std::span<const TaskType> floors() const noexcept { return floors_; }

  /// V at the point. `gradient`: null, or where the size() derivatives go. At the kinks n_j = c_j, these are
  /// the derivatives towards larger n_j.
  double value(const double* point, double* gradient) const noexcept;
  /// X_i at the point, likewise.
  double throughput_of(TaskType i, const double* point, double* gradient) const noexcept;
  /// The sum of the relative amounts by which floors are missed.
  double shortfall(const double* point) const noexcept;

  /// Removes rounding errors: no variable is negative, and every row sums to its count.
  void clean(double* point) const noexcept;
  /// Whether rows, bounds and occupied columns hold within the relative tolerance.
  bool feasible(const double* point, double tolerance) const noexcept;

  /// Points that keep the occupied columns: every task at home except those needed elsewhere, and every type
  /// spread evenly over its resources.
  std::vector<double> home_start() const;
  std::vector<double> even_start() const;
  /// An assignment as a point; nothing if it leaves an occupied column empty.
  std::optional<std::vector<double>> point_of(const Assignment& assignment) const;

  /// A point as a matrix, row-major, T x R.
  std::vector<double> matrix(std::span<const double> point) const;

 private:
  struct Pair {
    TaskType type{};
    std::size_t column = 0;  // in columns_
    double rate = 0;
    double seconds = 0;
    double worth = 1;
  };
  struct Sums {
    double tasks = 0;
    double rates = 0;  // of value
    double seconds = 0;
    double worths = 0;
  };
  struct Busy {
    double units = 0;
    double slope = 0;  // d units / d tasks
  };

  Sums sums(const Column& column, const double* point) const noexcept;
  Busy busy(const Column& column, double tasks) const noexcept;

  const System& system_;
  bool any_amount_works_;  // the paper's relaxation
  std::vector<Pair> pairs_;
  std::vector<Row> rows_;
  std::vector<Column> columns_;
  std::vector<Column> occupied_;
  std::vector<TaskType> floors_;
  Assignment occupied_home_;  // the home assignment with a task in every occupied column
};

/// Moves as few tasks as possible until every resource that can have a task has one; false, without any
/// change, if there are too few threads.
bool occupy_all(const System& system, Assignment& assignment);

}  // namespace allot::detail
