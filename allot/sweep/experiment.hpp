// An experiment, declared: units of work that do not depend on each other, and the conclusions from their
// results.
//
// A unit is a pure function of the random seed and its own index. It does not depend on the clock, the number
// of workers or the number of units. So units may be done in any order and by any process, each once; a run
// with more units extends one with fewer. Values measured with a clock are kept apart (`timing`), because
// they differ in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allot/base/stop.hpp"

namespace allot {

/// How much to do. Full effort is 600 runs, as in the paper; fewer runs draw fewer samples.
struct Effort {
  std::uint64_t seed = 1;
  unsigned runs = 600;
  friend bool operator==(const Effort&, const Effort&) = default;
};

/// The result of one unit: numbers in the order of the experiment's columns, any number of rows.
struct UnitResult {
  std::vector<std::vector<double>> rows;    ///< one number per column of `Experiment::columns`
  std::vector<std::vector<double>> timing;  ///< one number per column of `Experiment::timing_columns`
  friend bool operator==(const UnitResult&, const UnitResult&) = default;
};

/// A table for readers and for CSV. A cell is a number or a text.
struct Cell {
  std::string text;              ///< as shown; for numbers the rounded form
  std::optional<double> number;  ///< exact, for CSV and JSON
};
struct Table {
  std::string name;  ///< file name without ending, such as "figure-2-averages"
  std::string title;
  bool timing = false;  ///< holds measured times: goes to NAME-timing.csv
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows = {};
};

/// A line, a row of bars or a cloud of points. NaN in y leaves a gap.
struct Series {
  std::string label;
  std::vector<double> x;  ///< for bars: one per category
  std::vector<double> y;
  std::vector<double> low;  ///< interval of each y; empty: none
  std::vector<double> high;
};
struct Chart {
  enum class Kind { kLines, kBars, kPoints };
  std::string name;  ///< file name without ending
  std::string title;
  Kind kind = Kind::kLines;
  std::string x_label;  ///< with the unit
  std::string y_label;
  bool log_x = false;
  bool log_y = false;
  std::vector<std::string> categories;  ///< of bars, in the order of x
  std::vector<Series> series;
  std::string caption;  ///< what the reader should see in it, in a sentence or two
  bool timing = false;  ///< shows measured times
};

enum class Verdict {
  kHolds,      ///< we measure what the paper says
  kPartly,     ///< holds with a restriction that `measured` names
  kFails,      ///< we measure something else
  kNew,        ///< a finding of ours; the paper says nothing
  kUndecided,  ///< too few runs to tell
};
struct Claim {
  std::string where;     ///< "section 5.2, Figure 2"
  std::string paper;     ///< what the paper says
  std::string measured;  ///< what we measure, with numbers and interval
  Verdict verdict = Verdict::kHolds;
};

/// The conclusions from the results of all units.
struct Findings {
  std::string text;  ///< a paragraph or two, plain
  std::vector<Claim> claims;
  std::vector<Chart> charts;
  std::vector<Table> tables;
};

struct Experiment {
  std::string name;        ///< "figure-2": key in the store, file name
  std::string title;       ///< "Figure 2: exponential sizes"
  int version = 1;         ///< raise it when the meaning of a unit changes: units of older versions are done
                           ///< again
  bool exclusive = false;  ///< its units are timed: they run one at a time, and nothing else runs beside them
  std::vector<std::string> columns;
  std::vector<std::string> timing_columns = {};
  std::function<std::size_t(const Effort&)> units;
  /// May throw anything that the library throws. After a stop, the result is discarded.
  std::function<UnitResult(const Effort&, std::size_t unit, const StopLimits&)> run;
  /// `results`: one per unit, in order.
  std::function<Findings(const Effort&, std::span<const UnitResult> results)> conclude;
};

/// An experiment and its findings.
struct Reported {
  const Experiment* experiment = nullptr;  ///< not owned
  Findings findings;
  std::span<const UnitResult> results;  ///< of all units, for the file of all runs; may be empty
};

}  // namespace allot
