#include "allot/ask/questions/simulate.hpp"

#include "allot/ask/detail/common.hpp"
#include "allot/simulate/simulation_json.hpp"
#include "allot/simulate/trace_csv.hpp"

namespace allot {
namespace {

constexpr std::uint64_t kMostCompletions = 1'000'000'000'000;

std::unique_ptr<const Distribution> sizes_of(const std::string& spec) {
  const std::string name = spec.substr(0, spec.find(':'));
  if (find_distribution(name) == nullptr) {
    std::vector<std::string_view> names;
    for (const DistributionInfo* known : builtin_distributions()) names.push_back(known->name);
    refuse_unknown("distribution", "distribution", name, names);
  }
  return make_distribution(spec);
}

}  // namespace

SimulationQuestion::SimulationQuestion() : sizes(make_distribution("exponential")) {}

void SimulationQuestion::add_simulation_options(std::vector<Option>& options) {
  const auto set_sizes = [this](const std::string& spec) { sizes = sizes_of(spec); };
  options.push_back(Option{"distribution", TextValue{"exponential", set_sizes},
                           "distribution of task sizes, e.g. 'bounded-pareto:alpha=1.5,ratio=1000' or "
                           "'trace:sizes.txt'; see 'allot list'"}
                        .shown_as("SPEC")
                        .suggesting(names_in(builtin_distributions())));
  options.push_back(whole_option("completions", how.completions, 1, kMostCompletions,
                                 "completions per replication, after the warm-up")
                        .with_letter("n"));
  options.push_back(whole_option("warmup", how.warmup, 0, kMostCompletions, "auto",
                                 "completions to discard first; 'auto' determines it in a pilot run"));
  options.push_back(whole_option("replications", how.replications, 1, 1'000'000,
                                 "independent runs; with 1, the interval comes from batch means")
                        .with_letter("r"));
  options.push_back(
      part_option("precision", how.precision,
                  "replicate until the 95% interval of the throughput is within P, e.g. 0.5% or 0.005"));
  options.push_back(whole_option("max_replications", how.max_replications, 1, 1'000'000,
                                 "give up on '--precision' after this many"));
  options.push_back(ask::start_option(how.random_start));
  options.push_back(ask::seed_option(how.seed));
  options.push_back(
      whole_option("jobs", how.threads, 1, 4096, "worker threads; results do not depend on this")
          .with_letter("j")
          .unless_said("all cores")
          .once_called("threads")
          .not_for_pages());
  ask::add_policy_options(options, how.policy);
  options.push_back(
      ask::objective_option(how.policy.objective, "planned: the objective of the plan, as in 'solve'"));
  options.push_back(
      output_option("trace", trace,
                    "write every event of the first replication, after the warm-up, to this file")
          .shown_as("OUT.csv")
          .not_for_pages());
  options.push_back(ask::time_limit_option(time_limit_s, "stop after this time with the results so far"));
}

SimulateOptions SimulationQuestion::begun(const Attendance& attendance) const {
  SimulateOptions options = how;
  options.stop = attendance.limits(time_limit_s);
  options.progress = attendance.share;
  return options;
}

// ---- simulate

std::vector<Option> SimulateQuestion::options() {
  std::vector<Option> options{ask::policy_option(policy)};
  add_simulation_options(options);
  return options;
}

void SimulateQuestion::answer(const Attendance& attendance) {
  ask::check_told(std::span(&policy.builtin, 1), how.policy);
  SimulateOptions options = begun(attendance);
  TraceFile file(trace, scenario->system, false);
  if (file.sink() != nullptr) options.trace = file.sink();
  result = policy.builtin != nullptr ? simulate(*scenario, *policy.builtin, *sizes, options)
                                     : simulate(*scenario, policy.own, *sizes, options);
  file.close();
}

std::string SimulateQuestion::json() const { return simulation_json(scenario->system, result); }

namespace questions {

extern const QuestionInfo simulate;
const QuestionInfo simulate{
    "simulate",
    "Simulate a policy, with confidence intervals.",
    "allot simulate examples/workstation.toml --policy map\n"
    "allot simulate examples/paper-2gp1sa.toml --policy jsq --distribution bounded-pareto "
    "--precision 0.5%",
    make_question<SimulateQuestion>,
    ProgressKind::kShare,
    "Simulation",
    "A policy may also be a function of the state and the task type, see `allot.policy`. After the time "
    "limit the result is\n"
    "partial; its figures are NaN if nothing was measured.\n"
    "\n"
    ">>> import allot\n"
    ">>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4])\n"
    ">>> run = allot.simulate(machine, \"map\", completions=10_000, seed=7)\n"
    ">>> abs(run.throughput.mean - allot.solve(machine).throughput) < 3 * run.throughput.half_width\n"
    "True"};
}  // namespace questions
}  // namespace allot
