// Our own simplex method: against what can be worked out by hand, against the optimality conditions, and
// against whatever solves the library's linear programs in this build.
#include "allot/solve/detail/bounded_simplex.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "allot/base/random.hpp"
#include "allot/solve/detail/linear_program.hpp"
#include "tests/support/amount.hpp"

namespace allot::detail {
namespace {

using Status = BoundedSimplex::Status;

/// A program as plain data, to be given to both methods.
struct Programme {
  struct Row {
    double lower = 0;
    double upper = 0;
  };
  struct Column {
    double cost = 0;
    double lower = 0;
    double upper = 0;
    std::vector<int> rows;
    std::vector<double> values;
  };
  std::vector<Row> rows;
  std::vector<Column> columns;

  template <typename Method>
  void give(Method& method) const {
    for (const Row& row : rows) method.add_row(row.lower, row.upper);
    for (const Column& column : columns)
      method.add_column(column.cost, column.lower, column.upper, column.rows, column.values);
  }

  double activity(std::size_t row, std::span<const double> x) const {
    double sum = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      for (std::size_t at = 0; at < columns[c].rows.size(); ++at)
        sum += columns[c].rows[at] == static_cast<int>(row) ? columns[c].values[at] * x[c] : 0.0;
    }
    return sum;
  }
};

/// Equalities, ranges and one-sided rows, columns with and without an end; small whole entries, so that ties
/// and degenerate bases abound.
Programme random_programme(std::uint64_t seed) {
  RandomStream random(seed, 31);
  const std::size_t rows = 1 + random.below(8);
  const std::size_t columns = 1 + random.below(14);
  const auto whole = [&](std::uint64_t most) { return static_cast<double>(random.below(most + 1)); };
  Programme programme;
  for (std::size_t r = 0; r < rows; ++r) {
    const double level = whole(6) - 1;
    switch (random.below(4)) {
      case 0:
        programme.rows.push_back({level, level});
        break;
      case 1:
        programme.rows.push_back({-kInfinity, level});
        break;
      case 2:
        programme.rows.push_back({level - 3, kInfinity});
        break;
      default:
        programme.rows.push_back({level - 2, level + whole(3)});
    }
  }
  for (std::size_t c = 0; c < columns; ++c) {
    Programme::Column column;
    column.cost = random.below(2) == 0 ? whole(6) - 3 : random.uniform(-3, 3);
    column.lower =
        whole(3) - 2;  // never -infinity: CLP, started as we start it, is at times wrong about those
    column.upper = random.below(3) == 0 ? kInfinity : column.lower + whole(5);
    for (std::size_t r = 0; r < rows; ++r) {
      if (random.below(2) == 0) continue;
      column.rows.push_back(static_cast<int>(r));
      column.values.push_back(random.below(2) == 0 ? whole(3) + 1 : random.uniform(-2, 2));
    }
    programme.columns.push_back(std::move(column));
  }
  return programme;
}

/// Primal and dual feasible, and whatever has a price is at a bound: that is optimal.
void expect_optimal(const Programme& programme, std::span<const double> x, std::span<const double> y) {
  for (std::size_t r = 0; r < programme.rows.size(); ++r) {
    const double activity = programme.activity(r, x);
    const auto [lower, upper] = programme.rows[r];
    EXPECT_GE(activity, lower - 1e-7);
    EXPECT_LE(activity, upper + 1e-7);
    if (y[r] > 1e-7) {
      EXPECT_NEAR(activity, lower, 1e-7) << "row " << r;
    }
    if (y[r] < -1e-7) {
      EXPECT_NEAR(activity, upper, 1e-7) << "row " << r;
    }
  }
  for (std::size_t c = 0; c < programme.columns.size(); ++c) {
    const Programme::Column& column = programme.columns[c];
    double reduced = column.cost;
    for (std::size_t at = 0; at < column.rows.size(); ++at)
      reduced -= column.values[at] * y[static_cast<std::size_t>(column.rows[at])];
    EXPECT_GE(x[c], column.lower);
    EXPECT_LE(x[c], column.upper);
    if (reduced > 1e-7) {
      EXPECT_NEAR(x[c], column.lower, 1e-7) << "column " << c;
    }
    if (reduced < -1e-7) {
      EXPECT_NEAR(x[c], column.upper, 1e-7) << "column " << c;
    }
  }
}

// maximise 3 a + 2 b with a + b <= 4, a + 3 b <= 7, a <= 3: the corner (3, 1), worth 11; the rows' prices are
// 2 and 0.
TEST(BoundedSimplex, FindsTheCornerThatOneFindsByHand) {
  BoundedSimplex simplex;
  const int first = simplex.add_row(-kInfinity, 4);
  const int second = simplex.add_row(-kInfinity, 7);
  const std::vector<int> rows = {first, second};
  simplex.add_column(-3, 0, 3, rows, std::vector<double>{1, 1});
  simplex.add_column(-2, 0, kInfinity, rows, std::vector<double>{1, 3});
  ASSERT_EQ(simplex.solve(), Status::kOptimal);
  EXPECT_NEAR(simplex.cost(), -11, 1e-12);
  EXPECT_NEAR(simplex.columns()[0], 3, 1e-12);
  EXPECT_NEAR(simplex.columns()[1], 1, 1e-12);
  EXPECT_NEAR(simplex.duals()[0], -2, 1e-12);
  EXPECT_NEAR(simplex.duals()[1], 0, 1e-12);
}

TEST(BoundedSimplex, SaysWhatHasNoSolutionAndWhatHasNoEnd) {
  BoundedSimplex impossible;
  impossible.add_row(5, kInfinity);
  const int row = 0;
  const double one = 1;
  impossible.add_column(1, 0, 2, {&row, 1}, {&one, 1});
  EXPECT_EQ(impossible.solve(), Status::kInfeasible);
  impossible.set_column(0, 3, 2);
  EXPECT_EQ(impossible.solve(), Status::kInfeasible);

  BoundedSimplex endless;
  endless.add_row(0, kInfinity);
  endless.add_column(-1, 0, kInfinity, {&row, 1}, {&one, 1});
  EXPECT_EQ(endless.solve(), Status::kUnbounded);
}

// minimise |x - 3|, as the sum of what x is above and below, x and one row without bounds.
TEST(BoundedSimplex, TakesVariablesAndRowsWithoutBounds) {
  BoundedSimplex simplex;
  simplex.add_row(3, 3);
  simplex.add_row(-kInfinity, kInfinity);
  const std::vector<int> both = {0, 1};
  const int distance = 0;
  const double one = 1;
  const double minus_one = -1;
  simplex.add_column(0, -kInfinity, kInfinity, both, std::vector<double>{1, 5});
  simplex.add_column(1, 0, kInfinity, {&distance, 1}, {&one, 1});
  simplex.add_column(1, 0, kInfinity, {&distance, 1}, {&minus_one, 1});
  ASSERT_EQ(simplex.solve(), Status::kOptimal);
  EXPECT_NEAR(simplex.cost(), 0, 1e-12);
  EXPECT_NEAR(simplex.columns()[0], 3, 1e-12);
  simplex.set_column(0, -kInfinity, -2);
  ASSERT_EQ(simplex.solve(), Status::kOptimal);
  EXPECT_NEAR(simplex.cost(), 5, 1e-12);
}

// Beale's example, on which the plain rule (largest promise, first of the ties) goes round for ever.
TEST(BoundedSimplex, LeavesCircles) {
  BoundedSimplex simplex;
  for (const double upper : {0.0, 0.0, 1.0}) simplex.add_row(-kInfinity, upper);
  const std::vector<int> rows = {0, 1, 2};
  simplex.add_column(-0.75, 0, kInfinity, rows, std::vector<double>{0.25, 0.5, 0});
  simplex.add_column(150, 0, kInfinity, rows, std::vector<double>{-60, -90, 0});
  simplex.add_column(-0.02, 0, kInfinity, rows, std::vector<double>{-0.04, -0.02, 1});
  simplex.add_column(6, 0, kInfinity, rows, std::vector<double>{9, 3, 0});
  ASSERT_EQ(simplex.solve(), Status::kOptimal);
  EXPECT_NEAR(simplex.cost(), -0.05, 1e-12);
}

TEST(BoundedSimplex, StopsWhenAsked) {
  const Programme programme = random_programme(3);
  BoundedSimplex simplex;
  programme.give(simplex);
  const StopFlag flag{true};
  StopPoll poll({.flag = &flag});
  EXPECT_EQ(simplex.solve(&poll), Status::kStopped);
}

TEST(BoundedSimplex, MeetsTheOptimalityConditionsAndAgreesWithTheOtherMethod) {
  std::uint64_t optimal = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(3000); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const Programme programme = random_programme(seed);
    BoundedSimplex simplex;
    programme.give(simplex);
    LinearProgram other;
    programme.give(other);
    const Status status = simplex.solve();
    if (status ==
        Status::kUnbounded) {  // CLP calls some of these optimal: ask it about a very large box instead
      Programme boxed = programme;
      for (Programme::Column& column : boxed.columns) {
        column.lower = std::max(column.lower, -1e6);
        column.upper = std::min(column.upper, 1e6);
      }
      LinearProgram large;
      boxed.give(large);
      ASSERT_EQ(large.solve(), LinearProgram::Status::kOptimal);
      EXPECT_LT(large.value(), -100);
      continue;
    }
    const LinearProgram::Status expected = other.solve();
    ASSERT_EQ(status == Status::kOptimal, expected == LinearProgram::Status::kOptimal);
    if (status != Status::kOptimal) continue;
    ++optimal;
    EXPECT_NEAR(simplex.cost(), other.value(), 1e-7 * (1 + std::abs(other.value())));
    expect_optimal(programme, simplex.columns(), simplex.duals());
  }
  EXPECT_GT(optimal, testing::amount(500));
}

