#include "bench/planned/needs.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/simulate/simulate.hpp"
#include "allot/size/distribution.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/random_needs.hpp"

namespace {

using namespace allot;

struct Yardstick {
  Scenario scenario;
  double bound = 0;    // of whole tasks
  double program = 0;  // of parts of tasks
};

/// The first so many random systems in which tasks need several things and something is worth doing.
std::vector<Yardstick> random_systems(int systems) {
  std::vector<Yardstick> found;
  for (std::uint64_t seed = 1; found.size() < static_cast<std::size_t>(systems); ++seed) {
    RandomStream random(seed, 0x9ac4);
    testing::NeedsShape shape;
    shape.most_threads = 16;
    const System system = testing::random_needs(random, shape);
    if (!system.has_needs() || system.population() == 0) continue;
    const Scenario scenario{"", system, {}, {}, {}, {}, {}};
    const Solution plan = solve(*find_solver("planned"), planned_problem(scenario, Objective::kThroughput));
    const double bound = plan.plan.packing_bound.value_or(0);
    if (bound > 0) found.push_back({scenario, bound, plan.objective_value});
  }
  return found;
}

struct Row {
  const char* policy;
  const char* sizes;
};
constexpr Row kRows[] = {
    {"planned", "exponential"}, {"planned", "deterministic"},           {"planned", "bounded-pareto"},
    {"map", "exponential"},     {"min-completion-time", "exponential"}, {"fastest-free", "exponential"},
    {"jsq", "exponential"},     {"round-robin", "exponential"}};

}  // namespace

void bench_needs(int systems, std::uint64_t completions) {
  const std::vector<Yardstick> all = random_systems(systems);
  double lumps = 0;
  for (const Yardstick& one : all) lumps += one.bound / one.program;
  std::printf(
      "Tasks that need several things: value, simulated, as a part of what whole tasks reach at most, "
      "which is %.1f%% of the program\n  %-38s %9s %10s %9s\n",
      100 * lumps / systems, "", "mean", "19 of 20", "worst");
  for (const Row& row : kRows) {
    const auto sizes = make_distribution(row.sizes);
    std::vector<double> parts;
    for (const Yardstick& one : all) {
      SimulateOptions options;
      options.completions = completions;
      options.replications = 4;
      parts.push_back(simulate(one.scenario, *find_policy(row.policy), *sizes, options).value.mean /
                      one.bound);
    }
    double sum = 0;
    for (const double part : parts) sum += part;
    std::sort(parts.begin(), parts.end());
    std::printf("  %-38s %8.1f%% %9.1f%% %8.1f%%\n", (std::string(row.policy) + ", " + row.sizes).c_str(),
                100 * sum / systems, 100 * parts[parts.size() / 20], 100 * parts.front());
    std::fflush(stdout);
  }
}
