#include "apps/allot/terminal/report.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

#include "allot/solve/solution_json.hpp"
#include "allot/solve/solver.hpp"
#include "apps/allot/terminal/grid.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

constexpr const char* kCannotRun = "-";
std::string none() { return std::string(sign(Sign::kNone)); }  // can run there, but does not
/// Throughputs with a smaller relative difference count as equal.
constexpr double kSame = 1e-9;

std::vector<std::string> shown_names(const auto& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(shown(entry.name));
  return names;
}

GridCell cell(bool can_run, bool occupied, std::string text) {
  if (occupied) return {std::move(text), true};
  return {can_run ? none() : kCannotRun, false};
}

/// A grid of tasks by resources with `cell_of` for each pair.
template <typename CellOf>
Grid grid_of(const System& system, const CellOf& cell_of) {
  Grid grid;
  grid.rows = shown_names(system.tasks());
  grid.columns = shown_names(system.resources());
  for (const TaskType i : system.types()) {
    std::vector<GridCell>& row = grid.cells.emplace_back();
    for (const ResourceId j : system.resource_ids()) row.push_back(cell_of(i, j));
  }
  return grid;
}

/// Time shares: mean units at work, without values that round to zero.
Grid grid_of_shares(const System& system, const std::vector<double>& time_shares) {
  const PairSpan shares(time_shares, system.resource_count());
  return grid_of(system, [&](TaskType i, ResourceId j) {
    return cell(system.can_run(i, j), shares(i, j) >= 0.0005, fmt::format("{:.3f}", shares(i, j)));
  });
}

std::string share(double fraction) { return fmt::format("{:.1f}%", fraction * 100); }

Margin numbers(std::string title, const std::vector<double>& values) {
  const ColumnFormat format(values);
  Margin margin{std::move(title), {}};
  for (const double value : values) margin.cells.push_back({format(value), Style::kPlain});
  return margin;
}

std::vector<Margin> task_margins(const System& system, const Performance& performance) {
  Margin threads{"threads", {}};
  Margin response{"response", {}};
  Margin floors{"floor", {}};
  Margin asked{"asked", {}};
  Margin got{"got", {}};
  for (const TaskType i : system.types()) {
    const std::size_t at = index(i);
    threads.cells.push_back({whole(system.count(i)), Style::kPlain});
    const std::optional<double>& seconds = performance.response_time_by_task[at];
    response.cells.push_back({seconds               ? duration(*seconds)
                              : system.count(i) > 0 ? "never"
                                                    : "",
                              Style::kPlain});
    if (system.has_floors()) {
      const bool met = performance.throughput_by_task[at] >= system.floor(i) * (1 - kFloorTolerance);
      floors.cells.push_back(
          {system.floor(i) > 0 ? number(system.floor(i)) : "", met ? Style::kPlain : Style::kBad});
    }
    if (!system.shares().empty()) {
      asked.cells.push_back({share(system.shares()[at]), Style::kPlain});
      got.cells.push_back({performance.shares.empty() ? "" : share(performance.shares[at]), Style::kPlain});
    }
  }
  std::vector<Margin> margins = {std::move(threads), numbers("tasks/s", performance.throughput_by_task)};
  if (system.has_floors()) margins.push_back(std::move(floors));
  margins.push_back(std::move(response));
  if (!system.shares().empty()) {
    margins.push_back(std::move(asked));
    margins.push_back(std::move(got));
  }
  return margins;
}

std::vector<Margin> resource_margins(const System& system, const Assignment& assignment,
                                     const Performance& performance) {
  Margin tasks{"tasks", {}};
  Margin servers{"servers", {}};
  Margin queue{"queue", {}};
  for (const ResourceId j : system.resource_ids()) {
    const Resource& resource = system.resource(j);
    tasks.cells.push_back({whole(assignment.column_sum(j)), Style::kPlain});
    servers.cells.push_back({whole(resource.servers), Style::kPlain});
    queue.cells.push_back({resource.discipline == Discipline::kPs ? "ps" : "fcfs", Style::kPlain});
  }
  const auto any = [&](auto&& condition) {
    return std::any_of(system.resources().begin(), system.resources().end(), condition);
  };
  std::vector<Margin> margins;
  if (any([](const Resource& r) { return r.discipline != Discipline::kPs; }))
    margins.push_back(std::move(queue));
  if (any([](const Resource& r) { return r.servers > 1; })) margins.push_back(std::move(servers));
  margins.push_back(std::move(tasks));
  margins.push_back(numbers("tasks/s", performance.throughput_by_resource));
  return margins;
}

