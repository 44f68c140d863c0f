// allot simulate: what a policy does, event by event, and how certain that is.
#include "allot/ask/questions/simulate.hpp"

#include <string>

#include "allot/simulate/simulation_json.hpp"
#include "apps/allot/asking.hpp"
#include "apps/allot/commands/simulation.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/terminal/report.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::simulate_command {
namespace {

using Arguments = Asked<SimulateQuestion>;

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

void print_result(Console& console, const Scenario& scenario, const SimulationResult& result) {
  const System& system = scenario.system;
  if (!(result.throughput.mean > 0)) {
    console.print("{}\n",
                  result.partial ? "Interrupted before anything was measured." : "Nothing was completed.");
    return;
  }
  const std::string value =
      tells_value(scenario) ? "value " + with_interval(result.value) + " per second, " : "";
  console.paragraph(value + with_interval(result.throughput) + " tasks/s, mean response time " +
                        duration_with_interval(result.response_time),
                    Style::kBold);
  console.line(result.policy + ", " + shown(result.distribution) + ": " + effort(result) + ", in " +
                   duration(result.wall_seconds),
               Style::kDim);
  if (result.partial) {
    console.line("Interrupted: these are the results so far.", Style::kBad);
  }
  console.gap();
  print_types(console, system, result);
  console.gap();
  print_resources(console, system, result);
  console.gap();
  for (std::size_t group = 0; group < result.rounds.size(); ++group)
    console.paragraph(group_name(scenario, group) + ": " + with_interval(result.rounds[group]) + " rounds/s");
  console.print("Half of the tasks took up to {}, 95% up to {}, 99% up to {}.\n", duration(result.p50),
                duration(result.p95), duration(result.p99));
  console.print("{} tasks in the system on average; Little's law gives {}.\n", number(result.population, 5),
                number(result.little, 5));
  console.print("Energy {} J a task, energy-delay product {} J s.\n", number(result.energy_per_task),
                number(result.edp));
  print_sentences(console, simulation_fields(), system, result);
}

Exit run_simulate(Arguments& arguments, Console& console) {
  const SimulateQuestion& question = arguments.question;
  answer_with_progress(arguments.asking, console);
  for (const std::string& note : question.result.notes) console.note(note);
  if (arguments.asking.json()) {
    console.document(question.json());
  } else {
    print_system(console, *question.scenario);
    print_work(console, *question.scenario);
    print_result(console, *question.scenario, question.result);
  }
  return interrupted() ? Exit::kInterrupted : Exit::kOk;
}

}  // namespace

extern const Command command;
const Command command = asking_command("simulate", run_simulate);

}  // namespace allot::app::simulate_command
