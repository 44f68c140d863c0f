#include "allot/ask/detail/common.hpp"
#include "allot/ask/questions/solve.hpp"

namespace allot {

std::vector<Option> CertifyQuestion::options() {
  std::vector<Option> options;
  options.push_back(service.option());
  options.push_back(
      ask::time_limit_option(time_limit_s, "stop after this time with the bound proven so far"));
  options.push_back(ask::seed_option(how.seed));
  options.push_back(part_option("gap", how.gap_tolerance,
                                "stop once proven within this gap of the optimum, e.g. 0.1%", true));
  return options;
}

void CertifyQuestion::answer(const Attendance& attendance) {
  const bool plans = service.is_planned(*scenario, Objective::kThroughput, "certify");
  answer_with(*find_solver(plans ? "planned" : "exact"), Objective::kThroughput, attendance);
}

namespace questions {

extern const QuestionInfo certify;
const QuestionInfo certify{"certify",
                           "Find the best assignment and prove how good it is.",
                           "allot certify examples/workstation.toml\n"
                           "allot certify examples/workstation.toml --time-limit 60 --json\n"
                           "allot certify examples/workstation.toml --proof proof.json",
                           make_question<CertifyQuestion>,
                           ProgressKind::kProof,
                           "Solution",
                           "progress: called with the best throughput and the proven bound so far, or None.\n"
                           "\n"
                           ">>> import allot\n"
                           ">>> proof = allot.certify(allot.generate(seed=3))\n"
                           ">>> proof.proven_optimal, proof.upper_bound <= proof.throughput * (1 + 1e-9)\n"
                           "(True, True)"};

}  // namespace questions
}  // namespace allot
