// Open arrivals in a piece-wise fashion (section 2.2): MAP solved again at every change of the population,
// against JSQ and others.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "paper/experiments/support.hpp"

namespace allot::experiments::open_arrivals {
namespace {

constexpr std::array<double, 5> kLoads{0.3, 0.5, 0.7, 0.8, 0.9};
constexpr std::array<const char*, 5> kPolicies{"jsq", "map", "best-fit", "load-balance",
                                               "min-completion-time"};
constexpr std::array<const char*, 5> kLabels{"JSQ", "MAP, piece-wise", "Best Fit", "LB",
                                             "min. completion time"};
constexpr std::size_t kMap = 1;

enum : std::size_t { kLoad, kPolicy, kResponse, kPiled };

/// The maximum arrival rate, in the mix of the counts, that any time shares can serve.
double capacity(const System& system, const StopLimits& stop) {
  std::vector<TaskClass> tasks = system.tasks();
  for (TaskClass& task : tasks) {
    task.priority = static_cast<double>(task.count);
    task.count = 1000;  // more threads than servers: no limit
  }
  const System saturated(system.resources(), std::move(tasks), system.rates());
  return run_solver("weighted", saturated, stop, Objective::kPriority).performance.throughput;
}

UnitResult run(const Effort& effort, std::size_t unit, const StopLimits& stop) {
  GenerateOptions shape;
  shape.lowest_rate = 0.1;  // a type that hardly runs anywhere would dominate the result
  const System drawn = random_system(effort, unit, shape);
  const double most = capacity(drawn, stop);
  const auto sizes = make_distribution("exponential");
  const std::vector<Count> nobody(drawn.type_count(), 0);
  Scenario scenario = scenario_of(drawn.with_counts(nobody));
  UnitResult result;
  for (const double load : kLoads) {
    scenario.arrivals.clear();
    for (const TaskType i : drawn.types()) {
      const double share = static_cast<double>(drawn.count(i)) / static_cast<double>(drawn.population());
      scenario.arrivals.push_back({i, load * most * share});
    }
    for (std::size_t at = 0; at < kPolicies.size(); ++at) {
      const SimulateOptions options = simulation(effort, unit, 10'000, 1'000);
      const SimulationResult s = run_policy(scenario, kPolicies[at], *sizes, options, stop);
      // Little's law fails over a finite window if the number of tasks keeps growing.
      const bool piled = s.population > 1.1 * s.little;
      result.rows.push_back({load, static_cast<double>(at), s.response_time.mean, piled ? 1.0 : 0.0});
    }
  }
  return result;
}

Findings conclude(const Effort&, std::span<const UnitResult> results) {
  Findings findings;
  findings.text = fmt::format(
      "2 GP + 1 SA with rates from 0.1 to 1, {} systems. Each type arrives in a Poisson stream, in the mix "
      "of the drawn counts, at 30 to 90% of the largest rate that any division of the resources' time can "
      "serve. MAP is solved again whenever the number of tasks of a type changes. 10,000 completions with "
      "exponential sizes; a system counts as overloaded when its tasks pile up. Response times are compared "
      "on the systems that neither policy overloads.",
      results.size());
  Table table{
      "open-arrivals",
      "Response time against JSQ, and overload",
      false,
      {"load", "policy", "systems compared", "E[T] / JSQ's, geometric mean", "low", "high", "overloaded"}};
  Chart response = chart_of(Chart::Kind::kLines, "open-arrivals", "Open arrivals: response time against JSQ",
                            "load (% of the largest that can be served)", "E[T] / E[T] of JSQ");
  response.log_y = true;
  Chart overload = response;
  overload.name = "open-arrivals-overload";
  overload.title = "Open arrivals: systems overloaded";
  overload.y_label = "systems in which tasks pile up (%)";
  overload.log_y = false;
  std::vector<double> x;
  for (const double load : kLoads) x.push_back(100 * load);
  std::array<std::vector<Summary>, kPolicies.size()> ratios, piled;
  for (std::size_t at = 0; at < kPolicies.size(); ++at) {
    for (std::size_t load = 0; load < kLoads.size(); ++load) {
      std::vector<double> values, over;
      for (const UnitResult& result : results) {
        const Row& row = result.rows[load * kPolicies.size() + at];
        const Row& jsq = result.rows[load * kPolicies.size()];
        over.push_back(row[kPiled]);
        if (row[kPiled] == 0 && jsq[kPiled] == 0) values.push_back(row[kResponse] / jsq[kResponse]);
      }
      const Summary ratio = geometric(values);
      ratios[at].push_back(ratio);
      piled[at].push_back(summary(over));
      table.rows.push_back({percent_cell(kLoads[load], 0), text(kLabels[at]),
                            number(static_cast<double>(ratio.count)), number(ratio.mean, 3),
                            number(ratio.low, 3), number(ratio.high, 3),
                            percent_cell(piled[at].back().mean, 1)});
    }
    Series curve = series(kLabels[at], x, ratios[at]);
    for (std::size_t load = 0; load < kLoads.size(); ++load) {
      if (ratios[at][load].count == 0) curve.y[load] = std::nan("");
    }
    if (at > 0) response.series.push_back(std::move(curve));
    Series shares{kLabels[at], x, {}, {}, {}};
    for (const Summary& s : piled[at]) shares.y.push_back(100 * s.mean);
    overload.series.push_back(std::move(shares));
  }
  response.caption =
      "Below 1: shorter than under JSQ. Geometric means with 95% intervals, logarithmic scale.";
  overload.caption =
      "A policy that sends work where it is slow runs out of capacity before the resources need to.";
  std::size_t better = 0, worse = 0;
  for (const Summary& ratio : ratios[kMap]) {
    if (ratio.count < 2) continue;
    better += ratio.high < 1 ? 1 : 0;
    worse += ratio.low > 1 ? 1 : 0;
  }
  findings.claims.push_back(
      {"section 2.2", "the approach extends to open systems in a piece-wise fashion",
       fmt::format("E[T] of piece-wise MAP over JSQ's: {} at 30% load, {} at 50%, {} at 70%; at 90% it "
                   "overloads {} of the systems, JSQ {}",
                   factor(ratios[kMap][0]), factor(ratios[kMap][1]), factor(ratios[kMap][2]),
                   percent(piled[kMap][4].mean, 0), percent(piled[0][4].mean, 0)),
       results.size() < kEnough  ? Verdict::kUndecided
       : better == kLoads.size() ? Verdict::kHolds
       : better > 0              ? Verdict::kPartly
       : worse > 0               ? Verdict::kFails
                                 : Verdict::kUndecided});
  findings.charts = {std::move(response), std::move(overload)};
  findings.tables.push_back(std::move(table));
  return findings;
}

}  // namespace

Experiment experiment();
Experiment experiment() {
  return {.name = "open-arrivals",
          .title = "Open arrivals, piece-wise",
          .columns = {"load", "policy", "response_time", "piled_up"},
          .units = [](const Effort& effort) { return samples(effort, 40, 3); },
          .run = run,
          .conclude = conclude};
}

}  // namespace allot::experiments::open_arrivals
