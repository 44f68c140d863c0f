#include "allot/ask/study.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "allot/base/digest.hpp"
#include "allot/base/readable.hpp"
#include "allot/base/statistics.hpp"
#include "allot/format/scenario_writer.hpp"
#include "allot/simulate/simulate.hpp"
#include "allot/solve/solver.hpp"

namespace allot {
namespace {

/// Raise it when a row of the same sweep would give a different result.
constexpr int kVersion = 1;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostCharts = 12;

// The numbers of a row; then come the throughput of each task type and the utilization of each resource.
enum Column : std::size_t {
  kThroughput,
  kThroughputHalfWidth,
  kResponse,
  kResponseHalfWidth,
  kP50,
  kP95,
  kP99,
  kEnergy,
  kEdp,
  kPriorityError,
  kUpperBound,
  kColumns
};
constexpr std::array<const char*, kColumns> kColumnNames = {
    "throughput", "throughput_half_width", "response_time", "response_time_half_width", "p50",        "p95",
    "p99",        "energy_per_task",       "edp",           "priority_error",           "upper_bound"};

std::vector<std::string> columns_of(const System& system) {
  std::vector<std::string> columns(kColumnNames.begin(), kColumnNames.end());
  for (const TaskType i : system.types()) columns.push_back("throughput[" + system.task(i).name + "]");
  for (const ResourceId j : system.resource_ids())
    columns.push_back("utilization[" + system.resource(j).name + "]");
  return columns;
}

std::vector<double> simulated(const Scenario& scenario, const SimulationResult& result) {
  std::vector<double> row(kColumns, kNone);
  const bool any = result.throughput.mean > 0;
  row[kThroughput] = result.throughput.mean;
  row[kThroughputHalfWidth] = result.throughput.half_width.value_or(kNone);
  if (any) {
    row[kResponse] = result.response_time.mean;
    row[kResponseHalfWidth] = result.response_time.half_width.value_or(kNone);
    row[kP50] = result.p50;
    row[kP95] = result.p95;
    row[kP99] = result.p99;
    row[kEnergy] = result.energy_per_task;
    row[kEdp] = result.edp;
  }
  std::vector<double> by_task;
  for (const Estimate& estimate : result.throughput_by_task) by_task.push_back(estimate.mean);
  if (any && !scenario.system.shares().empty())
    row[kPriorityError] = priority_error(by_task, result.throughput.mean, scenario.system.shares());
  row.insert(row.end(), by_task.begin(), by_task.end());
  row.insert(row.end(), result.utilization.begin(), result.utilization.end());
  return row;
}

std::vector<double> solved(const Scenario& scenario, const Solution& solution) {
  std::vector<double> row(kColumns, kNone);
  const Performance& performance = solution.performance;
  const bool feasible = solution.outcome != Outcome::kInfeasible;
  if (feasible) {
    row[kThroughput] = performance.throughput;
    row[kResponse] = performance.response_time.value_or(kNone);
    row[kPriorityError] = performance.priority_error.value_or(kNone);
    row[kUpperBound] = solution.upper_bound.value_or(kNone);
  }
  for (const TaskType i : scenario.system.types())
    row.push_back(feasible ? performance.throughput_by_task[index(i)] : kNone);
  row.resize(row.size() + scenario.system.resource_count(), kNone);
  return row;
}

UnitResult simulate_row(const SweepPlan& plan, const StudyRow& row, const Distribution& sizes,
                        const StopLimits& stop) {
  const Scenario scenario = scenario_of(plan.points[row.point], row.seed);
  SimulateOptions options;
  options.completions = plan.completions;
  options.warmup = plan.warmup;
  options.replications = plan.replications;
  options.random_start = plan.random_start;
  options.seed = row.seed;
  options.threads = 1;  // units run in parallel instead
  options.stop = stop;
  const SimulationResult result = simulate(scenario, *find_policy(row.policy), sizes, options);
  return {{simulated(scenario, result)}, {{result.wall_seconds}}};
}

UnitResult solve_row(const SweepPlan& plan, const StudyRow& row, const StopLimits& stop) {
  const Scenario scenario = scenario_of(plan.points[row.point], row.seed);
  const SolverInfo& solver = *find_solver(row.solver);
  SolveOptions options;
  options.seed = row.seed;
  options.stop = stop;
  const Objective objective = solver.maximises_value ? Objective::kThroughput : Objective::kPriority;
  const Solution solution = solve(solver, Problem{scenario.system, objective}, options);
  return {{solved(scenario, solution)}, {{solution.seconds}}};
}

std::string title_of(const SweepPlan& plan, const StudyRow& row) {
  std::string title;
  const SweepPoint& point = plan.points[row.point];
  for (std::size_t at = 0; at < plan.axes.size(); ++at)
    title += plan.axes[at].label + " = " + plan.axes[at].values[point.values[at]].text + ", ";
  title += row.solver.empty() ? "policy " + row.policy + ", " + row.distribution : "solver " + row.solver;
  return title + ", seed " + std::to_string(row.seed);
}

/// A trace is identified by its content, not by its name.
std::string content_of(const SweepSizes& sizes) {
  constexpr std::string_view kTrace = "trace:";
  if (!sizes.spec.starts_with(kTrace)) return sizes.spec;
  std::ifstream file(sizes.spec.substr(kTrace.size()), std::ios::binary);
  return std::string(kTrace) + std::string(std::istreambuf_iterator<char>(file), {});
}

/// Makes charts: the x axis is the first varied field; each combination of the others has its own chart.
class Charts {
 public:
  Charts(const SweepPlan& plan, const Study& study, std::span<const UnitResult* const> results)
      : plan_(plan), study_(study), results_(results) {}

