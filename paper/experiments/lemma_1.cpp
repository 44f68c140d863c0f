// Lemma 1 by optimal control: no policy beats the best state under even sharing; under fcfs some do.
#include <fmt/format.h>

#include <algorithm>

#include "allot/analyze/analyze.hpp"
#include "allot/base/random.hpp"
#include "paper/experiments/support.hpp"

namespace allot::experiments::lemma_1 {
namespace {

// A row per discipline: the throughput of the best state, that of optimal control, and a bound for all
// policies.
enum : std::size_t { kFcfs, kBest, kControl, kBound };

Row solve_control(const System& system, bool fcfs, const StopLimits& stop) {
  AnalyzeOptions options;
  options.stop = stop;
  const OptimalControl control = solve_optimal_control(system, options);
  if (control.stopped != StopReason::kNone) throw Stopped();
  return {fcfs ? 1.0 : 0.0, optimum(system, stop).performance.throughput, control.throughput,
          control.upper_bound};
}

/// Three types on two processors, (3, 1, 1) threads: small enough for a chain with the order of every queue.
System small_system(std::vector<double> rates) {
  std::vector<TaskClass> tasks{
      {.name = "a", .count = 3}, {.name = "b", .count = 1}, {.name = "c", .count = 1}};
  return System({{.name = "p1"}, {.name = "p2"}}, std::move(tasks), Rates(3, 2, std::move(rates)));
}

UnitResult run(const Effort& effort, std::size_t unit, const StopLimits& stop) {
  GenerateOptions shape;
  shape.threads = 9;
  UnitResult result;
  result.rows.push_back(solve_control(random_system(effort, unit, shape), false, stop));
  // The first fcfs system is a known counterexample to the lemma.
  std::vector<double> rates{9.36, 7.65, 8.64, 3.5, 5.04, 4.44};
  if (unit > 0) {
    RandomStream random(sample_seed(effort, Purpose::kState, unit));
    for (double& rate : rates) rate = random.uniform(1, 10);
  }
  const System small = small_system(std::move(rates));
  result.rows.push_back(solve_control(small, false, stop));
  result.rows.push_back(solve_control(small.with_discipline(Discipline::kFcfs), true, stop));
  return result;
}

Findings conclude(const Effort&, std::span<const UnitResult> results) {
  const auto gains = [&](double fcfs, std::size_t column) {
    return collect(results, kFcfs, fcfs, [=](const Row& row) { return row[column] / row[kBest] - 1; });
  };
  const Summary ps = summary(gains(0, kBound));
  const std::vector<double> fcfs_gains = gains(1, kControl);
  const Summary fcfs = summary(fcfs_gains);
  const auto broken = static_cast<std::size_t>(
      std::count_if(fcfs_gains.begin(), fcfs_gains.end(), [](double gain) { return gain > 1e-6; }));
  const Row& known = results[0].rows[2];

  Findings findings;
  findings.text = fmt::format(
      "The average-reward decision process, which may send every successor anywhere and sees everything but "
      "the sizes, is solved to 1e-9 without knowing the lemma and compared with the best state. Under even "
      "sharing: {} systems of 2 GP + 1 SA with 9 threads, and {} of three types on two processors with (3, "
      "1, 1) threads; under first come, first served the latter again, the order of each queue being part of "
      "the state. The first of these is a known counterexample.",
      results.size(), results.size());
  findings.claims.push_back(
      {"section 3.2, Lemma 1", "the maximum throughput is achieved when the system stays in the best state",
       fmt::format(
           "under even sharing no policy exceeds the best state by more than {:.1e} of it, on {} systems",
           ps.largest, ps.count),
       ps.largest > 1e-8    ? Verdict::kFails
       : ps.count < kEnough ? Verdict::kUndecided
                            : Verdict::kHolds});
  findings.claims.push_back(
      {"section 3.2, Lemmas 1 and 2", "the same holds whatever the processing order",
       fmt::format("under fcfs a policy that looks at the queues beats the best state on {} of {} systems, "
                   "by up to {}; on the known counterexample {} against {} tasks/s",
                   broken, fcfs.count, percent(fcfs.largest), number_text(known[kControl], 5),
                   number_text(known[kBest], 5)),
       // One system is enough to refute it.
       broken > 0             ? Verdict::kFails
       : fcfs.count < kEnough ? Verdict::kUndecided
                              : Verdict::kHolds});
  Table table{"lemma-1",
              "Optimal control against the best state",
              false,
              {"unit", "system", "discipline", "best state (tasks/s)", "control (tasks/s)",
               "no policy exceeds", "gain"}};
  Chart chart = chart_of(Chart::Kind::kPoints, "lemma-1", "What control gains over the best state", "system",
                         "throughput above the best state (%)");
  Series sharing{"even sharing (ps)", {}, {}, {}, {}};
  Series queues{"first come, first served", {}, {}, {}, {}};
  for (std::size_t unit = 0; unit < results.size(); ++unit) {
    for (std::size_t at = 0; at < results[unit].rows.size(); ++at) {
      const Row& row = results[unit].rows[at];
      const double gain = std::max(0.0, row[kControl] / row[kBest] - 1);
      table.rows.push_back({number(static_cast<double>(unit + 1)),
                            text(at == 0 ? "2 GP + 1 SA, 9 threads" : "2 GP, 5 threads"),
                            text(row[kFcfs] == 1 ? "fcfs" : "ps"), number(row[kBest], 6),
                            number(row[kControl], 6), number(row[kBound], 6), percent_cell(gain, 4)});
      if (at == 0) continue;
      Series& points = row[kFcfs] == 1 ? queues : sharing;
      points.x.push_back(static_cast<double>(unit + 1));
      points.y.push_back(100 * gain);
    }
  }
  chart.series = {std::move(sharing), std::move(queues)};
  chart.caption =
      "Two processors and five threads. Zero under even sharing; under fcfs now and then a little more.";
  findings.charts.push_back(std::move(chart));
  findings.tables.push_back(std::move(table));
  return findings;
}

}  // namespace

Experiment experiment();
Experiment experiment() {
  return {.name = "lemma-1",
          .title = "Lemma 1 by optimal control",
          .columns = {"fcfs", "best_state", "control", "bound"},
          .units = [](const Effort& effort) { return samples(effort, 60, 3); },
          .run = run,
          .conclude = conclude};
}

}  // namespace allot::experiments::lemma_1
