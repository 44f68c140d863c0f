// allot run: runs a job file, each task where the plan puts it, and loses nothing.
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allot/ask/policy_choice.hpp"
#include "allot/base/own_file.hpp"
#include "allot/base/version.hpp"
#include "allot/jobs/journal.hpp"
#include "allot/jobs/journal_reader.hpp"
#include "allot/jobs/output_claim.hpp"
#include "allot/jobs/output_fence.hpp"
#include "allot/run/known_rates.hpp"
#include "allot/run/request.hpp"
#include "allot/run/runner.hpp"
#include "allot/run/survey.hpp"
#include "allot/worker/process.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/commands/dry_run.hpp"
#include "apps/allot/commands/run_arguments.hpp"
#include "apps/allot/commands/run_job.hpp"
#include "apps/allot/commands/run_paths.hpp"
#include "apps/allot/commands/run_report.hpp"
#include "apps/allot/commands/run_signals.hpp"
#include "apps/allot/commands/run_watch.hpp"
#include "apps/allot/commands/simulation.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::run_command {
namespace {

constexpr std::size_t kMostOutputsShown = 10;
/// At the end, for killed processes: those that hang in the kernel are not waited for.
constexpr std::chrono::seconds kLeavePatience{3};

/// 20261115-094500-4711-5f3c09ab: unique, sorts by time, unpredictable.
std::string make_run_id() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}-{}-{}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, ::getpid(), random_digits(8));
}

Exit exit_of(JournalProblem kind) {
  return kind == JournalProblem::kIo ? Exit::kInputOutput : Exit::kJournal;
}

// ---- before

std::string name_of(const Job& job) { return job.path.empty() ? job.name : job.path; }

RunObjective chosen_objective(const RunArguments& arguments, const Job& job) {
  const bool has_priorities = std::all_of(job.tasks.begin(), job.tasks.end(),
                                          [](const JobTask& task) { return task.priority.has_value(); });
  if (arguments.objective == RunObjective::kPriority && !has_priorities) {
    throw Failure(Exit::kInvalidInput,
                  name_of(job) + ": '--objective priority' needs a priority for every task type");
  }
  return arguments.objective;
}

/// A file cannot have a longer name, and comparing folders is slow for a path with a hundred thousand parts.
void refuse_long_outputs(const Job& job, std::span<const JobItem> items) {
  for (std::size_t at = 0; at < items.size(); ++at) {
    const std::string path = output_path(job, items[at], at + 1);
    if (path.size() < PATH_MAX) continue;
    throw Failure(Exit::kInvalidInput, name_of(job) + ": the output of task " + std::to_string(at + 1) +
                                           " has a name of " + whole(static_cast<Count>(path.size())) +
                                           " bytes; the system allows at most " + whole(PATH_MAX - 1) +
                                           ". Nothing was started.");
  }
}

/// No task may overwrite files that the run itself reads or writes.
void spare_own_files(const std::vector<std::string>& outputs, const RunArguments& arguments, const Job& job) {
  std::vector<std::string> own = {arguments.journal + ".out"};
  if (!job.path.empty()) own.push_back(job.path);
  for (const char* const ending : {"", "-wal", "-shm", ".allot-lock"})
    own.push_back(arguments.journal + ending);
  for (const std::string& path : {arguments.log, arguments.metrics}) {
    if (!path.empty()) own.push_back(path);
  }
  if (const std::string output = first_output_over(outputs, own); !output.empty()) {
    throw Failure(Exit::kInvalidInput, name_of(job) + ": a task would write " + in_quotes(output) +
                                           ", which the run itself needs");
  }
}

std::string title_of(const RunArguments& arguments, const Job& job) {
  std::string title = "allot run " + shown(name_of(job));
  if (arguments.policy.empty()) return title + fmt::format(" ({})", to_string(arguments.objective));
  return title + fmt::format(" ({})", arguments.policy);
}

Exit exit_of(const RunSummary& summary, const RunWatch& watch) {
  const int signal = watch.signal();
  switch (summary.outcome) {
    case RunSummary::Outcome::kIo:
      return Exit::kInputOutput;
    case RunSummary::Outcome::kHalted:
      return Exit::kHalted;
    case RunSummary::Outcome::kInterrupted:
      return signal == SIGHUP ? Exit::kHungUp : signal == SIGTERM ? Exit::kTerminated : Exit::kInterrupted;
    case RunSummary::Outcome::kTimeLimit:
      return Exit::kTimeLimit;
    case RunSummary::Outcome::kStranded:
      return Exit::kFailed;
    case RunSummary::Outcome::kFinished:
      break;
  }
  return summary.view.failed > 0 ? Exit::kFailed : Exit::kOk;
}

