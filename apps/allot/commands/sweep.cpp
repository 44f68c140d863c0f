// allot sweep: a user's own experiment, with the engine of `allot reproduce`.
#include <filesystem>
#include <string>

#include "allot/ask/study.hpp"
#include "allot/sweep/sweep_json.hpp"
#include "allot/sweep/sweep_reader.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/commands/sweep_run.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::sweep_command {
namespace {

constexpr std::size_t kMostRowsShown = 40;

struct Arguments {
  std::string file;
  SweepArguments sweep;
};

/// The varied fields, the method and the throughput: all other results are in the files.
void print_rows(Console& console, const SweepPlan& plan, const allot::Table& rows) {
  const std::size_t named = plan.axes.size() + 4;  // seed, kind, name and distribution follow the axes
  const bool with_seed = plan.seeds.size() > 1;
  std::vector<Align> align;
  std::vector<std::string> titles;
  std::vector<std::size_t> columns;
  for (std::size_t at = 0; at < named; ++at) {
    if (rows.columns[at] == "seed" && at == plan.axes.size() && !with_seed) continue;
    if (at == plan.axes.size() + 1) continue;  // kind
    const bool numbers = at < plan.axes.size() ? plan.axes[at].is_numeric() : at == plan.axes.size();
    columns.push_back(at);
    align.push_back(numbers ? Align::kRight : Align::kLeft);
    titles.push_back(shown(rows.columns[at]));
  }
  for (const char* const title : {"tasks/s", "response"}) {
    align.push_back(Align::kRight);
    titles.emplace_back(title);
  }
  Table table(align);
  table.title(titles);
  for (std::size_t at = 0; at < std::min(rows.rows.size(), kMostRowsShown); ++at) {
    const std::vector<allot::Cell>& row = rows.rows[at];
    std::vector<Cell> cells;
    for (const std::size_t column : columns) cells.push_back({shown(row[column].text), Style::kPlain});
    cells.push_back({row[named].text, Style::kBold});
    const std::optional<double> response = row[named + 2].number;
    cells.push_back({response ? duration(*response) : "", Style::kPlain});
    table.row(std::move(cells));
  }
  console.print("{}", table.text(console));
  if (rows.rows.size() > kMostRowsShown)
    console.print("  and {} more rows\n", rows.rows.size() - kMostRowsShown);
}

Exit run_sweep_file(const Arguments& arguments, Console& console) {
  const SweepPlan plan = value_or_fail(read_sweep(arguments.file), console);
  const std::string stem =
      arguments.file == "-" ? "sweep" : std::filesystem::path(arguments.file).stem().string();
  SweepArguments sweep = arguments.sweep;
  if (sweep.folder.empty()) sweep.folder = "out/" + stem;
  const Study study = make_study(plan);
  const SweepJob job{study.experiments, {}};
  const Clock::time_point start = Clock::now();
  const std::optional<SweepOutcome> outcome = run_job(job, sweep, console);
  if (!outcome) return Exit::kOk;

  const std::string title = plan.title.empty() ? stem : plan.title;
  Experiment whole;
  whole.name = "sweep";
  whole.title = title;
  std::vector<Reported> reported(1);
  reported[0].experiment = &whole;
  reported[0].findings = conclude_study(plan, study, outcome->results);
  write_files(sweep.folder, title, {}, reported);
  const allot::Table& rows = reported[0].findings.tables.front();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (sweep.json) {
    console.document(sweep_json(
        {sweep.folder, {}, outcome->all, outcome->found, outcome->failures.size(), seconds}, title, rows));
  } else {
    console.line(shown(title), Style::kBold);
    console.line(work_done(*outcome, seconds), Style::kDim);
    console.gap();
    print_rows(console, plan, rows);
    console.gap();
    console.print("All of it: {0}/data/sweep.csv, charts in {0}/index.html\n", shown(sweep.folder));
  }
  return outcome->failures.empty() ? Exit::kOk : Exit::kFailed;
}

std::vector<Option> options_of(Arguments& arguments) {
  std::vector<Option> options = {
      input_option("FILE", arguments.file, "a sweep, .toml or .json; '-' reads JSON from standard input")
          .positional()
          .required()};
  add_sweep_options(options, arguments.sweep, "out/ and the name of FILE");
  return options;
}

}  // namespace

extern const Command command;
const Command command{"sweep", "Run your own experiment: vary fields of a scenario, policies and seeds.",
                      "allot sweep examples/sweeps/cards.toml\n"
                      "allot sweep examples/sweeps/random-machines.toml --out machines --json",
                      declared_by(options_of, run_sweep_file)};

}  // namespace allot::app::sweep_command
