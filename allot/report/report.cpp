#include "allot/report/report.hpp"

#include <cerrno>
#include <fstream>
#include <map>
#include <system_error>

#include "allot/report/detail/chart_svg.hpp"
#include "allot/report/detail/data_files.hpp"
#include "allot/report/detail/page.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& path, const std::string& content) {
  fs::path part = path;
  part += ".part";
  {
    std::ofstream file(part, std::ios::binary);
    file << content;
    file.close();
    if (!file) {
      throw fs::filesystem_error("cannot write", part,
                                 std::error_code(errno ? errno : EIO, std::generic_category()));
    }
  }
  fs::rename(part, path);
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
  fs::create_directories(data);
  fs::create_directories(figures);

  ReportOutcome outcome;
  std::map<std::string, std::string> drawings;
  for (const Reported& entry : reported) {
    for (const Table& table : entry.findings.tables) write_table(data, table);
    for (const Chart& chart : entry.findings.charts) {
      write_table(data, detail::points_of(chart));
      const detail::ProgramOutput drawn = detail::run_program(info.gnuplot, detail::gnuplot_script(chart));
      const std::string svg = drawn.ran ? detail::themed_svg(drawn.out, chart, false) : std::string();
      if (svg.empty()) {
        const std::string why = drawn.ran ? info.gnuplot + " drew nothing" : drawn.error;
        outcome.notes.push_back("the figure " + chart.name + " is shown as a table: " + why);
        continue;
      }
      write_file(figures / (chart.name + ".svg"), detail::themed_svg(drawn.out, chart, true));
      drawings.emplace(chart.name, svg);
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
  // Nobody wants to read the same line for each figure.
  if (outcome.figures == 0 && outcome.notes.size() > 1) {
    outcome.notes = {"no figure was drawn, the page has tables instead; " +
                     outcome.notes.front().substr(outcome.notes.front().find(": ") + 2) +
                     " (Debian: apt-get install gnuplot-nox)"};
  }
  if (detail::has_claims(reported)) {
    write_file(folder / "claims.md", detail::claims_markdown(reported, info));
  } else {
    fs::remove(folder / "claims.md");  // of an earlier report in this folder
  }
  outcome.page = folder / "index.html";
  write_file(outcome.page, detail::page_html(reported, info, drawings));
  return outcome;
}

}  // namespace allot