/// The metrics replace the file at their path.
void refuse_metrics_over_inputs(const RunArguments& arguments, const Job& job) {
  for (const std::string& other : {job.path, arguments.rates, arguments.journal, arguments.log}) {
    std::error_code ignored;
    if (!arguments.metrics.empty() && !other.empty() &&
        (arguments.metrics == other || std::filesystem::equivalent(arguments.metrics, other, ignored)))
      throw Failure(Exit::kUsage, "--metrics: " + in_quotes(arguments.metrics) +
                                      " is another file of the run; it would be overwritten.");
  }
}

/// Reports problems that prevent any run.
void refuse_what_is_wrong(const RunArguments& arguments, const Job& job, std::span<const JobItem> items,
                          const Survey& survey) {
  if (!survey.unmatched.empty()) {
    throw Failure(Exit::kInvalidInput, "--redo: no task matches " + in_quotes(survey.unmatched.front()) +
                                           "; it takes 'missing', 'changed' or a pattern for names such as " +
                                           in_quotes(items.front().identity));
  }
  if (survey.blocked.empty() || arguments.overwrite) return;
  const auto count = static_cast<Count>(survey.blocked.size());
  std::string text = count == 1 ? "an output exists that no run of this journal has made:"
                                : whole(count) + " outputs exist that no run of this journal has made:";
  for (std::size_t k = 0; k < std::min(survey.blocked.size(), kMostOutputsShown); ++k) {
    const std::size_t at = survey.blocked[k];
    text += "\n  " + shown(output_path(job, items[at], at + 1)) + " (" + shown(items[at].identity) + ")";
  }
  if (survey.blocked.size() > kMostOutputsShown)
    text += "\n  and " + whole(count - static_cast<Count>(kMostOutputsShown)) + " more";
  throw Failure(Exit::kInvalidInput,
                text + "\nNothing was started. '--overwrite' lets the tasks replace them.");
}

RunOptions run_options(const RunArguments& arguments, const Job& job) {
  RunOptions options;
  options.objective = chosen_objective(arguments, job);
  options.policy = arguments.policy;
  options.shares = arguments.shares;
  options.retries = arguments.retries;
  options.requeues = arguments.survey.journal.most_requeues;
  options.halt = arguments.halt;
  options.crew.owns_children = true;
  options.seed = arguments.seed;
  options.run_id = make_run_id();
  options.output_folder = std::filesystem::absolute(arguments.journal + ".out").string();
  if (arguments.lane_timeout_s) {
    // A worker is lost only after five missed messages.
    LaneOptions& lane = options.crew.lane;
    lane.deadline = std::chrono::duration<double>(*arguments.lane_timeout_s);
    lane.heartbeat = std::min(lane.heartbeat, lane.deadline / 5);
  }
  return options;
}

void make_folder(const std::string& path) {
  if (const std::error_code error = make_private_folder(path)) {
    throw Failure(Exit::kInputOutput, "cannot use " + in_quotes(path) + ": " + error.message() +
                                          "; it must be a folder of your own, not a link");
  }
}

/// `--fresh`: moves the old journal and the captured output of its tasks aside.
void begin_anew(const std::string& journal, const Console& console) {
  const auto moved = move_aside(journal);
  if (!moved) return;
  console.note("the old journal was moved to " + shown(*moved));
  std::error_code error;
  std::filesystem::rename(journal + ".out", *moved + ".out", error);
}