  std::vector<Chart> make() const {
    std::map<std::vector<std::size_t>, std::vector<std::size_t>> groups;  // other values: rows
    for (std::size_t at = 0; at < study_.rows.size(); ++at) {
      if (results_[at] == nullptr) continue;
      const std::vector<std::size_t>& values = plan_.points[study_.rows[at].point].values;
      groups[{values.begin() + std::min<std::ptrdiff_t>(1, std::ssize(values)), values.end()}].push_back(at);
    }
    std::vector<Chart> charts;
    for (const auto& [others, rows] : groups) {
      std::string suffix;
      for (std::size_t at = 0; at < others.size(); ++at)
        suffix += ", " + plan_.axes[at + 1].label + " = " + plan_.axes[at + 1].values[others[at]].text;
      const std::string number = groups.size() > 1 ? "-" + std::to_string(charts.size() / 2 + 1) : "";
      charts.push_back(chart("throughput" + number, "Throughput" + suffix, "tasks per second", kThroughput,
                             kThroughputHalfWidth, rows));
      charts.push_back(chart("response-time" + number, "Mean response time" + suffix, "seconds", kResponse,
                             kResponseHalfWidth, rows));
      if (charts.size() >= kMostCharts) break;  // the table has all values
    }
    return charts;
  }

 private:
  std::string label_of(const StudyRow& row) const {
    if (!row.solver.empty()) return row.solver + " (solver)";
    return plan_.distributions.size() > 1 ? row.policy + ", " + row.distribution : row.policy;
  }

