#include "allot/report/report.hpp"

#include <system_error>

#include "allot/base/own_file.hpp"
#include "allot/report/detail/chart_svg.hpp"
#include "allot/report/detail/data_files.hpp"
#include "allot/report/detail/page.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& path, const std::string& content) {
  if (const std::error_code error = replace_file(path.string(), content, Readers::kEveryone)) {
    throw fs::filesystem_error("cannot write", path, error);
  }
}

void write_table(const fs::path& data, const Table& table) {
  const std::string name = detail::data_name(table);
  write_file(data / (name + ".csv"), detail::table_csv(table));
  write_file(data / (name + ".json"), detail::table_json(table));
}

}  // namespace

ReportOutcome write_report(const fs::path& folder, std::span<const Reported> reported,
                           const ReportInfo& info) {
  const fs::path data = folder / "data";
  const fs::path figures = folder / "figures";
  for (const fs::path& made : {data, figures}) {
    if (fs::is_symlink(made))
      throw fs::filesystem_error("is a link, which is not followed", made,
                                 std::make_error_code(std::errc::not_a_directory));
    fs::create_directories(made);
    // A report that was killed leaves an unfinished file behind.
    for (const fs::directory_entry& entry : fs::directory_iterator(made))
      if (is_unfinished(entry.path().filename().string())) fs::remove(entry.path());
  }

  ReportOutcome outcome;
  for (const Reported& entry : reported) {
    for (const Table& table : entry.findings.tables) write_table(data, table);
    for (const Chart& chart : entry.findings.charts) {
      write_table(data, detail::points_of(chart));
      write_file(figures / (chart.name + ".svg"), detail::chart_svg(chart, true));
      ++outcome.figures;
    }
    const Experiment& experiment = *entry.experiment;
    if (entry.results.empty()) continue;
    if (!experiment.columns.empty()) {
      write_file(data / (experiment.name + "-runs.csv"),
                 detail::runs_csv(experiment.columns, entry.results, false));
    }
    if (!experiment.timing_columns.empty()) {
      write_file(data / (experiment.name + "-runs-timing.csv"),
                 detail::runs_csv(experiment.timing_columns, entry.results, true));
    }
  }
  if (detail::has_claims(reported)) {
    write_file(folder / "claims.md", detail::claims_markdown(reported, info));
  } else {
    fs::remove(folder / "claims.md");  // from an earlier report in this folder
  }
  outcome.page = folder / "index.html";
  write_file(outcome.page, detail::page_html(reported, info));
  return outcome;
}

}  // namespace allot
