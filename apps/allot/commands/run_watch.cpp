#include "apps/allot/commands/run_watch.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "allot/jobs/journal_text.hpp"
#include "apps/allot/exit.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

constexpr std::size_t kMostFailuresShown = 10;

std::string how_it_ended(const AttemptEnd& end) {
  std::string text(to_string(end.status));
  if (end.signal) text += fmt::format(", signal {}", *end.signal);
  if (end.exit && *end.exit != 0) text += fmt::format(", exit {}", *end.exit);
  if (!end.error.empty()) text += ": " + end.error;
  return text;
}

ProgressStyle style_for(const RunArguments& arguments, const Console& console) {
  const bool is_quiet =
      arguments.json && arguments.progress == ProgressStyle::kAuto && !console.shows_progress();
  return is_quiet ? ProgressStyle::kNone : arguments.progress;
}

}  // namespace

AttemptLog::AttemptLog(const std::string& path) {
  if (path.empty()) return;
  // Readable only by its owner, because it contains the commands.
  const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made >= 0) ::close(made);
  file_.open(path, std::ios::binary | std::ios::app);
  if (!file_) {
    throw Failure(Exit::kInputOutput, "cannot write " + in_quotes(path) + ": " + std::strerror(errno));
  }
  is_csv_ = path.ends_with(".csv");
  if (is_csv_ && file_.tellp() == 0) file_ << attempt_csv_header() << '\n';
}

void AttemptLog::add(const AttemptRow& row) {
  if (!file_.is_open()) return;
  AttemptRow numbered = row;
  numbered.sequence = ++count_;
  file_ << (is_csv_ ? attempt_csv(numbered) : attempt_json(numbered)) << '\n' << std::flush;
}

RunWatch::RunWatch(const RunArguments& arguments, const Job& job, Console& console, const RunSignals& signals,
                   AttemptLog& log, MetricsFile& metrics, std::string title, std::int64_t run_number)
    : arguments_(arguments),
      console_(console),
      run_number_(run_number),
      job_(job),
      signals_(signals),
      log_(log),
      metrics_(metrics),
      view_(console, style_for(arguments, console), std::move(title)) {
  if (arguments.time_limit_s) {
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(*arguments.time_limit_s));
  }
}

void RunWatch::woken(RunControl& control) {
  for (int number = signals_.next(); number != 0; number = signals_.next()) answer(number, control);
  if (deadline_ && Clock::now() >= *deadline_) {
    deadline_.reset();
    view_.note("time limit reached: running tasks finish, no new ones start; run again to resume");
    control.time_is_up();
  }
}

void RunWatch::ended(const AttemptEnd& end, const JobItem& item, bool is_final, const AttemptOutput& output) {
  if (arguments_.print == Print::kGrouped) print(output);
  AttemptRow row;
  row.run = run_number_;
  row.task = item.identity;
  row.type = job_.tasks[index(item.type)].name;
  static_cast<AttemptOrigin&>(row) = end;
  static_cast<AttemptResult&>(row) = end;
  row.is_final = is_final;
  row.out_file = output.out;
  row.err_file = output.err;
  log_.add(row);
  metrics_.ended(end, item.type);
  if (is_final && end.status != AttemptStatus::kOk && failures_.size() < kMostFailuresShown) {
    std::string text = shown(item.identity) + ": " + shown(how_it_ended(end));
    if (const std::string said = last_line(output.err); !said.empty()) text += " (" + shown(said) + ")";
    failures_.push_back(std::move(text));
  }
}

void RunWatch::answer(int number, RunControl& control) {
  if (number == SIGTSTP) {
    control.pause();
    view_.note("stopped, with all running tasks; 'fg' resumes");
    ::kill(::getpid(), SIGSTOP);
    control.resume();
    return;
  }
  if (signal_ == 0 || number == SIGTERM) signal_ = number;
  if (number == SIGTERM) {
    view_.note("terminated: running tasks have 5 s to end; run again to resume");
    control.terminate();
    return;
  }
  switch (++interrupts_) {
    case 1:
      view_.note("interrupted: running tasks finish, no new ones start; interrupt again to end them");
      control.drain();
      break;
    case 2:
      view_.note("interrupted twice: running tasks have 5 s to end; interrupt again to kill them");
      control.terminate();
      break;
    case 3:
      view_.note("interrupted three times: running tasks are killed");
      control.kill();
      break;
    default:
      view_.note("interrupted again: giving up on tasks that cannot be killed");
      control.kill();
  }
}

void RunWatch::print(const AttemptOutput& output) {
  view_.clear();
  if (!output.out.empty()) console_.copy_file(output.out, STDOUT_FILENO);
  if (!output.err.empty()) console_.copy_file(output.err, STDERR_FILENO);
}

}  // namespace allot::app
