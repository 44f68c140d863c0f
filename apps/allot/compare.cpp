// allot compare: several policies on the same random numbers, and which differences are real.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/io/result_json.hpp"
#include "allot/simulate/simulate.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/report.hpp"
#include "apps/allot/simulation.hpp"
#include "apps/allot/text.hpp"

namespace allot::app {
namespace {

struct Arguments {
  std::string policies;
  SimulationArguments simulation;
};

std::string trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return std::string(text.substr(first, text.find_last_not_of(' ') + 1 - first));
}

/// 'map jsq' and 'map;jsq' are two policies to people, and none to us.
void refuse_other_separators(const std::string& text) {
  std::string meant;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(" ;:|/+", at), text.size());
    const std::string name = text.substr(at, end - at);
    at = end + 1;
    if (name.empty()) continue;
    if (name == text || find_policy(name) == nullptr) return;
    meant += (meant.empty() ? "" : ",") + name;
  }
  if (meant.empty()) return;
  throw Failure(Exit::kUsage,
                "--policies: commas separate the names: " + meant + ", not " + in_quotes(text) + ".");
}

std::vector<const PolicyInfo*> named_policies(const Arguments& arguments) {
  std::vector<const PolicyInfo*> policies;
  std::string_view rest = arguments.policies;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const std::string name = trimmed(rest.substr(0, comma));
    more = comma != std::string_view::npos;
    rest.remove_prefix(more ? comma + 1 : rest.size());
    refuse_other_separators(name);
    const PolicyInfo& policy = policy_or_fail("--policies", name);
    if (std::find(policies.begin(), policies.end(), &policy) != policies.end())
      throw Failure(Exit::kUsage, "--policies: " + in_quotes(name) + " is named twice.");
    if (policy.name == "fixed" && arguments.simulation.assignment.empty())
      throw Failure(Exit::kUsage, "--policies: 'fixed' needs an assignment to hold: --assignment A.json.");
    policies.push_back(&policy);
  }
  const auto named = [&](std::string_view name) {
    return std::any_of(policies.begin(), policies.end(),
                       [&](const PolicyInfo* policy) { return policy->name == name; });
  };
  if (!arguments.simulation.assignment.empty() && !named("fixed"))
    throw Failure(Exit::kUsage, "--assignment: only 'fixed' holds it, which '--policies' does not name.");
  if (!arguments.simulation.probabilities.empty() && !named("random"))
    throw Failure(Exit::kUsage,
                  "--probabilities: only 'random' takes them, which '--policies' does not name.");
  return policies;
}

const Difference* difference_of(const Comparison& comparison, const SimulationResult& result) {
  for (const Difference& difference : comparison.differences) {
    if (difference.policy == result.policy) return &difference;
  }
  return nullptr;
}

/// "+12.3% ± 0.4%", of the reference's throughput
std::string relative(const Estimate& difference, double reference) {
  if (!(reference > 0)) return "";
  const double mean = 100 * difference.mean / reference;
  if (!difference.half_width) return fmt::format("{:+.1f}%", mean);
  const double half_width = 100 * *difference.half_width / reference;
  const int decimals =
      half_width > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(half_width))), 0, 4) : 1;
  return fmt::format("{:+.{}f}% {} {:.{}f}%", mean, decimals, sign(Sign::kPlusMinus), half_width, decimals);
}

void print_table(Console& console, const Comparison& comparison, const std::optional<Solution>& best) {
  std::vector<const SimulationResult*> order;
  for (const SimulationResult& result : comparison.policies) order.push_back(&result);
  std::stable_sort(order.begin(), order.end(), [](const SimulationResult* a, const SimulationResult* b) {
    return a->throughput.mean > b->throughput.mean;
  });
  const SimulationResult& reference = comparison.policies.front();
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kRight, Align::kRight,
               Align::kRight});
  table.title({"policy", "tasks/s", "against " + reference.policy, "", "response", "95%", "J/task"});
  bool marked = false;
  if (best) {
    table.row({{"best assignment", Style::kDim}, {number(best->performance.throughput, 5), Style::kDim}});
  }
  for (const SimulationResult* result : order) {
    const Difference* const difference = difference_of(comparison, *result);
    const bool significant = difference != nullptr && difference->significant;
    marked |= significant;
    const Style style = !significant                      ? Style::kPlain
                        : difference->throughput.mean > 0 ? Style::kGood
                                                          : Style::kBad;
    const bool any = result->throughput.mean > 0;
    table.row(
        {{result->policy, Style::kBold},
         {any ? with_interval(result->throughput) : "0", Style::kPlain},
         {difference == nullptr ? "-" : relative(difference->throughput, reference.throughput.mean), style},
         {significant ? "*" : "", style},
         {any ? duration(result->response_time.mean) : "", Style::kPlain},
         {any ? duration(result->p95) : "", Style::kPlain},
         {any ? number(result->energy_per_task) : "", Style::kPlain}});
  }
  console.print("{}", table.text(console));
  console.gap();
  if (marked) {
    const std::string text = "* differs from " + reference.policy +
                             " beyond chance: the 95% interval of the difference excludes 0.";
    console.print("{}\n", wrapped(text, console.width(), 0));
  }
}

