// allot compare: several policies with the same random numbers, and which differences are real.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "allot/ask/questions/simulate.hpp"
#include "apps/allot/asking.hpp"
#include "apps/allot/commands/simulation.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/terminal/report.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::compare_command {
namespace {

using Arguments = Asked<CompareQuestion>;

const Difference* difference_of(const Comparison& comparison, const SimulationResult& result) {
  for (const Difference& difference : comparison.differences) {
    if (difference.policy == result.policy) return &difference;
  }
  return nullptr;
}

/// The quantity by which policies are compared: value if it differs from throughput.
struct Goal {
  Estimate SimulationResult::*result;
  Estimate Difference::*difference;
  bool Difference::*significant;
};
constexpr Goal kByThroughput{&SimulationResult::throughput, &Difference::throughput,
                             &Difference::significant};
constexpr Goal kByValue{&SimulationResult::value, &Difference::value, &Difference::value_significant};

/// "+12.3% ± 0.4%", relative to the reference
std::string relative(const Estimate& difference, double reference) {
  if (!(reference > 0)) return "";
  const double mean = 100 * difference.mean / reference;
  if (!difference.half_width) return fmt::format("{:+.1f}%", mean);
  const double half_width = 100 * *difference.half_width / reference;
  const int decimals =
      half_width > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(half_width))), 0, 4) : 1;
  return fmt::format("{:+.{}f}% {} {:.{}f}%", mean, decimals, sign(Sign::kPlusMinus), half_width, decimals);
}

/// The value has a column only if policies are compared by it.
void print_table(Console& console, const Comparison& comparison, const std::optional<Solution>& best,
                 bool by_value) {
  const Goal goal = by_value ? kByValue : kByThroughput;
  std::vector<const SimulationResult*> order;
  for (const SimulationResult& result : comparison.policies) order.push_back(&result);
  std::stable_sort(order.begin(), order.end(), [&](const SimulationResult* a, const SimulationResult* b) {
    return (a->*goal.result).mean > (b->*goal.result).mean;
  });
  const SimulationResult& reference = comparison.policies.front();
  std::vector<Align> aligned = {Align::kLeft, Align::kRight};
  std::vector<std::string> titles = {"policy", "tasks/s"};
  if (by_value) {
    aligned.push_back(Align::kRight);
    titles.emplace_back("value/s");
  }
  aligned.insert(aligned.end(), {Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  titles.insert(titles.end(), {"against " + reference.policy, "", "response", "95%", "J/task"});
  Table table(std::move(aligned));
  table.title(titles);
  bool marked = false;
  if (best) {
    std::vector<Cell> cells = {{"best assignment", Style::kDim},
                               {number(best->performance.throughput, 5), Style::kDim}};
    if (by_value) cells.push_back({number(best->performance.value, 5), Style::kDim});
    table.row(std::move(cells));
  }
  for (const SimulationResult* result : order) {
    const Difference* const difference = difference_of(comparison, *result);
    const bool significant = difference != nullptr && difference->*goal.significant;
    marked |= significant;
    const Style style = !significant                              ? Style::kPlain
                        : (difference->*goal.difference).mean > 0 ? Style::kGood
                                                                  : Style::kBad;
    const bool any = result->throughput.mean > 0;
    const std::string against =
        difference == nullptr ? "-" : relative(difference->*goal.difference, (reference.*goal.result).mean);
    std::vector<Cell> cells = {{result->policy, Style::kBold},
                               {any ? with_interval(result->throughput) : "0", Style::kPlain}};
    if (by_value) cells.push_back({any ? with_interval(result->value) : "0", Style::kPlain});
    cells.insert(cells.end(), {{against, style},
                               {significant ? "*" : "", style},
                               {any ? duration(result->response_time.mean) : "", Style::kPlain},
                               {any ? duration(result->p95) : "", Style::kPlain},
                               {any ? number(result->energy_per_task) : "", Style::kPlain}});
    table.row(std::move(cells));
  }
  console.print("{}", table.text(console));
  console.gap();
  if (marked) {
    const std::string text = "* differs from " + reference.policy + (by_value ? " in value" : "") +
                             " beyond chance: the 95% interval of the difference excludes 0.";
    console.paragraph(text);
  }
}

void print_reference(Console& console, const Scenario& scenario, const Solution& best) {
  const std::string more = tells_value(scenario) ? "has more value" : "completes more";
  std::string text = "Best assignment: ";
  if (best.proven_optimal) {
    text += "no constant assignment " + more + ", proven";
  } else if (best.performance.approximate) {
    text += "the best found by a formula that is approximate where " + where_approximate(scenario.system);
  } else {
    text += "the best found with limited effort";
    if (best.upper_bound)
      text += "; none " + more + " than " + number_above(*best.upper_bound, 5) +
              (tells_value(scenario) ? " per second" : " tasks/s");
  }
  console.print("{}.\n", wrapped(text, console.width(), 0));
}

void print_comparison(Console& console, const Scenario& scenario, const Comparison& comparison,
                      const std::optional<Solution>& best) {
  const SimulationResult& first = comparison.policies.front();
  double seconds = 0;
  bool any = false;
  for (const SimulationResult& result : comparison.policies) {
    seconds += result.wall_seconds;
    any |= result.throughput.mean > 0;
  }
  const bool partial = comparison.policies.back().partial;
  if (!any) {
    console.print("{}\n", partial ? "Interrupted before anything was measured." : "Nothing was completed.");
    return;
  }
  console.paragraph(shown(first.distribution) + ": " +
                        counted(static_cast<Count>(first.replications), "replication") + " of " +
                        counted(static_cast<Count>(first.completions), "completion") +
                        ", the same sizes for all, in " + duration(seconds),
                    Style::kDim);
  if (partial) {
    console.line("Interrupted: policies are missing, the last is incomplete.", Style::kBad);
  }
  console.gap();
  print_table(console, comparison, best, tells_value(scenario));
  if (best) print_reference(console, scenario, *best);
}

/// Prints a note that several policies share only once.
void print_notes(const Console& console, const Comparison& comparison) {
  std::vector<std::pair<std::string, std::vector<std::string>>> notes;  // with the policies that they concern
  for (const SimulationResult& result : comparison.policies) {
    for (const std::string& note : result.notes) {
      auto known =
          std::find_if(notes.begin(), notes.end(), [&](const auto& entry) { return entry.first == note; });
      if (known == notes.end()) known = notes.insert(notes.end(), {note, {}});
      known->second.push_back(result.policy);
    }
  }
  for (const auto& [note, policies] : notes) {
    std::string who;
    for (const std::string& policy : policies) who += (who.empty() ? "" : ", ") + policy;
    console.note(policies.size() == comparison.policies.size() ? note : who + ": " + note);
  }
}

Exit run_compare(Arguments& arguments, Console& console) {
  const CompareQuestion& question = arguments.question;
  answer_with_progress(arguments.asking, console);
  print_notes(console, question.comparison);
  if (arguments.asking.json()) {
    console.document(question.json());
  } else {
    print_system(console, *question.scenario);
    print_work(console, *question.scenario);
    print_comparison(console, *question.scenario, question.comparison, question.best);
  }
  return interrupted() ? Exit::kInterrupted : Exit::kOk;
}

}  // namespace

extern const Command command;
const Command command = asking_command("compare", run_compare);

}  // namespace allot::app::compare_command
