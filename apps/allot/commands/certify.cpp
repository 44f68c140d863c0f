// allot certify: the best assignment found, with a proof of its quality.
#include <algorithm>
#include <cmath>
#include <string>

#include "allot/ask/questions/solve.hpp"
#include "apps/allot/asking.hpp"
#include "apps/allot/commands/proof_file.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/terminal/progress.hpp"
#include "apps/allot/terminal/report.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::certify_command {
namespace {

struct Arguments : Asked<CertifyQuestion> {
  using Asked::Asked;
  std::string proof;
  std::vector<Option> more() { return {proof_option(proof)}; }
};

/// Why nothing is proven about the assignment.
std::string why_nothing_is_proven(const System& system, const Solution& solution) {
  if (solution.performance.approximate && system.has_needs()) return std::string(kCountsFractions);
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

/// Digits that distinguish the bound from the throughput.
int digits_for(double gap) { return std::clamp(2 + static_cast<int>(std::ceil(-std::log10(gap))), 4, 12); }

/// A smaller gap is a rounding error.
constexpr double kNoGap = 1e-9;

/// The cause of a gap if tasks have needs.
template <typename Say>
void print_tightness(Say&& say, const Solution& solution) {
  if (!solution.reason.empty())
    say(Style::kPlain, "But " + shown(solution.reason) + ".");
  else if (solution.performance.approximate)
    say(Style::kPlain, "But " + std::string(kCountsFractions) + ".");
}

void print_verdict(Console& console, const Scenario& scenario, const Solution& solution) {
  const System& system = scenario.system;
  const double throughput = solution.performance.value;
  const std::string unit = value_unit(scenario);
  const std::string none_completes = solution.is_planned ? "no policy reaches" : "no assignment completes";
  const auto say = [&](Style style, const std::string& text) { console.paragraph(text, style); };
  if (solution.outcome == Outcome::kInfeasible) {
    say(Style::kBad, "No feasible " + std::string(solution.is_planned ? "plan" : "assignment") + " (" +
                         shown(solution.reason) + ").");
  } else if (solution.proven_optimal) {
    say(Style::kGood, "Proven optimal: " + none_completes + " more than " + number(throughput) + unit + ".");
  } else if (solution.upper_bound && *solution.gap() > 0 &&
             (!solution.performance.approximate || (system.has_needs() && *solution.gap() > kNoGap))) {
    const int digits = digits_for(*solution.gap());
    say(Style::kBold, "Within " + percent(*solution.gap()) + " of the optimum, proven: this reaches " +
                          number(throughput, digits) + unit + ", and " + none_completes + " more than " +
                          number_above(*solution.upper_bound, digits) + ".");
    if (system.has_needs() && !solution.is_planned) print_tightness(say, solution);
  } else {
    say(Style::kBad, (solution.performance.approximate ? "Nothing can be proven about this assignment: "
                                                       : "Nothing is proven: ") +
                         why_nothing_is_proven(system, solution) + ".");
    if (solution.upper_bound) {
      say(Style::kBold, "No assignment completes more than " + number_above(*solution.upper_bound, 6) + unit +
                            ", proven" + (system.has_needs() ? ", counted in the same way." : "."));
    }
  }
  if (solution.outcome == Outcome::kTimeLimit)
    say(Style::kPlain, "The time limit expired; more time may prove more.");
  if (solution.outcome == Outcome::kInterrupted) say(Style::kBad, "Interrupted: this is the best so far.");
}

Exit run_certify(Arguments& arguments, Console& console) {
  CertifyQuestion& question = arguments.question;
  question.how.keep_proof = !arguments.proof.empty();
  question.compares = !arguments.asking.json();
  arguments.asking.read(console);
  Attendance attendance = Asking::attendance();
  ProgressLine progress(console);
  attendance.proof = progress.of_proof();
  arguments.asking.answer(attendance);
  progress.clear();
  const Solution& solution = question.solution;
  const System& system = question.scenario->system;
  if (arguments.asking.json()) {
    console.document(question.json());
  } else {
    print_system(console, *question.scenario);
    print_verdict(console, *question.scenario, solution);
    console.gap();
    print_headline(console, solution.performance, !system.shares().empty());
    console.print("{}\n\n", console.styled(Style::kDim, std::string(solution.solver) + " in " +
                                                            duration(solution.seconds)));
    if (solution.is_planned) {
      print_plan(console, *question.scenario, solution);
    } else {
      print_assignment(console, system, solution.assignment, solution.performance);
    }
    console.gap();
    print_comparison(console, question);
  }
  write_proof(arguments.proof, *question.scenario, solution);
  if (interrupted()) return Exit::kInterrupted;
  return exit_of(solution.outcome);
}

}  // namespace

extern const Command command;
const Command command = asking_command("certify", run_certify);

}  // namespace allot::app::certify_command
