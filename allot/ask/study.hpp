// A user's sweep for the sweep engine: every row is an experiment of one unit, and all rows give a table and
// charts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "allot/sweep/experiment.hpp"
#include "allot/sweep/sweep_reader.hpp"

namespace allot {

/// A row of the table: a point with one policy and distribution, or with one solver.
struct StudyRow {
  std::size_t point = 0;
  std::uint64_t seed = 0;
  std::string policy;        ///< or a solver
  std::string solver;        ///< or a policy
  std::string distribution;  ///< empty with a solver
  std::size_t experiment = 0;
};

/// The rows and their experiments. The name of an experiment is a digest of everything that its result
/// depends on: a changed sweep finds the results that it shares with the old one, and equal rows share an
/// experiment. The title is for people.
struct Study {
  std::vector<StudyRow> rows;
  std::vector<Experiment> experiments;
};

/// The plan must outlive the study.
Study make_study(const SweepPlan& plan);

/// The findings from all rows. `results`: by experiment; empty if it failed, and then its rows are left out.
Findings conclude_study(const SweepPlan& plan, const Study& study,
                        std::span<const std::vector<UnitResult>> results);

}  // namespace allot
