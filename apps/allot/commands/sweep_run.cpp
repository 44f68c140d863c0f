#include "apps/allot/commands/sweep_run.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <system_error>

#include "allot/base/version.hpp"
#include "apps/allot/commands/crew.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/terminal/progress.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

constexpr std::size_t kMostFailuresShown = 10;

/// "40 s", "3 min 20 s", "2 h 5 min": rounded because it is an estimate.
std::string rough(double seconds) {
  const auto whole_seconds = static_cast<std::int64_t>(std::ceil(std::min(seconds, 1e9)));
  if (whole_seconds < 60) return fmt::format("{} s", whole_seconds);
  if (whole_seconds < 600)
    return fmt::format("{} min {} s", whole_seconds / 60, whole_seconds % 60 / 10 * 10);
  const std::int64_t minutes = (whole_seconds + 30) / 60;
  return minutes < 60 ? fmt::format("{} min", minutes)
                      : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string progress_text(const SweepProgress& progress) {
  const std::size_t percent = progress.all > 0 ? 100 * progress.done / progress.all : 100;
  std::string line = fmt::format("{}%: {} of {} units", percent, progress.done, progress.all);
  if (progress.seconds_left) line += ", about " + rough(*progress.seconds_left) + " left";
  return line;
}

Store open_store(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Failure(Exit::kFailed, "cannot make the folder " + in_quotes(folder) + ": " + error.message());
  try {
    return Store((std::filesystem::path(folder) / "store.sqlite").string());
  } catch (const StoreError& failure) {
    throw Failure(Exit::kFailed, shown(failure.what()));
  }
}

void tell_failures(const SweepJob& job, const SweepOutcome& outcome, const Console& console) {
  std::map<std::string, std::string> titles;
  for (const Experiment& experiment : job.experiments) titles[experiment.name] = experiment.title;
  for (std::size_t at = 0; at < std::min(outcome.failures.size(), kMostFailuresShown); ++at) {
    const SweepFailure& failure = outcome.failures[at];
    console.error(fmt::format("{} ({}), unit {}: {}", shown(failure.experiment),
                              shown(titles[failure.experiment]), failure.unit, shown(failure.message)));
  }
  if (outcome.failures.size() > kMostFailuresShown)
    console.error(fmt::format(
        "and {} more", counted(static_cast<Count>(outcome.failures.size() - kMostFailuresShown), "unit")));
  if (!outcome.failures.empty())
    console.note("the other units are kept; the same command tries these again.");
}

}  // namespace

void write_files(const std::string& folder, const std::string& title, const Effort& effort,
                 std::span<const Reported> reported) {
  ReportInfo info;
  if (!title.empty()) {
    info.title = title;
    info.about =
        "a sweep. Intervals are 95% confidence intervals. Apart from measured times, everything here depends "
        "only on "
        "the sweep file and its scenario.";
  }
  info.effort = effort;
  info.version = "allot " + std::string(version()) + " (" + std::string(build_commit()) + ")";
  try {
    write_report(folder, reported, info);
  } catch (const std::filesystem::filesystem_error& error) {
    throw Failure(Exit::kFailed, "cannot write the report: " + shown(error.what()) +
                                     "\nAll units are kept; the same command writes it again.");
  }
}

void add_sweep_options(std::vector<Option>& options, SweepArguments& arguments, const std::string& folder) {
  options.push_back(
      output_option("out", arguments.folder,
                    "folder for the report and the results; an interrupted run there is resumed")
          .with_letter("o")
          .unless_said(folder)
          .shown_as("DIR"));
  options.push_back(whole_option("jobs", arguments.jobs, 1, 4096, "worker threads")
                        .with_letter("j")
                        .unless_said("all cores")
                        .once_called("threads"));
  options.push_back(json_option(arguments.json));
}

std::optional<SweepOutcome> run_job(const SweepJob& job, const SweepArguments& arguments,
                                    const Console& console) {
  if (work_for_another(job)) return std::nullopt;
  Store store = open_store(arguments.folder);
  const std::unique_ptr<Workers> workers = hire_workers(job, arguments.jobs);
  SweepOptions options;
  options.stop.flag = &catch_interrupts();
  ProgressLine progress(console);
  if (console.shows_progress())
    options.progress = [&](const SweepProgress& so_far) { progress.show(progress_text(so_far)); };
  SweepOutcome outcome;
  try {
    outcome = run_sweep(job, store, *workers, options);
  } catch (const StoreError& error) {
    progress.clear();
    throw Failure(Exit::kFailed,
                  shown(error.what()) + "\nWhat was done is kept; run the same command to resume.");
  }
  progress.clear();
  tell_failures(job, outcome, console);
  if (outcome.stopped) {
    console.note(
        fmt::format("interrupted: {} of {} units are done and kept in {}; run the same command to resume.",
                    outcome.found + outcome.done, outcome.all, shown(arguments.folder)));
    throw Failure(Exit::kInterrupted, "");
  }
  return outcome;
}

std::string work_done(const SweepOutcome& outcome, double seconds) {
  const auto units = [](std::size_t count) { return counted(static_cast<Count>(count), "unit"); };
  if (outcome.done == 0 && outcome.failures.empty())
    return "all " + units(outcome.all) + " were there already";
  std::string text = units(outcome.done) + " in " + duration(seconds);
  if (outcome.found > 0) text += ", " + units(outcome.found) + " from earlier runs";
  return text;
}

}  // namespace allot::app
