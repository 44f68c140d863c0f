// allot pareto: what matching the priorities costs, so that a person can choose.
#include "allot/solve/pareto.hpp"

#include <memory>
#include <string>

#include "allot/io/result_json.hpp"
#include "allot/solve/solver.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/report.hpp"

namespace allot::app {
namespace {

struct Arguments {
  std::string file;
  std::size_t points = 20;
  std::optional<double> time_limit;
  bool json = false;
  SolveOptions options;
};

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
    console.print("{}\n", wrapped("Weighted service cannot match the shares: " + shown(weighted.reason) + ".",
                                  console.width(), 0));
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
  console.print("{}\n", wrapped(text + " ('allot solve --solver weighted').", console.width(), 0));
}

/// What weighted service reaches, if a quarter of the time is enough to find out.
std::optional<Solution> by_weights(const System& system, SolveOptions options) {
  const SolverInfo* const solver = find_solver("weighted");
  if (solver == nullptr) return std::nullopt;
  if (options.stop.deadline) *options.stop.deadline -= (*options.stop.deadline - Clock::now()) * 3 / 4;
  Solution weighted = solve(*solver, Problem{system, Objective::kPriority}, options);
  const bool cut_short = weighted.outcome == Outcome::kTimeLimit || weighted.outcome == Outcome::kInterrupted;
  return cut_short ? std::nullopt : std::optional(std::move(weighted));
}

Exit run_pareto(const Arguments& arguments, Console& console) {
  const Scenario scenario = read_static_scenario_or_fail(arguments.file, "pareto", console);
  const System& system = scenario.system;
  if (system.shares().empty()) {
    throw Failure(Exit::kInvalidInput,
                  arguments.file +
                      ": 'pareto' needs a 'priority' for every task type, such as 'priority = 0.5'; "
                      "none has one");
  }
  SolveOptions options = arguments.options;
  options.stop = start_clock(arguments.time_limit);
  const std::optional<Solution> weighted = by_weights(system, options);
  const ParetoFrontier frontier = pareto(system, arguments.points, options);
  const bool failed = system.population() > 0 && frontier.points.empty();
  if (arguments.json) {
    console.document(pareto_json(system, frontier, weighted ? &*weighted : nullptr));
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
    if (weighted) print_weighted(console, frontier, *weighted);
    if (frontier.approximate)
      console.print("Approximate: tasks waiting for several fcfs servers have no exact formula.\n");
    if (frontier.outcome == Outcome::kTimeLimit)
      console.print("The time limit came first: points may be missing.\n");
    if (frontier.outcome == Outcome::kInterrupted) {
      console.print("{}\n", console.styled(Style::kBad, "Interrupted: these are the points found so far."));
    }
  }
  if (interrupted()) return Exit::kInterrupted;
  return failed ? Exit::kFailed : Exit::kOk;
}

Action declare(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  Arguments& a = *arguments;
  add_file(command, a.file);
  add_whole(command, "--points", a.points, 2, 1'000'000,
            "show at most N points, the two ends among them (default 20)");
  add_time_limit(command, a.time_limit,
                 "stop after this time with the points found by then (default: no limit)");
  add_seed(command, a.options.seed);
  add_json(command, a.json);
  return [arguments](Console& console) { return run_pareto(*arguments, console); };
}

}  // namespace

extern const Command pareto_command;
const Command pareto_command{"pareto", "Show what matching the priorities costs in throughput.",
                             "allot pareto examples/priorities.toml\n"
                             "allot pareto examples/priorities.toml --points 5 --json",
                             declare};

}  // namespace allot::app