  Chart chart(const std::string& name, const std::string& title, const std::string& y_label, Column value,
              Column half_width, const std::vector<std::size_t>& rows) const {
    Chart chart;
    chart.name = name;
    chart.title = title;
    chart.y_label = y_label;
    const SweepAxis* const axis = plan_.axes.empty() ? nullptr : &plan_.axes.front();
    const bool is_line = axis != nullptr && axis->is_numeric() && axis->values.size() > 1;
    chart.kind = is_line ? Chart::Kind::kLines : Chart::Kind::kBars;
    chart.x_label = axis == nullptr ? "" : axis->label;
    if (is_line) {
      chart.log_x = is_geometric(*axis);
    } else if (axis == nullptr) {
      chart.categories = {plan_.title.empty() ? "all" : plan_.title};
    } else {
      for (const Cell& cell : axis->values) chart.categories.push_back(cell.text);
    }
    const std::size_t width = axis == nullptr ? 1 : axis->values.size();

    std::vector<std::string> order;
    std::map<std::string, std::vector<std::vector<std::size_t>>> by_label;  // rows at each x: one per seed
    for (const std::size_t row : rows) {
      const std::string label = label_of(study_.rows[row]);
      auto [it, is_new] = by_label.try_emplace(label, width);
      if (is_new) order.push_back(label);
      const std::vector<std::size_t>& values = plan_.points[study_.rows[row].point].values;
      it->second[values.empty() ? 0 : values[0]].push_back(row);
    }
    for (const std::string& label : order) {
      Series series;
      series.label = label;
      for (std::size_t x = 0; x < width; ++x) {
        series.x.push_back(is_line ? *axis->values[x].number : static_cast<double>(x));
        add_value(series, by_label[label][x], value, half_width);
      }
      const auto is_nan = [](double bound) { return std::isnan(bound); };
      if (std::all_of(series.low.begin(), series.low.end(), is_nan)) {
        series.low.clear();
        series.high.clear();
      }
      chart.series.push_back(std::move(series));
    }
    chart.caption = plan_.seeds.size() > 1 ? "Means over " + std::to_string(plan_.seeds.size()) +
                                                 " seeds with their 95% confidence intervals."
                                           : "With 95% confidence intervals of the simulation.";
    return chart;
  }

  /// One seed: its own interval. Several: the mean over them and its interval.
  void add_value(Series& series, const std::vector<std::size_t>& rows, Column value,
                 Column half_width) const {
    std::vector<double> values;
    for (const std::size_t row : rows) {
      const double y = results_[row]->rows[0][value];
      if (!std::isnan(y)) values.push_back(y);
    }
    if (values.empty()) {
      for (auto* const numbers : {&series.y, &series.low, &series.high}) numbers->push_back(kNone);
      return;
    }
    const Estimate mean = mean_interval(values);
    const double half =
        values.size() > 1 ? mean.half_width.value_or(kNone) : results_[rows.front()]->rows[0][half_width];
    series.y.push_back(mean.mean);
    series.low.push_back(mean.mean - half);
    series.high.push_back(mean.mean + half);
  }

  /// Values that grow by factors, not by steps.
  static bool is_geometric(const SweepAxis& axis) {
    if (axis.values.size() < 3) return false;
    const double first = *axis.values[0].number;
    const double second = *axis.values[1].number;
    const double last = axis.values.back().number.value();
    if (!(first > 0 && second > first && last > second)) return false;
    return last / first >= 30 &&
           last - first > 3 * (second - first) * static_cast<double>(axis.values.size());
  }

