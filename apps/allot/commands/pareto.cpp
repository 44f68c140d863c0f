// allot pareto: what matching the priorities costs, so that a person can choose.
#include "allot/ask/questions/pareto.hpp"

#include <string>

#include "apps/allot/asking.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/terminal/report.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

using Arguments = Asked<ParetoQuestion>;

ParetoBargain bargain(const ParetoFrontier& frontier, const ParetoPoint& point) {
  return allot::bargain(frontier.points.front(), point);
}

std::string advice(const ParetoFrontier& frontier) {
  constexpr double kNoError = 1e-9;
  if (frontier.points.front().priority_error <= kNoError) {
    return "Nothing to give up: the fastest assignment has the shares that the priorities ask for.";
  }
  if (frontier.advised == frontier.points.front()) {
    return frontier.points.size() == 1
               ? "Nothing to choose: the fastest assignment has the smallest error that was found, too."
               : "Stay with the fastest assignment: every other gives up a larger part of the throughput "
                 "than it cuts "
                 "of the error.";
  }
  const ParetoBargain offer = bargain(frontier, frontier.advised);
  return "Give up " + percent(offer.given_up) + " of the throughput to cut the error by " +
         percent(offer.cut) + ".";
}

void print_frontier(Console& console, const ParetoFrontier& frontier) {
  std::vector<double> throughputs;
  std::vector<double> errors;
  for (const ParetoPoint& point : frontier.points) {
    throughputs.push_back(point.throughput);
    errors.push_back(point.priority_error);
  }
  const ColumnFormat throughput(throughputs);
  const ColumnFormat error(errors, 5);
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.title({"", "tasks/s", "given up", "error", "error cut"});
  for (std::size_t at = 0; at < frontier.points.size(); ++at) {
    const ParetoPoint& point = frontier.points[at];
    const ParetoBargain offer = bargain(frontier, point);
    const bool advised = point == frontier.advised;
    const Style style = advised ? Style::kAccent : Style::kPlain;
    table.row({{advised ? ">" : "", style},
               {throughput(point.throughput), style},
               {at == 0 ? "-" : percent(offer.given_up), style},
               {error(point.priority_error), style},
               {at == 0 ? "-" : percent(offer.cut), style}});
  }
  console.print("{}", table.text(console));
}

void print_weighted(Console& console, const ParetoFrontier& frontier, const Solution& weighted) {
  if (weighted.outcome == Outcome::kInfeasible) {
    console.paragraph("Weighted service cannot match the shares: " + shown(weighted.reason) + ".");
    return;
  }
  const Performance& performance = weighted.performance;
  const double error = performance.priority_error.value_or(0);
  constexpr double kNoError = 1e-9;
  std::string text = "Sharing each resource's time by weight instead of evenly would complete " +
                     number(performance.throughput) + " tasks/s";
  const double given_up = 1 - performance.throughput / frontier.points.front().throughput;
  if (given_up > 1e-9) text += " (" + percent(given_up) + " given up)";
  text += error <= kNoError ? " with no error at all" : " with an error of " + number(error, 3);
  console.paragraph(text + " ('allot solve --solver weighted').");
}

Exit run_pareto(Arguments& arguments, Console& console) {
  const ParetoQuestion& question = arguments.question;
  arguments.asking.read(console);
  arguments.asking.answer(Asking::attendance());
  const Scenario& scenario = *question.scenario;
  const System& system = scenario.system;
  const ParetoFrontier& frontier = question.frontier;
  const bool failed = system.population() > 0 && frontier.points.empty();
  if (arguments.asking.json()) {
    console.document(question.json());
  } else if (failed) {
    throw Failure(Exit::kFailed, "no assignment completes a task and meets all floors and least depths");
  } else if (frontier.points.empty()) {
    print_system(console, scenario);
    console.print("There are no threads, so there is nothing to choose.\n");
  } else {
    print_system(console, scenario);
    console.print("Throughput against priority error: no assignment {} beats one of these in both\n\n",
                  !frontier.exhaustive            ? "that was found"
                  : scenario.system.approximate() ? "(by an approximation)"
                                                  : "at all");
    print_frontier(console, frontier);
    console.gap();
    console.print("{}\n\n", console.styled(Style::kGood, wrapped(advice(frontier), console.width(), 0)));
    const Assignment& assignment = frontier.advised.assignment;
    print_assignment(console, system, assignment, evaluate(system, assignment));
    console.gap();
    if (question.weighted) print_weighted(console, frontier, *question.weighted);
    if (frontier.approximate)
      console.print("Approximate: tasks waiting for several fcfs servers have no exact formula.\n");
    if (frontier.outcome == Outcome::kTimeLimit)
      console.print("The time limit came first: points may be missing.\n");
    if (frontier.outcome == Outcome::kInterrupted) {
      console.line("Interrupted: these are the points found so far.", Style::kBad);
    }
  }
  if (interrupted()) return Exit::kInterrupted;
  return failed ? Exit::kFailed : Exit::kOk;
}

}  // namespace

extern const Command pareto_command;
const Command pareto_command = asking_command("pareto", run_pareto);

}  // namespace allot::app
