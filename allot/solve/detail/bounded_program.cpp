#include "allot/solve/detail/bounded_program.hpp"

#include <algorithm>
#include <cmath>

#include "allot/solve/detail/bounded_simplex.hpp"

namespace allot::detail {

std::size_t BoundedProgram::add_row(double lower, double upper) {
  rows_.push_back({lower, upper});
  forget_program();
  return rows_.size() - 1;
}

/// The program is built anew after additions. If only rows were added, the basis stays valid with the
/// activities of these rows.
void BoundedProgram::forget_program() {
  if (!program_) return;
  former_ = program_->basis();
  former_columns_ = columns_.size();
  program_.reset();
}

std::size_t BoundedProgram::add_column(double most, double gain) {
  columns_.push_back({most, gain, {}});
  program_.reset();
  former_.clear();
  return columns_.size() - 1;
}

void BoundedProgram::add_entry(std::size_t row, std::size_t column, double value) {
  if (value == 0) return;
  columns_[column].entries.emplace_back(row, value);
  forget_program();
}

void BoundedProgram::set_row(std::size_t row, double lower, double upper) {
  rows_[row].lower = lower;
  rows_[row].upper = upper;
  if (program_) program_->set_row(static_cast<int>(row), lower / rows_[row].scale, upper / rows_[row].scale);
}

void BoundedProgram::set_most(std::size_t column, double most) {
  columns_[column].most = most;
  forget_program();
}

void BoundedProgram::set_gain(std::size_t column, double gain) { columns_[column].gain = gain; }

void BoundedProgram::clear_gains() {
  for (Column& column : columns_) column.gain = 0;
}

/// Every column is scaled to a fraction of its maximum, and every row is divided by its largest entry.
void BoundedProgram::build() {
  for (Row& row : rows_) row.scale = 0;
  std::size_t entries = 0;
  for (const Column& column : columns_) {
    entries += column.entries.size();
    for (const auto& [row, value] : column.entries)
      rows_[row].scale = std::max(rows_[row].scale, std::abs(value * column.most));
  }
  LinearProgram::Table table;
  for (Row& row : rows_) {
    if (!(row.scale > 0 && std::isfinite(row.scale))) row.scale = 1;
    table.row_lower.push_back(row.lower / row.scale);
    table.row_upper.push_back(row.upper / row.scale);
  }
  table.column_lower.assign(columns_.size(), 0.0);
  table.column_upper.assign(columns_.size(), 1.0);
  table.costs.assign(columns_.size(), 0.0);
  table.rows.reserve(entries);
  table.values.reserve(entries);
  for (const Column& column : columns_) {
    table.starts.push_back(static_cast<int>(table.rows.size()));
    for (const auto& [row, value] : column.entries) {
      table.rows.push_back(static_cast<int>(row));
      table.values.push_back(value * column.most / rows_[row].scale);
    }
  }
  table.starts.push_back(static_cast<int>(table.rows.size()));
  program_.emplace();
  program_->load(table);
  if (former_.size() < columns_.size() || former_columns_ != columns_.size()) return;
  former_.resize(columns_.size() + rows_.size(), LinearProgram::kBasic);
  program_->set_basis(former_);
}

void BoundedProgram::scale(const Column& column, std::vector<int>& rows, std::vector<double>& values) const {
  rows.clear();
  values.clear();
  for (const auto& [row, value] : column.entries) {
    rows.push_back(static_cast<int>(row));
    values.push_back(value * column.most / rows_[row].scale);
  }
}

std::vector<double> BoundedProgram::activities(std::span<const double> columns) const {
  std::vector<double> sums(rows_.size(), 0.0);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns[c] == 0) continue;
    for (const auto& [row, value] : columns_[c].entries) sums[row] += value * columns[c];
  }
  return sums;
}

/// Weak duality: for any prices, the bound is the rows' limits at their prices, plus each column's gain
/// beyond what it pays, times its maximum. The possible rounding error of these sums is added.
double BoundedProgram::bound_at(std::vector<double>& prices) const {
  double bound = 0;
  double size = 0;   // of what is summed
  double error = 0;  // in the columns' own sums
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    double& price = prices[r];
    if (!std::isfinite(price) || !std::isfinite(price > 0 ? rows_[r].upper : rows_[r].lower)) price = 0;
    if (price == 0) continue;
    const double paid = price * (price > 0 ? rows_[r].upper : rows_[r].lower);
    bound += paid;
    size += std::abs(paid);
  }
  for (const Column& column : columns_) {
    double left = column.gain;
    double terms = std::abs(left);
    for (const auto& [row, value] : column.entries) {
      left -= prices[row] * value;
      terms += std::abs(prices[row] * value);
    }
    const double gained = std::max(0.0, left) * column.most;
    bound += gained;
    size += gained;
    error += static_cast<double>(column.entries.size() + 2) * terms * column.most;
  }
  const double terms = static_cast<double>(rows_.size() + columns_.size() + 2);
  return bound + std::numeric_limits<double>::epsilon() * (error + terms * size);
}

