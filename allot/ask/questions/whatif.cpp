#include "allot/ask/questions/whatif.hpp"

#include "allot/ask/detail/common.hpp"
#include "allot/solve/solution_json.hpp"

namespace allot {

std::vector<Option> WhatIfQuestion::options() {
  std::vector<Option> options;
  options.push_back(
      ask::time_limit_option(time_limit_s, "stop after this time with the changes tried so far"));
  options.push_back(service.option());
  options.push_back(ask::seed_option(how.seed));
  return options;
}

void WhatIfQuestion::answer(const Attendance& attendance) {
  const bool plans = service.is_planned(*scenario, Objective::kThroughput, "whatif");
  SolveOptions options = how;
  options.stop = attendance.limits(time_limit_s);
  options.share_done = attendance.share;
  what_if = plans ? what_if_planned(planned_problem(*scenario, Objective::kThroughput), options)
                  : allot::what_if(scenario->system, options);
}

std::string WhatIfQuestion::json() const { return what_if_json(scenario->system, what_if); }

namespace questions {

extern const QuestionInfo whatif;
const QuestionInfo whatif{
    "whatif",
    "Show what one more server, thread or unit of a capacity, or a 10% higher rate, would gain.",
    "allot whatif examples/workstation.toml\n"
    "allot whatif examples/workstation.toml --top 5",
    make_question<WhatIfQuestion>,
    ProgressKind::kShare,
    "WhatIf",
    "The largest gain comes first.\n"
    "\n"
    ">>> import allot\n"
    ">>> allot.whatif(allot.Scenario([[8.0, 2.0]], [4])).changes[0].change\n"
    "'server'"};

}  // namespace questions
}  // namespace allot
