// "Maximum throughput, and consequently better energy efficiency" (sections 2.1 and 3.2), tested over all
// states of random systems with random powers.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "allot/base/random.hpp"
#include "paper/experiments/support.hpp"

namespace allot::experiments::energy {
namespace {

constexpr std::array<const char*, 3> kLabels{"equal powers", "random powers", "random, and idle power"};

// A row per power model. Energy per task and energy-delay product: at the throughput optimum, the minimum
// over all states, under Best Fit, the mean over all states; and the throughput at the minimum energy and at
// the minimum EDP against the maximum.
enum : std::size_t {
  kModel,
  kEnergy,
  kLeastEnergy,
  kFitEnergy,
  kMeanEnergy,
  kEdp,
  kLeastEdp,
  kX,
  kXAtEnergy,
  kXAtEdp
};

/// Watts over completions per second.
double energy_of(const System& system, const Assignment& state, double throughput) {
  double watts = 0;
  for (const ResourceId j : system.resource_ids()) {
    const Resource& resource = system.resource(j);
    const double busy = static_cast<double>(std::min(resource.servers, state.column_sum(j)));
    watts += busy * resource.power + (static_cast<double>(resource.servers) - busy) * resource.idle_power;
  }
  return watts / throughput;
}

UnitResult run(const Effort& effort, std::size_t unit, const StopLimits& stop) {
  const System drawn = random_system(effort, unit);
  const double q = static_cast<double>(drawn.population());
  UnitResult result;
  for (std::size_t model = 0; model < kLabels.size(); ++model) {
    RandomStream random(sample_seed(effort, Purpose::kPower, unit));
    std::vector<Resource> resources = drawn.resources();
    for (Resource& resource : resources) {
      const double power = random.uniform(1, 10);
      const double idle = random.uniform(0, 0.5);
      resource.power = model == 0 ? 1 : power;
      resource.idle_power = model == 2 ? idle * power : 0;
    }
    const System system(std::move(resources), drawn.tasks(), drawn.rates());
    const Solution best = optimum(system, stop);
    const Assignment home = home_assignment(system);
    Row row(10);
    row[kModel] = static_cast<double>(model);
    row[kX] = best.performance.throughput;
    row[kEnergy] = energy_of(system, best.assignment, row[kX]);
    row[kEdp] = row[kEnergy] * q / row[kX];
    row[kFitEnergy] = energy_of(system, home, evaluate(system, home).throughput);
    row[kLeastEnergy] = row[kLeastEdp] = INFINITY;
    double states = 0;
    for_each_state(system, [&](const Assignment& state) {
      double x = 0;
      for (const ResourceId j : system.resource_ids()) {
        x += column_value(system.resource(j).discipline, system.resource(j).servers,
                          column_sums(system, state, j));
      }
      const double energy = energy_of(system, state, x);
      if (energy < row[kLeastEnergy] * (1 - 1e-12)) {
        row[kLeastEnergy] = energy;
        row[kXAtEnergy] = x;
      }
      if (energy * q / x < row[kLeastEdp] * (1 - 1e-12)) {
        row[kLeastEdp] = energy * q / x;
        row[kXAtEdp] = x;
      }
      row[kMeanEnergy] += energy;
      ++states;
    });
    row[kMeanEnergy] /= states;
    result.rows.push_back(std::move(row));
  }
  return result;
}

Findings conclude(const Effort&, std::span<const UnitResult> results) {
  Findings findings;
  findings.text = fmt::format(
      "2 GP + 1 SA, 18 threads, {} systems, every state of each enumerated. Energy per task is the power "
      "drawn over the completions. Powers: 1 W everywhere and none when idle (the paper's model), U(1, 10) "
      "W, or the same with idle powers of up to half of it. How much more energy does the throughput optimum "
      "take than the state that takes the least?",
      results.size());
  Table table{
      "energy",
      "The throughput optimum and the least energy",
      false,
      {"powers", "optimum takes the least energy in", "energy above the least, mean", "95% half-width",
       "largest", "energy against Best Fit", "95% half-width of that", "energy against the mean state",
       "EDP above the least, mean", "X at the least energy", "X at the least EDP"}};
  Chart chart = chart_of(Chart::Kind::kBars, "energy", "What the throughput optimum costs in energy",
                         "powers", "above the least of all states (%)");
  chart.categories.assign(kLabels.begin(), kLabels.end());
  std::vector<double> x;
  std::vector<Summary> energies, edps, fits;
  std::vector<std::size_t> hits;
  std::vector<Summary> slow;
  for (std::size_t model = 0; model < kLabels.size(); ++model) {
    const auto of = [&](auto value) { return collect(results, kModel, static_cast<double>(model), value); };
    const std::vector<double> above =
        of([](const Row& row) { return std::max(0.0, row[kEnergy] / row[kLeastEnergy] - 1); });
    hits.push_back(without_loss(above));
    x.push_back(static_cast<double>(model));
    energies.push_back(summary(above));
    edps.push_back(summary(of([](const Row& row) { return std::max(0.0, row[kEdp] / row[kLeastEdp] - 1); })));
    fits.push_back(summary(of([](const Row& row) { return row[kEnergy] / row[kFitEnergy] - 1; })));
    slow.push_back(summary(of([](const Row& row) { return row[kXAtEnergy] / row[kX]; })));
    const Summary mean = summary(of([](const Row& row) { return row[kEnergy] / row[kMeanEnergy] - 1; }));
    const Summary x_at_edp = summary(of([](const Row& row) { return row[kXAtEdp] / row[kX]; }));
    table.rows.push_back(
        {text(kLabels[model]),
         percent_cell(static_cast<double>(hits[model]) / static_cast<double>(above.size()), 1),
         percent_cell(energies[model].mean, 1), percent_cell(energies[model].half_width, 1),
         percent_cell(energies[model].largest, 0), percent_cell(fits[model].mean, 1),
         percent_cell(fits[model].half_width, 1), percent_cell(mean.mean, 1),
         percent_cell(edps[model].mean, 1), percent_cell(slow[model].mean, 1),
         percent_cell(x_at_edp.mean, 1)});
  }
  chart.series = {series("energy per task", x, energies, 100), series("energy-delay product", x, edps, 100)};
  chart.caption =
      "The state with the least energy leaves costly resources empty. Means over all systems with 95% "
      "intervals.";
  for (std::size_t model = 0; model < kLabels.size(); ++model) {
    const bool better = fits[model].mean < 0;
    Verdict verdict = at_most(energies[model], 0.01);  // the minimum, within one percent
    if (verdict == Verdict::kPartly || verdict == Verdict::kFails) {
      verdict = fits[model].high < 0  ? Verdict::kPartly
                : fits[model].low > 0 ? Verdict::kFails
                                      : Verdict::kUndecided;
    }
    findings.claims.push_back(
        {"sections 2.1 and 3.2",
         fmt::format("maximum throughput consequently gives better energy efficiency ({})", kLabels[model]),
         fmt::format("the optimum takes {} energy than Best Fit, but {} more than the state that takes the "
                     "least (which keeps {} of the throughput); it is that state in {} of {} systems. Its "
                     "EDP is {} above the least",
                     percent(std::abs(fits[model].mean), 1) + (better ? " less" : " more"),
                     percent(energies[model], 1), percent(slow[model], 0), hits[model], results.size(),
                     percent(edps[model], 2)),
         verdict});
  }
  findings.charts.push_back(std::move(chart));
  findings.tables.push_back(std::move(table));
  return findings;
}

}  // namespace

Experiment experiment();
Experiment experiment() {
  return {.name = "energy",
          .title = "Does maximum throughput save energy?",
          .columns = {"model", "energy", "least_energy", "best_fit_energy", "mean_energy", "edp", "least_edp",
                      "throughput", "throughput_at_least_energy", "throughput_at_least_edp"},
          .units = [](const Effort& effort) { return samples(effort, 600); },
          .run = run,
          .conclude = conclude};
}

}  // namespace allot::experiments::energy
