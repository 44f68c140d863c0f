// allot whatif: the worth of a change of the machine or its work.
#include "allot/ask/questions/whatif.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include "apps/allot/asking.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/terminal/report.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::whatif_command {
namespace {

struct Arguments : Asked<WhatIfQuestion> {
  using Asked::Asked;
  std::size_t top = 20;
  std::vector<Option> more() {
    return {
        whole_option("top", top, 0, 1'000'000'000, "show the N largest gains (0: all); JSON always has all")
            .with_letter("n")};
  }
};

std::string described(const System& system, const Change& change) {
  switch (change.what) {
    case Change::What::kServer:
      return "one more server at " + shown(system.resource(*change.resource).name);
    case Change::What::kCapacity:
      return "one more unit of " + shown(system.capacity_name(*change.capacity));
    case Change::What::kThread:
      return "one more " + in_quotes(system.task(*change.task).name) + " thread";
    case Change::What::kRate:
      return in_quotes(system.task(*change.task).name) + " 10% faster on " +
             shown(system.resource(*change.resource).name);
  }
  return {};
}

/// Whether gains are in terms of the load that can be carried: all work arrives from outside.
bool counts_load(const Scenario& scenario, const WhatIf& result) {
  return result.base.plan.headroom && scenario.system.population() == 0 && scenario.threads.empty();
}

/// What whole tasks gain, if that is clearly something else than the plan gains.
std::optional<std::string> gain_of_whole_tasks(const Change& change) {
  constexpr double kNone = 1e-6;
  constexpr double kSame = 0.005;
  if (!change.whole_gain) return {};
  if (std::abs(*change.whole_gain) < kNone)
    return change.gain > kNone ? std::optional<std::string>("whole tasks: 0%") : std::nullopt;
  if (std::abs(*change.whole_gain - change.gain) < kSame) return {};
  return "whole tasks: " + std::string(*change.whole_gain > 0 ? "+" : "") + percent(*change.whole_gain);
}

/// What whole tasks reach today, if that is less than the plan.
std::string most_of_whole_tasks(const Solution& base) {
  constexpr double kSame = 1e-6;
  if (!base.plan.packing_bound || *base.plan.packing_bound >= base.performance.value * (1 - kSame)) return {};
  return " (whole tasks: at most " + number_above(*base.plan.packing_bound) + ")";
}

void print_changes(Console& console, const Scenario& scenario, const WhatIf& result, std::size_t top) {
  const System& system = scenario.system;
  const std::size_t count = top == 0 ? result.changes.size() : std::min(top, result.changes.size());
  const bool by_load = counts_load(scenario, result);
  const auto goal = [&](const Change& change) {
    return by_load ? *result.base.plan.headroom * (1 + change.gain) : change.value;
  };
  std::vector<double> goals;
  for (const Change& change : result.changes) goals.push_back(goal(change));
  const ColumnFormat format(goals, 5);
  // The marginal gain of a unit, next to the gain of a whole one.
  const bool has_prices = system.has_needs() && result.base.is_planned;
  std::vector<double> prices;
  for (const Change& change : result.changes) prices.push_back(change.price.value_or(0));
  const ColumnFormat price_format(prices, 5);
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.title({"change",
               by_load                 ? "times the load"
               : tells_value(scenario) ? "value/s"
                                       : "tasks/s",
               "gain", has_prices ? "price" : "", ""});
  bool differ = false;
  for (std::size_t at = 0; at < count; ++at) {
    const Change& change = result.changes[at];
    const std::optional<std::string> whole_gain = gain_of_whole_tasks(change);
    differ |= whole_gain.has_value();
    const bool none = std::abs(change.gain) < 1e-9;
    const Style style = none ? Style::kDim : change.gain > 0 ? Style::kGood : Style::kBad;
    table.row({{described(system, change), none ? Style::kDim : Style::kPlain},
               {format(goal(change)), none ? Style::kDim : Style::kPlain},
               {!(result.base.performance.value > 0) ? "-"
                : none                               ? "0%"
                                                     : (change.gain > 0 ? "+" : "") + percent(change.gain),
                style},
               {has_prices && change.price ? price_format(*change.price) : "", Style::kDim},
               {whole_gain           ? *whole_gain
                : change.approximate ? "approximate"
                                     : "",
                Style::kDim}});
  }
  console.print("{}", table.text(console));
  if (has_prices) console.line("  price: at most what more adds, per unit", Style::kDim);
  if (differ) console.line("  whole tasks: the gain if what they hold cannot be split", Style::kDim);
  if (count < result.changes.size()) {
    console.print("  ... and {} more, none worth more than these; '--top 0' shows all\n",
                  whole(static_cast<Count>(result.changes.size() - count)));
  }
}

void print_result(Console& console, const Scenario& scenario, const WhatIf& result, std::size_t top) {
  if (result.base.outcome == Outcome::kInfeasible) {
    std::string reason = shown(result.base.reason);
    if (!reason.empty())
      reason.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(reason.front())));
    console.paragraph("There is no feasible answer today. " + reason + ".");
    if (result.changes.empty()) return;
    console.gap();
  }
  const std::string today =
      counts_load(scenario, result)
          ? "Today the machine can carry " + number(*result.base.plan.headroom) + " times the load."
          : (result.base.outcome == Outcome::kInfeasible ? "The nearest reaches " : "Today at best ") +
                number(result.base.performance.value) + value_unit(scenario) +
                most_of_whole_tasks(result.base) + ".";
  console.line(result.changes.empty() ? today : today + " What would help:", Style::kBold);
  if (!result.changes.empty()) {
    console.gap();
    print_changes(console, scenario, result, top);
  }
  if (result.outcome == Outcome::kTimeLimit) {
    console.gap();
    console.print("The time limit expired: changes are missing.\n");
  }
  if (result.outcome == Outcome::kInterrupted) {
    console.gap();
    console.line("Interrupted: these are the changes tried so far.", Style::kBad);
  }
}

Exit run_whatif(Arguments& arguments, Console& console) {
  const WhatIfQuestion& question = arguments.question;
  arguments.asking.read(console);
  arguments.asking.answer(Asking::attendance());
  if (arguments.asking.json()) {
    console.document(question.json());
  } else {
    print_system(console, *question.scenario);
    if (!question.service.note.empty()) console.line("Note: " + question.service.note + ".", Style::kDim);
    print_result(console, *question.scenario, question.what_if, arguments.top);
    if (!question.scenario->system.shares().empty()) {
      console.gap();
      console.paragraph(
          "The priorities have no effect on this answer; 'allot solve --objective priority "
          "--service planned' shows what one more adds in these shares.");
    }
  }
  if (interrupted()) return Exit::kInterrupted;
  return exit_of(question.what_if.base.outcome);
}

}  // namespace

extern const Command command;
const Command command = asking_command("whatif", run_whatif);

}  // namespace allot::app::whatif_command
