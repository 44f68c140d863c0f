// allot reproduce: the paper's experiments, with a report.
#include <algorithm>
#include <string>
#include <vector>

#include "allot/base/words.hpp"
#include "allot/sweep/sweep_json.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/commands/sweep_run.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/terminal/text.hpp"
#include "paper/experiments.hpp"

namespace allot::app::reproduce_command {
namespace {

struct Arguments {
  std::string figure;
  Effort effort;
  SweepArguments sweep;
};

/// `2` is short for `figure-2`.
std::string short_name(const Experiment& experiment) {
  constexpr std::string_view kFigure = "figure-";
  return experiment.name.starts_with(kFigure) ? experiment.name.substr(kFigure.size()) : experiment.name;
}

std::vector<std::string> short_names() {
  std::vector<std::string> names;
  for (const Experiment& experiment : builtin_experiments()) names.push_back(short_name(experiment));
  return names;
}

/// Without a figure, all experiments.
std::vector<Experiment> chosen(const std::string& figure) {
  const std::span<const Experiment> all = builtin_experiments();
  if (figure.empty()) return {all.begin(), all.end()};
  std::vector<Experiment> experiments;
  for (const Experiment& experiment : all) {
    if (experiment.name == figure || short_name(experiment) == figure) experiments.push_back(experiment);
  }
  if (!experiments.empty()) return experiments;
  const std::vector<std::string> names = short_names();
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::string message = "--figure: there is no experiment " + in_quotes(figure) + ".";
  if (const std::string_view meant = nearest(figure, views); !meant.empty())
    message += " Did you mean " + in_quotes(meant) + "?";
  throw Failure(Exit::kUsage, message + "\nThe experiments are " + alternatives(names) + ".");
}

Style style_of(Verdict verdict) {
  if (verdict == Verdict::kHolds) return Style::kGood;
  return verdict == Verdict::kFails ? Style::kBad : Style::kAccent;
}

void print_claims(Console& console, std::span<const Reported> reported) {
  constexpr std::size_t kIndent = 13;
  for (const Reported& entry : reported) {
    console.line(entry.experiment->title, Style::kBold);
    for (const Claim& claim : entry.findings.claims) {
      const bool has_paper = !claim.paper.empty() && claim.paper != "-";
      const std::string verdict(to_string(claim.verdict));
      console.print("  {}{}{}\n", console.styled(style_of(claim.verdict), verdict),
                    std::string(kIndent - 2 - verdict.size(), ' '),
                    wrapped(!has_paper ? claim.measured : claim.paper, console.width(), kIndent));
      if (has_paper)
        console.print("{}{}\n", std::string(kIndent, ' '),
                      console.styled(Style::kDim, wrapped(claim.measured, console.width(), kIndent)));
    }
    console.gap();
  }
}

/// Why claims are undecided, and what to do about it.
void print_too_few(Console& console, unsigned runs, std::span<const Reported> reported) {
  if (runs >= kEnough) return;
  const bool any = std::any_of(reported.begin(), reported.end(), [](const Reported& entry) {
    const auto& claims = entry.findings.claims;
    return std::any_of(claims.begin(), claims.end(),
                       [](const Claim& claim) { return claim.verdict == Verdict::kUndecided; });
  });
  if (any)
    console.paragraph(fmt::format("Undecided claims need at least {} runs: '--runs {}'.", kEnough, kEnough));
}

Exit run_reproduce(const Arguments& arguments, Console& console) {
  const std::vector<Experiment> experiments = chosen(arguments.figure);
  const SweepJob job{experiments, arguments.effort};
  SweepArguments sweep = arguments.sweep;
  if (sweep.folder.empty()) sweep.folder = "out/reproduce";
  const Clock::time_point start = Clock::now();
  const std::optional<SweepOutcome> outcome = run_job(job, sweep, console);
  if (!outcome) return Exit::kOk;

  std::vector<Reported> reported;
  for (std::size_t at = 0; at < experiments.size(); ++at) {
    if (!outcome->complete[at]) continue;
    const std::vector<UnitResult>& results = outcome->results[at];
    reported.push_back({&experiments[at], experiments[at].conclude(arguments.effort, results), results});
  }
  write_files(sweep.folder, "", arguments.effort, reported);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (sweep.json) {
    console.document(reproduce_json(
        {sweep.folder, arguments.effort, outcome->all, outcome->found, outcome->failures.size(), seconds},
        reported));
  } else {
    print_claims(console, reported);
    print_too_few(console, arguments.effort.runs, reported);
    console.line(work_done(*outcome, seconds), Style::kDim);
    console.print("The report: {}/index.html\n", shown(sweep.folder));
  }
  return outcome->failures.empty() ? Exit::kOk : Exit::kFailed;
}

std::vector<Option> options_of(Arguments& arguments) {
  const auto set_figure = [&arguments](const std::string& text) {
    if (text.empty()) throw OptionError("--figure", "needs a number or a name");
    arguments.figure = text;
  };
  std::vector<Option> options = {
      Option{"figure", TextValue{"", set_figure}, "run only this figure (a number) or experiment (a name)"}
          .suggesting(short_names())
          .shown_as("N"),
      whole_option("runs", arguments.effort.runs, 1, 1'000'000,
                   "random systems per figure; the paper has 600, verdicts need " + std::to_string(kEnough))
          .with_letter("n"),
      seed_option(arguments.effort.seed)};
  add_sweep_options(options, arguments.sweep, "out/reproduce");
  return options;
}

}  // namespace

extern const Command command;
const Command command{"reproduce", "Run the paper's experiments and write a report.",
                      "allot reproduce --figure 2 --runs 30  # a first look at one figure\n"
                      "allot reproduce                       # everything in full",
                      declared_by(options_of, run_reproduce)};

}  // namespace allot::app::reproduce_command
