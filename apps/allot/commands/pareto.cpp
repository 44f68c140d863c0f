// allot pareto: what matching the priorities costs, so that a person can choose.
#include "allot/ask/questions/pareto.hpp"

#include <string>

#include "apps/allot/asking.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/terminal/report.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::pareto_command {
namespace {

using Arguments = Asked<ParetoQuestion>;

ParetoBargain bargain(const ParetoFrontier& frontier, const ParetoPoint& point) {
  return allot::bargain(frontier.points.front(), point);
}

std::string advice(const ParetoFrontier& frontier, bool by_value) {
  const std::string first = by_value ? "the assignment of the most value" : "the fastest assignment";
  const std::string good = by_value ? "value" : "throughput";
  constexpr double kNoError = 1e-9;
  if (frontier.points.front().priority_error <= kNoError) {
    return "Nothing to give up: " + first + " has the shares that the priorities ask for.";
  }
  if (frontier.advised == frontier.points.front()) {
    return frontier.points.size() == 1
               ? "Nothing to choose: " + first + " has the smallest error that was found, too."
               : "Stay with " + first + ": every other gives up a larger part of the " + good +
                     " than it cuts of the error.";
  }
  const ParetoBargain offer = bargain(frontier, frontier.advised);
  return "Giving up " + percent(offer.given_up) + " of the " + good + " cuts the error by " +
         percent(offer.cut) + ".";
}

void print_frontier(Console& console, const ParetoFrontier& frontier, bool by_value) {
  std::vector<double> values;
  std::vector<double> throughputs;
  std::vector<double> errors;
  for (const ParetoPoint& point : frontier.points) {
    values.push_back(point.value);
    throughputs.push_back(point.throughput);
    errors.push_back(point.priority_error);
  }
  const ColumnFormat value(values);
  const ColumnFormat throughput(throughputs);
  const ColumnFormat error(errors, 5);
  std::vector<Align> aligned(by_value ? 6 : 5, Align::kRight);
  aligned.front() = Align::kLeft;
  std::vector<std::string> titles = {"", "tasks/s", "given up", "error", "error cut"};
  if (by_value) titles.insert(titles.begin() + 1, "value/s");
  Table table(std::move(aligned));
  table.title(titles);
  for (std::size_t at = 0; at < frontier.points.size(); ++at) {
    const ParetoPoint& point = frontier.points[at];
    const ParetoBargain offer = bargain(frontier, point);
    const bool advised = point == frontier.advised;
    const Style style = advised ? Style::kAccent : Style::kPlain;
    std::vector<Cell> cells = {{advised ? ">" : "", style}};
    if (by_value) cells.push_back({value(point.value), style});
    cells.insert(cells.end(), {{throughput(point.throughput), style},
                               {at == 0 ? "-" : percent(offer.given_up), style},
                               {error(point.priority_error), style},
                               {at == 0 ? "-" : percent(offer.cut), style}});
    table.row(std::move(cells));
  }
  console.print("{}", table.text(console));
}

// ---- planned service

std::string planned_advice(const ParetoFrontier& frontier, const std::string& good, const std::string& what) {
  constexpr double kNoError = 1e-9;
  if (frontier.points.front().priority_error <= kNoError)
    return "Nothing to give up: the plan with the most " + good + " is the fairest, too.";
  if (frontier.points.size() == 1)
    return "Nothing to choose: no plan is fairer than the one with the most " + good + ".";
  if (frontier.advised == frontier.points.front())
    return "Stay with the most " + good +
           ": every other plan gives up a larger part of it than it cuts of the " + what + ".";
  const ParetoBargain offer = bargain(frontier, frontier.advised);
  return "Giving up " + percent(offer.given_up) + " of the " + good + " cuts the " + what + " by " +
         percent(offer.cut) + ".";
}

void print_planned_points(Console& console, const ParetoFrontier& frontier, bool by_value) {
  std::vector<double> values;
  std::vector<double> seconds;
  const auto second = [&](const ParetoPoint& point) {
    return frontier.has_priorities ? point.priority_error : point.least_served;
  };
  for (const ParetoPoint& point : frontier.points) {
    values.push_back(point.value);
    seconds.push_back(second(point));
  }
  const ColumnFormat value(values);
  const ColumnFormat other(seconds, 5);
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.title({"", by_value ? "value/s" : "tasks/s", "given up",
               frontier.has_priorities ? "error" : "least served",
               frontier.has_priorities ? "error cut" : "of the best"});
  for (std::size_t at = 0; at < frontier.points.size(); ++at) {
    const ParetoPoint& point = frontier.points[at];
    const ParetoBargain offer = bargain(frontier, point);
    const bool advised = point == frontier.advised;
    const Style style = advised ? Style::kAccent : Style::kPlain;
    const std::string part = !frontier.has_priorities ? percent(1 - point.priority_error)
                             : at == 0                ? "-"
                                                      : percent(offer.cut);
    table.row({{advised ? ">" : "", style},
               {value(point.value), style},
               {at == 0 ? "-" : percent(offer.given_up), style},
               {other(second(point)), style},
               {part, style}});
  }
  console.print("{}", table.text(console));
}

void print_planned(Console& console, const Scenario& scenario, const ParetoFrontier& frontier) {
  print_system(console, scenario);
  const bool by_value = tells_value(scenario);
  console.paragraph(std::string(by_value ? "Value" : "Throughput") + " against " +
                    (frontier.has_priorities ? "priority error" : "what the least served completes") +
                    ": no policy " + (frontier.exhaustive ? "" : "that was found ") + "is better in both");
  console.gap();
  print_planned_points(console, frontier, by_value);
  console.gap();
  const std::string what = frontier.has_priorities ? "error" : "distance to the fairest";
  console.print(
      "{}\n\n",
      console.styled(Style::kGood, wrapped(planned_advice(frontier, by_value ? "value" : "throughput", what),
                                           console.width(), 0)));
  Solution plan;
  plan.is_planned = true;
  plan.time_shares = frontier.advised.time_shares;
  plan.performance = evaluate_time_shares(scenario.system, plan.time_shares);
  plan.plan.rounds = frontier.advised.rounds;
  print_time_plan(console, scenario, plan);
  console.gap();
  print_rounds(console, scenario, plan);
}

void print_weighted(Console& console, const ParetoFrontier& frontier, const Solution& weighted,
                    bool by_value) {
  if (weighted.outcome == Outcome::kInfeasible) {
    console.paragraph("Weighted service cannot match the shares: " + shown(weighted.reason) + ".");
    return;
  }
  const Performance& performance = weighted.performance;
  const double error = performance.priority_error.value_or(0);
  constexpr double kNoError = 1e-9;
  std::string text = "Sharing each resource's time by weight instead of evenly would ";
  text += by_value ? "have a value of " + number(performance.value) + " per second"
                   : "complete " + number(performance.throughput) + " tasks/s";
  const double given_up = 1 - performance.value / frontier.points.front().value;
  if (given_up > 1e-9) text += " (" + percent(given_up) + " given up)";
  text += error <= kNoError ? " with no error at all" : " with an error of " + number(error, 3);
  console.paragraph(text + " ('allot solve --solver weighted').");
}

void print_ending(Console& console, const ParetoFrontier& frontier) {
  if (frontier.outcome == Outcome::kTimeLimit)
    console.print("The time limit expired: points may be missing.\n");
  if (frontier.outcome == Outcome::kInterrupted)
    console.line("Interrupted: these are the points found so far.", Style::kBad);
}

Exit run_pareto(Arguments& arguments, Console& console) {
  const ParetoQuestion& question = arguments.question;
  arguments.asking.read(console);
  arguments.asking.answer(Asking::attendance());
  const Scenario& scenario = *question.scenario;
  const System& system = scenario.system;
  const ParetoFrontier& frontier = question.frontier;
  const bool by_value = tells_value(scenario);
  const bool has_threads = system.population() > 0 || !scenario.threads.empty();
  const bool failed = has_threads && frontier.points.empty();
  if (arguments.asking.json()) {
    console.document(question.json());
  } else if (failed && frontier.is_planned) {
    throw Failure(Exit::kFailed, frontier.outcome == Outcome::kInfeasible
                                     ? "no plan meets all limits; 'allot solve' says which are in conflict"
                                     : "no plan was found in time");
  } else if (failed) {
    throw Failure(Exit::kFailed, "no assignment completes a task and meets all floors and minimum depths");
  } else if (frontier.points.empty()) {
    print_system(console, scenario);
    console.print("There are no threads, so there is nothing to choose.\n");
  } else if (frontier.is_planned) {
    if (!question.service.note.empty()) console.line("Note: " + question.service.note + ".", Style::kDim);
    print_planned(console, scenario, frontier);
    print_ending(console, frontier);
  } else {
    print_system(console, scenario);
    console.print("{} against priority error: {} is better in both\n\n", by_value ? "Value" : "Throughput",
                  !frontier.exhaustive            ? "no assignment that was found"
                  : scenario.system.approximate() ? "approximately, no assignment"
                                                  : "no assignment");
    print_frontier(console, frontier, by_value);
    console.gap();
    console.print("{}\n\n",
                  console.styled(Style::kGood, wrapped(advice(frontier, by_value), console.width(), 0)));
    const Assignment& assignment = frontier.advised.assignment;
    print_assignment(console, system, assignment, evaluate(system, assignment));
    console.gap();
    if (question.weighted) print_weighted(console, frontier, *question.weighted, by_value);
    if (frontier.approximate)
      console.print("Approximate: {}.\n",
                    system.has_needs() ? std::string(kCountsFractions)
                                       : "tasks waiting for several fcfs servers have no exact formula");
    print_ending(console, frontier);
  }
  if (interrupted()) return Exit::kInterrupted;
  return failed ? Exit::kFailed : Exit::kOk;
}

}  // namespace

extern const Command command;
const Command command = asking_command("pareto", run_pareto);

}  // namespace allot::app::pareto_command
