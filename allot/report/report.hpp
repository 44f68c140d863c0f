// The report: the findings of experiments as one page that opens offline, with figures and data in files
// beside it.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "allot/sweep/experiment.hpp"

namespace allot {

struct ReportInfo {
  std::string title = "The experiments, reproduced";
  Effort effort;
  std::string about;    ///< a line at the top instead of the one on seed and runs; plain text
  std::string version;  ///< of the program, shown at the top
};

struct ReportOutcome {
  std::filesystem::path page;
  std::size_t figures = 0;  ///< that were drawn
};

/// Writes
///
///     FOLDER/index.html         one file, nothing fetched from anywhere
///     FOLDER/claims.md          its table of claims and verdicts, for other documents; none without claims
///     FOLDER/figures/NAME.svg   each figure for other documents, light and dark
///     FOLDER/data/NAME.csv      each table, each figure's points (NAME-figure.csv), each experiment's runs
///     FOLDER/data/NAME.json     (EXPERIMENT-runs.csv); measured times only in files NAME-timing.csv and
///     .json
///
/// The same findings give the same bytes. Each file is written under a temporary name and then renamed, so
/// that no file is ever incomplete and no link is followed. A content security policy allows the page only
/// its own style. Throws std::filesystem::filesystem_error if a file cannot be written.
ReportOutcome write_report(const std::filesystem::path& folder, std::span<const Reported> reported,
                           const ReportInfo& info);

}  // namespace allot