/// How the solver ended; the result comes first.
/// Whether the reason is told beside the figures that it is about.
bool tells_fractions(const Solution& solution) { return solution.reason.starts_with(kCountsFractions); }

void print_ending(Console& console, const Solution& solution) {
  const std::string who =
      std::string(solution.solver) + ", objective " + std::string(to_string(solution.objective));
  const std::string took = duration(solution.seconds);
  const auto say = [&](Style style, const std::string& text) { console.line(who + ": " + text, style); };
  switch (solution.outcome) {
    case Outcome::kOptimal:
      say(Style::kDim, "proven optimal in " + took);
      break;
    case Outcome::kConverged:
      say(Style::kDim, "converged in " + took);
      break;
    case Outcome::kTimeLimit:
      say(Style::kBad, "stopped by the time limit after " + took + ", the best so far");
      break;
    case Outcome::kBudget:
      say(Style::kBad, "stopped by its own limit after " + took + ", the best so far");
      break;
    case Outcome::kInterrupted:
      say(Style::kBad, "interrupted after " + took + ", the best so far");
      break;
    case Outcome::kInfeasible:
      say(Style::kBad, solution.is_planned ? "no plan meets all limits"
                                           : "no feasible answer was found; this is the nearest");
      break;
  }
  if (!solution.reason.empty() && !tells_fractions(solution)) console.paragraph(shown(solution.reason));
}

void print_time_shares(Console& console, const System& system, const Solution& solution) {
  Grid grid = grid_of_shares(system, solution.time_shares);
  std::vector<double> idle;
  const PairSpan shares(solution.time_shares, system.resource_count());
  for (const ResourceId j : system.resource_ids()) {
    double busy = 0;
    for (const TaskType i : system.types()) busy += shares(i, j);
    idle.push_back(std::max(0.0, static_cast<double>(system.resource(j).servers) - busy));
  }
  Margin margin{"idle", {}};
  for (const double units : idle) {
    margin.cells.push_back(units >= 0.0005 ? Cell{fmt::format("{:.3f}", units), Style::kPlain}
                                           : Cell{none(), Style::kDim});
  }
  grid.bottom.push_back(std::move(margin));
  console.gap();
  console.print("Time shares: how many servers of each resource work on each type, on average\n\n");
  console.print("{}", grid_text(grid, console));
  if (!solution.binding.empty()) {
    console.gap();
    console.print("What limits the throughput:\n");
  }
  for (const std::string& sentence : solution.binding) {
    console.print("  - {}\n", wrapped(shown(sentence), console.width(), 4));
  }
}

/// The unit of the planned quantity, with a space before it.
std::string unit_of_gain(const Scenario& scenario, Objective objective) {
  switch (objective) {
    case Objective::kThroughput:
      if (scenario.system.population() == 0 && scenario.threads.empty()) return " times the load";
      return tells_value(scenario) ? " value/s" : " tasks/s";
    case Objective::kPriority:
      return " tasks/s";
    case Objective::kEnergy:
      return " W";
    case Objective::kMaxMin:
      return " to the least";
    case Objective::kProportional:
      return " to the sum of logs";
    default:
      return "";
  }
}

/// What is used of each resource, and the gain from one more unit.
void print_capacities(Console& console, const Scenario& scenario, const Solution& solution) {
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  const bool saves = solution.objective == Objective::kEnergy;
  table.title({"capacity", "units", "used",
               (saves ? "one more saves" : "one more adds") + unit_of_gain(scenario, solution.objective)});
  for (const CapacityUse& use : solution.plan.capacities) {
    const bool is_dear = use.price > kSame * std::abs(solution.objective_value);
    table.row({{shown(use.name), Style::kPlain},
               {number(use.amount), Style::kPlain},
               {fmt::format("{:.1f}%", use.amount > 0 ? 100 * use.used / use.amount : 0.0), Style::kPlain},
               {is_dear ? number(use.price) : none(), is_dear ? Style::kBold : Style::kDim}});
  }
  console.gap();
  console.print("{}", table.text(console));
}

