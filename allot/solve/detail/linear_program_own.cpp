// Linear programs by BoundedSimplex: for builds without CLP.
#include "allot/solve/detail/bounded_simplex.hpp"
#include "allot/solve/detail/linear_program.hpp"

namespace allot::detail {

struct LinearProgram::Simplex {
  BoundedSimplex method;
};

LinearProgram::LinearProgram() : simplex_(std::make_unique<Simplex>()) {}
LinearProgram::~LinearProgram() = default;
LinearProgram::LinearProgram(LinearProgram&&) noexcept = default;
LinearProgram& LinearProgram::operator=(LinearProgram&&) noexcept = default;

int LinearProgram::add_row(double lower, double upper) { return simplex_->method.add_row(lower, upper); }

int LinearProgram::add_rows(std::size_t count, double lower, double upper) {
  const int first = static_cast<int>(simplex_->method.row_count());
  for (std::size_t row = 0; row < count; ++row) simplex_->method.add_row(lower, upper);
  return first;
}

int LinearProgram::add_column(double cost, double lower, double upper, std::span<const int> rows,
                              std::span<const double> values) {
  return simplex_->method.add_column(cost, lower, upper, rows, values);
}

void LinearProgram::add_columns(Batch batch) {
  batch.starts_.push_back(static_cast<int>(batch.rows_.size()));
  for (std::size_t column = 0; column < batch.size(); ++column) {
    const auto begin = static_cast<std::size_t>(batch.starts_[column]);
    const auto count = static_cast<std::size_t>(batch.starts_[column + 1]) - begin;
    simplex_->method.add_column(batch.costs_[column], 0, kInfinity,
                                std::span(batch.rows_).subspan(begin, count),
                                std::span(batch.values_).subspan(begin, count));
  }
}

void LinearProgram::load(const Table& table) {
  simplex_->method = BoundedSimplex();
  for (std::size_t row = 0; row < table.row_lower.size(); ++row)
    simplex_->method.add_row(table.row_lower[row], table.row_upper[row]);
  for (std::size_t column = 0; column < table.costs.size(); ++column) {
    const auto begin = static_cast<std::size_t>(table.starts[column]);
    const auto count = static_cast<std::size_t>(table.starts[column + 1]) - begin;
    simplex_->method.add_column(table.costs[column], table.column_lower[column], table.column_upper[column],
                                std::span(table.rows).subspan(begin, count),
                                std::span(table.values).subspan(begin, count));
  }
}

std::vector<unsigned char> LinearProgram::basis() const { return simplex_->method.basis(); }

bool LinearProgram::set_basis(std::span<const unsigned char> states) {
  return simplex_->method.set_basis(states);
}

void LinearProgram::set_row(int row, double lower, double upper) {
  simplex_->method.set_row(row, lower, upper);
}

void LinearProgram::set_column(int column, double lower, double upper) {
  simplex_->method.set_column(column, lower, upper);
}

void LinearProgram::set_cost(int column, double cost) { simplex_->method.set_cost(column, cost); }

void LinearProgram::set_costs(std::span<const double> costs) {
  for (std::size_t column = 0; column < costs.size(); ++column)
    simplex_->method.set_cost(static_cast<int>(column), costs[column]);
}

LinearProgram::Status LinearProgram::solve(StopPoll* poll) {
  switch (simplex_->method.solve(poll)) {
    case BoundedSimplex::Status::kOptimal:
      return Status::kOptimal;
    case BoundedSimplex::Status::kInfeasible:
      return Status::kInfeasible;
    case BoundedSimplex::Status::kUnbounded:
      return Status::kUnbounded;
    case BoundedSimplex::Status::kStopped:
      return Status::kStopped;
    case BoundedSimplex::Status::kFailed:
      break;
  }
  return Status::kFailed;
}

std::uint64_t LinearProgram::steps() const noexcept {
  // An iteration scans every column and updates an inverse of rows by rows.
  const std::uint64_t rows = simplex_->method.row_count();
  const std::uint64_t columns = simplex_->method.column_count();
  return (simplex_->method.iterations() + 1) * (1 + rows * rows / 1024 + columns / 64);
}

double LinearProgram::value() const { return simplex_->method.cost(); }

std::span<const double> LinearProgram::columns() const { return simplex_->method.columns(); }

std::span<const double> LinearProgram::duals() const { return simplex_->method.duals(); }

}  // namespace allot::detail
