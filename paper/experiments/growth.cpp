// How the run times of MAP, `local`, a certificate and enumeration grow with the number of resource types and
// with the number of threads.
#include <fmt/format.h>

#include <array>

#include "paper/experiments/support.hpp"

namespace allot::experiments::growth {
namespace {

constexpr std::array<std::size_t, 9> kTypes{3, 4, 6, 8, 12, 16, 24, 32, 64};
constexpr std::array<Count, 9> kThreads{9, 18, 36, 72, 144, 288, 576, 1152, 4608};
constexpr std::size_t kEnumerateTypes = 4;  // beyond, enumeration takes hours
constexpr Count kEnumerateThreads = 144;
constexpr double kProvenTo = 1e-5;

constexpr std::array<const char*, 4> kLabels{"MAP", "local", "certify to 0.001%", "enumeration"};

// A row per size: 0 by types, 1 by threads; k; threads; seconds of each method, 0 if it was not run.
enum : std::size_t { kBy, kK, kQ, kFirst };

Row measure(double by, const System& system, bool enumerate, const StopLimits& stop) {
  const Problem problem{system, Objective::kThroughput};
  const auto run = [&](const char* solver, double spend, const SolveOptions& options = {}) {
    return time_calls(spend, [&] { run_solver(solver, system, stop, Objective::kThroughput, options); });
  };
  SolveOptions certify;
  certify.gap_tolerance = kProvenTo;
  return {by,
          static_cast<double>(system.type_count()),
          static_cast<double>(system.population()),
          time_calls(0.01, [&] { solve(*find_solver("map"), problem); }),
          run("local", 0.01),
          run("exact", 0.005, certify),
          enumerate ? run("exhaustive", 0.005) : 0};
}

UnitResult run(const Effort& effort, std::size_t unit, const StopLimits& stop) {
  UnitResult result;
  for (const std::size_t k : kTypes) {
    const System system = random_system(effort, unit, scaled_shape(k));
    result.timing.push_back(measure(0, system, k <= kEnumerateTypes, stop));
  }
  for (const Count threads : kThreads) {
    GenerateOptions shape;
    shape.threads = threads;
    const System system = random_system(effort, unit, shape);
    result.timing.push_back(measure(1, system, threads <= kEnumerateThreads, stop));
  }
  return result;
}

Findings conclude(const Effort&, std::span<const UnitResult> results) {
  Findings findings;
  findings.text =
      "CPU time of a solve over the number of resource types (2 k² threads) and over the number of threads "
      "(2 GP + 1 SA). `certify` runs `exact` until its answer is proven to 0.001% of the optimum. "
      "Enumeration, the paper's Opt, is given up where it would take minutes.";
  Table table{"growth",
              "Time of a solve",
              true,
              {"grows", "k", "threads", "MAP (s)", "local (s)", "certify to 0.001% (s)", "enumeration (s)"}};
  std::array<std::array<double, 4>, 2> exponents{};
  for (std::size_t by = 0; by < 2; ++by) {
    Chart chart = chart_of(
        Chart::Kind::kLines, by == 0 ? "growth-types" : "growth-threads",
        by == 0 ? "Time by the number of resource types" : "Time by the number of threads, 2 GP + 1 SA",
        by == 0 ? "resource types k (threads: 2 k²)" : "threads Q", "CPU time of a solve (s)");
    chart.log_x = chart.log_y = chart.timing = true;
    const std::size_t count = by == 0 ? kTypes.size() : kThreads.size();
    std::vector<std::vector<Cell>> rows(count);
    for (std::size_t method = 0; method < kLabels.size(); ++method) {
      std::vector<double> places, means;
      std::vector<Summary> points;
      for (std::size_t at = 0; at < count; ++at) {
        const double k = by == 0 ? static_cast<double>(kTypes[at]) : 3;
        const double threads = by == 0 ? 2 * k * k : static_cast<double>(kThreads[at]);
        const Summary seconds = summary(collect_timing(results, [&](const Row& row) -> std::optional<double> {
          if (row[kBy] != static_cast<double>(by) || row[kK] != k || row[kQ] != threads ||
              !(row[kFirst + method] > 0)) {
            return std::nullopt;
          }
          return row[kFirst + method];
        }));
        if (rows[at].empty()) rows[at] = {text(by == 0 ? "types" : "threads"), number(k), number(threads)};
        rows[at].push_back(seconds.count > 0 ? Cell{seconds_text(seconds.mean), seconds.mean} : text("-"));
        if (seconds.count == 0) continue;
        places.push_back(by == 0 ? k : threads);
        means.push_back(seconds.mean);
        points.push_back(seconds);
      }
      exponents[by][method] = growth_exponent(places, means);
      chart.series.push_back(series(kLabels[method], places, points));
    }
    chart.caption = fmt::format(
        "Fitted growth: MAP {0}^{1:.1f}, local {0}^{2:.1f}, certify {0}^{3:.1f}{4}. Means with 95% "
        "intervals, both axes logarithmic.",
        by == 0 ? "k" : "Q", exponents[by][0], exponents[by][1], exponents[by][2],
        by == 0 ? "" : fmt::format(", enumeration Q^{:.1f}", exponents[by][3]));
    table.rows.insert(table.rows.end(), rows.begin(), rows.end());
    findings.charts.push_back(std::move(chart));
  }
  findings.claims.push_back(
      {"section 3.2",
       "the problem cannot be solved optimally in sub-exponential time; enumeration is prohibitive",
       fmt::format("true of enumeration (Q^{:.1f} already with 3 types); an answer proven to 0.001% takes {} "
                   "at {} types and 8,192 threads, growing as k^{:.1f}",
                   exponents[1][3], table.rows[kTypes.size() - 1][5].text, kTypes.back(), exponents[0][2]),
       Verdict::kPartly});
  findings.tables.push_back(std::move(table));
  return findings;
}

}  // namespace

Experiment experiment();
Experiment experiment() {
  return {.name = "growth",
          .title = "Growth of the solvers' time",
          .exclusive = true,
          .columns = {},
          .timing_columns = {"by", "k", "threads", "map", "local", "certify", "enumeration"},
          .units = [](const Effort& effort) { return samples(effort, 5); },
          .run = run,
          .conclude = conclude};
}

}  // namespace allot::experiments::growth
