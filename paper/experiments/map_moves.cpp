// The gain of MAP from bulk moves: the paper moves one task at a time.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "paper/experiments/support.hpp"

namespace allot::experiments::map_moves {
namespace {

struct Case {
  const char* label;
  std::size_t general;
  std::size_t specialized;
  Count threads;
  double bar;  // MAP's loss according to the paper; 0: none
};
constexpr std::array<Case, 4> kCases{{{"2 GP + 1 SA", 2, 1, 18, 0.003},
                                      {"2 GP + 2 SA", 2, 2, 32, 0.005},
                                      {"4 GP + 2 SA", 4, 2, 72, 0},
                                      {"6 GP + 2 SA", 6, 2, 128, 0}}};

enum : std::size_t { kCase, kSingle, kBulk, kOptimum };

UnitResult run(const Effort& effort, std::size_t unit, const StopLimits& stop) {
  UnitResult result;
  for (std::size_t at = 0; at < kCases.size(); ++at) {
    GenerateOptions shape;
    shape.general = kCases[at].general;
    shape.specialized = kCases[at].specialized;
    shape.threads = kCases[at].threads;
    const System system = random_system(effort, unit, shape);
    SolveOptions single;
    single.settings.set("map_moves", MapMoves::kSingle);
    result.rows.push_back(
        {static_cast<double>(at),
         run_solver("map", system, stop, Objective::kThroughput, single).performance.throughput,
         run_solver("map", system, stop).performance.throughput,
         optimum(system, stop).performance.throughput});
  }
  return result;
}

Findings conclude(const Effort&, std::span<const UnitResult> results) {
  Findings findings;
  findings.text =
      "Algorithms 1-3 move one task at a time. A resource's throughput is convex in the number of slow tasks "
      "that it holds, so single moves may climb to the wrong end of it. Where no single move helps any more, "
      "allot's MAP tries all tasks of a type at a resource as one move; that is what `map` means in the "
      "figures. Here the two are compared, by the model's formulas.";
  Table table{"map-moves",
              "MAP below the optimum, by the moves it makes",
              false,
              {"system", "systems", "single moves, mean", "95% half-width", "largest",
               "with bulk moves, mean", "95% half-width ", "largest "}};
  Chart chart = chart_of(Chart::Kind::kBars, "map-moves", "MAP below the optimum, by the moves it makes",
                         "system", "throughput below the optimum (%)");
  std::vector<Summary> singles;
  std::vector<Summary> bulks;
  std::vector<double> x;
  for (std::size_t at = 0; at < kCases.size(); ++at) {
    const auto below = [&](std::size_t column) {
      return summary(collect(results, kCase, static_cast<double>(at),
                             [=](const Row& row) { return std::max(0.0, 1 - row[column] / row[kOptimum]); }));
    };
    const Summary single = below(kSingle);
    const Summary bulk = below(kBulk);
    singles.push_back(single);
    bulks.push_back(bulk);
    x.push_back(static_cast<double>(at));
    chart.categories.emplace_back(kCases[at].label);
    table.rows.push_back({text(kCases[at].label), number(static_cast<double>(single.count)),
                          percent_cell(single.mean), percent_cell(single.half_width),
                          percent_cell(single.largest, 2), percent_cell(bulk.mean),
                          percent_cell(bulk.half_width), percent_cell(bulk.largest, 2)});
    if (kCases[at].bar > 0) {
      findings.claims.push_back({"section 5.2",
                                 fmt::format("{}: MAP, moving one task at a time, is {} from the optimum",
                                             kCases[at].label, percent(kCases[at].bar, 1)),
                                 fmt::format("{} below over {} systems, by the formulas; {} with bulk moves",
                                             percent(single, 3), single.count, percent(bulk, 3)),
                                 at_most(single, kCases[at].bar)});
    }
  }
  chart.series.push_back(series("single moves, as printed", x, singles, 100));
  chart.series.push_back(series("with bulk moves (map)", x, bulks, 100));
  chart.caption = "Means with 95% intervals.";
  findings.charts.push_back(std::move(chart));
  findings.tables.push_back(std::move(table));
  return findings;
}

}  // namespace

Experiment experiment();
Experiment experiment() {
  return {.name = "map-moves",
          .title = "MAP's moves: one task at a time, or all of a type",
          .columns = {"case", "single", "bulk", "optimum"},
          .units = [](const Effort& effort) { return samples(effort, 600); },
          .run = run,
          .conclude = conclude};
}

}  // namespace allot::experiments::map_moves
