#include "allot/simulate/simulate.hpp"

#include <gtest/gtest.h>

#include "allot/model/generate.hpp"
#include "allot/model/throughput.hpp"

namespace allot {
namespace {

/// With every task at home the state never changes, so the closed form is the truth; and Little's identity holds
/// exactly in every run.
TEST(Simulate, BestFitGivesTheClosedForm) {
  const Scenario scenario = generate({});
  const auto sizes = make_distribution("exponential");
  const SimulationResult result = simulate(scenario, *find_policy("best-fit"), *sizes);
  const double expected = evaluate(scenario.system, home_assignment(scenario.system)).throughput;
  ASSERT_TRUE(result.throughput.half_width.has_value());
  EXPECT_NEAR(result.throughput.mean, expected, 2 * *result.throughput.half_width);
  EXPECT_LT(result.little_residual, 1e-9);
  EXPECT_NEAR(result.population, 18, 1e-9);
}

}  // namespace
}  // namespace allot
