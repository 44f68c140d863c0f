#include "allot/ask/study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace allot {
namespace {

using ::testing::ElementsAre;

SweepPlan plan_of(const std::string& more) {
  const std::string text = "completions = 2000\nreplications = 2\n" + more +
                           "\n[generate]\ngps = 2\nsas = 0\nthreads = 4\n"
                           "[[vary]]\nfield = \"generate.threads\"\nlabel = \"threads\"\nvalues = [4, 6]\n";
  ReadResult<SweepPlan> plan = read_sweep_text(text, FileFormat::kToml);
  if (plan) return std::move(plan).value();
  for (const Diagnostic& diagnostic : plan.diagnostics()) ADD_FAILURE() << to_string(diagnostic);
  return {};
}

std::vector<std::vector<UnitResult>> run_all(const Study& study) {
  std::vector<std::vector<UnitResult>> results;
  for (const Experiment& experiment : study.experiments) results.push_back({experiment.run({}, 0, {})});
  return results;
}

TEST(Study, HasARowForEachPointAndPolicyAndSolver) {
  const SweepPlan plan = plan_of("policies = [\"map\", \"jsq\"]\nsolvers = [\"map\"]");
  const Study study = make_study(plan);
  EXPECT_EQ(study.rows.size(), 6u);
  EXPECT_EQ(study.rows.size(), plan.size());
  const Findings findings = conclude_study(plan, study, run_all(study));
  ASSERT_EQ(findings.tables.size(), 2u);
  const Table& table = findings.tables.front();
  EXPECT_EQ(table.rows.size(), 6u);
  EXPECT_THAT(std::vector<std::string>(table.columns.begin(), table.columns.begin() + 6),
              ElementsAre("threads", "seed", "kind", "name", "distribution", "throughput"));
  for (const std::vector<Cell>& row : table.rows) EXPECT_GT(row[5].number.value_or(0), 0);
  EXPECT_EQ(findings.charts.size(), 2u);
}

TEST(Study, AnExperimentIsKnownByAllThatItsResultDependsOn) {
  const auto names = [](const SweepPlan& plan) {
    std::set<std::string> all;
    for (const Experiment& experiment : make_study(plan).experiments) all.insert(experiment.name);
    return all;
  };
  const SweepPlan plan = plan_of("policies = [\"map\"]");
  EXPECT_EQ(names(plan).size(), 2u);
  EXPECT_EQ(names(plan), names(plan_of("policies = [\"map\"]")));
  for (const char* const other :
       {"policies = [\"jsq\"]", "policies = [\"map\"]\nseeds = [7]", "policies = [\"map\"]\nwarmup = 5"}) {
    for (const std::string& name : names(plan_of(other))) EXPECT_FALSE(names(plan).contains(name)) << other;
  }
}

TEST(Study, WhatFailedIsLeftOut) {
  const SweepPlan plan = plan_of("policies = [\"map\", \"jsq\"]");
  const Study study = make_study(plan);
  std::vector<std::vector<UnitResult>> results = run_all(study);
  results[1].clear();
  EXPECT_EQ(conclude_study(plan, study, results).tables.front().rows.size(), 3u);
}

}  // namespace
}  // namespace allot
