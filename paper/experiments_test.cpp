// What every experiment owes the engine and the reader, over the table of built-ins; and the headline claims
// on a few runs.
#include "paper/experiments.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <set>
#include <string>

#include "paper/experiments/support.hpp"

namespace allot {
namespace {

std::vector<UnitResult> run_all(const Experiment& experiment, const Effort& effort) {
  std::vector<UnitResult> results;
  for (std::size_t unit = 0; unit < experiment.units(effort); ++unit) {
    results.push_back(experiment.run(effort, unit, {}));
  }
  return results;
}

bool is_file_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::islower(static_cast<unsigned char>(c)) || std::isdigit(static_cast<unsigned char>(c)) ||
           c == '-';
  });
}

class EveryExperiment : public ::testing::TestWithParam<const Experiment*> {};

TEST_P(EveryExperiment, GivesTheSameUnitTwiceAndWithAnyNumberOfRuns) {
  const Experiment& experiment = *GetParam();
  Effort few;
  few.runs = 2;
  Effort more;
  more.runs = 40;
  ASSERT_GE(experiment.units(few), 1u);
  EXPECT_LE(experiment.units(few), experiment.units(more));
  if (experiment.columns.empty()) GTEST_SKIP() << "times alone, never the same twice";
  const std::size_t last = experiment.units(few) - 1;
  const UnitResult once = experiment.run(few, last, {});
  EXPECT_EQ(once.rows, experiment.run(few, last, {}).rows);
  EXPECT_EQ(once.rows, experiment.run(more, last, {}).rows);
}

TEST_P(EveryExperiment, FillsItsColumnsAndConcludes) {
  const Experiment& experiment = *GetParam();
  Effort effort;
  effort.runs = 3;
  const std::vector<UnitResult> results = run_all(experiment, effort);
  for (const UnitResult& result : results) {
    for (const auto& row : result.rows) ASSERT_EQ(row.size(), experiment.columns.size());
    for (const auto& row : result.timing) ASSERT_EQ(row.size(), experiment.timing_columns.size());
    for (const auto& row : result.rows) {
      for (const double value : row) EXPECT_TRUE(std::isfinite(value));
    }
  }
  EXPECT_TRUE(experiment.exclusive || experiment.timing_columns.empty());

  const Findings findings = experiment.conclude(effort, results);
  EXPECT_FALSE(findings.text.empty());
  EXPECT_FALSE(findings.claims.empty());
  EXPECT_FALSE(findings.charts.empty());
  EXPECT_FALSE(findings.tables.empty());
  for (const Claim& claim : findings.claims) {
    EXPECT_FALSE(claim.where.empty());
    EXPECT_FALSE(claim.paper.empty());
    EXPECT_TRUE(std::any_of(claim.measured.begin(), claim.measured.end(), [](char c) {
      return std::isdigit(static_cast<unsigned char>(c));
    })) << claim.measured;
  }
  for (const Chart& chart : findings.charts) {
    SCOPED_TRACE(chart.name);
    EXPECT_TRUE(is_file_name(chart.name));
    EXPECT_FALSE(chart.x_label.empty());
    EXPECT_FALSE(chart.y_label.empty());
    EXPECT_FALSE(chart.caption.empty());
    EXPECT_FALSE(chart.series.empty());
    EXPECT_LE(chart.series.size(), 8u);  // as many as the palette tells apart
    EXPECT_TRUE(!chart.timing || experiment.exclusive);
    for (const Series& series : chart.series) {
      EXPECT_EQ(series.x.size(), series.y.size());
      EXPECT_EQ(series.low.size(), series.high.size());
      EXPECT_TRUE(series.low.empty() || series.low.size() == series.y.size());
    }
  }
  for (const Table& table : findings.tables) {
    SCOPED_TRACE(table.name);
    EXPECT_TRUE(is_file_name(table.name));
    EXPECT_FALSE(table.rows.empty());
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
  }
}

