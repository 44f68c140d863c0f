// Fairness: the effect of the throughput optimum on the slowest type, and the cost of equal treatment.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "paper/experiments/support.hpp"

namespace allot::experiments::fairness {
namespace {

constexpr std::array<const char*, 6> kLabels{
    "Best Fit", "MAP", "optimum", "local, equal shares", "weighted, exact", "weighted, floor"};
constexpr std::size_t kOptimum = 2;

// A row per method: throughput, response time of the slowest type over the mean one, Jain's index of the
// threads' completions.
enum : std::size_t { kMethod, kX, kSlowest, kJain };

Row row_of(const System& system, std::size_t method, const Performance& performance) {
  double slowest = 0;
  double sum = 0;
  double squares = 0;
  for (const TaskType i : system.types()) {
    const double n = static_cast<double>(system.count(i));
    const double per_thread = performance.throughput_by_task[index(i)] / n;
    slowest = std::max(slowest, 1 / per_thread);
    sum += n * per_thread;
    squares += n * per_thread * per_thread;
  }
  const double q = static_cast<double>(system.population());
  return {static_cast<double>(method), performance.throughput, slowest * performance.throughput / q,
          sum * sum / (q * squares)};
}

UnitResult run(const Effort& effort, std::size_t unit, const StopLimits& stop) {
  const System drawn = random_system(effort, unit);
  std::vector<TaskClass> tasks = drawn.tasks();
  for (TaskClass& task : tasks) task.priority = static_cast<double>(task.count);  // every thread the same
  const System system(drawn.resources(), std::move(tasks), drawn.rates());
  SolveOptions floors;
  floors.settings.set("shares", ShareReading::kFloor);
  const std::array<Performance, 6> answers{
      run_solver("best-fit", system, stop).performance,
      run_solver("map", system, stop).performance,
      optimum(system, stop).performance,
      run_solver("local", system, stop, Objective::kPriority).performance,
      run_solver("weighted", system, stop, Objective::kPriority).performance,
      run_solver("weighted", system, stop, Objective::kPriority, floors).performance};
  UnitResult result;
  for (std::size_t at = 0; at < answers.size(); ++at) result.rows.push_back(row_of(system, at, answers[at]));
  return result;
}

Findings conclude(const Effort&, std::span<const UnitResult> results) {
  Findings findings;
  findings.text = fmt::format(
      "2 GP + 1 SA, 18 threads, {} systems, by formula. Equal treatment means that every thread completes "
      "equally often: desired shares in proportion to the counts. `local` looks for them by numbers of "
      "tasks, `weighted` by dividing the time of the resources: exactly, or as floors above which throughput "
      "is maximal. Jain's index of the threads' completion rates is 1 when all are equal and 1/18 when one "
      "has everything.",
      results.size());
  Table table{"fairness",
              "Throughput and fairness",
              false,
              {"method", "throughput against the optimum", "95% half-width",
               "slowest type's response time / mean, geometric mean", "largest", "Jain's index",
               "95% half-width of that"}};
  Chart slowest = chart_of(Chart::Kind::kBars, "fairness-slowest", "The slowest type against the mean",
                           "method", "response time, slowest type / mean");
  slowest.log_y = true;
  Chart kept = slowest;
  kept.name = "fairness-throughput";
  kept.title = "What equal shares cost";
  kept.y_label = "throughput against the optimum (%)";
  kept.log_y = false;
  std::vector<double> x;
  std::vector<Summary> ratios, throughputs, jains;
  for (std::size_t at = 0; at < kLabels.size(); ++at) {
    std::vector<double> relative, slow, jain;
    for (const UnitResult& result : results) {
      relative.push_back(result.rows[at][kX] / result.rows[kOptimum][kX]);
      slow.push_back(result.rows[at][kSlowest]);
      jain.push_back(result.rows[at][kJain]);
    }
    x.push_back(static_cast<double>(at));
    throughputs.push_back(summary(relative));
    ratios.push_back(geometric(slow));
    jains.push_back(summary(jain));
    table.rows.push_back({text(kLabels[at]), percent_cell(throughputs[at].mean, 1),
                          percent_cell(throughputs[at].half_width, 1), number(ratios[at].mean, 3),
                          number(ratios[at].largest, 3), number(jains[at].mean, 3),
                          number(jains[at].half_width, 2)});
  }
  slowest.categories = kept.categories = {"Best Fit", "MAP", "optimum", "local", "w. exact", "w. floor"};
  slowest.series.push_back(series("slowest type", x, ratios));
  kept.series.push_back(series("throughput", x, throughputs, 100));
  slowest.caption = "1: all types wait equally long. Geometric means with 95% intervals, logarithmic scale.";
  kept.caption = "Means with 95% intervals. `w.`: weighted service, equal shares exactly or as floors.";
  findings.claims.push_back(
      {"beyond the paper", "-",
       fmt::format("at the throughput optimum the slowest type waits {} times as long as the mean task "
                   "(geometric mean; up to {} times); under Best Fit {}",
                   factor(ratios[kOptimum]), number_text(ratios[kOptimum].largest, 2), factor(ratios[0])),
       Verdict::kNew});
  findings.claims.push_back(
      {"beyond the paper", "-",
       fmt::format("equal completion rates for all threads keep {} of the optimal throughput by weighted "
                   "service, and {} by numbers of tasks alone (`local`), which still leaves the slowest type "
                   "at {} times the mean",
                   percent(throughputs[4], 1), percent(throughputs[3], 1), factor(ratios[3])),
       Verdict::kNew});
  findings.charts = {std::move(slowest), std::move(kept)};
  findings.tables.push_back(std::move(table));
  return findings;
}

}  // namespace

Experiment experiment();
Experiment experiment() {
  return {.name = "fairness",
          .title = "Fairness: the slowest type, and what shares cost",
          .columns = {"method", "throughput", "slowest", "jain"},
          .units = [](const Effort& effort) { return samples(effort, 600); },
          .run = run,
          .conclude = conclude};
}

}  // namespace allot::experiments::fairness