std::vector<unsigned char> BoundedProgram::basis() const {
  return program_ ? program_->basis() : std::vector<unsigned char>{};
}

void BoundedProgram::start_from(std::span<const unsigned char> basis) {
  if (!program_) build();
  program_->set_basis(basis);
}

BoundedProgram::Answer BoundedProgram::maximise(StopPoll& poll) {
  constexpr double kKept = 0.8e-9;  // of a limit
  constexpr double kNotEvenNear = 1e-3;
  Answer answer = solve(poll);
  if (answer.is_optimal() && !keeps_limits(answer.columns, kKept)) {
    Answer other;
    solve_by_limits(poll, other);
    if (other.is_optimal() && keeps_limits(other.columns, kKept)) answer = std::move(other);
    if (other.status == LinearProgram::Status::kInfeasible && !keeps_limits(answer.columns, kNotEvenNear))
      return other;
  }
  // If numbers lie far apart, a solver's tolerances may hide an answer that is far from optimal; its prices
  // show it.
  constexpr double kDoubtful = 1e-6;  // of the bound
  constexpr double kHidden = 1e-8;    // of the largest gain: tolerances hide no more
  const double gap = answer.bound - answer.value;
  if (!answer.is_optimal() || !(gap > kDoubtful * std::abs(answer.bound) && gap > kHidden * gain_scale_))
    return answer;
  Answer other;
  solve_anew(poll, other);
  if (!other.is_optimal() || (keeps_limits(answer.columns, kKept) && !keeps_limits(other.columns, kKept)))
    return answer;
  const bool is_closer = other.bound - other.value < answer.bound - answer.value;
  return is_closer ? other : answer;
}

BoundedProgram::Answer BoundedProgram::solve(StopPoll& poll) {
  if (!program_) build();
  gain_scale_ = 0;
  for (const Column& column : columns_)
    gain_scale_ = std::max(gain_scale_, std::abs(column.gain * column.most));
  if (!(gain_scale_ > 0 && std::isfinite(gain_scale_))) gain_scale_ = 1;
  std::vector<double> costs;
  costs.reserve(columns_.size());
  for (const Column& column : columns_) costs.push_back(-column.gain * column.most / gain_scale_);
  program_->set_costs(costs);
  Answer answer;
  answer.status = program_->solve(&poll);
  poll.spend(program_->steps());
  if (answer.is_optimal() || answer.status == LinearProgram::Status::kStopped) {
    read(program_->columns(), program_->duals(), answer);
  } else if (answer.status == LinearProgram::Status::kFailed ||
             answer.status == LinearProgram::Status::kUnbounded) {
    program_.reset();  // a bounded program cannot be unbounded: the basis led the solver astray
    former_.clear();
    solve_anew(poll, answer);
  }
  return answer;
}

/// Solves by our own simplex method, from scratch.
void BoundedProgram::solve_anew(StopPoll& poll, Answer& answer) const {
  BoundedSimplex simplex;
  for (const Row& row : rows_) simplex.add_row(row.lower / row.scale, row.upper / row.scale);
  std::vector<int> rows;
  std::vector<double> values;
  for (const Column& column : columns_) {
    scale(column, rows, values);
    simplex.add_column(-column.gain * column.most / gain_scale_, 0, 1, rows, values);
  }
  const auto status = simplex.solve(&poll);
  answer.status = status == BoundedSimplex::Status::kOptimal      ? LinearProgram::Status::kOptimal
                  : status == BoundedSimplex::Status::kInfeasible ? LinearProgram::Status::kInfeasible
                  : status == BoundedSimplex::Status::kStopped    ? LinearProgram::Status::kStopped
                                                                  : LinearProgram::Status::kFailed;
  if (answer.is_optimal() || answer.status == LinearProgram::Status::kStopped)
    read(simplex.columns(), simplex.duals(), answer);
}