Exit carry_out(const RunArguments& arguments, const Job& job, std::span<const JobItem> items,
               RunOptions options, Console& console) {
  const std::vector<std::string> outputs = outputs_of(job);
  spare_own_files(outputs, arguments, job);
  refuse_metrics_over_inputs(arguments, job);
  const RunSignals signals;  // before any thread starts
  adopt_orphans();
  check_paths(arguments, job, items);
  AttemptLog log(arguments.log);
  if (arguments.survey.fresh) begin_anew(arguments.journal, console);
  std::error_code error;
  const bool had_journal = std::filesystem::exists(arguments.journal, error);
  Journal journal(arguments.journal, arguments.survey.journal);
  if (had_journal) {
    // Checked again, now that no other process can change it.
    const Survey survey = survey_job(job, items, arguments.journal, arguments.survey);
    refuse_what_is_wrong(arguments, job, items, survey);
    std::vector<std::string> redone;
    for (const std::size_t at : survey.redone) redone.push_back(items[at].identity);
    journal.redo(redone);
  }
  const OutputClaim claim(outputs);
  make_folder(options.output_folder);
  const auto run_number = static_cast<std::int64_t>(JournalReader(arguments.journal).runs().size()) + 1;
  const RunInfo info = {
      options.run_id,
      name_of(job),
      std::string(to_string(options.objective)),
      options.policy.empty() ? std::string(policy_for(options.objective, needs_of(job).any)) : options.policy,
      std::string(version()),
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()};
  MetricsFile metrics(arguments.metrics, job, info);
  RunWatch watch(arguments, job, console, signals, log, metrics, title_of(arguments, job), run_number);
  journal.begin_run(info);
  const RunSummary summary = run_tasks(job, journal, options, watch);
  kill_descendants({}, kLeavePatience);
  watch.clear();
  metrics.finish(summary.view);
  if (arguments.json) {
    print_json(console, arguments, job, summary, options.run_id);
  } else {
    print_summary(console, arguments, job, summary, watch.failures());
    // If tasks print to standard output, it is only for them.
    if (arguments.print == Print::kGrouped) console.complain(console.take());
  }
  if (summary.outcome == RunSummary::Outcome::kIo) console.error(summary.problem);
  const auto lost = [&](const char* what, const std::string& path) {
    console.error(what + in_quotes(path) + " could not be written; the journal has everything");
    return Exit::kInputOutput;
  };
  if (log.failed()) return lost("the log ", arguments.log);
  if (metrics.failed()) return lost("the metrics ", arguments.metrics);
  return exit_of(summary, watch);
}

/// The scenario of `--rates`, or of the file written by `profile`, if it exists.
std::optional<Scenario> measured_rates(const RunArguments& arguments, const Job& job,
                                       const Console& console) {
  if (!arguments.rates.empty()) return read_scenario_or_fail(arguments.rates, console);
  std::error_code ignored;
  if (job.path.empty() || !std::filesystem::exists(rates_path(job.path), ignored)) return std::nullopt;
  return read_scenario_or_fail(rates_path(job.path), console);
}

Exit run(RunArguments& arguments, Console& console) {
  if (arguments.json && arguments.print_asked == Print::kGrouped)
    throw Failure(Exit::kUsage, "'--json' and '--print grouped' both write to standard output");
  const NamedJob named = read_job_words(arguments.work, console);
  const Job& job = named.job;
  if (arguments.journal.empty()) arguments.journal = named.journal;
  // If the job is a command, the user wants to see its output, unless it goes to a file.
  const bool shows = !named.is_file && arguments.work.output.empty() && !arguments.json;
  arguments.print = arguments.print_asked.value_or(shows ? Print::kGrouped : Print::kNone);
  RunOptions options = run_options(arguments, job);
  const std::vector<JobItem> items = list_items(job);
  refuse_long_outputs(job, items);
  try {
    options.priors =
        known_rates(job, measured_rates(arguments, job, console),
                    arguments.survey.fresh ? std::vector<LearntRate>{} : learnt_rates(arguments.journal));
    const Survey survey = survey_job(job, items, arguments.journal, arguments.survey);
    refuse_what_is_wrong(arguments, job, items, survey);
    if (!arguments.dry_run) return carry_out(arguments, job, items, options, console);
    dry_run(arguments, job, items, survey, options, console);
    return Exit::kOk;
  } catch (const JournalError& error) {
    kill_descendants();
    std::string text = error.what();
    if (error.kind() == JournalProblem::kChanged) {
      while (text.ends_with('\n')) text.pop_back();
      text +=
          "\nWhat is recorded as done would not be done again. '--accept-changed' resumes with the new "
          "definition, '--redo PATTERN' repeats matching tasks, '--fresh' starts over.";
    }
    throw Failure(exit_of(error.kind()), text);
  }
}

Option redo_option(RedoRule& redo) {
  const auto set = [&redo](const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      if (word == "missing") {
        redo.missing = true;
      } else if (word == "changed") {
        redo.changed = true;
      } else {
        redo.patterns.push_back(word);
      }
    }
  };
  return Option{"redo", TextsValue{set},
                "repeat finished tasks: 'missing' (the output is gone), 'changed' (an input is newer), or a "
                "pattern for names in 'allot log', e.g. 'decode:*'"}
      .suggesting({"missing", "changed"})
      .suggesting_in([](const std::string& file) {
        std::vector<std::string> patterns = task_types_in(file);
        for (std::string& name : patterns) name += ":*";
        return patterns;
      })
      .shown_as("missing|changed|PATTERN");
}

Option halt_option(std::optional<HaltRule>& halt) {
  const auto set = [&halt](const std::string& text) {
    std::string problem;
    halt = parse_halt(text, problem);
    if (!halt) throw OptionError("--halt", problem + ", is " + in_quotes(text));
  };
  return Option{"halt", TextValue{"", set},
                "stop after N (or N%) failed tasks: 'soon' lets running tasks finish, 'now' terminates them"}
      .suggesting({"soon,fail=1", "now,fail=1"})
      .shown_as("soon|now,fail=N[%]");
}

