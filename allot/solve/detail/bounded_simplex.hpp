// The simplex method for variables with ranges, with a dense inverse of the basis: for some hundred rows and
// any number of columns. Solves linear programs where CLP is not available, such as in a browser.
//
// Every row has its own variable, its activity r, with the row's range: A x - r = 0. So rows and columns are
// alike, a change of a range or a cost keeps the basis valid, and `solve` continues from the last basis.
// While some basic variable is outside its range, `solve` minimises the sum of these distances, then the cost
// (the composite method).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "allot/base/stop.hpp"

namespace allot::detail {

class BoundedSimplex {
 public:
  enum class Status { kOptimal, kInfeasible, kUnbounded, kStopped, kFailed };

  /// Both return the index of the new row or column.
  int add_row(double lower, double upper);
  int add_column(double cost, double lower, double upper, std::span<const int> rows,
                 std::span<const double> values);
  void set_row(int row, double lower, double upper);
  void set_column(int column, double lower, double upper);
  void set_cost(int column, double cost);

  /// Minimises. kFailed: it took so many steps that rounding must have led it in circles.
  Status solve(StopPoll* poll = nullptr);

  /// Which variables are basic and which rest at their upper bounds: of columns, then of rows.
  std::vector<unsigned char> basis() const;
  /// The next `solve` starts from it. False, without effect, if it does not fit.
  bool set_basis(std::span<const unsigned char> states);

  std::size_t row_count() const noexcept { return row_variables_.size(); }
  std::size_t column_count() const noexcept { return column_variables_.size(); }
  /// Of the last `solve`.
  std::uint64_t iterations() const noexcept { return iterations_; }
  double cost() const noexcept;
  std::span<const double> columns() const noexcept { return columns_; }
  std::span<const double> duals() const noexcept { return duals_; }

 private:
  /// A column or the activity of a row.
  struct Variable {
    double cost = 0;
    double lower = 0;
    double upper = 0;
    double value = 0;
    std::size_t begin = 0;  // its entries
    std::size_t end = 0;
    int position = -1;  // in the basis; -1: not basic, its value is at a bound, or 0 if it has none
  };

  struct Entering {
    int variable = -1;
    double direction = 1;  // +1: its value rises
  };
  struct Leaving {
    int position = -1;  // -1: the entering variable reaches its own other bound, or nothing stops it
    double step = 0;
    double bound = 0;
  };

  int add_variable(const Variable& variable);
  void set_range(int variable, double lower, double upper);
  /// Inverts the basis anew; repairs a singular basis with the activities of rows.
  void factorise();
  bool invert(std::vector<int>& spare_rows, std::vector<int>& dependent_positions);
  /// The basic variables' values, from those of the others.
  void compute_values();
  void multiply_inverse(std::span<const double> right, std::span<double> result) const noexcept;
  bool is_feasible() const noexcept;
  void compute_duals(bool feasible);
  Entering choose_entering(bool feasible) const noexcept;
  Leaving choose_leaving(const Entering& entering) const noexcept;
  void compute_direction(int variable);
  void move(const Entering& entering, const Leaving& leaving);
  void publish();

  std::vector<Variable> variables_;
  std::vector<int> entry_rows_;
  std::vector<double> entry_values_;
  std::vector<int> row_variables_;
  std::vector<int> column_variables_;

  std::vector<int> basis_;       // variable per position
  std::vector<double> inverse_;  // row-major: position by row
  bool factorised_ = false;
  int updates_ = 0;       // since the last inversion
  bool careful_ = false;  // Bland's rule, after many steps without progress
  std::uint64_t iterations_ = 0;

  std::vector<double> prices_;     // per row
  std::vector<double> direction_;  // per position: how basic variables fall as the entering one rises
  std::vector<double> columns_;
  std::vector<double> duals_;
};

}  // namespace allot::detail