  const SweepPlan& plan_;
  const Study& study_;
  std::span<const UnitResult* const> results_;
};

Cell number_cell(double value) {
  return std::isnan(value) ? Cell{"", {}} : Cell{readable::number(value), value};
}

}  // namespace

Study make_study(const SweepPlan& plan) {
  Study study;
  std::map<std::string, std::size_t> known;  // by name
  std::map<std::string, std::pair<std::shared_ptr<const Distribution>, std::string>> sizes;
  for (const SweepSizes& entry : plan.distributions)
    sizes[entry.name] = {make_distribution(entry.spec), content_of(entry)};
  for (std::size_t point = 0; point < plan.points.size(); ++point) {
    for (const std::uint64_t seed : plan.seeds) {
      const Scenario scenario = scenario_of(plan.points[point], seed);
      const std::string text = write_scenario(scenario, FileFormat::kJson);
      const std::vector<std::string> columns = columns_of(scenario.system);
      const auto add = [&](StudyRow row, const Digest& digest, auto run) {
        const auto [it, is_new] = known.try_emplace("sweep/" + digest.text(), study.experiments.size());
        row.experiment = it->second;
        study.rows.push_back(row);
        if (!is_new) return;
        Experiment experiment;
        experiment.name = it->first;
        experiment.title = title_of(plan, row);
        experiment.version = kVersion;
        experiment.columns = columns;
        experiment.timing_columns = {"seconds"};
        experiment.units = [](const Effort&) -> std::size_t { return 1; };
        experiment.run = std::move(run);
        study.experiments.push_back(std::move(experiment));
      };
      for (const std::string& solver : plan.solvers) {
        const StudyRow row{point, seed, "", solver, ""};
        add(row, Digest().add("solver").add(solver).add(seed).add(text),
            [&plan, row](const Effort&, std::size_t, const StopLimits& stop) {
              return solve_row(plan, row, stop);
            });
      }
      for (const SweepSizes& entry : plan.distributions) {
        const auto& [distribution, content] = sizes[entry.name];
        for (const std::string& policy : plan.policies) {
          const StudyRow row{point, seed, policy, "", entry.name};
          Digest digest;
          digest.add("policy").add(policy).add(content).add(seed).add(text);
          digest.add(plan.completions).add(plan.replications).add(kStartWords[plan.random_start ? 0 : 1]);
          digest.add(plan.warmup ? std::to_string(*plan.warmup) : "auto");
          add(row, digest,
              [&plan, row, drawn = distribution](const Effort&, std::size_t, const StopLimits& stop) {
                return simulate_row(plan, row, *drawn, stop);
              });
        }
      }
    }
  }
  return study;
}

Findings conclude_study(const SweepPlan& plan, const Study& study,
                        std::span<const std::vector<UnitResult>> by_experiment) {
  Findings findings;
  std::vector<const UnitResult*> results;  // by row
  for (const StudyRow& row : study.rows) {
    const std::vector<UnitResult>& found = by_experiment[row.experiment];
    results.push_back(found.empty() ? nullptr : &found.front());
  }
  // Names in order of first appearance: points may have different tasks and resources.
  std::vector<std::string> columns;
  std::map<std::string, std::size_t> place;
  for (std::size_t at = 0; at < study.rows.size(); ++at) {
    if (results[at] == nullptr) continue;
    for (const std::string& column : study.experiments[study.rows[at].experiment].columns) {
      if (place.try_emplace(column, columns.size()).second) columns.push_back(column);
    }
  }
  Table table;
  table.name = "sweep";
  table.title = "All rows";
  for (const SweepAxis& axis : plan.axes) table.columns.push_back(axis.label);
  for (const char* const column : {"seed", "kind", "name", "distribution"})
    table.columns.emplace_back(column);
  Table timing = table;
  timing.title = "Seconds that each row took, beside others";
  timing.timing = true;
  timing.columns.emplace_back("seconds");
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  for (std::size_t at = 0; at < study.rows.size(); ++at) {
    if (results[at] == nullptr) continue;
    const StudyRow& row = study.rows[at];
    const SweepPoint& point = plan.points[row.point];
    std::vector<Cell> cells;
    for (std::size_t axis = 0; axis < plan.axes.size(); ++axis)
      cells.push_back(plan.axes[axis].values[point.values[axis]]);
    cells.push_back({std::to_string(row.seed), static_cast<double>(row.seed)});
    cells.push_back({row.solver.empty() ? "policy" : "solver", {}});
    cells.push_back({row.solver.empty() ? row.policy : row.solver, {}});
    cells.push_back({row.distribution, {}});
    std::vector<Cell> times = cells;
    times.push_back(number_cell(results[at]->timing[0][0]));
    timing.rows.push_back(std::move(times));
    std::vector<Cell> numbers(columns.size());
    for (std::size_t column = 0; column < study.experiments[study.rows[at].experiment].columns.size();
         ++column)
      numbers[place[study.experiments[study.rows[at].experiment].columns[column]]] =
          number_cell(results[at]->rows[0][column]);
    cells.insert(cells.end(), numbers.begin(), numbers.end());
    table.rows.push_back(std::move(cells));
  }
  findings.text = readable::counted(static_cast<Count>(plan.points.size()), "point") + ", " +
                  readable::counted(static_cast<Count>(table.rows.size()), "row") + ". ";
  if (!plan.policies.empty()) {
    findings.text += "Each policy was simulated with " +
                     readable::counted(static_cast<Count>(plan.replications), "replication") + " of " +
                     readable::counted(static_cast<Count>(plan.completions), "completion") +
                     ", all policies on the same random numbers.";
  }
  findings.charts = Charts(plan, study, results).make();
  findings.tables.push_back(std::move(table));
  findings.tables.push_back(std::move(timing));
  return findings;
}

}  // namespace allot