Option policy_option(std::string& policy) {
  const auto set = [&policy](const std::string& name) {
    if (policy_named("policy", name).needs_assignment) {
      throw OptionError("--policy", in_quotes(name) + " holds a given assignment, but live work has none");
    }
    policy = name;
  };
  return Option{"policy", TextValue{"", set}, "place tasks by this policy instead, see 'allot list'"}
      .with_letter("p")
      .suggesting(names_in(builtin_policies()))
      .shown_as("NAME");
}

std::vector<Option> options_of(RunArguments& a) {
  std::vector<Option> options;
  add_job_options(options, a.work);
  std::vector<Option> own = {
      output_option("journal", a.journal, "record of what was done; if it exists, the run is resumed")
          .unless_said("FILE.journal, or a name derived from the command"),
      word_option("objective", a.objective, {kRunObjectiveWords.begin(), kRunObjectiveWords.end()},
                  "finish everything soonest (default), most tasks per second now, or a share for each type"),
      policy_option(a.policy),
      word_option("shares", a.shares, {kShareWords.begin(), kShareWords.end()},
                  "weighted: exactly its share, or at least its share of the highest common level (default)"),
      input_option("rates", a.rates, "rates written by 'allot profile'")
          .unless_said("the job file's name with .rates.toml, if it exists")
          .shown_as("FILE"),
      whole_option("retries", a.retries, 0, 1000,
                   "retries of a failed task, on another resource if possible"),
      whole_option("requeues", a.survey.journal.most_requeues, 0, 1'000'000,
                   "retries of a task that was lost with its machine, worker or run"),
      flag_option("retry_failed", a.survey.journal.retry_failed,
                  "retry tasks that failed for good in an earlier run"),
      redo_option(a.survey.redo),
      flag_option("overwrite", a.overwrite, "replace existing outputs that no run of this journal made"),
      flag_option("fresh", a.survey.fresh, "start over; an existing journal is moved aside"),
      flag_option("accept_changed", a.survey.journal.accept_changed,
                  "resume even though commands have changed"),
      halt_option(a.halt),
      seconds_option(
          "time_limit", a.time_limit_s,
          "start no more tasks after this time, e.g. 10m, and exit with status 7; run again to resume")
          .with_letter("t"),
      seconds_option("lane_timeout", a.lane_timeout_s,
                     "give up on a worker started by 'launch' that is silent for this long")
          .unless_said("15s"),
      word_option("print", a.print_asked, {"none", "grouped"},
                  "grouped: print what each attempt printed when it ends (default without a job file and "
                  "'--output'); none: print nothing (default otherwise); files keep it in any case"),
      word_option(
          "progress", a.progress, {"auto", "json", "none"},
          "auto: a live view on a terminal, else a line every 30 s (default); json: one object per second"),
      Option{"quiet", FlagValue{false, [&a](bool) { a.progress = ProgressStyle::kNone; }}, "show no progress"}
          .with_letter("q"),
      output_option("log", a.log,
                    "append a line for every attempt: CSV if the name ends in .csv, else JSON "
                    "lines"),
      output_option("metrics", a.metrics,
                    "write metrics for monitoring (OpenMetrics), at most once a second and at the end"),
      seed_option(a.seed),
      flag_option("dry_run", a.dry_run, "show the commands, the plan and its expected time; run nothing")
          .with_letter("n"),
      json_option(a.json),
  };
  std::move(own.begin(), own.end(), std::back_inserter(options));
  return options;
}

}  // namespace

extern const Command command;
const Command command = {"run", "Run a job file: each task where the plan puts it; resume after any crash.",
                         "allot run jobs.toml                       # finish soonest; the same line resumes\n"
                         "allot run jobs.toml -n                    # the commands and the plan\n"
                         "allot run jobs.toml --objective priority  # a share for each type\n"
                         "allot run jobs.toml --policy jsq --fresh  # for comparison\n"
                         "allot run jobs.toml --redo missing        # recreate outputs that are gone\n"
                         "allot run -j4 'gzip -k {}' ::: *.txt      # without a job file\n"
                         "find . -name '*.wav' -print0 | allot run -0 'flac --silent {}'\n"
                         "allot run --resource cpu=2 --resource gpu --command cpu='djpeg {} > {out}' \\\n"
                         "    --command gpu='nvdec {} {out}' --output 'out/{/.}.ppm' ::: *.jpg",
                         declared_by(options_of, run)};

}  // namespace allot::app::run_command