// As in column generation and branching: ranges, costs and columns change, and the last basis is where it
// goes on.
TEST(BoundedSimplex, GoesOnFromTheLastBasisAfterEveryKindOfChange) {
  for (std::uint64_t seed = 0; seed < testing::amount(500); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    Programme programme = random_programme(seed);
    BoundedSimplex warm;
    programme.give(warm);
    RandomStream random(seed, 32);
    for (int change = 0; change < 12; ++change) {
      const std::size_t c = random.below(programme.columns.size());
      const std::size_t r = random.below(programme.rows.size());
      const double amount = static_cast<double>(random.below(4));
      switch (random.below(4)) {
        case 0:
          programme.columns[c].cost = amount - 2;
          warm.set_cost(static_cast<int>(c), programme.columns[c].cost);
          break;
        case 1:
          programme.columns[c].lower = 0;
          programme.columns[c].upper = amount;
          warm.set_column(static_cast<int>(c), 0, amount);
          break;
        case 2:
          programme.rows[r] = {amount - 3, amount + 1};
          warm.set_row(static_cast<int>(r), amount - 3, amount + 1);
          break;
        default: {
          const Programme::Column copy = programme.columns[c];
          programme.columns.push_back(copy);
          programme.columns.back().cost -= 0.5;
          warm.add_column(copy.cost - 0.5, copy.lower, copy.upper, copy.rows, copy.values);
        }
      }
      BoundedSimplex cold;
      programme.give(cold);
      const Status status = warm.solve();
      ASSERT_EQ(status, cold.solve());
      if (status != Status::kOptimal) continue;
      EXPECT_NEAR(warm.cost(), cold.cost(), 1e-7 * (1 + std::abs(cold.cost())));
      expect_optimal(programme, warm.columns(), warm.duals());
    }
  }
}

}  // namespace
}  // namespace allot::detail