/// Tasks hold capacities as a whole: whole tasks may reach less than the plan.
void print_packings(Console& console, const Scenario& scenario, const Solution& solution) {
  if (!scenario.system.has_needs() || solution.objective != Objective::kThroughput) return;
  const std::optional<double>& most = solution.plan.packing_bound;
  if (most && *most < solution.performance.value * (1 - 1e-6)) {
    console.paragraph("Whole tasks reach at most " + number_above(*most) + value_unit(scenario) +
                      ", because what they hold cannot be split.");
  }
}

void print_limits(Console& console, const Scenario& scenario, const Solution& solution) {
  for (const BindingLimit& limit : solution.plan.limits) {
    std::string what = shown(limit.what);
    what.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(what.front())));
    console.paragraph(what + " (" + number(limit.amount) + (limit.unit.empty() ? "" : " ") + limit.unit +
                      ") binds: relaxed by 10%, it " +
                      (solution.objective == Objective::kEnergy ? "saves " : "adds ") +
                      number(limit.relaxed) + unit_of_gain(scenario, solution.objective) + ".");
  }
  if (solution.plan.unserved.empty()) return;
  std::string names;
  for (const std::string& name : solution.plan.unserved)
    names += (names.empty() ? "" : ", ") + in_quotes(name);
  console.paragraph("No task of " + names +
                    " is completed. To change that, set a floor, a share (objective priority or max-min), or "
                    "a larger worth.");
}

void print_bound(Console& console, const System& system, const Solution& solution) {
  print_sentences(console, solution_fields(), system, solution);
  if (!solution.upper_bound || solution.proven_optimal) return;
  const std::string bound = number_above(*solution.upper_bound);
  const std::string unit = system.has_worths() ? " of value per second" : " tasks/s";
  if (solution.performance.approximate) {
    console.print("No {} more than {}{}.\n", solution.is_planned ? "policy has" : "assignment completes",
                  bound, unit);
  } else {
    console.print("No {} more than {}{}: this is within {} of it.\n",
                  solution.is_planned ? "policy has" : "assignment completes", bound, unit,
                  percent(*solution.gap()));
  }
}

/// "27% less", "3.1% more" or "the same".
std::string compared(double value, double with) {
  if (std::abs(value - with) <= kSame * std::max(std::abs(value), std::abs(with))) return "the same";
  if (!(with > 0)) return "more";
  return value < with ? percent((with - value) / with) + " less" : percent((value - with) / with) + " more";
}

}  // namespace

bool tells_value(const Scenario& scenario) {
  return scenario.system.has_worths() || !scenario.threads.empty();
}

std::string value_unit(const Scenario& scenario) {
  return tells_value(scenario) ? " of value per second" : " tasks/s";
}

std::string group_name(const Scenario& scenario, std::size_t group) {
  const std::string& name = scenario.threads[group].name;
  return name.empty() ? "Group " + std::to_string(group + 1) : shown(name);
}

void print_system(Console& console, const Scenario& scenario) {
  const System& system = scenario.system;
  if (!scenario.name.empty()) console.print("{}: ", console.styled(Style::kBold, shown(scenario.name)));
  Count threads = system.population();
  for (const ThreadGroup& group : scenario.threads) threads += group.count;
  console.print("{}, {}, {}\n\n", counted(static_cast<Count>(system.type_count()), "task type"),
                counted(static_cast<Count>(system.resource_count()), "resource"), counted(threads, "thread"));
}

void print_assignment(Console& console, const System& system, const Assignment& assignment,
                      const Performance& performance) {
  Grid grid = grid_of(system, [&](TaskType i, ResourceId j) {
    return cell(system.can_run(i, j), assignment(i, j) > 0, whole(assignment(i, j)));
  });
  grid.right = task_margins(system, performance);
  grid.bottom = resource_margins(system, assignment, performance);
  console.print("{}", grid_text(grid, console));
}

void print_headline(Console& console, const Performance& performance, bool with_error) {
  const bool has_worths =
      std::abs(performance.value - performance.throughput) > kSame * std::abs(performance.throughput);
  std::string text = number(performance.throughput) + " tasks/s";
  if (has_worths) text = "value " + number(performance.value) + " per second, " + text;
  if (performance.response_time) text += ", mean response time " + duration(*performance.response_time);
  if (with_error && performance.priority_error)
    text += ", priority error " + error_number(*performance.priority_error);
  console.paragraph(text, Style::kBold);
}