/// Solves by our own simplex method, with rows scaled by their limits and columns by what the rows allow:
/// slower, but no limit is too small to matter.
void BoundedProgram::solve_by_limits(StopPoll& poll, Answer& answer) const {
  const auto limit_of = [](const Row& row) {
    const double limit = std::isfinite(row.upper) ? row.upper : row.lower;
    return std::isfinite(limit) ? std::abs(limit) : 0.0;
  };
  std::vector<bool> only_adds(rows_.size(), true);
  for (const Column& column : columns_) {
    for (const auto& [row, value] : column.entries) only_adds[row] = only_adds[row] && value >= 0;
  }
  std::vector<double> units;                     // per column
  std::vector<double> added(rows_.size(), 0.0);  // the most that a column adds to a row, or takes from it
  std::vector<double> taken(rows_.size(), 0.0);
  for (const Column& column : columns_) {
    double unit = column.most;
    for (const auto& [row, value] : column.entries) {
      if (only_adds[row] && rows_[row].upper > 0) unit = std::min(unit, rows_[row].upper / value);
    }
    units.push_back(unit);
    for (const auto& [row, value] : column.entries) {
      double& most = value > 0 ? added[row] : taken[row];
      most = std::max(most, std::abs(value * unit));
    }
  }
  std::vector<double> scales;
  BoundedSimplex simplex;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const double side = added[r] > 0 && taken[r] > 0 ? std::min(added[r], taken[r]) : added[r] + taken[r];
    scales.push_back(limit_of(rows_[r]) > 0 ? limit_of(rows_[r]) : side);
    if (!(scales[r] > 0 && std::isfinite(scales[r]))) scales[r] = 1;
    simplex.add_row(rows_[r].lower / scales[r], rows_[r].upper / scales[r]);
  }
  std::vector<int> rows;
  std::vector<double> values;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    rows.clear();
    values.clear();
    for (const auto& [row, value] : columns_[c].entries) {
      rows.push_back(static_cast<int>(row));
      values.push_back(value * units[c] / scales[row]);
    }
    simplex.add_column(-columns_[c].gain * units[c] / gain_scale_, 0, columns_[c].most / units[c], rows,
                       values);
  }
  const BoundedSimplex::Status status = simplex.solve(&poll);
  if (status == BoundedSimplex::Status::kInfeasible) answer.status = LinearProgram::Status::kInfeasible;
  if (status != BoundedSimplex::Status::kOptimal) return;
  answer.status = LinearProgram::Status::kOptimal;
  std::vector<double> parts(simplex.columns().begin(), simplex.columns().end());
  std::vector<double> duals(simplex.duals().begin(), simplex.duals().end());
  for (std::size_t c = 0; c < parts.size(); ++c) parts[c] *= units[c] / columns_[c].most;
  for (std::size_t r = 0; r < duals.size(); ++r) duals[r] *= rows_[r].scale / scales[r];
  read(parts, duals, answer);
}

/// Each limit to within a part of itself, or of the terms of the sum if the limit is 0.
bool BoundedProgram::keeps_limits(std::span<const double> columns, double tolerance) const {
  std::vector<double> sums(rows_.size(), 0.0);
  std::vector<double> sizes(rows_.size(), 0.0);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns[c] == 0) continue;
    for (const auto& [row, value] : columns_[c].entries) {
      sums[row] += value * columns[c];
      sizes[row] = std::max(sizes[row], std::abs(value * columns[c]));
    }
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const auto slack = [&](double limit) { return tolerance * (limit == 0 ? sizes[r] : std::abs(limit)); };
    if (std::isfinite(rows_[r].lower) && sums[r] < rows_[r].lower - slack(rows_[r].lower)) return false;
    if (std::isfinite(rows_[r].upper) && sums[r] > rows_[r].upper + slack(rows_[r].upper)) return false;
  }
  return true;
}

void BoundedProgram::read(std::span<const double> parts, std::span<const double> duals,
                          Answer& answer) const {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    answer.columns.push_back(std::clamp(parts[c], 0.0, 1.0) * columns_[c].most);
    answer.value += columns_[c].gain * answer.columns.back();
  }
  for (std::size_t r = 0; r < rows_.size(); ++r)
    answer.prices.push_back(-duals[r] * gain_scale_ / rows_[r].scale);
  answer.bound = bound_at(answer.prices);
  if (!answer.is_optimal() && !keeps_rows(answer.columns)) answer.columns.clear();
}

/// With the tolerance of a solver of linear programs.
bool BoundedProgram::keeps_rows(std::span<const double> columns) const {
  constexpr double kTolerance = 1e-9;
  const std::vector<double> sums = activities(columns);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const double slack = kTolerance * rows_[r].scale;
    if (sums[r] < rows_[r].lower - slack || sums[r] > rows_[r].upper + slack) return false;
  }
  return true;
}

}  // namespace allot::detail
