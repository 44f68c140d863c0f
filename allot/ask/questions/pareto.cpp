#include "allot/ask/questions/pareto.hpp"

#include "allot/ask/detail/common.hpp"
#include "allot/solve/solution_json.hpp"
#include "allot/solve/solver.hpp"

namespace allot {
namespace {

/// The result of weighted service, if a quarter of the time is enough for it.
std::optional<Solution> by_weights(const System& system, SolveOptions options) {
  options.share_done = nullptr;
  if (options.stop.deadline) *options.stop.deadline -= (*options.stop.deadline - Clock::now()) * 3 / 4;
  Solution weighted = solve(*find_solver("weighted"), Problem{system, Objective::kPriority}, options);
  const bool cut_short = weighted.outcome == Outcome::kTimeLimit || weighted.outcome == Outcome::kInterrupted;
  return cut_short ? std::nullopt : std::optional(std::move(weighted));
}

}  // namespace

std::vector<Option> ParetoQuestion::options() {
  std::vector<Option> options;
  options.push_back(whole_option("points", points, 2, 1'000'000, "show at most N points, including both ends")
                        .with_letter("n"));
  options.push_back(
      ask::time_limit_option(time_limit_s, "stop after this time with the points found so far"));
  options.push_back(service.option());
  options.push_back(ask::seed_option(how.seed));
  return options;
}

void ParetoQuestion::answer(const Attendance& attendance) {
  const bool plans = service.is_planned(*scenario, Objective::kThroughput, "pareto");
  SolveOptions options = how;
  options.stop = attendance.limits(time_limit_s);
  options.share_done = attendance.share;
  if (plans) {
    frontier = pareto_planned(planned_problem(*scenario, Objective::kThroughput), points, options);
    return;
  }
  ask::require_priorities(scenario->system, "'pareto'");
  if (find_solver("weighted")->instead_with_needs.empty() || !scenario->system.has_needs())
    weighted = by_weights(scenario->system, options);
  frontier = pareto(scenario->system, points, options);
}

std::string ParetoQuestion::json() const {
  return pareto_json(scenario->system, frontier, weighted ? &*weighted : nullptr);
}

namespace questions {

extern const QuestionInfo pareto;
const QuestionInfo pareto{
    "pareto",
    "Show what matching the priorities costs in throughput.",
    "allot pareto examples/priorities.toml\n"
    "allot pareto examples/priorities.toml --points 5 --json\n"
    "allot pareto examples/plans/fair.toml --service planned",
    make_question<ParetoQuestion>,
    ProgressKind::kShare,
    "Pareto",
    "The answer has the assignments (with planned service, the plans) that no other beats in both value and\n"
    "priority error, from the fastest to the fairest.\n"
    "\n"
    ">>> import allot\n"
    ">>> frontier = allot.pareto(allot.generate(priorities=True, seed=3))\n"
    ">>> bool((frontier.throughputs[:-1] > frontier.throughputs[1:]).all())\n"
    "True"};

}  // namespace questions
}  // namespace allot
