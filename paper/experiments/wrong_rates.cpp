// The effect of wrong rates: solve with perturbed rates, complete tasks at the true ones.
#include <fmt/format.h>

#include <array>

#include "allot/base/random.hpp"
#include "paper/experiments/support.hpp"

namespace allot::experiments::wrong_rates {
namespace {

constexpr std::array<double, 5> kErrors{0, 0.05, 0.1, 0.2, 0.5};
constexpr std::array<const char*, 3> kSolvers{"map", "local", "exact"};
constexpr std::array<const char*, 3> kLabels{"MAP", "local", "optimum of the wrong rates"};

// A row per size of the error: the loss of each solver's answer against the true optimum, then of Best Fit.
enum : std::size_t { kError, kFirst, kBestFit = 4 };

UnitResult run(const Effort& effort, std::size_t unit, const StopLimits& stop) {
  const System truth = random_system(effort, unit);
  const double best = optimum(truth, stop).performance.throughput;
  const double best_fit = 1 - evaluate(truth, home_assignment(truth)).throughput / best;
  UnitResult result;
  for (const double error : kErrors) {
    RandomStream random(sample_seed(effort, Purpose::kPerturbation, unit));
    std::vector<double> rates = truth.rates().values();
    for (double& rate : rates) rate *= 1 + error * random.uniform(-1, 1);
    const System believed = with_rates(truth, std::move(rates));
    Row row{error};
    for (const char* solver : kSolvers) {
      row.push_back(1 - evaluate(truth, run_solver(solver, believed, stop).assignment).throughput / best);
    }
    row.push_back(best_fit);
    result.rows.push_back(std::move(row));
  }
  return result;
}

Findings conclude(const Effort&, std::span<const UnitResult> results) {
  Findings findings;
  findings.text = fmt::format(
      "2 GP + 1 SA, 18 threads, {} systems. Every rate that the solver sees is multiplied by 1 + e U(-1, 1), "
      "one draw a rate; its assignment is then rated with the true rates and compared with the true optimum. "
      "Best Fit, which needs no rates once the homes are known, is the level at which knowing them is worth "
      "nothing.",
      results.size());
  Table table{"wrong-rates",
              "Throughput lost by wrong rates",
              false,
              {"error of the rates up to", "solver", "mean loss", "95% half-width", "largest loss"}};
  Chart chart = chart_of(Chart::Kind::kLines, "wrong-rates", "Throughput lost by wrong rates",
                         "error of each rate, up to (%)", "throughput below the true optimum (%)");
  std::vector<double> x;
  for (const double error : kErrors) x.push_back(100 * error);
  std::array<std::vector<Summary>, 4> losses;
  for (std::size_t solver = 0; solver < 4; ++solver) {
    for (const double error : kErrors) {
      const Summary s =
          summary(collect(results, kError, error, [&](const Row& row) { return row[kFirst + solver]; }));
      losses[solver].push_back(s);
      table.rows.push_back({percent_cell(error, 0), text(solver < 3 ? kLabels[solver] : "Best Fit"),
                            percent_cell(s.mean), percent_cell(s.half_width), percent_cell(s.largest, 1)});
    }
    chart.series.push_back(series(solver < 3 ? kLabels[solver] : "Best Fit", x, losses[solver], 100));
  }
  chart.caption =
      "Small errors cost next to nothing: only those that change the order of two choices cost anything. "
      "Means with 95% intervals.";
  findings.claims.push_back(
      {"beyond the paper", "-",
       fmt::format("rates wrong by up to 5, 10, 20 and 50% cost MAP's answer {}, {}, {} and {} of the "
                   "optimum ({} when they are right); Best Fit loses {}",
                   percent(losses[0][1]), percent(losses[0][2]), percent(losses[0][3]), percent(losses[0][4]),
                   percent(losses[0][0]), percent(losses[3][0])),
       Verdict::kNew});
  findings.charts.push_back(std::move(chart));
  findings.tables.push_back(std::move(table));
  return findings;
}

}  // namespace

Experiment experiment();
Experiment experiment() {
  return {.name = "wrong-rates",
          .title = "How much a wrong rate matters",
          .columns = {"error", "map", "local", "exact", "best_fit"},
          .units = [](const Effort& effort) { return samples(effort, 600); },
          .run = run,
          .conclude = conclude};
}

}  // namespace allot::experiments::wrong_rates
