// allot certify: the best assignment found, and proof of how good it is.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "allot/io/result_json.hpp"
#include "allot/solve/solver.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/progress.hpp"
#include "apps/allot/proof_file.hpp"
#include "apps/allot/report.hpp"

namespace allot::app {
namespace {

struct Arguments {
  std::string file;
  std::optional<double> time_limit = 10.0;
  bool json = false;
  std::string proof;
  SolveOptions options;
};

/// Why nothing is proven about the assignment.
std::string why_nothing_is_proven(const System& system, const Solution& solution) {
  if (solution.performance.approximate) {
    for (const ResourceId j : system.resource_ids()) {
      const Resource& r = system.resource(j);
      const Count tasks = solution.assignment.column_sum(j);
      if (r.discipline == Discipline::kFcfs && r.servers > 1 && tasks > r.servers) {
        return in_quotes(r.name) + " is fcfs with " + counted(r.servers, "server") + " and holds " +
               counted(tasks, "task") +
               ", and while tasks of different rates wait there its throughput has no exact formula";
      }
    }
  }
  return "there was no time to find a bound";
}

/// Digits that show the bound apart from the throughput.
int digits_for(double gap) { return std::clamp(2 + static_cast<int>(std::ceil(-std::log10(gap))), 4, 12); }

void print_verdict(Console& console, const System& system, const Solution& solution) {
  const double throughput = solution.performance.throughput;
  const auto say = [&](Style style, const std::string& text) {
    console.print("{}\n", console.styled(style, wrapped(text, console.width(), 0)));
  };
  if (solution.outcome == Outcome::kInfeasible) {
    say(Style::kBad, "No feasible assignment (" + shown(solution.reason) + ").");
  } else if (solution.proven_optimal) {
    say(Style::kGood,
        "Proven optimal: no assignment completes more than " + number(throughput) + " tasks/s.");
  } else if (solution.upper_bound && *solution.gap() > 0 && !solution.performance.approximate) {
    const int digits = digits_for(*solution.gap());
    say(Style::kBold, "Within " + percent(*solution.gap()) +
                          " of the optimum, proven: this assignment completes " + number(throughput, digits) +
                          " tasks/s, and none completes more than " +
                          number_above(*solution.upper_bound, digits) + ".");
  } else {
    say(Style::kBad, (solution.performance.approximate ? "Nothing can be proven about this assignment: "
                                                       : "Nothing is proven: ") +
                         why_nothing_is_proven(system, solution) + ".");
    if (solution.upper_bound) {
      say(Style::kBold, "No assignment completes more than " + number_above(*solution.upper_bound, 6) +
                            " tasks/s, proven.");
    }
  }
  if (solution.outcome == Outcome::kTimeLimit)
    say(Style::kPlain, "The time limit came first; more time may prove more.");
  if (solution.outcome == Outcome::kInterrupted) say(Style::kBad, "Interrupted: this is the best so far.");
}

Exit run_certify(const Arguments& arguments, Console& console) {
  const Scenario scenario = read_static_scenario_or_fail(arguments.file, "certify", console);
  const SolverInfo* solver = find_solver("exact");
  if (solver == nullptr) throw Failure(Exit::kFailed, "this build of allot is without the solver 'exact'");
  SolveOptions options = arguments.options;
  options.stop = start_clock(arguments.time_limit);
  ProgressLine progress(console);
  options.progress = progress.of_proof();
  options.keep_proof = !arguments.proof.empty();
  const Solution solution = solve(*solver, Problem{scenario.system, Objective::kThroughput}, options);
  progress.clear();
  if (arguments.json) {
    console.document(solution_json(scenario.system, solution));
  } else {
    print_system(console, scenario);
    print_verdict(console, scenario.system, solution);
    console.gap();
    print_headline(console, solution.performance, !scenario.system.shares().empty());
    console.print("{}\n\n", console.styled(Style::kDim, std::string(solution.solver) + " in " +
                                                            duration(solution.seconds)));
    print_assignment(console, scenario.system, solution.assignment, solution.performance);
    console.gap();
    print_comparison(console, scenario.system, solution, options);
  }
  write_proof(arguments.proof, scenario.system, solution);
  if (interrupted()) return Exit::kInterrupted;
  return solution.outcome == Outcome::kInfeasible ? Exit::kFailed : Exit::kOk;
}

Action declare(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  Arguments& a = *arguments;
  add_file(command, a.file);
  add_time_limit(command, a.time_limit, "stop after this time with what is proven by then (default 10)");
  add_seed(command, a.options.seed);
  add_part(command, "--gap", a.options.gap_tolerance,
           "be content when proven within this part of the optimum, as in 0.1% (default 1e-9)", true);
  add_proof(command, a.proof);
  add_json(command, a.json);
  return [arguments](Console& console) { return run_certify(*arguments, console); };
}

}  // namespace

extern const Command certify_command;
const Command certify_command{"certify", "Find the best assignment, and prove how good it is.",
                              "allot certify examples/workstation.toml\n"
                              "allot certify examples/workstation.toml --time-limit 60 --json\n"
                              "allot certify examples/workstation.toml --proof proof.json",
                              declare};

}  // namespace allot::app
