#include "allot/solve/detail/bounded_simplex.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace allot::detail {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// A value that is outside its range by at most this counts as inside; a reduced cost of at most this counts
/// as zero.
constexpr double kTolerance = 1e-9;
/// Smaller entries are not used as pivots.
constexpr double kLeastPivot = 1e-9;
/// Rounding accumulates in the inverse; it is recomputed after this many updates.
constexpr int kMostUpdates = 64;
/// After this many consecutive steps without progress, Bland's rule breaks a possible cycle.
constexpr int kPatience = 100;

/// The value of a variable that is not basic: the bound nearest to zero, or 0 without bounds.
double resting_value(double lower, double upper) noexcept {
  if (lower == -kInfinite && upper == kInfinite) return 0;
  if (lower == -kInfinite) return upper;
  if (upper == kInfinite) return lower;
  return std::abs(lower) <= std::abs(upper) ? lower : upper;
}

}  // namespace

int BoundedSimplex::add_variable(const Variable& variable) {
  variables_.push_back(variable);
  variables_.back().value = resting_value(variable.lower, variable.upper);
  return static_cast<int>(variables_.size()) - 1;
}

int BoundedSimplex::add_row(double lower, double upper) {
  const int row = static_cast<int>(row_variables_.size());
  Variable activity;
  activity.lower = lower;
  activity.upper = upper;
  activity.begin = entry_rows_.size();
  activity.end = activity.begin + 1;
  activity.position = static_cast<int>(basis_.size());
  entry_rows_.push_back(row);
  entry_values_.push_back(-1);
  row_variables_.push_back(add_variable(activity));
  basis_.push_back(row_variables_.back());
  factorised_ = false;
  return row;
}

int BoundedSimplex::add_column(double cost, double lower, double upper, std::span<const int> rows,
                               std::span<const double> values) {
  Variable column;
  column.cost = cost;
  column.lower = lower;
  column.upper = upper;
  column.begin = entry_rows_.size();
  column.end = column.begin + rows.size();
  entry_rows_.insert(entry_rows_.end(), rows.begin(), rows.end());
  entry_values_.insert(entry_values_.end(), values.begin(), values.end());
  column_variables_.push_back(add_variable(column));
  return static_cast<int>(column_variables_.size()) - 1;
}

namespace {
enum : unsigned char { kAtRest, kBasic, kAtUpper };
}

std::vector<unsigned char> BoundedSimplex::basis() const {
  std::vector<unsigned char> states;
  const auto add = [&](int variable) {
    const Variable& v = variables_[static_cast<std::size_t>(variable)];
    states.push_back(v.position >= 0                            ? kBasic
                     : v.value == v.upper && v.value != v.lower ? kAtUpper
                                                                : kAtRest);
  };
  std::for_each(column_variables_.begin(), column_variables_.end(), add);
  std::for_each(row_variables_.begin(), row_variables_.end(), add);
  return states;
}

bool BoundedSimplex::set_basis(std::span<const unsigned char> states) {
  const std::size_t rows = row_variables_.size();
  if (states.size() != column_variables_.size() + rows ||
      std::count(states.begin(), states.end(), kBasic) != static_cast<std::ptrdiff_t>(rows))
    return false;
  basis_.clear();
  for (std::size_t at = 0; at < states.size(); ++at) {
    const int variable =
        at < column_variables_.size() ? column_variables_[at] : row_variables_[at - column_variables_.size()];
    Variable& v = variables_[static_cast<std::size_t>(variable)];
    v.position = -1;
    v.value = states[at] == kAtUpper && v.upper < kInfinite   ? v.upper
              : states[at] == kAtRest && v.lower > -kInfinite ? v.lower
                                                              : resting_value(v.lower, v.upper);
    if (states[at] != kBasic) continue;
    v.position = static_cast<int>(basis_.size());
    basis_.push_back(variable);
  }
  factorised_ = false;
  return true;
}

void BoundedSimplex::set_range(int variable, double lower, double upper) {
  Variable& v = variables_[static_cast<std::size_t>(variable)];
  const bool was_at_upper = v.value == v.upper && v.value != v.lower;
  v.lower = lower;
  v.upper = upper;
  if (v.position >= 0) return;
  v.value = was_at_upper && upper != kInfinite ? upper : resting_value(lower, upper);
}

