// allot simulate: what a policy does, event by event, and how sure that is.
#include "allot/simulate/simulate.hpp"

#include <memory>
#include <string>

#include "allot/base/error.hpp"
#include "allot/io/result_json.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/report.hpp"
#include "apps/allot/simulation.hpp"
#include "apps/allot/text.hpp"

namespace allot::app {
namespace {

struct Arguments {
  std::string policy;
  SimulationArguments simulation;
};

const PolicyInfo& choose(const Arguments& arguments) {
  const PolicyInfo& policy = policy_or_fail("--policy", arguments.policy);
  check_policy_files("--policy", policy, arguments.simulation.assignment, arguments.simulation.probabilities);
  return policy;
}

void print_types(Console& console, const System& system, const SimulationResult& result) {
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  const bool shares = !system.shares().empty();
  table.title({"type", "tasks/s", "response", shares ? "asked" : "", shares ? "got" : ""});
  for (const TaskType i : system.types()) {
    const Estimate& x = result.throughput_by_task[index(i)];
    const bool completes = x.mean > 0;
    std::vector<Cell> cells = {
        {shown(system.task(i).name), Style::kBold},
        {completes ? with_interval(x) : "0", completes ? Style::kPlain : Style::kDim},
        {completes ? duration_with_interval(result.response_time_by_task[index(i)]) : "", Style::kPlain}};
    if (shares) {
      cells.push_back({fmt::format("{:.1f}%", 100 * system.shares()[index(i)]), Style::kPlain});
      cells.push_back({fmt::format("{:.1f}%", 100 * x.mean / result.throughput.mean), Style::kPlain});
    }
    table.row(std::move(cells));
  }
  console.print("{}", table.text(console));
}

void print_resources(Console& console, const System& system, const SimulationResult& result) {
  Table table({Align::kLeft, Align::kRight, Align::kRight});
  table.title({"resource", "tasks/s", "busy"});
  for (const ResourceId j : system.resource_ids()) {
    const Estimate& x = result.throughput_by_resource[index(j)];
    table.row({{shown(system.resource(j).name), Style::kBold},
               {x.mean > 0 ? with_interval(x) : "0", x.mean > 0 ? Style::kPlain : Style::kDim},
               {fmt::format("{:.1f}%", 100 * result.utilization[index(j)]), Style::kPlain}});
  }
  console.print("{}", table.text(console));
}

void print_result(Console& console, const System& system, const SimulationResult& result) {
  if (!(result.throughput.mean > 0)) {
    console.print("{}\n",
                  result.partial ? "Interrupted before anything was measured." : "Nothing was completed.");
    return;
  }
  console.print("{}\n", console.styled(Style::kBold, with_interval(result.throughput) +
                                                         " tasks/s, mean response time " +
                                                         duration_with_interval(result.response_time)));
  console.print("{}\n",
                console.styled(Style::kDim, result.policy + ", " + shown(result.distribution) + ": " +
                                                effort(result) + ", in " + duration(result.wall_seconds)));
  if (result.partial) {
    console.print("{}\n",
                  console.styled(Style::kBad, "Interrupted: this is a part of the runs, or a part of one."));
  }
  console.gap();
  print_types(console, system, result);
  console.gap();
  print_resources(console, system, result);
  console.gap();
  console.print("Half of the tasks took up to {}, 95% up to {}, 99% up to {}.\n", duration(result.p50),
                duration(result.p95), duration(result.p99));
  console.print("{} tasks in the system on average; Little's law gives {}.\n", number(result.population, 5),
                number(result.little, 5));
  console.print("Energy {} J a task, energy-delay product {} J s.\n", number(result.energy_per_task),
                number(result.edp));
}

Exit run_simulate(const Arguments& arguments, Console& console) {
  const SimulationArguments& simulation = arguments.simulation;
  const PolicyInfo& policy = choose(arguments);
  const std::unique_ptr<const Distribution> sizes = sizes_or_fail(simulation.distribution);
  const Scenario scenario = read_scenario_or_fail(simulation.file, console);
  SimulateOptions options = simulation.options;
  options.policy = policy_options_or_fail(simulation, scenario, console);
  TraceFile trace(simulation, scenario.system, false);
  options.trace = trace.sink();
  options.stop = start_clock(std::nullopt);
  ProgressLine progress(console);
  options.progress = progress.of_simulation();
  SimulationResult result;
  try {
    result = simulate(scenario, policy, *sizes, options);
  } catch (const InvalidModel& error) {
    throw Failure(Exit::kInvalidInput, simulation.file + ": " + shown(error.what()));
  }
  progress.clear();
  trace.close();
  for (const std::string& note : result.notes) console.note(note);
  if (simulation.json) {
    console.document(simulation_json(scenario.system, result));
  } else {
    print_system(console, scenario);
    print_work(console, scenario);
    print_result(console, scenario.system, result);
  }
  return interrupted() ? Exit::kInterrupted : Exit::kOk;
}

Action declare(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  Arguments& a = *arguments;
  add_file(command, a.simulation.file);
  command.add_option("--policy", a.policy, "where successors go; 'allot list' names all policies")
      ->type_name("NAME")
      ->required();
  add_simulation_options(command, a.simulation);
  return [arguments](Console& console) { return run_simulate(*arguments, console); };
}

}  // namespace

extern const Command simulate_command;
const Command simulate_command{
    "simulate", "Simulate a policy, with confidence intervals.",
    "allot simulate examples/workstation.toml --policy map\n"
    "allot simulate examples/paper-2gp1sa.toml --policy jsq --distribution bounded-pareto "
    "--precision 0.5%",
    declare};

}  // namespace allot::app
