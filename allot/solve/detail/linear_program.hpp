// A linear program: minimise, subject to ranges on rows and columns. Solved by CLP (linear_program_clp.cpp)
// or, in builds without it, by our own BoundedSimplex (linear_program_own.cpp); no other file knows which.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "allot/base/stop.hpp"

namespace allot::detail {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

class LinearProgram {
 public:
  enum class Status { kOptimal, kInfeasible, kUnbounded, kStopped, kFailed };

  LinearProgram();
  ~LinearProgram();
  LinearProgram(LinearProgram&&) noexcept;
  LinearProgram& operator=(LinearProgram&&) noexcept;

  /// lower <= row <= upper. Returns its index. Rows come before the columns that use them.
  int add_row(double lower, double upper);
  /// Adds `count` equal rows, much faster than one by one. Returns the index of the first.
  int add_rows(std::size_t count, double lower, double upper);
  /// A variable with its cost, range and entries. Returns its index.
  int add_column(double cost, double lower, double upper, std::span<const int> rows,
                 std::span<const double> values);
  /// Variables >= 0 that are added together, much faster than one by one.
  class Batch {
   public:
    void begin_column(double cost) {
      starts_.push_back(static_cast<int>(rows_.size()));
      costs_.push_back(cost);
    }
    void entry(int row, double value) {
      rows_.push_back(row);
      values_.push_back(value);
    }
    std::size_t size() const noexcept { return costs_.size(); }

   private:
    friend class LinearProgram;
    std::vector<int> starts_;
    std::vector<int> rows_;
    std::vector<double> values_;
    std::vector<double> costs_;
  };
  void add_columns(Batch batch);

  /// A whole program at once: entries by column, those of column c from starts[c] to starts[c + 1].
  struct Table {
    std::vector<double> row_lower, row_upper;
    std::vector<double> column_lower, column_upper, costs;
    std::vector<int> starts;
    std::vector<int> rows;
    std::vector<double> values;
  };
  /// Replaces the whole program.
  void load(const Table& table);

  static constexpr unsigned char kBasic = 1;
  /// Which variables are basic, and at which of their bounds the others are: of columns, then of rows.
  std::vector<unsigned char> basis() const;
  /// The next `solve` starts from it. False, without effect, if it belongs to a program of another size.
  bool set_basis(std::span<const unsigned char> states);

  void set_row(int row, double lower, double upper);
  void set_column(int column, double lower, double upper);
  void set_cost(int column, double cost);
  void set_costs(std::span<const double> costs);

  /// Starts from the last basis. Asks the poll, if any, at every iteration; kStopped: the poll said stop.
  Status solve(StopPoll* poll = nullptr);

  /// The cost of the last `solve` in steps of about a microsecond. Steps are counted, not timed, so the
  /// result is the same every time.
  std::uint64_t steps() const noexcept;

  double value() const;
  std::span<const double> columns() const;
  /// y with cost - A' y >= 0 for columns at their lower bound.
  std::span<const double> duals() const;

 private:
  struct Simplex;
  std::unique_ptr<Simplex> simplex_;
};

}  // namespace allot::detail
