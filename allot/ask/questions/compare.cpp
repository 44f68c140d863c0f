#include <algorithm>

#include "allot/ask/detail/common.hpp"
#include "allot/ask/questions/simulate.hpp"
#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"
#include "allot/simulate/simulation_json.hpp"
#include "allot/simulate/trace_csv.hpp"

namespace allot {

std::vector<Option> CompareQuestion::options() {
  const auto set = [this](const std::vector<std::string>& names) {
    if (names.empty()) throw InvalidModel("policies", "needs at least one policy");
    policies.clear();
    for (const std::string& name : names) {
      const PolicyInfo& policy = policy_named("policies", name);
      if (std::find(policies.begin(), policies.end(), &policy) != policies.end())
        throw InvalidModel("policies", quote::name(name) + " is named twice");
      policies.push_back(&policy);
    }
  };
  std::vector<Option> options{
      Option{"policies", TextsValue{set, true, true}, "policies to compare; the first is the reference"}
          .with_letter("p")
          .unless_said("all that apply to the scenario")
          .shown_as("A,B,...")
          .suggesting(names_in(builtin_policies()))
          .leading()};
  add_simulation_options(options);
  return options;
}

void CompareQuestion::check_policies() const { ask::check_told(policies, how.policy); }

void CompareQuestion::answer(const Attendance& attendance) {
  if (policies.empty()) {
    PolicyOptions told = how.policy;
    told.scenario = scenario.get();
    policies = suitable_policies(scenario->system, told);
  } else {
    check_policies();
  }
  SimulateOptions options = begun(attendance);
  TraceFile file(trace, scenario->system, true);
  options.trace = file.sink();
  comparison = compare(*scenario, policies, *sizes, options);
  file.close();
  if (finds_best && (attendance.flag == nullptr || !attendance.flag->load()))
    best = reference_assignment(*scenario, options.stop);
}

std::string CompareQuestion::json() const {
  return comparison_json(scenario->system, comparison, best ? &*best : nullptr);
}

namespace questions {

extern const QuestionInfo compare;
const QuestionInfo compare{
    "compare",
    "Compare policies by simulation, with common random numbers.",
    "allot compare examples/workstation.toml\n"
    "allot compare examples/paper-2gp1sa.toml --policies best-fit,map,jsq --json",
    make_question<CompareQuestion>,
    ProgressKind::kShare,
    "Comparison",
    "Policies may be functions, see `allot.policy`. Functions of the same name, such as "
    "lambdas, get numbers: '<lambda>',\n"
    "'<lambda> (2)'; `allot.policy(function, name=...)` gives them names. `missing` "
    "names the policies that were not\n"
    "simulated before the time limit.\n"
    "\n"
    ">>> import allot\n"
    ">>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4])\n"
    ">>> both = allot.compare(machine, [\"map\", \"random\"], completions=5000)\n"
    ">>> both.differences[0].significant\n"
    "True"};

}  // namespace questions
}  // namespace allot
