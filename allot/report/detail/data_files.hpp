// Tables, points and runs as CSV and JSON. Numbers are written in the shortest form that reads back exactly.
#pragma once

#include <span>
#include <string>

#include "allot/sweep/experiment.hpp"

namespace allot::detail {

/// "0.1", "1e+300"; empty for NaN.
std::string exact_number(double value);

std::string table_csv(const Table& table);
std::string table_json(const Table& table);
/// The points of a figure, one per line: series, x (or the category), y, low, high.
Table points_of(const Chart& chart);
/// All rows of all units, with the number of the unit in front.
std::string runs_csv(std::span<const std::string> columns, std::span<const UnitResult> results, bool timing);

}  // namespace allot::detail
