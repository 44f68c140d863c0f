// allot run: carries out a job file, each task where the plan wants it, and loses nothing.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "allot/base/own_file.hpp"
#include "allot/base/version.hpp"
#include "allot/io/job_reader.hpp"
#include "allot/io/journal_text.hpp"
#include "allot/jobs/journal.hpp"
#include "allot/jobs/journal_reader.hpp"
#include "allot/jobs/output_claim.hpp"
#include "allot/jobs/output_fence.hpp"
#include "allot/run/runner.hpp"
#include "allot/worker/process.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/job_rates.hpp"
#include "apps/allot/live_view.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/run_arguments.hpp"
#include "apps/allot/run_report.hpp"
#include "apps/allot/run_signals.hpp"
#include "apps/allot/simulation.hpp"
#include "apps/allot/text.hpp"

namespace allot::app {
namespace {

constexpr std::size_t kMostFailuresShown = 10;

/// 20261115-094500-4711-5f3c09ab: tells runs apart, sorts by time, and nobody can foresee it.
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

// ---- watching

std::string last_line(const std::string& path) {
  if (path.empty()) return "";
  std::ifstream file(path, std::ios::binary);
  file.seekg(0, std::ios::end);
  const auto size = static_cast<std::streamoff>(file.tellg());
  file.seekg(std::max<std::streamoff>(0, size - 2000));
  std::string line;
  std::string last;
  while (std::getline(file, line)) {
    if (!line.empty()) last = line;
  }
  return last;
}

std::string how_it_ended(const AttemptEnd& end) {
  std::string text(to_string(end.status));
  if (end.signal) text += fmt::format(", signal {}", *end.signal);
  if (end.exit && *end.exit != 0) text += fmt::format(", exit {}", *end.exit);
  if (!end.error.empty()) text += ": " + end.error;
  return text;
}

class Watcher final : public RunObserver {
 public:
  Watcher(const RunArguments& arguments, const Job& job, Console& console, const RunSignals& signals,
          std::string title, std::int64_t run_number)
      : arguments_(arguments),
        run_number_(run_number),
        job_(job),
        console_(console),
        signals_(signals),
        view_(console,
              arguments.json && arguments.progress == ProgressStyle::kAuto && !console.shows_progress()
                  ? ProgressStyle::kNone
                  : arguments.progress,
              std::move(title)) {
    if (!arguments.log.empty()) {
      // Made for its owner alone: it has the commands in it.
      const int made = ::open(arguments.log.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      if (made >= 0) ::close(made);
      log_.open(arguments.log, std::ios::binary | std::ios::app);
      if (!log_) {
        throw Failure(Exit::kInputOutput,
                      "cannot write " + in_quotes(arguments.log) + ": " + std::strerror(errno));
      }
      log_is_csv_ = arguments.log.ends_with(".csv");
      if (log_is_csv_ && log_.tellp() == 0) log_ << attempt_csv_header() << '\n';
    }
    if (arguments.time_limit_s) {
      deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(*arguments.time_limit_s));
    }
  }

  int wake_file() override { return signals_.file(); }

  void woken(RunControl& control) override {
    for (int number = signals_.next(); number != 0; number = signals_.next()) answer(number, control);
    if (deadline_ && Clock::now() >= *deadline_) {
      deadline_.reset();
      note("the time limit is over: draining; run again to go on");
      control.drain();
    }
  }

  void ended(const AttemptEnd& end, const JobItem& item, bool is_final,
             const AttemptOutput& output) override {
    if (arguments_.print == Print::kGrouped) print(output);
    if (log_.is_open()) {
      AttemptRow row;
      row.sequence = ++logged_;
      row.run = run_number_;
      row.task = item.identity;
      row.type = job_.tasks[index(item.type)].name;
      row.resource = end.resource;
      row.slot = end.slot;
      row.attempt = end.attempt;
      row.status = end.status;
      row.exit = end.exit;
      row.signal = end.signal;
      row.start_unix = end.start_unix;
      row.queue_s = end.queue_s;
      row.wall_s = end.wall_s;
      row.user_s = end.user_s;
      row.sys_s = end.sys_s;
      row.maxrss_kb = end.maxrss_kb;
      row.counted = end.counted;
      row.is_final = is_final;
      row.error = end.error;
      row.command = end.command;
      log_ << (log_is_csv_ ? attempt_csv(row) : attempt_json(row)) << '\n' << std::flush;
    }
    if (is_final && end.status != AttemptStatus::kOk) {
      if (failures_.size() < kMostFailuresShown) {
        std::string text = shown(item.identity) + ": " + shown(how_it_ended(end));
        if (const std::string said = last_line(output.err); !said.empty()) text += " (" + shown(said) + ")";
        failures_.push_back(std::move(text));
      }
    }
  }

