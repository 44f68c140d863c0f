// Linear programs by CLP.
#include <algorithm>
#include <coin/ClpEventHandler.hpp>
#include <coin/ClpSimplex.hpp>
#include <utility>

#include "allot/solve/detail/linear_program.hpp"

namespace allot::detail {

struct LinearProgram::Simplex {
  ClpSimplex clp;
  bool has_foreign_basis = false;
};

namespace {

double clp_bound(double value) noexcept {
  return value == kInfinity ? COIN_DBL_MAX : value == -kInfinity ? -COIN_DBL_MAX : value;
}

/// Ends the simplex method at the iteration at which the poll says stop.
class StopHandler : public ClpEventHandler {
 public:
  explicit StopHandler(StopPoll* poll) : poll_(poll) {}
  int event(Event what) override {
    return what == endOfIteration && poll_ != nullptr && poll_->should_stop_now() ? 0 : -1;
  }
  ClpEventHandler* clone() const override { return new StopHandler(*this); }

 private:
  StopPoll* poll_;
};

}  // namespace

LinearProgram::LinearProgram() {
  // Copying is faster than constructing, which writes out all messages that CLP could ever print.
  static const Simplex empty = [] {
    Simplex simplex;
    simplex.clp.setLogLevel(0);
    simplex.clp.setOptimizationDirection(1);
    simplex.clp.setPrimalTolerance(1e-9);
    simplex.clp.setDualTolerance(1e-9);
    return simplex;
  }();
  simplex_ = std::make_unique<Simplex>(empty);
}
LinearProgram::~LinearProgram() = default;
LinearProgram::LinearProgram(LinearProgram&&) noexcept = default;
LinearProgram& LinearProgram::operator=(LinearProgram&&) noexcept = default;

int LinearProgram::add_row(double lower, double upper) {
  simplex_->clp.addRow(0, nullptr, nullptr, clp_bound(lower), clp_bound(upper));
  return simplex_->clp.numberRows() - 1;
}

int LinearProgram::add_rows(std::size_t count, double lower, double upper) {
  const int first = simplex_->clp.numberRows();
  const std::vector<double> lowers(count, clp_bound(lower));
  const std::vector<double> uppers(count, clp_bound(upper));
  const std::vector<int> starts(count + 1, 0);
  simplex_->clp.addRows(static_cast<int>(count), lowers.data(), uppers.data(), starts.data(), nullptr,
                        nullptr);
  return first;
}

int LinearProgram::add_column(double cost, double lower, double upper, std::span<const int> rows,
                              std::span<const double> values) {
  simplex_->clp.addColumn(static_cast<int>(rows.size()), rows.data(), values.data(), clp_bound(lower),
                          clp_bound(upper), cost);
  return simplex_->clp.numberColumns() - 1;
}

void LinearProgram::add_columns(Batch batch) {
  batch.starts_.push_back(static_cast<int>(batch.rows_.size()));
  simplex_->clp.addColumns(static_cast<int>(batch.size()), nullptr, nullptr, batch.costs_.data(),
                           batch.starts_.data(), batch.rows_.data(), batch.values_.data());
}

void LinearProgram::load(const Table& table) {
  const auto bounds = [](const std::vector<double>& values) {
    std::vector<double> result(values.size());
    std::transform(values.begin(), values.end(), result.begin(), clp_bound);
    return result;
  };
  simplex_->clp.loadProblem(static_cast<int>(table.costs.size()), static_cast<int>(table.row_lower.size()),
                            table.starts.data(), table.rows.data(), table.values.data(),
                            bounds(table.column_lower).data(), bounds(table.column_upper).data(),
                            table.costs.data(), bounds(table.row_lower).data(),
                            bounds(table.row_upper).data());
}

std::vector<unsigned char> LinearProgram::basis() const {
  const ClpSimplex& clp = simplex_->clp;
  if (clp.statusArray() == nullptr) return {};
  const auto size = static_cast<std::size_t>(clp.numberColumns() + clp.numberRows());
  std::vector<unsigned char> states(size);
  for (std::size_t at = 0; at < size; ++at) states[at] = clp.statusArray()[at] & 7;
  return states;
}

bool LinearProgram::set_basis(std::span<const unsigned char> states) {
  ClpSimplex& clp = simplex_->clp;
  if (states.size() != static_cast<std::size_t>(clp.numberColumns() + clp.numberRows())) return false;
  clp.createStatus();
  std::copy(states.begin(), states.end(), clp.statusArray());
  simplex_->has_foreign_basis = true;
  return true;
}

void LinearProgram::set_row(int row, double lower, double upper) {
  simplex_->clp.setRowBounds(row, clp_bound(lower), clp_bound(upper));
}

void LinearProgram::set_column(int column, double lower, double upper) {
  simplex_->clp.setColumnBounds(column, clp_bound(lower), clp_bound(upper));
}

void LinearProgram::set_cost(int column, double cost) { simplex_->clp.setObjectiveCoefficient(column, cost); }

void LinearProgram::set_costs(std::span<const double> costs) {
  std::copy(costs.begin(), costs.end(), simplex_->clp.objective());
  // Unlike objective(), this one tells CLP that costs have changed.
  if (!costs.empty()) simplex_->clp.setObjectiveCoefficient(0, costs[0]);
}

LinearProgram::Status LinearProgram::solve(StopPoll* poll) {
  const StopHandler handler(poll);
  simplex_->clp.passInEventHandler(&handler);  // copies it
  // A basis from elsewhere is nearly optimal but often outside some range; the dual method is made for this.
  if (std::exchange(simplex_->has_foreign_basis, false)) {
    simplex_->clp.dual();
    const int status = simplex_->clp.status();
    if (status != 0 && status != 1 && status != 5) simplex_->clp.primal(1);
  } else {
    simplex_->clp.primal(1);
  }
  switch (simplex_->clp.status()) {
    case 0:
      return Status::kOptimal;
    case 1:
      return Status::kInfeasible;
    case 2:
      return Status::kUnbounded;
    case 5:
      return Status::kStopped;
    default:
      return Status::kFailed;
  }
}

std::uint64_t LinearProgram::steps() const noexcept {
  // An iteration scans every column and updates a factorisation with that many rows.
  const auto rows = static_cast<std::uint64_t>(simplex_->clp.numberRows());
  const auto columns = static_cast<std::uint64_t>(simplex_->clp.numberColumns());
  return (static_cast<std::uint64_t>(simplex_->clp.numberIterations()) + 1) * (4 + (rows + columns) / 16);
}

double LinearProgram::value() const { return simplex_->clp.objectiveValue(); }

std::span<const double> LinearProgram::columns() const {
  return {simplex_->clp.getColSolution(), static_cast<std::size_t>(simplex_->clp.numberColumns())};
}

std::span<const double> LinearProgram::duals() const {
  return {simplex_->clp.getRowPrice(), static_cast<std::size_t>(simplex_->clp.numberRows())};
}

}  // namespace allot::detail
