#include "allot/model/rates.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "allot/base/error.hpp"

namespace allot {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string refused_field(std::size_t types, std::size_t resources, std::vector<double> values) {
  try {
    const Rates rates(types, resources, std::move(values));
  } catch (const InvalidModel& error) {
    return error.field();
  }
  return "accepted";
}

TEST(Rates, AreRowMajor) {
  const Rates rates(2, 3, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(rates.types(), 2U);
  EXPECT_EQ(rates.resources(), 3U);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(rates(task_type(i), resource_id(j)), static_cast<double>(3 * i + j + 1));
      EXPECT_EQ(rates.row(task_type(i))[j], static_cast<double>(3 * i + j + 1));
    }
  }
}

TEST(Rates, RefuseAWrongNumberOfValues) {
  EXPECT_EQ(refused_field(2, 2, {1, 2, 3}), "rates");
  EXPECT_EQ(refused_field(2, 2, {1, 2, 3, 4, 5}), "rates");
  EXPECT_EQ(refused_field(0, 2, {1}), "rates");
  EXPECT_EQ(refused_field(2, 2, {1, 2, 3, 4}), "accepted");
}

TEST(Rates, NameTheEntryThatIsNegativeOrNotFinite) {
  EXPECT_EQ(refused_field(2, 3, {1, 1, 1, 1, 1, -0.5}), "rates[1][2]");
  EXPECT_EQ(refused_field(2, 3, {1, kNan, 1, 1, 1, 1}), "rates[0][1]");
  EXPECT_EQ(refused_field(2, 3, {1, 1, 1, kInf, 1, 1}), "rates[1][0]");
  EXPECT_EQ(refused_field(2, 3, {-kInf, 1, 1, 1, 1, 1}), "rates[0][0]");
  EXPECT_EQ(refused_field(2, 3, {0, 0, 0, 0, 0, 0}), "accepted");  // zero: cannot run there
  EXPECT_EQ(refused_field(1, 2, {1e-100, 1e100}), "accepted");
  EXPECT_EQ(refused_field(1, 2, {1, 1.1e100}), "rates[0][1]");
  EXPECT_EQ(refused_field(1, 2, {0.9e-100, 1}), "rates[0][0]");
}

TEST(Rates, ACopyWithOneEntryReplacedDiffersThereOnly) {
  const Rates rates(2, 2, {1, 2, 3, 4});
  EXPECT_EQ(rates.with(task_type(1), resource_id(0), 9), Rates(2, 2, {1, 2, 9, 4}));
  EXPECT_EQ(rates, Rates(2, 2, {1, 2, 3, 4}));
  EXPECT_THROW(rates.with(task_type(0), resource_id(1), -1), InvalidModel);
}

TEST(Rates, EqualityLooksAtTheShapeToo) {
  EXPECT_NE(Rates(1, 4, {1, 2, 3, 4}), Rates(4, 1, {1, 2, 3, 4}));
  EXPECT_NE(Rates(2, 2, {1, 2, 3, 4}), Rates(2, 2, {1, 2, 3, 5}));
}

}  // namespace
}  // namespace allot