  void tick(const RunView& view) override { view_.show(view); }
  void note(std::string_view text) override { view_.note(text); }
  void clear() { view_.clear(); }

  int signal() const noexcept { return signal_; }
  const std::vector<std::string>& failures() const noexcept { return failures_; }
  bool log_failed() { return log_.is_open() && !log_; }

 private:
  void answer(int number, RunControl& control) {
    if (number == SIGTSTP) {
      control.pause();
      view_.note("stopped, with all running tasks; 'fg' goes on");
      ::kill(::getpid(), SIGSTOP);
      control.resume();
      return;
    }
    if (signal_ == 0 || number == SIGTERM) signal_ = number;
    if (number == SIGTERM) {
      view_.note("terminated: running tasks have 5 s to end; run again to go on");
      control.terminate();
      return;
    }
    switch (++interrupts_) {
      case 1:
        view_.note("interrupted: running tasks finish, nothing new is started; once more ends them");
        control.drain();
        break;
      case 2:
        view_.note("interrupted twice: running tasks have 5 s to end; once more kills them");
        control.terminate();
        break;
      default:
        view_.note("interrupted three times: running tasks are killed");
        control.kill();
    }
  }

  void print(const AttemptOutput& output) {
    view_.clear();
    if (!output.out.empty()) console_.copy_file(output.out, STDOUT_FILENO);
    if (!output.err.empty()) console_.copy_file(output.err, STDERR_FILENO);
  }