void print_time_plan(Console& console, const Scenario& scenario, const Solution& solution) {
  const System& system = scenario.system;
  Grid grid = grid_of_shares(system, solution.time_shares);
  grid.right = task_margins(system, solution.performance);
  if (system.population() == 0) {
    std::erase_if(grid.right, [](const Margin& margin) {
      return margin.title == "threads" || margin.title == "response";
    });
  }
  console.print("Plan: how many {} on average\n\n", system.has_needs()
                                                        ? "tasks of each type are in service at a resource,"
                                                        : "servers of each resource work on each type,");
  console.print("{}", grid_text(grid, console));
}

void print_rounds(Console& console, const Scenario& scenario, const Solution& solution) {
  for (std::size_t k = 0; k < solution.plan.rounds.size(); ++k)
    console.paragraph(group_name(scenario, k) + ": " + number(solution.plan.rounds[k]) + " rounds/s");
}

void print_plan(Console& console, const Scenario& scenario, const Solution& solution) {
  if (solution.outcome == Outcome::kInfeasible) {
    if (solution.plan.headroom)
      console.paragraph("At most " + percent(std::min(1.0, *solution.plan.headroom)) +
                        " of the arrivals can be carried.");
    return;
  }
  print_time_plan(console, scenario, solution);
  print_capacities(console, scenario, solution);
  console.gap();
  print_rounds(console, scenario, solution);
  if (solution.plan.headroom) {
    const double load = *solution.plan.headroom;
    console.paragraph(load >= 1 ? "The machine can carry " + number(load) + " times the load that arrives."
                                : "The load cannot be carried: the machine completes " + percent(load) +
                                      " of what arrives.",
                      load >= 1 ? Style::kPlain : Style::kBad);
  }
  if (scenario.power_cap || solution.objective == Objective::kEnergy)
    console.paragraph("Mean power " + number(*solution.plan.mean_power) + " W");
  print_packings(console, scenario, solution);
  print_limits(console, scenario, solution);
}

std::string where_approximate(const System& system) {
  return system.has_needs() ? "what tasks hold does not fill a capacity"
                            : "tasks wait for several fcfs servers";
}

/// What the solver says about fractions of tasks, or that they are counted.
std::string counts_fractions(const Solution& solution) {
  return tells_fractions(solution) ? solution.reason : std::string(kCountsFractions);
}

void print_solution(Console& console, const Scenario& scenario, const Solution& solution) {
  const System& system = scenario.system;
  if (!solution.is_planned || solution.outcome != Outcome::kInfeasible)
    print_headline(console, solution.performance, !system.shares().empty());
  print_ending(console, solution);
  console.gap();
  if (solution.is_planned) {
    print_plan(console, scenario, solution);
  } else {
    print_assignment(console, system, solution.assignment, solution.performance);
    if (!solution.time_shares.empty()) print_time_shares(console, system, solution);
  }
  console.gap();
  if (system.population() == 0 && scenario.is_static())
    console.print("There are no threads, so there is nothing to place.\n");
  if (solution.performance.approximate) {
    console.paragraph("Approximate: " +
                      (system.has_needs() ? counts_fractions(solution)
                                          : "where " + where_approximate(system) +
                                                " there is no exact formula, and the true throughput tends "
                                                "to be higher") +
                      ".");
  }
  print_bound(console, system, solution);
}

std::optional<std::string> number_text(const Kept& value) {
  return std::visit(
      [](const auto* at) -> std::optional<std::string> {
        using Value = std::remove_cvref_t<decltype(*at)>;
        if constexpr (std::is_same_v<Value, double>) return number(*at);
        if constexpr (std::is_same_v<Value, std::optional<double>>)
          return *at ? std::optional(number(**at)) : std::nullopt;
        if constexpr (std::is_unsigned_v<Value>) return whole(static_cast<Count>(*at));
        return std::nullopt;
      },
      value);
}

