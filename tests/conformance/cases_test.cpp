// Scenarios that were solved by enumeration elsewhere, with the number of states and both optima.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "allot/format/scenario_reader.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/oracle.hpp"

namespace allot::cases_test {
namespace {

struct SolvedCase {
  std::string name;
  nlohmann::json json;
};

std::vector<SolvedCase> solved_cases() {
  std::vector<SolvedCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(ALLOT_SOURCE_DIR "/tests/cases")) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    cases.push_back({entry.path().stem().string(), nlohmann::json::parse(file)});
  }
  std::sort(cases.begin(), cases.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return cases;
}

Assignment matrix_of(const nlohmann::json& rows) {
  Assignment n(rows.size(), rows.at(0).size());
  for (std::size_t i = 0; i < n.types(); ++i) {
    for (std::size_t j = 0; j < n.resources(); ++j) n(task_type(i), resource_id(j)) = rows[i][j].get<Count>();
  }
  return n;
}

class SolvedCases : public ::testing::TestWithParam<SolvedCase> {
 protected:
  const nlohmann::json& json() const { return GetParam().json; }
  System system() const {
    const auto read = read_scenario_text(json().at("scenario").dump(), FileFormat::kJson, GetParam().name);
    EXPECT_TRUE(read.has_value());
    return read.value().system;
  }
  double number(const char* key) const { return json().at(key).get<double>(); }
};

TEST_P(SolvedCases, HaveTheThroughputAndErrorReportedForTheirBestStates) {
  const System s = system();
  const Assignment fastest = matrix_of(json().at("max_throughput_assignment"));
  const Assignment fairest = matrix_of(json().at("min_priority_error_assignment"));
  EXPECT_NEAR(evaluate(s, fastest).throughput, number("max_throughput"), 1e-9 * number("max_throughput"));
  EXPECT_NEAR(*evaluate(s, fairest).priority_error, number("min_priority_error"), 1e-9);
}

TEST_P(SolvedCases, HaveTheReportedNumberOfStates) {
  std::uint64_t states = 0;
  testing::for_each_assignment(system(), [&](const Assignment&) { ++states; });
  EXPECT_EQ(states, json().at("states").get<std::uint64_t>());
  // `exhaustive` counts before it starts: one state fewer than there are is refused, exactly as many is not.
  const SolverInfo& exhaustive = *find_solver("exhaustive");
  const Problem problem{system(), Objective::kThroughput};
  EXPECT_EQ(
      solve(exhaustive, problem, {.settings = {{"max_states", static_cast<double>(states) - 1}}}).outcome,
      Outcome::kBudget);
  EXPECT_EQ(solve(exhaustive, problem, {.settings = {{"max_states", static_cast<double>(states)}}}).outcome,
            Outcome::kOptimal);
}

TEST_P(SolvedCases, AreSolvedToTheirMaximumByTheExactSolvers) {
  for (const char* name : {"exhaustive", "exact"}) {
    SCOPED_TRACE(name);
    const Solution solution = solve(*find_solver(name), {system(), Objective::kThroughput});
    EXPECT_NEAR(solution.performance.throughput, number("max_throughput"), 1e-9 * number("max_throughput"));
    EXPECT_EQ(solution.outcome, Outcome::kOptimal);
    EXPECT_TRUE(solution.proven_optimal);
    EXPECT_LE(solution.gap().value_or(1), 1e-9);
  }
}

TEST_P(SolvedCases, AreSolvedToTheirLeastErrorByExhaustive) {
  const Solution solution = solve(*find_solver("exhaustive"), {system(), Objective::kPriority});
  EXPECT_NEAR(solution.performance.priority_error.value_or(-1), number("min_priority_error"), 1e-9);
  EXPECT_TRUE(solution.proven_optimal);
}

TEST_P(SolvedCases, BoundEverySolver) {
  for (const SolverInfo* solver : builtin_solvers()) {
    SCOPED_TRACE(solver->name);
    if (supports(*solver, Objective::kThroughput)) {
      const Solution solution = solve(*solver, {system(), Objective::kThroughput});
      // Plans are not states: they may beat every state.
      const double most = number("max_throughput");
      if (solution.is_planned) {
        EXPECT_GE(*solution.upper_bound, most * (1 - 1e-12));
      } else {
        EXPECT_LE(solution.performance.throughput, most * (1 + 1e-9));
      }
    }
    if (supports(*solver, Objective::kPriority)) {
      const Solution solution = solve(*solver, {system(), Objective::kPriority});
      // Time shares are not states: they may beat every state.
      if (solution.time_shares.empty()) {
        EXPECT_GE(*solution.performance.priority_error, number("min_priority_error") - 1e-9);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, SolvedCases, ::testing::ValuesIn(solved_cases()), [](const auto& test) {
  std::string name = test.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace allot::cases_test
