// allot log: the contents of a journal, attempt by attempt.
#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "allot/jobs/attempt.hpp"
#include "allot/jobs/journal_text.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/commands/journal_input.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::log_command {
namespace {

constexpr std::size_t kShownByDefault = 50;
constexpr std::ptrdiff_t kReasonsShown = 10;

struct Arguments {
  std::string journal;
  bool json = false;
  bool csv = false;
  AttemptFilter filter;
  std::size_t last = kShownByDefault;
};

std::string memory(std::int64_t kilobytes) {
  if (kilobytes <= 0) return "";
  if (kilobytes < 1024) return fmt::format("{} KiB", kilobytes);
  if (kilobytes < 1024 * 1024) return fmt::format("{:.0f} MiB", static_cast<double>(kilobytes) / 1024);
  return fmt::format("{:.1f} GiB", static_cast<double>(kilobytes) / 1024 / 1024);
}

std::string ending(const AttemptRow& row) {
  if (row.signal) return "signal " + std::to_string(*row.signal);
  if (row.exit && *row.exit != 0) return "exit " + std::to_string(*row.exit);
  return "";
}

/// Finds the captured output of the attempt beside the journal, if there is any.
void find_files(const std::string& journal, AttemptRow& row) {
  const std::string base = kept_output(journal + ".out", row.task_id, row.attempt);
  const auto existing = [&](const char* ending) {
    std::error_code error;
    return std::filesystem::exists(base + ending, error) ? base + ending : std::string();
  };
  row.out_file = existing(".out");
  row.err_file = existing(".err");
}

/// Why an attempt failed: an error outside of the task, or the last line of its standard error.
std::string reason(const AttemptRow& row) {
  if (!row.error.empty()) return shown(row.error);
  if (row.status == AttemptStatus::kTimeout) return "it exceeded its timeout";
  const std::string said = last_line(row.err_file);
  return said.empty() ? "" : "its last line: " + shown(said);
}

void print_totals(Console& console, const JournalReader& journal) {
  const std::vector<TaskTotals> totals = journal.totals();
  if (totals.empty()) return;
  console.gap();
  const bool has_stages =
      std::any_of(totals.begin(), totals.end(), [](const TaskTotals& total) { return !total.from.empty(); });
  std::vector<Align> aligns = {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight};
  std::vector<std::string> titles = {"type", "tasks", "done", "failed", "to do"};
  if (has_stages) {
    aligns.push_back(Align::kLeft);
    titles.emplace_back("from");
  }
  Table table(aligns);
  table.title(titles);
  for (const TaskTotals& total : totals) {
    std::vector<Cell> cells = {{shown(total.type)},
                               {whole(total.tasks)},
                               {whole(total.done), total.done > 0 ? Style::kGood : Style::kPlain},
                               {whole(total.failed), total.failed > 0 ? Style::kBad : Style::kPlain},
                               {whole(total.tasks - total.done - total.failed)}};
    if (has_stages) cells.push_back({shown(total.from)});
    table.row(std::move(cells));
  }
  console.print("{}", table.text(console));
}

/// How many columns are shown per attempt; fewer in a narrow terminal.
enum class Detail { kAll, kTimes, kLeast };

Table attempt_table(const std::deque<AttemptRow>& rows, double origin, Detail detail, std::size_t names) {
  std::vector<Align> aligns;
  std::vector<std::string> titles;
  const auto column = [&](Align align, const char* title) {
    aligns.push_back(align);
    titles.emplace_back(title);
  };
  column(Align::kRight, "#");
  column(Align::kLeft, "task");
  column(Align::kLeft, "slot");
  column(Align::kRight, "try");
  column(Align::kLeft, "status");
  if (detail != Detail::kLeast) column(Align::kRight, "start");
  if (detail == Detail::kAll) column(Align::kRight, "waited");
  column(Align::kRight, "took");
  if (detail == Detail::kAll) {
    column(Align::kRight, "cpu");
    column(Align::kRight, "memory");
  }
  column(Align::kLeft, "");
  Table table(aligns);
  table.title(titles);
  for (const AttemptRow& row : rows) {
    const bool open = row.status == AttemptStatus::kStarted;
    const Style style = row.status == AttemptStatus::kOk ? Style::kGood : open ? Style::kAccent : Style::kBad;
    const bool ran = !row.resource.empty();  // false if another task had failed, or nothing could run it
    const std::string where = shortened(shown(row.resource), detail == Detail::kAll ? 12 : 8);
    std::vector<Cell> cells = {{whole(row.sequence), Style::kDim},
                               {shortened(shown(row.task), names)},
                               {ran ? where + ":" + std::to_string(row.slot) : "-"},
                               {row.attempt > 0 ? std::to_string(row.attempt) : "-"},
                               {std::string(to_string(row.status)), style}};
    if (detail != Detail::kLeast) cells.push_back({"+" + duration(std::max(0.0, row.start_unix - origin))});
    if (detail == Detail::kAll) cells.push_back({duration(row.queue_s)});
    cells.push_back({open ? "" : duration(row.wall_s)});
    if (detail == Detail::kAll) {
      cells.push_back({open ? "" : duration(row.user_s + row.sys_s)});
      cells.push_back({memory(row.maxrss_kb)});
    }
    cells.push_back({ending(row), Style::kBad});
    table.row(std::move(cells));
  }
  return table;
}

void print_rows(Console& console, const std::deque<AttemptRow>& rows, double origin) {
  constexpr std::size_t kEnough = 20;  // sufficient columns for the name of a task
  constexpr std::size_t kLongest = 100;
  std::size_t longest = 0;
  for (const AttemptRow& row : rows) longest = std::max(longest, display_width(shown(row.task)));
  for (const Detail detail : {Detail::kAll, Detail::kTimes, Detail::kLeast}) {
    const std::size_t without =
        attempt_table(rows, origin, detail, kEnough).width() - std::min(longest, kEnough);
    const std::size_t names = console.width() > without ? console.width() - without : 0;
    if (names < std::min(kEnough, longest) && detail != Detail::kLeast) continue;
    console.print(
        "{}", attempt_table(rows, origin, detail, std::clamp(names, kEnough / 2, kLongest)).text(console));
    return;
  }
}

/// Why attempts failed, and their output: one paragraph each for the last of the rows shown.
void print_reasons(Console& console, const std::deque<AttemptRow>& rows) {
  std::vector<const AttemptRow*> bad;
  for (const AttemptRow& row : rows) {
    const bool is_bad = row.status != AttemptStatus::kOk && row.status != AttemptStatus::kStarted;
    const bool has_more = !reason(row).empty() || !row.out_file.empty();
    if (is_bad && has_more) bad.push_back(&row);
  }
  if (bad.empty()) return;
  console.gap();
  if (bad.size() > kReasonsShown) {
    console.line(fmt::format("The last {} of the {} that did not end well:", kReasonsShown,
                             whole(static_cast<Count>(bad.size()))),
                 Style::kDim);
    bad.erase(bad.begin(), bad.end() - kReasonsShown);
  }
  for (const AttemptRow* row : bad) {
    std::string text =
        "#" + whole(row->sequence) + " " + shown(row->task) + ": " + std::string(to_string(row->status));
    for (const std::string& more : {ending(*row), reason(*row)}) {
      if (!more.empty()) text += ", " + more;
    }
    console.print("  {}\n", wrapped(text, console.width(), 4));
    for (const std::string& path : {row->out_file, row->err_file}) {
      if (!path.empty()) console.print("    {}\n", shown(path));
    }
  }
}

/// An attempt without an end was cut off if no run is active that could end it.
void print_cut_off(Console& console, const std::deque<AttemptRow>& rows) {
  const auto open = std::count_if(
      rows.begin(), rows.end(), [](const AttemptRow& row) { return row.status == AttemptStatus::kStarted; });
  if (open == 0) return;
  console.gap();
  console.paragraph("The run ended before " + std::to_string(open) +
                    " of these did; the same 'allot run' resumes.");
}

void print_table(Console& console, const JournalReader& journal, const Arguments& arguments, bool in_use) {
  std::deque<AttemptRow> rows;
  std::size_t count = 0;
  std::optional<double> origin;
  journal.for_each_attempt(
      [&](const AttemptRow& row) {
        if (!origin) origin = row.start_unix;
        ++count;
        rows.push_back(row);
        if (arguments.last > 0 && rows.size() > arguments.last) rows.pop_front();
      },
      arguments.filter);
  if (rows.empty()) {
    console.print("No attempt{} in {}.\n",
                  arguments.filter.status || !arguments.filter.type.empty() ? " of that kind" : "",
                  shown(arguments.journal));
    print_totals(console, journal);
    return;
  }
  for (AttemptRow& row : rows) find_files(arguments.journal, row);
  if (count > rows.size()) {
    console.line(fmt::format("The last {} of {} attempts; --last 0 shows all.",
                             whole(static_cast<Count>(rows.size())), whole(static_cast<Count>(count))),
                 Style::kDim);
  }
  print_rows(console, rows, *origin);
  print_reasons(console, rows);
  if (!in_use) print_cut_off(console, rows);
  print_totals(console, journal);
}

Exit run_log(const Arguments& arguments, Console& console) {
  // Checked before reading: an attempt that ends in between was not cut off.
  const bool in_use = is_in_use(arguments.journal);
  return with_journal(arguments.journal, [&](const JournalReader& journal) {
    if (!arguments.json && !arguments.csv) {
      print_table(console, journal, arguments, in_use);
      return Exit::kOk;
    }
    if (arguments.csv) console.document(attempt_csv_header() + "\n");
    journal.for_each_attempt(
        [&](AttemptRow row) {
          find_files(arguments.journal, row);
          console.document((arguments.csv ? attempt_csv(row) : attempt_json(row)) + "\n");
        },
        arguments.filter);
    return Exit::kOk;
  });
}

Option status_option(std::optional<AttemptStatus>& status) {
  const std::vector<std::string_view> words = {"ok", "failed", "timeout", "killed", "lost", "started"};
  return {"status",
          WordValue{{}, words, [&status, words](std::size_t at) { status = parse_status(words[at]); }},
          "only attempts with this status; failed includes timeouts and what was lost for good; started: "
          "running, or cut off when the run ended"};
}

std::vector<Option> options_of(Arguments& arguments) {
  return {
      journal_option(arguments.journal),
      flag_option("json", arguments.json, "one JSON object per attempt and line"),
      flag_option("csv", arguments.csv, "comma-separated values, one line per attempt").not_with("json"),
      status_option(arguments.filter.status),
      text_option("type", arguments.filter.type, "only attempts of this task type")
          .suggesting_in(task_types_in_journal)
          .shown_as("NAME"),
      whole_option("last", arguments.last, 0, 1'000'000'000,
                   "show the last N rows (0: all); --json and --csv always print all")
          .with_letter("n"),
  };
}

}  // namespace

extern const Command command;
const Command command{
    "log", "Show what a run did: one line per attempt.",
    "allot log jobs.toml.journal\n"
    "allot log jobs.toml.journal --status failed    # what went wrong, and where to read about it\n"
    "allot log jobs.toml.journal --json | jq .wall_s",
    declared_by(options_of, run_log)};

}  // namespace allot::app::log_command