void BoundedSimplex::set_row(int row, double lower, double upper) {
  set_range(row_variables_[static_cast<std::size_t>(row)], lower, upper);
}

void BoundedSimplex::set_column(int column, double lower, double upper) {
  set_range(column_variables_[static_cast<std::size_t>(column)], lower, upper);
}

void BoundedSimplex::set_cost(int column, double cost) {
  variables_[static_cast<std::size_t>(column_variables_[static_cast<std::size_t>(column)])].cost = cost;
}

double BoundedSimplex::cost() const noexcept {
  double sum = 0;
  for (const int variable : column_variables_) {
    const Variable& v = variables_[static_cast<std::size_t>(variable)];
    sum += v.cost * v.value;
  }
  return sum;
}

/// Gauss-Jordan elimination of [B | I], with the largest entry of each column as pivot. False if the basis is
/// singular; then reports the positions whose columns depend on others, and the rows that are left over.
bool BoundedSimplex::invert(std::vector<int>& spare_rows, std::vector<int>& dependent_positions) {
  const std::size_t m = basis_.size();
  std::vector<double> work(m * m, 0.0);  // row-major: row by position
  for (std::size_t p = 0; p < m; ++p) {
    const Variable& v = variables_[static_cast<std::size_t>(basis_[p])];
    for (std::size_t at = v.begin; at < v.end; ++at)
      work[static_cast<std::size_t>(entry_rows_[at]) * m + p] += entry_values_[at];
  }
  std::vector<double> right(m * m, 0.0);
  for (std::size_t r = 0; r < m; ++r) right[r * m + r] = 1;
  std::vector<int> pivot_row(m, -1);
  std::vector<char> used(m, 0);
  dependent_positions.clear();
  for (std::size_t p = 0; p < m; ++p) {
    std::size_t best = m;
    double largest = 1e-11;
    for (std::size_t r = 0; r < m; ++r) {
      if (used[r] == 0 && std::abs(work[r * m + p]) > largest) {
        largest = std::abs(work[r * m + p]);
        best = r;
      }
    }
    if (best == m) {
      dependent_positions.push_back(static_cast<int>(p));
      continue;
    }
    used[best] = 1;
    pivot_row[p] = static_cast<int>(best);
    const double scale = 1 / work[best * m + p];
    for (std::size_t c = 0; c < m; ++c) {
      work[best * m + c] *= scale;
      right[best * m + c] *= scale;
    }
    for (std::size_t r = 0; r < m; ++r) {
      const double factor = work[r * m + p];
      if (r == best || factor == 0) continue;
      for (std::size_t c = p; c < m; ++c) work[r * m + c] -= factor * work[best * m + c];
      for (std::size_t c = 0; c < m; ++c) right[r * m + c] -= factor * right[best * m + c];
    }
  }
  spare_rows.clear();
  for (std::size_t r = 0; r < m; ++r) {
    if (used[r] == 0) spare_rows.push_back(static_cast<int>(r));
  }
  if (!dependent_positions.empty()) return false;
  inverse_.resize(m * m);
  for (std::size_t p = 0; p < m; ++p) {
    const auto from = right.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(pivot_row[p]) * m);
    std::copy(from, from + static_cast<std::ptrdiff_t>(m),
              inverse_.begin() + static_cast<std::ptrdiff_t>(p * m));
  }
  return true;
}

void BoundedSimplex::factorise() {
  std::vector<int> spare_rows;
  std::vector<int> dependent;
  while (!invert(spare_rows, dependent)) {
    for (std::size_t at = 0; at < dependent.size(); ++at) {
      const auto p = static_cast<std::size_t>(dependent[at]);
      Variable& out = variables_[static_cast<std::size_t>(basis_[p])];
      out.position = -1;
      out.value = resting_value(out.lower, out.upper);
      basis_[p] = row_variables_[static_cast<std::size_t>(spare_rows[at])];
      variables_[static_cast<std::size_t>(basis_[p])].position = static_cast<int>(p);
    }
  }
  factorised_ = true;
  updates_ = 0;
}

void BoundedSimplex::multiply_inverse(std::span<const double> right,
                                      std::span<double> result) const noexcept {
  const std::size_t m = basis_.size();
  for (std::size_t p = 0; p < m; ++p) {
    double sum = 0;
    for (std::size_t r = 0; r < m; ++r) sum += inverse_[p * m + r] * right[r];
    result[p] = sum;
  }
}