void print_reference(Console& console, const Solution& best) {
  std::string text = "Best assignment: ";
  if (best.proven_optimal) {
    text += "no constant assignment completes more, proven";
  } else if (best.performance.approximate) {
    text += "the best found by a formula that is approximate where tasks wait for several fcfs servers";
  } else {
    text += "the best found with limited effort";
    if (best.upper_bound)
      text += "; none completes more than " + number_above(*best.upper_bound, 5) + " tasks/s";
  }
  console.print("{}.\n", wrapped(text, console.width(), 0));
}

void print_comparison(Console& console, const Comparison& comparison, const std::optional<Solution>& best) {
  const SimulationResult& first = comparison.policies.front();
  double seconds = 0;
  bool any = false;
  for (const SimulationResult& result : comparison.policies) {
    seconds += result.wall_seconds;
    any |= result.throughput.mean > 0;
  }
  const bool partial = comparison.policies.back().partial;
  if (!any) {
    console.print("{}\n", partial ? "Interrupted before anything was measured." : "Nothing was completed.");
    return;
  }
  console.print(
      "{}\n",
      console.styled(Style::kDim,
                     wrapped(shown(first.distribution) + ": " +
                                 counted(static_cast<Count>(first.replications), "replication") + " of " +
                                 counted(static_cast<Count>(first.completions), "completion") +
                                 ", the same sizes for all, in " + duration(seconds),
                             console.width(), 0)));
  if (partial) {
    console.print("{}\n",
                  console.styled(Style::kBad, "Interrupted: policies are missing, the last is incomplete."));
  }
  console.gap();
  print_table(console, comparison, best);
  if (best) print_reference(console, *best);
}

/// A note that several policies share is said once.
void print_notes(const Console& console, const Comparison& comparison) {
  std::vector<std::pair<std::string, std::vector<std::string>>> notes;  // with the policies they are about
  for (const SimulationResult& result : comparison.policies) {
    for (const std::string& note : result.notes) {
      auto known =
          std::find_if(notes.begin(), notes.end(), [&](const auto& entry) { return entry.first == note; });
      if (known == notes.end()) known = notes.insert(notes.end(), {note, {}});
      known->second.push_back(result.policy);
    }
  }
  for (const auto& [note, policies] : notes) {
    std::string who;
    for (const std::string& policy : policies) who += (who.empty() ? "" : ", ") + policy;
    console.note(policies.size() == comparison.policies.size() ? note : who + ": " + note);
  }
}

Exit run_compare(const Arguments& arguments, Console& console) {
  const SimulationArguments& simulation = arguments.simulation;
  std::vector<const PolicyInfo*> policies;
  if (!arguments.policies.empty()) policies = named_policies(arguments);
  const std::unique_ptr<const Distribution> sizes = sizes_or_fail(simulation.distribution);
  const Scenario scenario = read_scenario_or_fail(simulation.file, console);
  SimulateOptions options = simulation.options;
  options.policy = policy_options_or_fail(simulation, scenario, console);
  if (policies.empty()) policies = suitable_policies(scenario.system, options.policy);
  TraceFile trace(simulation, scenario.system, true);
  options.trace = trace.sink();
  options.stop = start_clock(std::nullopt);
  ProgressLine progress(console);
  options.progress = progress.of_simulation();
  Comparison comparison;
  try {
    comparison = compare(scenario, policies, *sizes, options);
  } catch (const InvalidModel& error) {
    throw Failure(Exit::kInvalidInput, simulation.file + ": " + shown(error.what()));
  }
  progress.clear();
  trace.close();
  std::optional<Solution> best;
  if (!interrupted()) best = reference_assignment(scenario, options.stop);
  print_notes(console, comparison);
  if (simulation.json) {
    console.document(comparison_json(scenario.system, comparison, best ? &*best : nullptr));
  } else {
    print_system(console, scenario);
    print_work(console, scenario);
    print_comparison(console, comparison, best);
  }
  return interrupted() ? Exit::kInterrupted : Exit::kOk;
}

Action declare(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  Arguments& a = *arguments;
  add_file(command, a.simulation.file);
  command
      .add_option(
          "--policies", a.policies,
          "the policies to compare, the first being the reference (default: all that suit the scenario)")
      ->type_name("A,B,...")
      ->check([](const std::string& text) {
        return text.empty() ? std::string("needs at least one policy, not nothing") : std::string();
      });
  add_simulation_options(command, a.simulation);
  return [arguments](Console& console) { return run_compare(*arguments, console); };
}

}  // namespace

extern const Command compare_command;
const Command compare_command{"compare", "Compare policies by simulation, on the same random numbers.",
                              "allot compare examples/workstation.toml\n"
                              "allot compare examples/paper-2gp1sa.toml --policies best-fit,map,jsq --json",
                              declare};

}  // namespace allot::app