  const RunArguments& arguments_;
  std::int64_t run_number_;  // as the journal counts
  const Job& job_;
  Console& console_;
  const RunSignals& signals_;
  LiveView view_;
  std::ofstream log_;
  bool log_is_csv_ = false;
  std::int64_t logged_ = 0;
  std::optional<Clock::time_point> deadline_;
  std::vector<std::string> failures_;
  int signal_ = 0;
  int interrupts_ = 0;
};

// ---- before

RunObjective chosen_objective(const RunArguments& arguments, const Job& job) {
  const bool has_priorities = std::all_of(job.tasks.begin(), job.tasks.end(),
                                          [](const JobTask& task) { return task.priority.has_value(); });
  if (arguments.objective == RunObjective::kPriority && !has_priorities) {
    throw Failure(Exit::kInvalidInput,
                  arguments.file + ": '--objective priority' needs a priority for every task type");
  }
  return arguments.objective;
}

/// No task may write over what the run itself reads and writes.
void spare_own_files(const std::vector<std::string>& outputs, const RunArguments& arguments, const Job& job) {
  std::vector<std::string> own = {job.path, arguments.journal + ".out"};
  for (const char* const ending : {"", "-wal", "-shm", ".allot-lock"})
    own.push_back(arguments.journal + ending);
  if (!arguments.log.empty()) own.push_back(arguments.log);
  if (const std::string output = first_output_over(outputs, own); !output.empty()) {
    throw Failure(Exit::kInvalidInput, arguments.file + ": a task would write " + in_quotes(output) +
                                           ", which the run itself needs");
  }
}

std::string title_of(const RunArguments& arguments, const Job& job) {
  std::string title = "allot run " + shown(job.path);
  if (arguments.policy.empty()) return title + fmt::format(" ({})", to_string(arguments.objective));
  return title + fmt::format(" ({})", arguments.policy);
}

Exit exit_of(const RunSummary& summary, int signal) {
  switch (summary.outcome) {
    case RunSummary::Outcome::kIo:
      return Exit::kInputOutput;
    case RunSummary::Outcome::kHalted:
      return Exit::kHalted;
    case RunSummary::Outcome::kInterrupted:
      return signal == SIGHUP ? Exit::kHungUp : signal == SIGTERM ? Exit::kTerminated : Exit::kInterrupted;
    case RunSummary::Outcome::kFinished:
      break;
  }
  return summary.view.failed > 0 ? Exit::kFailed : Exit::kOk;
}

double parse_seconds(const std::string& option, const std::string& text) {
  const double value = parse_number(option, text);
  if (!(value > 0)) throw CLI::ValidationError(option, "must be above 0, is " + in_quotes(text));
  return value;
}

Exit run(RunArguments& arguments, Console& console) {
  const Job job = value_or_fail(read_job(arguments.file), console);
  if (arguments.journal.empty()) arguments.journal = arguments.file + ".journal";
  if (arguments.policy_given) {
    policy_or_fail("--policy", arguments.policy);
    if (arguments.policy == "fixed") {
      throw Failure(Exit::kUsage,
                    "--policy: 'fixed' holds an assignment that is given to it, which live work has none of");
    }
  }
  RunOptions options;
  options.objective = chosen_objective(arguments, job);
  options.policy = arguments.policy;
  options.shares = arguments.shares;
  options.retries = arguments.retries;
  options.requeues = arguments.requeues;
  options.halt = arguments.halt;
  options.crew.owns_children = true;
  options.seed = arguments.seed;
  options.run_id = make_run_id();
  if (arguments.lane_timeout_s) {
    // Five words are to be missed before a worker is.
    LaneOptions& lane = options.crew.lane;
    lane.deadline = std::chrono::duration<double>(*arguments.lane_timeout_s);
    lane.heartbeat = std::min(lane.heartbeat, lane.deadline / 5);
  }
  try {
    if (arguments.fresh && !arguments.dry_run) {
      if (const auto moved = move_aside(arguments.journal)) {
        console.note("the old journal is now " + shown(*moved));
        std::error_code error;  // what its tasks printed goes with it
        std::filesystem::rename(arguments.journal + ".out", *moved + ".out", error);
      }
    }
    options.priors = known_rates(job, arguments.fresh ? "" : arguments.journal, arguments.rates, console);
    if (arguments.dry_run) return dry_run(arguments, job, options, console);

    const std::vector<std::string> outputs = outputs_of(job);
    spare_own_files(outputs, arguments, job);
    const RunSignals signals;  // before any thread
    adopt_orphans();
    JournalOptions journal_options;
    journal_options.accept_changed = arguments.accept_changed;
    journal_options.retry_failed = arguments.retry_failed;
    journal_options.most_requeues = arguments.requeues;
    Journal journal(arguments.journal, journal_options);
    const OutputClaim claim(outputs);
    options.output_folder = arguments.journal + ".out";
    if (const std::error_code error = make_private_folder(options.output_folder)) {
      throw Failure(Exit::kInputOutput, "cannot use " + in_quotes(options.output_folder) + ": " +
                                            error.message() +
                                            "; it must be a folder of your own, and no link");
    }
    options.output_folder = std::filesystem::absolute(options.output_folder).string();
    const auto run_number = static_cast<std::int64_t>(JournalReader(arguments.journal).runs().size()) + 1;
    Watcher watcher(arguments, job, console, signals, title_of(arguments, job), run_number);
    journal.begin_run(
        {options.run_id, job.path, std::string(to_string(options.objective)),
         options.policy.empty() ? std::string(policy_for(options.objective)) : options.policy,
         std::string(version()),
         std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()});
    const RunSummary summary = run_job(job, journal, options, watcher);
    kill_descendants();
    watcher.clear();
    if (arguments.json) {
      print_json(console, arguments, job, summary, options.run_id);
    } else {
      print_summary(console, arguments, job, summary, watcher.failures());
    }
    if (summary.outcome == RunSummary::Outcome::kIo) console.error(summary.problem);
    if (watcher.log_failed()) {
      console.error("the log " + in_quotes(arguments.log) +
                    " could not be written; the journal has everything");
      return Exit::kInputOutput;
    }
    return exit_of(summary, watcher.signal());
  } catch (const JournalError& error) {
    kill_descendants();
    std::string text = error.what();
    if (error.kind() == JournalProblem::kChanged) {
      while (text.ends_with('\n')) text.pop_back();
      text +=
          "\nWhat is recorded as done would not be done again. '--accept-changed' goes on with the new "
          "definition, "
          "'--fresh' begins anew.";
    }
    throw Failure(exit_of(error.kind()), text);
  }
}

Action declare(CLI::App& command) {
  const auto a = std::make_shared<RunArguments>();
  command.add_option("FILE", a->file, "the job file (TOML or JSON)")->required()->type_name("");
  command
      .add_option("--journal", a->journal,
                  "where what was done is kept (default: FILE.journal); if it exists, the run is resumed")
      ->type_name("PATH");
  add_choice<RunObjective>(
      command, "--objective", a->objective,
      {{"finish", RunObjective::kFinish},
       {"throughput", RunObjective::kThroughput},
       {"priority", RunObjective::kPriority}},
      "everything done soonest (default), most tasks per second now, or each type its share");
  command
      .add_option_function<std::string>(
          "--policy",
          [a](const std::string& name) {
            a->policy = name;
            a->policy_given = true;
          },
          "place tasks by this policy instead; 'allot list' names all")
      ->type_name("NAME");
  add_choice<ShareReading>(
      command, "--shares", a->shares, {{"exact", ShareReading::kExact}, {"floor", ShareReading::kFloor}},
      "weighted: exactly its share, or at least its part of the largest common level (default)");
  command
      .add_option("--rates", a->rates,
                  "what 'allot profile' wrote (default: the job file's name with .rates.toml, if it exists)")
      ->type_name("FILE");
  add_whole(command, "--retries", a->retries, 0, 1000,
            "of a task that failed, on another resource if there is one (default 1)");
  add_whole(command, "--requeues", a->requeues, 0, 1'000'000,
            "of a task whose attempt was lost with its machine, worker or run (default 3)");
  command.add_flag("--retry-failed", a->retry_failed, "try again what failed for good in an earlier run");
  command.add_flag("--fresh", a->fresh, "begin anew: an existing journal is moved aside");
  command.add_flag("--accept-changed", a->accept_changed, "resume although commands have changed since");
  command
      .add_option_function<std::string>(
          "--halt",
          [a](const std::string& text) {
            std::string problem;
            a->halt = parse_halt(text, problem);
            if (!a->halt) throw CLI::ValidationError("--halt", problem + ", is " + in_quotes(text));
          },
          "stop when so many tasks have failed: 'soon' lets running ones finish, 'now' ends them")
      ->type_name("soon|now,fail=N[%]");
  command
      .add_option_function<std::string>(
          "--time-limit",
          [a](const std::string& text) { a->time_limit_s = parse_seconds("--time-limit", text); },
          "start nothing more after so many seconds; run again to go on")
      ->type_name("S");
  command
      .add_option_function<std::string>(
          "--lane-timeout",
          [a](const std::string& text) { a->lane_timeout_s = parse_seconds("--lane-timeout", text); },
          "a worker behind a 'launch' prefix that is silent for so many seconds is lost (default 15)")
      ->type_name("S");
  add_choice<Print>(
      command, "--print", a->print, {{"grouped", Print::kGrouped}, {"none", Print::kNone}},
      "what tasks print: each attempt's when it ends, or nothing (default); it is kept in files in any case");
  add_choice<ProgressStyle>(
      command, "--progress", a->progress,
      {{"auto", ProgressStyle::kAuto}, {"json", ProgressStyle::kJson}, {"none", ProgressStyle::kNone}},
      "a live view on a terminal and a line every 30 s elsewhere (default), or a JSON object a second");
  command
      .add_option("--log", a->log,
                  "append a line for every attempt: CSV if the name ends in .csv, else JSON lines")
      ->type_name("PATH");
  add_seed(command, a->seed);
  command.add_flag("--dry-run", a->dry_run, "show the commands, the plan and what it promises; run nothing");
  add_json(command, a->json);
  return [a](Console& console) {
    if (a->json && a->print == Print::kGrouped) {
      throw Failure(Exit::kUsage, "'--json' and '--print grouped' both want standard output");
    }
    return run(*a, console);
  };
}

}  // namespace

extern const Command run_command;
const Command run_command = {
    "run", "Carry out a job file: each task where the plan wants it, resumable",
    "allot run jobs.toml                       # everything done soonest; again after an interruption\n"
    "allot run jobs.toml --dry-run             # the commands and the plan\n"
    "allot run jobs.toml --objective priority  # each type its share\n"
    "allot run jobs.toml --policy jsq --fresh  # for comparison",
    declare};

}  // namespace allot::app
