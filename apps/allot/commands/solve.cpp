// allot solve: where each task should run.
#include "allot/ask/questions/solve.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "apps/allot/asking.hpp"
#include "apps/allot/commands/proof_file.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/terminal/report.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::solve_command {
namespace {

struct Arguments : Asked<SolveQuestion> {
  using Asked::Asked;
  std::string proof;
  std::vector<Option> more() { return {proof_option(proof)}; }
};

/// The options that change the limits of a solver that has refused: " (--max-states)".
std::string limits_of(std::string_view solver) {
  std::string text;
  for (const Setting* setting : find_solver(solver)->settings) {
    if (setting->is_flag || !setting->words.empty()) continue;
    text += " (" + spelled({.name = std::string(setting->name), .value = NumberValue{}, .help = ""}) + ")";
  }
  return text;
}

/// Suggests weights if even sharing of whole tasks misses the shares, and weights would reach them.
void print_way_to_shares(Console& console, const SolutionQuestion& question) {
  const Solution& solution = question.solution;
  const System& system = question.scenario->system;
  if (solution.objective != Objective::kPriority || solution.is_planned || !solution.time_shares.empty())
    return;
  if (system.has_needs() || system.has_depths() || system.has_floors()) return;  // they may forbid it
  const std::vector<double>& got = solution.performance.shares;
  double most = 0;  // the largest error of a share
  for (const TaskType i : system.types()) {
    const double asked = system.shares()[index(i)];
    if (asked > 0 && system.count(i) == 0) return;  // that share cannot be reached
    if (!got.empty()) most = std::max(most, std::abs(asked - got[index(i)]));
  }
  if (most < 0.01) return;
  console.paragraph(
      "Where your dispatcher chooses which task runs next, '--solver weighted' meets the shares exactly.");
}

void print_limit_costs(Console& console, const SolutionQuestion& question) {
  const double now = question.solution.performance.value;
  if (!question.limit_costs.empty()) console.gap();
  for (const LimitCost& cost : question.limit_costs) {
    console.paragraph("Without " + shown(cost.limit) + ": " + number(cost.value) +
                      value_unit(*question.scenario) +
                      (now > 0 ? ", " + percent(cost.value / now - 1) + " more." : "."));
  }
}

Exit run_solve(Arguments& arguments, Console& console) {
  SolveQuestion& question = arguments.question;
  question.how.keep_proof = !arguments.proof.empty();
  question.compares = !arguments.asking.json();
  arguments.asking.read(console);
  arguments.asking.answer(Asking::attendance());
  const Solution& solution = question.solution;
  const System& system = question.scenario->system;
  if (arguments.asking.json()) {
    console.document(question.json());
  } else if (question.was_refused) {
    throw Failure(Exit::kFailed, std::string(solution.solver) + " " + solution.reason +
                                     limits_of(solution.solver) +
                                     "; 'allot certify' proves optima of larger systems");
  } else {
    print_system(console, *question.scenario);
    if (!question.service.note.empty()) console.line("Note: " + question.service.note + ".", Style::kDim);
    print_solution(console, *question.scenario, solution);
    print_comparison(console, question);
    if (!system.shares().empty() && solution.objective == Objective::kThroughput)
      console.paragraph("The priorities have no effect on this answer; '--objective priority' uses them.");
    print_way_to_shares(console, question);
    if (question.explains) print_explanation(console, system, solution, question.explanation);
    print_limit_costs(console, question);
  }
  write_proof(arguments.proof, *question.scenario, solution);
  if (interrupted()) return Exit::kInterrupted;
  return question.was_refused ? Exit::kFailed : exit_of(solution.outcome);
}

}  // namespace

extern const Command command;
const Command command = asking_command("solve", run_solve);

}  // namespace allot::app::solve_command
