// Even sharing where tasks have needs: against scenarios that were solved elsewhere, and against all states of
// random systems with a filling of their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/format/scenario_reader.hpp"
#include "allot/solve/detail/states.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/needs_oracle.hpp"

namespace allot {
namespace {

using testing::NeedsOracle;
using testing::NeedsShape;
using testing::random_needs;
using testing::with_limits;

/// Brute force is slow, in long double all the more.
constexpr double kMostStates = 3000;

Solution found_by(const char* solver, const System& system, Objective objective = Objective::kThroughput) {
  return solve(*find_solver(solver), Problem{system, objective});
}

/// Systems with needs that are small enough, each from the seed that it is shown with.
template <typename Visit>
void for_each_system(int systems, std::uint64_t stream, const NeedsShape& shape, bool limits, Visit&& visit) {
  for (std::uint64_t seed = 0; systems > 0; ++seed) {
    RandomStream random(seed, stream);
    System system = random_needs(random, shape);
    if (limits) system = with_limits(system, random);
    if (!system.has_needs() || system.population() == 0 || detail::count_states(system) > kMostStates) continue;
    --systems;
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    visit(system, random);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Needs, TheBestStatesOfCasesSolvedElsewhereAreFound) {
  int checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ALLOT_SOURCE_DIR "/tests/cases2")) {
    if (!entry.path().stem().string().starts_with("needs-")) continue;
    SCOPED_TRACE(entry.path().stem().string());
    std::ifstream file(entry.path());
    const nlohmann::json json = nlohmann::json::parse(file);
    const auto scenario = read_scenario_text(json.at("scenario").dump(), FileFormat::kJson, "case");
    ASSERT_TRUE(scenario.has_value());
    const double value = json.at("expect").at("even").at("value").get<double>();
    EXPECT_NEAR(found_by("exhaustive", scenario->system).performance.value, value, 1e-9 * value);
    for (const char* solver : {"exact", "best"}) {
      const Solution proven = found_by(solver, scenario->system);
      EXPECT_NEAR(proven.performance.value, value, 1e-9 * value);
      EXPECT_GE(*proven.upper_bound, value * (1 - 1e-12));
    }
    EXPECT_GE(found_by("local", scenario->system).performance.value, value * (1 - 2e-3));
    ++checked;
  }
  EXPECT_EQ(checked, 6);
}

/// Gaps to the best state, relative.
struct Gaps {
  double sum = 0;
  double worst = 0;
  int hits = 0;
  int missed = 0;  ///< a floor that can be met
  int systems = 0;
  void add(const Solution& solution, double most) {
    ++systems;
    if (solution.outcome == Outcome::kInfeasible) {
      ++missed;
      return;
    }
    const double gap = most > 0 ? std::max(0.0, 1 - solution.performance.value / most) : 0;
    sum += gap;
    worst = std::max(worst, gap);
    hits += gap < 1e-9;
  }
  double mean() const { return sum / std::max(1, systems - missed); }
  void print(const char* name) const {
    std::printf("%-6s mean gap %.4f%%, worst %.2f%%, optimal in %d of %d, floors missed in %d\n", name,
                100 * mean(), 100 * worst, hits, systems, missed);
  }
};

TEST(Needs, SolversAreCloseToTheBestOfAllStatesAndNoBoundIsBelowIt) {
  Gaps map;
  Gaps local;
  double loose = 0;
  for_each_system(500, 1, {}, true, [&](const System& system, RandomStream&) {
    const NeedsOracle oracle(system);
    const std::optional<double> most = oracle.most_value();
    const Solution all = found_by("exhaustive", system);
    const Solution exact = found_by("exact", system);
    if (!most) {
      EXPECT_EQ(all.outcome, Outcome::kInfeasible);
      EXPECT_EQ(exact.outcome, Outcome::kInfeasible);
      return;
    }
    EXPECT_NEAR(all.performance.value, *most, 1e-9 * *most);
    const std::vector<double> by_task = oracle.throughput_by_task(all.assignment);
    for (std::size_t i = 0; i < by_task.size(); ++i)
      EXPECT_NEAR(all.performance.throughput_by_task[i], by_task[i], 1e-9 * by_task[i]);
    ASSERT_TRUE(all.upper_bound && exact.upper_bound);
    EXPECT_EQ(all.proven_optimal, !all.performance.approximate);
    EXPECT_GE(*exact.upper_bound, *most * (1 - 1e-12));
    EXPECT_NEAR(exact.performance.value, *most, 1e-9 * *most);
    EXPECT_LE(*exact.upper_bound, *most * (1 + 1e-9));
    const Solution planned = found_by("planned", system);
    EXPECT_GE(*planned.upper_bound, *most * (1 - 1e-12));
    if (*most > 0) loose += *planned.upper_bound / *most - 1;
    map.add(found_by("map", system), *most);
    local.add(found_by("local", system), *most);
  });
  map.print("map");
  local.print("local");
  std::printf("planned service is %.1f%% above the best state on average\n", 100 * loose / map.systems);
  EXPECT_LE(map.mean(), 0.01);
  EXPECT_LE(local.mean(), 0.002);
  EXPECT_LE(map.missed, 10);
  EXPECT_LE(local.missed, 2);
}

TEST(Needs, BranchAndPriceIsExactWhereNothingIsJoined) {
  NeedsShape shape;
  shape.joined = false;
  int tables = 0;
  for_each_system(200, 2, shape, true, [&](const System& system, RandomStream&) {
    ASSERT_FALSE(system.is_joined());
    const Solution all = found_by("exhaustive", system);
    const Solution exact = found_by("exact", system);
    ASSERT_EQ(exact.outcome == Outcome::kInfeasible, all.outcome == Outcome::kInfeasible);
    if (exact.outcome == Outcome::kInfeasible) return;
    EXPECT_NEAR(exact.performance.value, all.performance.value, 1e-9 * all.performance.value);
    EXPECT_NEAR(*exact.upper_bound, all.performance.value, 1e-9 * all.performance.value);
    ++tables;
  });
  EXPECT_GE(tables, 150);
}

}  // namespace
}  // namespace allot