void BoundedSimplex::compute_values() {
  const std::size_t m = basis_.size();
  std::vector<double> result(m);
  std::vector<double> rest(m);
  for (const int variable : basis_) variables_[static_cast<std::size_t>(variable)].value = 0;
  for (int round = 0; round < 2; ++round) {  // the second corrects the rounding of the first
    std::fill(rest.begin(), rest.end(), 0.0);
    for (const Variable& v : variables_) {
      if (v.value == 0) continue;
      for (std::size_t at = v.begin; at < v.end; ++at)
        rest[static_cast<std::size_t>(entry_rows_[at])] -= entry_values_[at] * v.value;
    }
    multiply_inverse(rest, result);
    for (std::size_t p = 0; p < m; ++p) variables_[static_cast<std::size_t>(basis_[p])].value += result[p];
  }
}

bool BoundedSimplex::is_feasible() const noexcept {
  return std::all_of(basis_.begin(), basis_.end(), [&](int variable) {
    const Variable& v = variables_[static_cast<std::size_t>(variable)];
    return v.value >= v.lower - kTolerance && v.value <= v.upper + kTolerance;
  });
}

void BoundedSimplex::compute_duals(bool feasible) {
  const std::size_t m = basis_.size();
  prices_.assign(m, 0.0);
  for (std::size_t p = 0; p < m; ++p) {
    const Variable& v = variables_[static_cast<std::size_t>(basis_[p])];
    const double cost = feasible                         ? v.cost
                        : v.value < v.lower - kTolerance ? -1.0
                        : v.value > v.upper + kTolerance ? 1.0
                                                         : 0.0;
    if (cost == 0) continue;
    for (std::size_t r = 0; r < m; ++r) prices_[r] += cost * inverse_[p * m + r];
  }
}

/// The variable with the largest useful reduced cost; in careful mode, the first with any.
BoundedSimplex::Entering BoundedSimplex::choose_entering(bool feasible) const noexcept {
  Entering best;
  double most = kTolerance;
  for (std::size_t at = 0; at < variables_.size(); ++at) {
    const Variable& v = variables_[at];
    if (v.position >= 0 || v.lower == v.upper) continue;
    double reduced = feasible ? v.cost : 0.0;
    for (std::size_t e = v.begin; e < v.end; ++e)
      reduced -= entry_values_[e] * prices_[static_cast<std::size_t>(entry_rows_[e])];
    if (std::abs(reduced) <= most) continue;
    if (reduced < 0 ? v.value >= v.upper : v.value <= v.lower) continue;  // no room that way
    best = {static_cast<int>(at), reduced < 0 ? 1.0 : -1.0};
    if (careful_) return best;
    most = std::abs(reduced);
  }
  return best;
}

void BoundedSimplex::compute_direction(int variable) {
  const std::size_t m = basis_.size();
  direction_.assign(m, 0.0);
  const Variable& v = variables_[static_cast<std::size_t>(variable)];
  for (std::size_t e = v.begin; e < v.end; ++e) {
    const auto row = static_cast<std::size_t>(entry_rows_[e]);
    for (std::size_t p = 0; p < m; ++p) direction_[p] += inverse_[p * m + row] * entry_values_[e];
  }
}

/// Which basic variable stops the entering one first. A variable outside its range stops it on entering the
/// range. Among those that stop it at the same point, within the tolerance, takes the one with the largest
/// pivot (Harris).
BoundedSimplex::Leaving BoundedSimplex::choose_leaving(const Entering& entering) const noexcept {
  const std::size_t m = basis_.size();
  const auto bound_of = [&](const Variable& v, double slope) {
    if (slope > 0)
      return v.value < v.lower - kTolerance ? v.lower : v.value > v.upper + kTolerance ? kInfinite : v.upper;
    return v.value > v.upper + kTolerance ? v.upper : v.value < v.lower - kTolerance ? -kInfinite : v.lower;
  };
  // Calls visit(position, size of the slope, bound, step) for each variable that stops the entering one at
  // all.
  const auto for_each_stop = [&](const auto& visit) {
    for (std::size_t p = 0; p < m; ++p) {
      const double slope = -entering.direction * direction_[p];
      if (std::abs(slope) < kLeastPivot) continue;
      const Variable& v = variables_[static_cast<std::size_t>(basis_[p])];
      const double bound = bound_of(v, slope);
      if (std::isinf(bound)) continue;
      visit(p, std::abs(slope), bound, std::max(0.0, (bound - v.value) / slope));
    }
  };
  const double slack = careful_ ? 1e-13 : kTolerance;
  double reach = kInfinite;
  for_each_stop(
      [&](std::size_t, double slope, double, double step) { reach = std::min(reach, step + slack / slope); });
  const Variable& own = variables_[static_cast<std::size_t>(entering.variable)];
  Leaving leaving;
  leaving.step = own.upper - own.lower;
  leaving.bound = entering.direction > 0 ? own.upper : own.lower;
  if (leaving.step <= reach) return leaving;
  double largest = 0;
  for_each_stop([&](std::size_t p, double slope, double bound, double step) {
    if (step > reach) return;
    const bool better = careful_ && slope > 1e-7 && largest > 1e-7
                            ? basis_[p] < basis_[static_cast<std::size_t>(leaving.position)]
                            : slope > largest;
    if (!better) return;
    largest = slope;
    leaving = {static_cast<int>(p), step, bound};
  });
  return leaving;
}

