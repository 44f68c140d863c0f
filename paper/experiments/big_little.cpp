// Systems without affinity: every type is fastest on the first processor, then on the second, ...
#include <fmt/format.h>

#include <array>

#include "paper/experiments/support.hpp"

namespace allot::experiments::big_little {
namespace {

constexpr std::array<const char*, 5> kLabels{"all on big", "LB", "JSQ", "MAP", "local"};
constexpr std::size_t kMap = 3;

UnitResult run(const Effort& effort, std::size_t unit, const StopLimits& stop) {
  GenerateOptions shape;
  shape.general = 3;
  shape.specialized = 0;
  shape.rule = AffinityRule::kOrdered;
  const System system = random_system(effort, unit, shape);
  Assignment big(system.type_count(), system.resource_count());
  for (const TaskType i : system.types()) big(i, ResourceId{0}) = system.count(i);
  const SimulateOptions options = simulation(effort, unit, 30'000, 5'000);
  const auto sizes = make_distribution("exponential");
  const Scenario scenario = scenario_of(system);
  return {{{evaluate(system, big).throughput,
            run_policy(scenario, "load-balance", *sizes, options, stop).throughput.mean,
            run_policy(scenario, "jsq", *sizes, options, stop).throughput.mean,
            run_solver("map", system, stop).performance.throughput,
            run_solver("local", system, stop).performance.throughput,
            optimum(system, stop).performance.throughput}},
          {}};
}

Findings conclude(const Effort&, std::span<const UnitResult> results) {
  Findings findings;
  findings.text = fmt::format(
      "Three general processors, 18 threads, {} systems in which every type is fastest on the first, then on "
      "the second processor (`allot generate --rule ordered`), as in big.LITTLE. LB and JSQ are simulated "
      "(exponential sizes, 30,000 completions), the others are states, by formula. `all on big` prefers the "
      "big core for every task, and is where MAP starts.",
      results.size());
  Table table{"big-little",
              "Throughput below the optimum without affinity",
              false,
              {"method", "mean", "95% half-width", "largest", "optimal in"}};
  Chart chart = chart_of(Chart::Kind::kBars, "big-little", "big.LITTLE: throughput below the optimum",
                         "method", "throughput below the optimum (%)");
  chart.categories.assign(kLabels.begin(), kLabels.end());
  std::vector<double> x;
  std::vector<Summary> below;
  std::vector<double> hits;
  for (std::size_t at = 0; at < kLabels.size(); ++at) {
    const std::vector<double> loss = collect(
        results, [&](const Row& row) -> std::optional<double> { return 1 - row[at] / row[kLabels.size()]; });
    hits.push_back(static_cast<double>(without_loss(loss)) / static_cast<double>(loss.size()));
    x.push_back(static_cast<double>(at));
    below.push_back(summary(loss));
    table.rows.push_back({text(kLabels[at]), percent_cell(below[at].mean), percent_cell(below[at].half_width),
                          percent_cell(below[at].largest, 1), percent_cell(hits[at], 1)});
  }
  chart.series.push_back(series("below the optimum", x, below, 100));
  chart.caption = "Idle little cores are the loss of the first bar. Means with 95% intervals.";
  findings.claims.push_back(
      {"section 2.1",
       "without affinity (big.LITTLE) big cores are always preferred to small ones for maximum performance",
       fmt::format("true of a task alone; all tasks on the big core are {} below the optimum, as a core left "
                   "idle is lost",
                   percent(below[0], 1)),
       // "Always" is refuted by one system.
       below[0].largest > 0.01    ? Verdict::kPartly
       : below[0].count < kEnough ? Verdict::kUndecided
                                  : Verdict::kHolds});
  findings.claims.push_back(
      {"beyond the paper", "-",
       fmt::format(
           "without affinity MAP is {} below the optimum (worst {}, optimal in {}), `local` {}; JSQ {}",
           percent(below[kMap]), percent(below[kMap].largest, 0), percent(hits[kMap], 0),
           percent(below[4], 3), percent(below[2], 1)),
       Verdict::kNew});
  findings.charts.push_back(std::move(chart));
  findings.tables.push_back(std::move(table));
  return findings;
}

}  // namespace

Experiment experiment();
Experiment experiment() {
  return {.name = "big-little",
          .title = "Systems without affinity: big.LITTLE",
          .columns = {"all_on_big", "load_balance", "jsq", "map", "local", "optimum"},
          .units = [](const Effort& effort) { return samples(effort, 600); },
          .run = run,
          .conclude = conclude};
}

}  // namespace allot::experiments::big_little
