// allot analyze: the exact long-run behaviour of a policy.
#include "allot/ask/questions/analyze.hpp"

#include <chrono>
#include <cmath>
#include <string>

#include "allot/analyze/analysis_json.hpp"
#include "apps/allot/asking.hpp"
#include "apps/allot/terminal/grid.hpp"
#include "apps/allot/terminal/report.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::analyze_command {
namespace {

/// Numbers with a smaller relative difference count as equal.
constexpr double kSame = 1e-8;

using Arguments = Asked<AnalyzeQuestion>;

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

void print_comparison_with_best(Console& console, const PolicyInfo& policy, const System& system,
                                const Analysis& analysis) {
  const double best = analysis.best_state_value;
  std::string text = "The best state";
  if (policy.holds_time_shares) text += ", shared evenly,";
  const std::string verb = system.has_worths() ? " is worth " : " completes ";
  const std::string unit = system.has_worths() ? " per second" : " tasks/s";
  text += verb + (analysis.best_state_approximate ? "about " : "") + number(best, 5) + unit + "; the policy" +
          verb + against(analysis.value, best) + " and is in a best state " +
          percent(analysis.best_state_probability) + " of the time.";
  if (analysis.best_state_approximate && system.has_needs()) {
    text +=
        " (Whole tasks may leave a part of a capacity free; the model, and so this chain, gives it to "
        "fractions of tasks.)";
  } else if (analysis.best_state_approximate) {
    text += " (Where " + where_approximate(system) + ", the " +
            std::string(system.has_worths() ? "value" : "throughput") +
            " of a state has no exact formula; the chain itself is exact.)";
  }
  console.paragraph(text);
  if (analysis.optimal_control_value) {
    const double control = *analysis.optimal_control_value;
    const bool same = std::abs(control - best) <= kSame * best;
    console.paragraph("Optimal control, the best that placing alone can reach without knowing sizes: " +
                      number(control, 5) + unit + ", " + against(control, best) + (same ? " as" : " than") +
                      " the best state.");
  }
}

/// The meaning of a chain whose long run depends on its start.
std::string several_classes(const Analysis& analysis) {
  const std::string which =
      "Depending on the order of entry, it settles in one of " + whole(analysis.classes) + " patterns";
  if (analysis.highest_throughput - analysis.lowest_throughput <= kSame * analysis.throughput)
    return which + ", all with the same throughput.";
  return which + ". They complete from " + number(analysis.lowest_throughput, 5) + " to " +
         number(analysis.highest_throughput, 5) +
         " tasks/s; all figures, including the response time, are means over the starts.";
}

void print_analysis(Console& console, const PolicyInfo& policy, const System& system,
                    const Analysis& analysis, double seconds) {
  if (system.population() == 0) {
    console.print("There are no threads, so there is nothing to place.\n");
    return;
  }
  const std::string value = system.has_worths() ? "value " + number(analysis.value, 5) + " per second, " : "";
  console.line(value + number(analysis.throughput, 5) + " tasks/s, mean response time " +
                   duration(analysis.response_time),
               Style::kBold);
  std::string how = std::string(policy.name) +
                    ", exact chain: " + counted(static_cast<Count>(analysis.states), "state") + " in " +
                    duration(seconds);
  console.line(how, Style::kDim);
  if (analysis.classes > 1) console.paragraph(several_classes(analysis));
  console.gap();
  print_means(console, system, analysis);
  console.gap();
  print_comparison_with_best(console, policy, system, analysis);
  print_sentences(console, analysis_fields(), system, analysis);
}

/// Too many states exceed a limit of the machine; the option was used correctly.
void answer(Asking& asking) {
  try {
    asking.question().answer(Asking::attendance());
  } catch (const InvalidModel& error) {
    if (error.field() != "max_states") asking.fail(error);
    throw Failure(Exit::kFailed, asking.file() + ": " +
                                     std::string(error.what()).substr(error.field().size() + 2) +
                                     ". '--max-states' sets the limit; 'allot simulate' has none.");
  }
}

Exit run_analyze(Arguments& arguments, Console& console) {
  const AnalyzeQuestion& question = arguments.question;
  const Analysis& analysis = question.analysis;
  arguments.asking.read(console);
  const Clock::time_point begin = Clock::now();
  answer(arguments.asking);
  if (!analysis.note.empty()) console.note(std::string(question.policy.name()) + ": " + analysis.note);
  if (analysis.stopped == StopReason::kInterrupted) throw Failure(Exit::kInterrupted, "interrupted");
  if (analysis.stopped == StopReason::kTimeLimit) {
    throw Failure(Exit::kFailed, "the time limit expired before the chain was solved; " +
                                     counted(static_cast<Count>(analysis.states), "state") + " were found");
  }
  if (arguments.asking.json()) {
    console.document(question.json());
  } else {
    print_system(console, *question.scenario);
    print_analysis(console, *question.policy.builtin, question.scenario->system, analysis,
                   std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return Exit::kOk;
}

}  // namespace

extern const Command command;
const Command command = asking_command("analyze", run_analyze);

}  // namespace allot::app::analyze_command
