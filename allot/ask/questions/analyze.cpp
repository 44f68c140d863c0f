#include "allot/ask/questions/analyze.hpp"

#include "allot/analyze/analysis_json.hpp"
#include "allot/ask/detail/common.hpp"

namespace allot {

std::vector<Option> AnalyzeQuestion::options() {
  std::vector<Option> options;
  options.push_back(ask::policy_option(policy));
  options.push_back(
      flag_option("optimal_control", how.optimal_control, "also find the optimum over all policies"));
  options.push_back(ask::start_option(how.random_start));
  options.push_back(
      whole_option("max_states", how.max_states, 1, 100'000'000, "refuse chains with more states than this"));
  ask::add_policy_options(options, told);
  options.push_back(ask::time_limit_option(time_limit_s, "give up after this time"));
  return options;
}

void AnalyzeQuestion::answer(const Attendance& attendance) {
  ask::check_told(std::span(&policy.builtin, 1), told);
  ask::require_constant_work(*scenario, "analyze");
  AnalyzeOptions options = how;
  options.stop = attendance.limits(time_limit_s);
  options.progress = attendance.states;
  analysis = policy.builtin != nullptr ? analyze(scenario->system, *policy.builtin, options, told)
                                       : analyze(scenario->system, policy.own, options, told);
}

std::string AnalyzeQuestion::json() const { return analysis_json(scenario->system, policy.name(), analysis); }

namespace questions {

extern const QuestionInfo analyze;
const QuestionInfo analyze{
    "analyze",
    "Solve the exact Markov chain of a policy (exponential task sizes).",
    "allot analyze examples/paper-2gp1sa.toml --policy jsq\n"
    "allot analyze examples/biglittle.toml --policy random --optimal-control",
    make_question<AnalyzeQuestion>,
    ProgressKind::kStates,
    "Analysis",
    "Your own policy, see `allot.policy`, may use only the state, the type and its memory. Raises "
    "TimeoutError if the chain\n"
    "was not solved within the time limit. progress: called with the number of states "
    "found so far.\n"
    "\n"
    ">>> import allot\n"
    ">>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [2, 2])\n"
    ">>> exact = allot.analyze(machine, \"jsq\")\n"
    ">>> exact.states\n"
    "3\n"
    ">>> run = allot.simulate(machine, \"jsq\", seed=5)\n"
    ">>> abs(run.throughput.mean - exact.throughput) < 3 * run.throughput.half_width\n"
    "True"};

}  // namespace questions
}  // namespace allot
