// allot log: what a journal holds, attempt by attempt.
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allot/io/journal_text.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/journal_input.hpp"
#include "apps/allot/options.hpp"

namespace allot::app {
namespace {

constexpr std::size_t kShownByDefault = 50;

struct Arguments {
  std::string journal;
  bool json = false;
  bool csv = false;
  AttemptFilter filter;
  std::size_t last = kShownByDefault;
};

/// The whole text, or its beginning and its end with an ellipsis between.
std::string shortened(std::string_view text, std::size_t most) {
  std::vector<std::string_view> characters;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    characters.push_back(text.substr(at, end - at));
    at = end;
  }
  if (characters.size() <= most || most < 5) return std::string(text);
  const std::size_t tail = (most - 1) * 2 / 3;  // the end of a path says more
  std::string out;
  for (std::size_t k = 0; k < most - 1 - tail; ++k) out += characters[k];
  out += "…";
  for (std::size_t k = characters.size() - tail; k < characters.size(); ++k) out += characters[k];
  return out;
}

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

void print_totals(Console& console, const JournalReader& journal) {
  const std::vector<TaskTotals> totals = journal.totals();
  if (totals.empty()) return;
  console.gap();
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.title({"type", "tasks", "done", "failed", "to do"});
  for (const TaskTotals& total : totals) {
    table.row({{shown(total.type)},
               {whole(total.tasks)},
               {whole(total.done), total.done > 0 ? Style::kGood : Style::kPlain},
               {whole(total.failed), total.failed > 0 ? Style::kBad : Style::kPlain},
               {whole(total.tasks - total.done - total.failed)}});
  }
  console.print("{}", table.text(console));
}

void print_table(Console& console, const JournalReader& journal, const Arguments& arguments) {
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
  // The other columns take about 68; what is left is for names.
  const std::size_t room = std::clamp<std::size_t>(console.width(), 88, 168) - 68;
  Table table({Align::kRight, Align::kLeft, Align::kLeft, Align::kRight, Align::kLeft, Align::kRight,
               Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.title({"#", "task", "slot", "try", "status", "start", "waited", "took", "cpu", "memory", ""});
  for (const AttemptRow& row : rows) {
    const bool open = row.status == AttemptStatus::kStarted;
    const Style style = row.status == AttemptStatus::kOk ? Style::kGood : open ? Style::kAccent : Style::kBad;
    table.row({{whole(row.sequence), Style::kDim},
               {shortened(shown(row.task), room)},
               {shortened(shown(row.resource), 12) + ":" + std::to_string(row.slot)},
               {std::to_string(row.attempt)},
               {std::string(to_string(row.status)), style},
               {"+" + duration(row.start_unix - *origin)},
               {duration(row.queue_s)},
               {open ? "" : duration(row.wall_s)},
               {open ? "" : duration(row.user_s + row.sys_s)},
               {memory(row.maxrss_kb)},
               {ending(row), Style::kBad}});
  }
  if (count > rows.size()) {
    console.print("{}\n",
                  console.styled(Style::kDim, fmt::format("The last {} of {} attempts; --last 0 shows all.",
                                                          whole(static_cast<Count>(rows.size())),
                                                          whole(static_cast<Count>(count)))));
  }
  console.print("{}", table.text(console));
  print_totals(console, journal);
}

Exit run_log(const Arguments& arguments, Console& console) {
  return with_journal(arguments.journal, [&](const JournalReader& journal) {
    if (!arguments.json && !arguments.csv) {
      print_table(console, journal, arguments);
      return Exit::kOk;
    }
    if (arguments.csv) console.document(std::string(attempt_csv_header()) + "\n");
    journal.for_each_attempt(
        [&](const AttemptRow& row) {
          console.document((arguments.csv ? attempt_csv(row) : attempt_json(row)) + "\n");
        },
        arguments.filter);
    return Exit::kOk;
  });
}

Action declare(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  add_journal(command, arguments->journal);
  CLI::Option* const json =
      command.add_flag("--json", arguments->json, "a JSON object per attempt, one on each line");
  command.add_flag("--csv", arguments->csv, "comma-separated values, a line per attempt")->excludes(json);
  std::vector<std::pair<std::string, std::optional<AttemptStatus>>> choices;
  for (const AttemptStatus status : {AttemptStatus::kOk, AttemptStatus::kFailed, AttemptStatus::kTimeout,
                                     AttemptStatus::kKilled, AttemptStatus::kLost, AttemptStatus::kStarted}) {
    choices.emplace_back(std::string(to_string(status)), status);
  }
  add_choice(command, "--status", arguments->filter.status, choices,
             "only attempts that ended so; started: no end yet");
  command.add_option("--type", arguments->filter.type, "only attempts of this task type")->type_name("NAME");
  add_whole(command, "--last", arguments->last, 0, 1'000'000'000,
            "rows of the table, the last ones; 0: all (default 50; --json and --csv are never cut)");
  return [arguments](Console& console) { return run_log(*arguments, console); };
}

}  // namespace

extern const Command log_command;
const Command log_command{"log", "Show what a run did: a line for each attempt of each task.",
                          "allot log jobs.toml.journal\n"
                          "allot log jobs.toml.journal --status failed\n"
                          "allot log jobs.toml.journal --json | jq .wall_s",
                          declare};

}  // namespace allot::app