void BoundedSimplex::move(const Entering& entering, const Leaving& leaving) {
  const std::size_t m = basis_.size();
  const double change = entering.direction * leaving.step;
  for (std::size_t p = 0; p < m; ++p)
    variables_[static_cast<std::size_t>(basis_[p])].value -= change * direction_[p];
  Variable& in = variables_[static_cast<std::size_t>(entering.variable)];
  if (leaving.position < 0) {
    in.value = leaving.bound;
    return;
  }
  in.value += change;
  const auto position = static_cast<std::size_t>(leaving.position);
  Variable& out = variables_[static_cast<std::size_t>(basis_[position])];
  out.value = leaving.bound;
  out.position = -1;
  in.position = leaving.position;
  basis_[position] = entering.variable;
  double* const pivot = &inverse_[position * m];
  const double scale = 1 / direction_[position];
  for (std::size_t r = 0; r < m; ++r) pivot[r] *= scale;
  for (std::size_t p = 0; p < m; ++p) {
    const double factor = direction_[p];
    if (p == position || factor == 0) continue;
    double* const row = &inverse_[p * m];
    for (std::size_t r = 0; r < m; ++r) row[r] -= factor * pivot[r];
  }
  ++updates_;
}

void BoundedSimplex::publish() {
  columns_.clear();
  for (const int variable : column_variables_) {
    const Variable& v = variables_[static_cast<std::size_t>(variable)];
    columns_.push_back(std::clamp(v.value, v.lower, v.upper));
  }
  duals_ = prices_;
}

BoundedSimplex::Status BoundedSimplex::solve(StopPoll* poll) {
  iterations_ = 0;
  careful_ = false;
  for (const Variable& v : variables_) {
    if (v.lower > v.upper) return Status::kInfeasible;
  }
  if (!factorised_) factorise();
  compute_values();
  const std::uint64_t most = 20'000 + 100 * variables_.size();
  int idle = 0;
  bool fresh = updates_ == 0;  // nothing has been rounded since the last inversion
  Status status = Status::kFailed;
  for (; iterations_ < most; ++iterations_) {
    if (poll != nullptr && poll->should_stop_now()) {
      compute_duals(is_feasible());
      status = Status::kStopped;
      break;
    }
    if (updates_ >= kMostUpdates) {
      factorise();
      compute_values();
      fresh = true;
    }
    const bool feasible = is_feasible();
    compute_duals(feasible);
    const Entering entering = choose_entering(feasible);
    if (entering.variable < 0) {
      if (fresh) {
        status = feasible ? Status::kOptimal : Status::kInfeasible;
        break;
      }
      factorise();
      compute_values();
      fresh = true;
      continue;
    }
    compute_direction(entering.variable);
    const Leaving leaving = choose_leaving(entering);
    if (std::isinf(leaving.step)) {
      if (feasible) {
        status = Status::kUnbounded;
        break;
      }
      if (fresh) break;  // this can only be rounding, since the distances cannot keep falling
      factorise();
      compute_values();
      fresh = true;
      continue;
    }
    move(entering, leaving);
    fresh = false;
    idle = leaving.step > 1e-12 ? 0 : idle + 1;
    careful_ = idle > kPatience;
  }
  publish();
  return status;
}

}  // namespace allot::detail
