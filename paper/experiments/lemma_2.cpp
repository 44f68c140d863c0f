// Lemma 2: the throughput of a state does not depend on the size distribution, but it does on the processing
// order.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "paper/experiments/support.hpp"

namespace allot::experiments::lemma_2 {
namespace {

constexpr std::array<const char*, 6> kSizes{"exponential",   "bounded-pareto", "uniform",
                                            "deterministic", "lognormal",      "hyperexponential"};
constexpr std::size_t kSimulated = 100;  // units with simulations; the others use only the formulas

// kind 0: simulation under ps, 1: under fcfs; sizes; simulated; formula.
// kind 2: the ps-optimal state's throughput under ps; under fcfs; the best under fcfs.
enum : std::size_t { kKind, kDistribution, kMeasured, kFormula };

UnitResult run(const Effort& effort, std::size_t unit, const StopLimits& stop) {
  const System ps = random_system(effort, unit);
  const System fcfs = ps.with_discipline(Discipline::kFcfs);
  const Assignment state = optimum(ps, stop).assignment;
  UnitResult result;
  result.rows.push_back({2, evaluate(ps, state).throughput, evaluate(fcfs, state).throughput,
                         optimum(fcfs, stop).performance.throughput});
  if (unit >= kSimulated) return result;
  const SimulateOptions options = simulation(effort, unit, 100'000, 10'000);
  for (std::size_t at = 0; at < kSizes.size(); ++at) {
    const auto sizes = make_distribution(kSizes[at]);
    for (const System* system : {&ps, &fcfs}) {
      result.rows.push_back({system == &fcfs ? 1.0 : 0.0, static_cast<double>(at),
                             run_state(*system, state, *sizes, options, stop).throughput.mean,
                             evaluate(*system, state).throughput});
    }
  }
  return result;
}

/// The throughput of one state under each processing order, and the largest of any state.
struct Orders {
  double ps = 0;
  double fcfs = 0;
  double best_fcfs = 0;
};

/// By the formulas: the ps-optimal state of a system that is small enough to enumerate.
Orders compare_orders(const System& ps) {
  const System fcfs = ps.with_discipline(Discipline::kFcfs);
  Orders orders;
  for_each_state(ps, [&](const Assignment& state) {
    const double x = evaluate(ps, state).throughput;
    const double y = evaluate(fcfs, state).throughput;
    if (x > orders.ps) {
      orders.ps = x;
      orders.fcfs = y;
    }
    orders.best_fcfs = std::max(orders.best_fcfs, y);
  });
  return orders;
}

Findings conclude(const Effort&, std::span<const UnitResult> results) {
  Findings findings;
  findings.text = fmt::format(
      "2 GP + 1 SA, 18 threads. The state that is best under even sharing is held and simulated for 100,000 "
      "completions under six size distributions, with even sharing and first come, first served (fcfs), and "
      "compared with the formulas (the arithmetic mean of the rates at a resource, and the harmonic one). "
      "Then, by formula on {} systems: what that state loses under fcfs against the state that is best "
      "there.",
      results.size());
  Table table{"lemma-2-sizes",
              "Simulated throughput against the formula",
              false,
              {"processing order", "sizes", "systems", "simulated / formula - 1", "95% half-width",
               "largest deviation"}};
  Chart chart = chart_of(Chart::Kind::kBars, "lemma-2-sizes", "Simulation against the formula", "task sizes",
                         "simulated above the formula (%)");
  chart.categories = {"expon.", "Pareto", "uniform", "constant", "lognormal", "hyperexp."};
  double off = 0;
  std::size_t outside = 0;
  Verdict independent = Verdict::kHolds;
  std::vector<double> x;
  for (std::size_t at = 0; at < kSizes.size(); ++at) x.push_back(static_cast<double>(at));
  for (const double kind : {0.0, 1.0}) {
    std::vector<Summary> means;
    for (std::size_t at = 0; at < kSizes.size(); ++at) {
      const Summary s = summary(collect(results, [&](const Row& row) -> std::optional<double> {
        if (row[kKind] != kind || row[kDistribution] != static_cast<double>(at)) return std::nullopt;
        return row[kMeasured] / row[kFormula] - 1;
      }));
      means.push_back(s);
      off = std::max(off, std::abs(s.mean));
      if (s.low > 0 || s.high < 0) ++outside;
      independent = both(independent, within(s, 0.005));
      table.rows.push_back({text(kind == 0 ? "ps" : "fcfs"), text(kSizes[at]),
                            number(static_cast<double>(s.count)), percent_cell(s.mean),
                            percent_cell(s.half_width), percent_cell(std::max(-s.least, s.largest), 2)});
    }
    chart.series.push_back(series(kind == 0 ? "even sharing (ps)" : "fcfs", x, means, 100));
  }
  chart.caption =
      "The formulas hold for every size distribution, each processing order having its own. Means with 95% "
      "intervals.";
  findings.claims.push_back(
      {"section 3.2, Lemma 2", "the optimal policy is independent of the task size distribution",
       fmt::format("the throughput of a state agrees with the formula to {} on average under each of {} "
                   "distributions, with ps and with fcfs ({} of {} intervals miss it; one in twenty may)",
                   percent(off, 3), kSizes.size(), outside, 2 * kSizes.size()),
       independent});

  std::vector<double> losses = collect(
      results, kKind, 2, [](const Row& row) { return std::max(0.0, 1 - row[kMeasured] / row[kFormula]); });
  const Summary loss = summary(losses);
  const auto losing = static_cast<std::size_t>(
      std::count_if(losses.begin(), losses.end(), [](double l) { return l > 1e-9; }));
  const Summary slower = summary(
      collect(results, kKind, 2, [](const Row& row) { return 1 - row[kMeasured] / row[kDistribution]; }));
  std::sort(losses.begin(), losses.end(), std::greater<>());
  Chart tail = chart_of(Chart::Kind::kLines, "lemma-2-order", "The ps-optimal state under fcfs",
                        "systems, in the order of their loss (%)", "throughput lost (%)");
  Series curve{"loss", {}, {}, {}, {}};
  Table quantiles{"lemma-2-order",
                  "Throughput lost by the ps-optimal state under fcfs",
                  false,
                  {"share of systems", "lose at least"}};
  const std::size_t steps = std::min<std::size_t>(100, losses.size());
  for (std::size_t at = 0; at < steps; ++at) {
    const double share = static_cast<double>(at + 1) / static_cast<double>(steps);
    const double value = losses[(at + 1) * losses.size() / steps - 1];
    curve.x.push_back(100 * share);
    curve.y.push_back(100 * value);
    quantiles.rows.push_back({percent_cell(share, 0), percent_cell(value, 3)});
  }
  tail.series.push_back(std::move(curve));
  tail.caption =
      fmt::format("{} of {} systems want another state under fcfs; the loss is {} on average and {} at most.",
                  losing, losses.size(), percent(loss), percent(loss.largest, 1));
  // One system decides this claim, so no samples are needed.
  const Orders pair = compare_orders(System({{.name = "p1"}, {.name = "p2"}},
                                            {{.name = "a", .count = 3}, {.name = "b", .count = 1}},
                                            Rates(2, 2, {10, 5, 5, 1})));
  findings.claims.push_back(
      {"section 3.2, Lemma 2", "the optimal policy is independent of the processing order of the resources",
       fmt::format("two GPs, n = (3, 1), mu = ((10, 5), (5, 1)): the ps-optimal state gives {} tasks/s under "
                   "fcfs, another one {}. Over random systems it is not optimal under fcfs on {} of {}; it "
                   "loses {} on average, up to {}",
                   number_text(pair.fcfs, 4), number_text(pair.best_fcfs, 4), losing, losses.size(),
                   percent(loss), percent(loss.largest, 1)),
       pair.best_fcfs > pair.fcfs * (1 + 1e-9) || losing > 0 ? Verdict::kFails
       : losses.size() < kEnough                             ? Verdict::kUndecided
                                                             : Verdict::kHolds});
  const Orders one = compare_orders(
      System({{.name = "gp"}}, {{.name = "a", .count = 1}, {.name = "b", .count = 1}}, Rates(2, 1, {10, 1})));
  findings.claims.push_back(
      {"section 3.2, proof of Lemma 2",
       "resources have the same time-average throughput, regardless of the processing order",
       fmt::format(
           "one GP, n = (1, 1), mu = (10, 1): {} tasks/s under even sharing, {} under fcfs. On average "
           "over {} random systems the same state completes {} less under fcfs, up to {}",
           number_text(one.ps, 3), number_text(one.fcfs, 3), slower.count, percent(slower),
           percent(slower.largest, 0)),
       one.ps > one.fcfs * (1 + 1e-9) ? Verdict::kFails : at_most(slower, 0.001)});
  findings.charts = {std::move(chart), std::move(tail)};
  findings.tables = {std::move(table), std::move(quantiles)};
  return findings;
}

}  // namespace

Experiment experiment();
Experiment experiment() {
  return {.name = "lemma-2",
          .title = "Lemma 2: size distribution and processing order",
          .columns = {"kind", "sizes", "measured", "formula"},
          .units = [](const Effort& effort) { return samples(effort, 600); },
          .run = run,
          .conclude = conclude};
}

}  // namespace allot::experiments::lemma_2
