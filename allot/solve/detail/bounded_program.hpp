// A linear program over columns from 0 to a known limit: scaled before it is solved, and with a bound that
// holds whatever rounding did to the solver.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/solve/detail/linear_program.hpp"

namespace allot::detail {

class BoundedProgram {
 public:
  using Entry = std::pair<std::size_t, double>;  ///< row, coefficient

  /// lower <= row <= upper; either may be infinite.
  std::size_t add_row(double lower, double upper);
  /// 0 <= column <= most, which must be finite and > 0: no solution comes near it, so that all prices are
  /// those of rows.
  std::size_t add_column(double most, double gain = 0);
  void add_entry(std::size_t row, std::size_t column, double value);
  void set_row(std::size_t row, double lower, double upper);
  void set_most(std::size_t column, double most);
  void set_gain(std::size_t column, double gain);
  void clear_gains();

  std::size_t row_count() const noexcept { return rows_.size(); }
  std::size_t column_count() const noexcept { return columns_.size(); }
  double lower(std::size_t row) const noexcept { return rows_[row].lower; }
  double upper(std::size_t row) const noexcept { return rows_[row].upper; }
  double most(std::size_t column) const noexcept { return columns_[column].most; }
  const std::vector<Entry>& entries(std::size_t column) const noexcept { return columns_[column].entries; }

  struct Answer {
    LinearProgram::Status status = LinearProgram::Status::kFailed;
    double value = 0;             ///< sum of gains
    double bound = kInfinity;     ///< no solution has more
    std::vector<double> columns;  ///< where `has_columns`
    std::vector<double> prices;  ///< per row: what one more unit of its limit would add; < 0 at a lower limit
    bool is_optimal() const noexcept { return status == LinearProgram::Status::kOptimal; }
    bool is_infeasible() const noexcept { return status == LinearProgram::Status::kInfeasible; }
    /// Optimal, or the best that was found before the poll said stop, if that keeps all rows.
    bool has_columns() const noexcept { return is_optimal() || !columns.empty(); }
  };
  /// Continues from the last basis, unless columns have been added since.
  Answer maximise(StopPoll& poll);
  /// `basis`: where the last `maximise` ended. `start_from`: where the next one begins; ignored unless the
  /// basis has the same numbers of rows and columns.
  std::vector<unsigned char> basis() const;
  void start_from(std::span<const unsigned char> basis);

  /// Per row, the sum of its entries times the columns.
  std::vector<double> activities(std::span<const double> columns) const;
  /// No solution gains more than this, whatever the prices are. Sets a price to 0 if the row does not have
  /// the limit that it is for.
  double bound_at(std::vector<double>& prices) const;

 private:
  struct Row {
    double lower;
    double upper;
    double scale = 1;  // in the program that is solved, entries are divided by it
  };
  struct Column {
    double most;
    double gain;
    std::vector<Entry> entries;
  };

  void build();
  Answer solve(StopPoll& poll);
  void scale(const Column& column, std::vector<int>& rows, std::vector<double>& values) const;
  void forget_program();
  void solve_anew(StopPoll& poll, Answer& answer) const;
  void solve_by_limits(StopPoll& poll, Answer& answer) const;
  bool keeps_limits(std::span<const double> columns, double tolerance) const;
  void read(std::span<const double> parts, std::span<const double> duals, Answer& answer) const;
  bool keeps_rows(std::span<const double> columns) const;

  std::vector<Row> rows_;
  std::vector<Column> columns_;
  double gain_scale_ = 1;
  std::vector<unsigned char> former_;  // the basis of the program before the last rows were added
  std::size_t former_columns_ = 0;
  std::optional<LinearProgram> program_;  // with each column as a fraction of its maximum
};

}  // namespace allot::detail
