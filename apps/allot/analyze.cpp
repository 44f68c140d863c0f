// allot analyze: the long run of a policy, exactly.
#include "allot/analyze/analyze.hpp"

#include <chrono>
#include <cmath>
#include <memory>
#include <string>

#include "allot/base/error.hpp"
#include "allot/io/assignment_reader.hpp"
#include "allot/io/probabilities_reader.hpp"
#include "allot/io/result_json.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/grid.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/report.hpp"
#include "apps/allot/simulation.hpp"

namespace allot::app {
namespace {

/// Two throughputs closer than this, relatively, are called the same.
constexpr double kSame = 1e-8;

struct Arguments {
  std::string file;
  std::string policy;
  std::string assignment;
  std::string probabilities;
  std::optional<double> time_limit;
  bool json = false;
  AnalyzeOptions options;
  PolicyOptions policy_options;
};

const PolicyInfo& choose(const Arguments& arguments) {
  const PolicyInfo* const policy = find_policy(arguments.policy);
  if (policy == nullptr) {
    std::vector<std::string> names;
    for (const PolicyInfo* known : builtin_policies()) names.push_back(in_quotes(known->name));
    throw Failure(Exit::kUsage, "--policy: there is no policy " + in_quotes(arguments.policy) + "; choose " +
                                    alternatives(names) + ".");
  }
  check_policy_files("--policy", *policy, arguments.assignment, arguments.probabilities);
  return *policy;
}

Analysis analyze_or_fail(const Arguments& arguments, const PolicyInfo& policy, const System& system,
                         const PolicyOptions& policy_options) {
  AnalyzeOptions options = arguments.options;
  options.stop = start_clock(arguments.time_limit);
  try {
    return analyze(system, policy, options, policy_options);
  } catch (const InvalidModel& error) {
    const std::string problem = std::string(error.what()).substr(error.field().size() + 2);
    if (error.field() == "max_states") {
      throw Failure(Exit::kFailed, arguments.file + ": " + problem +
                                       ". '--max-states' sets the limit; 'allot simulate' has none.");
    }
    if (error.field() == "policy") throw Failure(Exit::kUsage, "--policy: " + problem + ".");
    throw Failure(Exit::kInvalidInput, arguments.file + ": " + error.what());
  }
}

void print_means(Console& console, const System& system, const Analysis& analysis) {
  Grid grid;
  Margin threads{"threads", {}};
  Margin by_task{"tasks/s", {}};
  Margin response{"response", {}};
  Margin tasks{"tasks", {}};
  Margin by_resource{"tasks/s", {}};
  const ColumnFormat task_format(analysis.throughput_by_task);
  const ColumnFormat resource_format(analysis.throughput_by_resource);
  for (const ResourceId j : system.resource_ids()) {
    grid.columns.push_back(shown(system.resource(j).name));
    double present = 0;
    for (const TaskType i : system.types())
      present += analysis.occupancy[index(i) * system.resource_count() + index(j)];
    tasks.cells.push_back({fmt::format("{:.2f}", present), Style::kPlain});
    by_resource.cells.push_back({resource_format(analysis.throughput_by_resource[index(j)]), Style::kPlain});
  }
  for (const TaskType i : system.types()) {
    grid.rows.push_back(shown(system.task(i).name));
    std::vector<GridCell>& row = grid.cells.emplace_back();
    for (const ResourceId j : system.resource_ids()) {
      const double mean = analysis.occupancy[index(i) * system.resource_count() + index(j)];
      const bool occupied = mean >= 0.005;
      row.push_back({occupied               ? fmt::format("{:.2f}", mean)
                     : system.can_run(i, j) ? std::string(sign(Sign::kNone))
                                            : "-",
                     occupied});
    }
    const double x = analysis.throughput_by_task[index(i)];
    threads.cells.push_back({whole(system.count(i)), Style::kPlain});
    by_task.cells.push_back({task_format(x), Style::kPlain});
    const std::optional<double>& seconds = analysis.response_time_by_task[index(i)];
    response.cells.push_back({seconds               ? duration(*seconds)
                              : system.count(i) > 0 ? "never"
                                                    : "",
                              Style::kPlain});
  }
  grid.right = {std::move(threads), std::move(by_task), std::move(response)};
  grid.bottom = {std::move(tasks), std::move(by_resource)};
  console.print("Mean number of tasks of each type at each resource\n\n{}", grid_text(grid, console));
}

/// "the same", "0.66% more", "12% less"
std::string against(double value, double reference) {
  if (std::abs(value - reference) <= kSame * reference) return "the same";
  return value > reference ? percent(value / reference - 1) + " more"
                           : percent(1 - value / reference) + " less";
}

void print_comparison_with_best(Console& console, const PolicyInfo& policy, const Analysis& analysis) {
  const auto say = [&](const std::string& text) { console.print("{}\n", wrapped(text, console.width(), 0)); };
  const double best = analysis.best_state_throughput;
  std::string text = "The best state";
  if (policy.name == "weighted") text += ", shared evenly,";
  text += analysis.best_state_approximate ? " completes about " : " completes ";
  text += number(best, 5) + " tasks/s; the policy completes " + against(analysis.throughput, best) +
          " and is in a best state " + percent(analysis.best_state_probability) + " of the time.";
  if (analysis.best_state_approximate) {
    text +=
        " (Where tasks wait for several fcfs servers, the throughput of a state has no exact formula; "
        "the chain itself is exact.)";
  }
  say(text);
  if (analysis.optimal_control_throughput) {
    const double control = *analysis.optimal_control_throughput;
    const bool same = std::abs(control - best) <= kSame * best;
    say("Optimal control, the best that placing alone can reach without knowing sizes: " +
        number(control, 5) + " tasks/s, " + against(control, best) + (same ? " as" : " than") +
        " the best state.");
  }
}

/// What it means that the chain does not forget its start.
std::string several_classes(const Analysis& analysis) {
  const std::string which =
      whole(analysis.classes) + " closed classes: who enters first decides for ever which";
  if (analysis.highest_throughput - analysis.lowest_throughput <= kSame * analysis.throughput)
    return which + ", but all complete the same.";
  return which + ". They complete from " + number(analysis.lowest_throughput, 5) + " to " +
         number(analysis.highest_throughput, 5) +
         " tasks/s; all figures are means over the starts, the response time too.";
}

void print_analysis(Console& console, const PolicyInfo& policy, const System& system,
                    const Analysis& analysis, double seconds) {
  if (system.population() == 0) {
    console.print("There are no threads, so there is nothing to place.\n");
    return;
  }
  console.print(
      "{}\n", console.styled(Style::kBold, number(analysis.throughput, 5) + " tasks/s, mean response time " +
                                               duration(analysis.response_time)));
  std::string how = std::string(policy.name) +
                    ", exact chain: " + counted(static_cast<Count>(analysis.states), "state") + " in " +
                    duration(seconds);
  console.print("{}\n", console.styled(Style::kDim, how));
  if (analysis.classes > 1) console.print("{}\n", wrapped(several_classes(analysis), console.width(), 0));
  console.gap();
  print_means(console, system, analysis);
  console.gap();
  print_comparison_with_best(console, policy, analysis);
}

Exit run_analyze(const Arguments& arguments, Console& console) {
  const PolicyInfo& policy = choose(arguments);
  const Scenario scenario = read_static_scenario_or_fail(arguments.file, "analyze", console);
  const System& system = scenario.system;
  PolicyOptions policy_options = arguments.policy_options;
  if (!arguments.assignment.empty())
    policy_options.assignment = value_or_fail(read_assignment(arguments.assignment, system), console);
  if (!arguments.probabilities.empty()) {
    policy_options.placement_probabilities =
        value_or_fail(read_probabilities(arguments.probabilities, system), console);
  }
  const Clock::time_point begin = Clock::now();
  const Analysis analysis = analyze_or_fail(arguments, policy, system, policy_options);
  if (!analysis.note.empty()) console.note(std::string(policy.name) + ": " + analysis.note);
  if (analysis.stopped == StopReason::kInterrupted) throw Failure(Exit::kInterrupted, "interrupted");
  if (analysis.stopped == StopReason::kTimeLimit) {
    throw Failure(Exit::kFailed, "the time limit came first, and a chain that is not solved says nothing; " +
                                     counted(static_cast<Count>(analysis.states), "state") + " were found");
  }
  if (arguments.json) {
    console.document(analysis_json(system, policy.name, analysis));
  } else {
    print_system(console, scenario);
    print_analysis(console, policy, system, analysis,
                   std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return Exit::kOk;
}

Action declare(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  Arguments& a = *arguments;
  add_file(command, a.file);
  command.add_option("--policy", a.policy, "where successors go; 'allot list' names all policies")
      ->type_name("NAME")
      ->required();
  command.add_flag("--optimal-control", a.options.optimal_control,
                   "also find the best that any policy could reach");
  add_choice<bool>(command, "--start", a.options.random_start, {{"random", true}, {"listed", false}},
                   "threads enter the empty system in a random order (default) or as the file lists them");
  add_whole(command, "--max-states", a.options.max_states, 1, 100'000'000,
            "refuse a chain of more states (default 200000)");
  command
      .add_option("--assignment", a.assignment,
                  "the assignment that 'fixed' holds, as 'solve --json' prints it")
      ->type_name("A.json");
  add_probabilities(command, a.probabilities);
  add_choice<ShareReading>(
      command, "--shares", a.policy_options.shares,
      {{"exact", ShareReading::kExact}, {"floor", ShareReading::kFloor}},
      "weighted: every type completes exactly its share (default), or at least its part of the "
      "largest common level");
  add_time_limit(command, a.time_limit, "give up after this time (default: no limit)");
  add_json(command, a.json);
  return [arguments](Console& console) { return run_analyze(*arguments, console); };
}

}  // namespace

extern const Command analyze_command;
const Command analyze_command{"analyze", "Solve the exact Markov chain of a policy (exponential sizes).",
                              "allot analyze examples/paper-2gp1sa.toml --policy jsq\n"
                              "allot analyze examples/biglittle.toml --policy random --optimal-control",
                              declare};

}  // namespace allot::app
