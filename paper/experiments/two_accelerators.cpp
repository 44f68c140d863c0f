// The 2 GP + 2 SA system of section 5.2: how far MAP is from the optimum, by formula and by simulation.
#include <fmt/format.h>

#include <array>

#include "paper/experiments/support.hpp"

namespace allot::experiments::two_accelerators {
namespace {

constexpr std::array<const char*, 3> kSizes{"exponential", "bounded-pareto", "uniform"};
constexpr std::array<const char*, 3> kSolvers{"best-fit", "map", "local"};

// A row per size distribution, and one (-1) for the formula: throughputs of the three solvers' states and of
// the optimum.
enum : std::size_t { kDistribution, kFirstSolver, kOptimum = 4 };

UnitResult run(const Effort& effort, std::size_t unit, const StopLimits& stop) {
  GenerateOptions shape;
  shape.specialized = 2;
  shape.threads = 32;
  const System system = random_system(effort, unit, shape);
  std::vector<Assignment> states;
  for (const char* solver : kSolvers) states.push_back(run_solver(solver, system, stop).assignment);
  states.push_back(optimum(system, stop).assignment);

  UnitResult result;
  result.rows.push_back({-1});
  for (const Assignment& state : states) result.rows[0].push_back(evaluate(system, state).throughput);
  const SimulateOptions options = simulation(effort, unit, 40'000, 10'000);
  for (std::size_t at = 0; at < kSizes.size(); ++at) {
    const auto sizes = make_distribution(kSizes[at]);
    Row row{static_cast<double>(at)};
    for (const Assignment& state : states) {
      row.push_back(run_state(system, state, *sizes, options, stop).throughput.mean);
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

Findings conclude(const Effort&, std::span<const UnitResult> results) {
  const auto below = [&](int distribution, std::size_t solver) {
    return summary(collect(results, kDistribution, distribution,
                           [=](const Row& row) { return 1 - row[kFirstSolver + solver] / row[kOptimum]; }));
  };
  Findings findings;
  findings.text = fmt::format(
      "2 GP + 2 SA, 32 threads, rates and counts drawn at random, {} systems. Each solver's assignment is "
      "held and simulated for 40,000 completions under each size distribution; `formula` is the model's "
      "throughput of the same states.",
      results.size());
  Table table{"two-accelerators",
              "Throughput below the proven optimum, 2 GP + 2 SA",
              false,
              {"sizes", "Best Fit", "MAP", "MAP, 95% half-width", "MAP, worst", "local"}};
  Chart chart = chart_of(Chart::Kind::kBars, "two-accelerators", "2 GP + 2 SA: throughput below the optimum",
                         "task sizes", "throughput below the optimum (%)");
  std::vector<double> x;
  std::array<std::vector<Summary>, 3> by_solver;
  for (int distribution = -1; distribution < static_cast<int>(kSizes.size()); ++distribution) {
    const std::string name = distribution < 0 ? "formula" : kSizes[static_cast<std::size_t>(distribution)];
    const Summary map = below(distribution, 1);
    x.push_back(static_cast<double>(x.size()));
    chart.categories.push_back(name);
    for (std::size_t solver = 0; solver < 3; ++solver)
      by_solver[solver].push_back(below(distribution, solver));
    table.rows.push_back({text(name), percent_cell(below(distribution, 0).mean), percent_cell(map.mean),
                          percent_cell(map.half_width), percent_cell(map.largest, 2),
                          percent_cell(below(distribution, 2).mean, 4)});
    if (distribution < 0) continue;
    findings.claims.push_back(
        {"section 5.2", fmt::format("2 GP + 2 SA: MAP is 0.5% from the optimum ({})", name),
         fmt::format("{} below over {} runs, worst {}; Best Fit {}; local {}", percent(map), map.count,
                     percent(map.largest, 1), percent(below(distribution, 0), 1),
                     percent(below(distribution, 2), 3)),
         at_most(map, 0.005)});
  }
  const std::array<const char*, 3> labels{"Best Fit", "MAP", "local"};
  for (std::size_t solver = 0; solver < 3; ++solver) {
    chart.series.push_back(series(labels[solver], x, by_solver[solver], 100));
  }
  chart.caption =
      "The distance from the optimum does not depend on the size distribution. Means with 95% intervals.";
  findings.charts.push_back(std::move(chart));
  findings.tables.push_back(std::move(table));
  return findings;
}

}  // namespace

Experiment experiment();
Experiment experiment() {
  return {.name = "two-accelerators",
          .title = "Two accelerators: MAP on 2 GP + 2 SA",
          .columns = {"sizes", "best_fit", "map", "local", "optimum"},
          .units = [](const Effort& effort) { return samples(effort, 600); },
          .run = run,
          .conclude = conclude};
}

}  // namespace allot::experiments::two_accelerators
