// The results of a sweep as JSON text: the output of `reproduce --json` and `sweep --json`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "allot/sweep/experiment.hpp"

namespace allot {

/// A run as a whole.
struct SweepSummary {
  std::string folder;
  Effort effort;
  std::size_t units = 0;
  std::size_t found = 0;  ///< units done by earlier runs
  std::size_t failed = 0;
  double seconds = 0;
};

/// One JSON document: the run, and for each experiment its claims and the names of its tables and charts.
std::string reproduce_json(const SweepSummary& summary, std::span<const Reported> experiments);

/// One JSON document: the run, and the rows of a table as objects. A missing value is null.
std::string sweep_json(const SweepSummary& summary, const std::string& title, const Table& table);

std::string_view to_string(Verdict verdict) noexcept;

}  // namespace allot
