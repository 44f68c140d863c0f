// allot whatif: what a change of the machine or its work would be worth.
#include "allot/solve/whatif.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "allot/io/result_json.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/report.hpp"

namespace allot::app {
namespace {

struct Arguments {
  std::string file;
  std::size_t top = 20;
  std::optional<double> time_limit;
  bool json = false;
  SolveOptions options;
};

std::string described(const System& system, const Change& change) {
  switch (change.what) {
    case Change::What::kServer:
      return "one more server at " + shown(system.resource(*change.resource).name);
    case Change::What::kThread:
      return "one more " + in_quotes(system.task(*change.task).name) + " thread";
    case Change::What::kRate:
      return in_quotes(system.task(*change.task).name) + " 10% faster on " +
             shown(system.resource(*change.resource).name);
  }
  return {};
}

void print_changes(Console& console, const System& system, const WhatIf& result, std::size_t top) {
  const std::size_t count = top == 0 ? result.changes.size() : std::min(top, result.changes.size());
  std::vector<double> throughputs;
  for (const Change& change : result.changes) throughputs.push_back(change.throughput);
  const ColumnFormat throughput(throughputs, 5);
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  table.title({"change", "tasks/s", "gain", ""});
  for (std::size_t at = 0; at < count; ++at) {
    const Change& change = result.changes[at];
    const bool none = std::abs(change.gain) < 1e-9;
    const Style style = none ? Style::kDim : change.gain > 0 ? Style::kGood : Style::kBad;
    table.row({{described(system, change), none ? Style::kDim : Style::kPlain},
               {throughput(change.throughput), none ? Style::kDim : Style::kPlain},
               {!(result.base.performance.throughput > 0) ? "-"
                : none                                    ? "0%"
                       : (change.gain > 0 ? "+" : "") + percent(change.gain),
                style},
               {change.approximate ? "approximate" : "", Style::kDim}});
  }
  console.print("{}", table.text(console));
  if (count < result.changes.size()) {
    console.print("  ... and {} more, none worth more than these; '--top 0' shows all\n",
                  whole(static_cast<Count>(result.changes.size() - count)));
  }
}

void print_result(Console& console, const System& system, const WhatIf& result, std::size_t top) {
  if (result.base.outcome == Outcome::kInfeasible) {
    console.print("{}\n", wrapped("There is no feasible answer today: " + shown(result.base.reason) + ".",
                                  console.width(), 0));
    if (result.changes.empty()) return;
  }
  const std::string today = "Today at best " + number(result.base.performance.throughput) + " tasks/s.";
  console.print("{}\n",
                console.styled(Style::kBold, result.changes.empty() ? today : today + " What would help:"));
  if (!result.changes.empty()) {
    console.gap();
    print_changes(console, system, result, top);
  }
  if (result.outcome == Outcome::kTimeLimit) {
    console.gap();
    console.print("The time limit came first: changes are missing.\n");
  }
  if (result.outcome == Outcome::kInterrupted) {
    console.gap();
    console.print("{}\n", console.styled(Style::kBad, "Interrupted: these are the changes tried so far."));
  }
}

Exit run_whatif(const Arguments& arguments, Console& console) {
  const Scenario scenario = read_static_scenario_or_fail(arguments.file, "whatif", console);
  const System& system = scenario.system;
  SolveOptions options = arguments.options;
  options.stop = start_clock(arguments.time_limit);
  const WhatIf result = what_if(system, options);
  if (arguments.json) {
    console.document(what_if_json(system, result));
  } else {
    print_system(console, scenario);
    print_result(console, system, result, arguments.top);
  }
  if (interrupted()) return Exit::kInterrupted;
  return result.base.outcome == Outcome::kInfeasible ? Exit::kFailed : Exit::kOk;
}

Action declare(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  Arguments& a = *arguments;
  add_file(command, a.file);
  add_whole(command, "--top", a.top, 0, 1'000'000'000,
            "show the N largest gains (default 20; 0: all); JSON has all");
  add_time_limit(command, a.time_limit,
                 "stop after this time with the changes tried by then (default: no limit)");
  add_seed(command, a.options.seed);
  add_json(command, a.json);
  return [arguments](Console& console) { return run_whatif(*arguments, console); };
}

}  // namespace

extern const Command whatif_command;
const Command whatif_command{"whatif",
                             "Show what one more server or thread, or a 10% faster pair, would be worth.",
                             "allot whatif examples/workstation.toml\n"
                             "allot whatif examples/workstation.toml --top 5",
                             declare};

}  // namespace allot::app