void print_comparison(Console& console, const SolutionQuestion& question) {
  const Solution& solution = question.solution;
  const double throughput = solution.performance.value;
  const std::string unit = value_unit(*question.scenario);
  if (question.even) {
    console.paragraph(
        "With even sharing, " + std::string(question.even->solver) + " finds " +
        number(question.even->performance.value) + unit + ": " +
        compared(question.even->performance.value, throughput) + "." +
        (question.even->performance.approximate
             ? (question.scenario->system.has_needs()
                    ? " That is approximate: it counts fractions of tasks."
                    : " That is approximate: where " + where_approximate(question.scenario->system) +
                          ", there is no exact formula.")
             : ""));
  }
  const auto error_of = [&](const Solution& other) {
    return other.performance.priority_error && solution.objective == Objective::kPriority
               ? ", with a priority error of " + error_number(*other.performance.priority_error)
               : std::string();
  };
  if (question.best_fit) {
    const Solution& plain = *question.best_fit;
    const std::string verdict = compared(plain.performance.value, throughput);
    std::string text = verdict == "the same"
                           ? "Best Fit (every task at home) would reach the same" + error_of(plain) + "."
                           : "Best Fit (every task at home) would reach " + number(plain.performance.value) +
                                 unit + ": " + verdict + error_of(plain) + ".";
    if (plain.outcome == Outcome::kInfeasible) text += " But " + shown(plain.reason) + ".";
    console.paragraph(text);
  }
  if (question.fastest) {
    const Solution& fastest = *question.fastest;
    console.paragraph("For throughput alone, " + std::string(fastest.solver) + " finds " +
                      number(fastest.performance.value) + unit + ": " +
                      compared(fastest.performance.value, throughput) + error_of(fastest) +
                      ". 'allot pareto' shows the choices in between.");
  }
}

void print_explanation(Console& console, const System& system, const Solution& solution,
                       const std::vector<Placement>& placements) {
  if (placements.empty()) return;
  const bool by_error = solution.objective == Objective::kPriority;
  const bool with_error = !system.shares().empty();
  Table table({Align::kLeft, Align::kLeft, Align::kRight, Align::kLeft, Align::kRight});
  std::string held;  // by a limit
  std::string tied;  // with nowhere else to run
  bool improves = false;
  for (const Placement& placement : placements) {
    const std::string task = in_quotes(system.task(placement.task).name);
    const std::string from = shown(system.resource(placement.resource).name);
    const Alternative* best = nullptr;
    for (const Alternative& other : placement.alternatives) {
      if (!other.allowed) continue;
      if (best == nullptr || (by_error ? other.error_change < best->error_change : other.gain > best->gain)) {
        best = &other;
      }
    }
    if (best == nullptr) {
      std::string& list = placement.alternatives.empty() ? tied : held;
      list += (list.empty() ? "" : ", ") + task + " on " + from;
      continue;
    }
    const bool helps = by_error ? best->error_change < -kSame
                                : best->gain > kSame * std::max(1.0, solution.performance.throughput);
    improves |= helps;
    table.row({{"one " + task + " of " + whole(placement.count), Style::kPlain},
               {"from " + from + " to " + shown(system.resource(best->resource).name), Style::kPlain},
               {change(best->gain), helps && !by_error ? Style::kGood : Style::kBold},
               {system.has_worths() ? "value/s" : "tasks/s", Style::kPlain},
               {with_error ? "error " + change(best->error_change) : "",
                helps && by_error ? Style::kGood : Style::kPlain}});
  }
  if (!table.empty()) {
    console.gap();
    console.print("What moving one task to the best other place would change{}\n\n",
                  solution.time_shares.empty() ? "" : ", if each resource shared its time evenly");
    console.print("{}", table.text(console));
  }
  if (!held.empty())
    held += system.has_floors() ? " must stay, or a limit would be missed"
                                : " must stay, or a minimum depth would be violated";
  if (!tied.empty()) held += (held.empty() ? "" : "; ") + tied + " can run nowhere else";
  if (!held.empty()) {
    console.gap();
    console.print("{}.\n", wrapped(held, console.width(), 0));
  }
  if (improves && solution.time_shares.empty() && solution.outcome != Outcome::kInfeasible) {
    console.gap();
    console.print("A single move would do better: this solver stopped short of it.{}\n",
                  by_error ? " Try --solver local." : " Try --solver local, or 'allot certify'.");
  }
}

}  // namespace allot::app
