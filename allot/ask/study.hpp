// A user's sweep as the engine runs it: every row an experiment of one unit, and all rows a table and charts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "allot/sweep/experiment.hpp"
#include "allot/sweep/sweep_reader.hpp"

namespace allot {

/// A row to be: a point under one policy and distribution, or under one solver.
struct StudyRow {
  std::size_t point = 0;
  std::uint64_t seed = 0;
  std::string policy;        ///< or
  std::string solver;        ///< this
  std::string distribution;  ///< empty with a solver
  std::size_t experiment = 0;
};

/// The rows, and the experiments that give them. The name of an experiment is a digest of all that its result
/// depends on: a sweep that was changed finds what it has in common with the old one, and rows that ask for
/// the same share it. Its title is for people.
struct Study {
  std::vector<StudyRow> rows;
  std::vector<Experiment> experiments;
};

/// The plan must outlive the study.
Study make_study(const SweepPlan& plan);

/// What the rows say together. `results`: those of each experiment; none where it failed, which leaves its
/// rows out.
Findings conclude_study(const SweepPlan& plan, const Study& study,
                        std::span<const std::vector<UnitResult>> results);

}  // namespace allot