std::vector<const Experiment*> pointers() {
  std::vector<const Experiment*> result;
  for (const Experiment& experiment : builtin_experiments()) result.push_back(&experiment);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Experiments, EveryExperiment, ::testing::ValuesIn(pointers()),
                         [](const auto& experiment) {
                           std::string name = experiment.param->name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Experiments, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  std::set<std::string> files;
  Effort effort;
  effort.runs = 1;
  for (const Experiment& experiment : builtin_experiments()) {
    EXPECT_TRUE(is_file_name(experiment.name)) << experiment.name;
    EXPECT_TRUE(names.insert(experiment.name).second) << experiment.name;
    EXPECT_EQ(find_experiment(experiment.name), &experiment);
  }
  EXPECT_EQ(find_experiment("figure-99"), nullptr);
}

/// With 40 runs of the 600: what the full run shows with a tighter interval.
TEST(Experiments, FigureTwoHoldsOnAFewRuns) {
  const Experiment& experiment = *find_experiment("figure-2");
  Effort effort;
  effort.runs = 40;
  for (const Claim& claim : experiment.conclude(effort, run_all(experiment, effort)).claims) {
    EXPECT_EQ(claim.verdict, Verdict::kHolds) << claim.paper << ": " << claim.measured;
  }
}

/// Three runs settle no mean; what one system disproves needs no more.
TEST(Experiments, ClaimNoMoreThanAFewRunsShow) {
  Effort effort;
  effort.runs = 3;
  const auto verdicts = [&](const char* name) {
    const Experiment& experiment = *find_experiment(name);
    std::vector<Verdict> result;
    for (const Claim& claim : experiment.conclude(effort, run_all(experiment, effort)).claims)
      result.push_back(claim.verdict);
    return result;
  };
  EXPECT_EQ(verdicts("figure-2").at(0), Verdict::kUndecided);
  EXPECT_EQ(verdicts("map-moves"), std::vector<Verdict>(2, Verdict::kUndecided));
  effort.runs = 1;
  EXPECT_EQ(verdicts("figure-2").at(1), Verdict::kUndecided);
  EXPECT_EQ(verdicts("lemma-2"),
            (std::vector<Verdict>{Verdict::kUndecided, Verdict::kFails, Verdict::kFails}));
}

TEST(Verdicts, AreWhatTheIntervalSupports) {
  const auto measured = [](double mean, double half_width, std::size_t count = 100) {
    return experiments::Summary{count, mean, half_width, mean - half_width, mean + half_width, mean, mean};
  };
  using experiments::at_least;
  using experiments::at_most;
  using experiments::within;
  EXPECT_EQ(at_most(measured(0.7, 0.2), 1), Verdict::kHolds);
  EXPECT_EQ(at_most(measured(0.7, 0.2, 29), 1), Verdict::kUndecided);
  EXPECT_EQ(at_most(measured(0.7, 0.5), 1), Verdict::kUndecided);
  EXPECT_EQ(at_most(measured(1.05, 0.08), 1), Verdict::kHolds);
  EXPECT_EQ(at_most(measured(1.5, 0.2), 1), Verdict::kPartly);
  EXPECT_EQ(at_most(measured(2.5, 0.2), 1), Verdict::kFails);
  EXPECT_EQ(at_least(measured(1.5, 0.2), 1), Verdict::kHolds);
  EXPECT_EQ(at_least(measured(1.5, 0.8), 1), Verdict::kUndecided);
  EXPECT_EQ(at_least(measured(0.7, 0.2), 1), Verdict::kPartly);
  EXPECT_EQ(at_least(measured(0.2, 0.2), 1), Verdict::kFails);
  EXPECT_EQ(within(measured(-0.5, 0.2), 1), Verdict::kHolds);
  EXPECT_EQ(within(measured(-0.9, 0.2), 1), Verdict::kUndecided);
  EXPECT_EQ(within(measured(-1.9, 0.2), 1), Verdict::kFails);
  EXPECT_EQ(experiments::both(Verdict::kPartly, Verdict::kUndecided), Verdict::kUndecided);
  EXPECT_EQ(experiments::both(Verdict::kHolds, Verdict::kFails), Verdict::kFails);
}

}  // namespace
}  // namespace allot
