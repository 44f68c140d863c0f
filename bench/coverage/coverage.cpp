// How often do the simulator's 95% intervals hold the truth? Throughput and mean response time of a policy
// that holds the best assignment, whose truth a formula gives, for every built-in distribution of sizes.
//
// usage: bench_coverage [SEEDS [COMPLETIONS]]    (default 1000 seeds, 100,000 completions a replication, as
// the
//                                                 command's default)
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "allot/model/generate.hpp"
#include "allot/policy/policy.hpp"
#include "allot/simulate/simulate.hpp"
#include "allot/size/distribution.hpp"
#include "allot/solve/solver.hpp"

int main(int argc, char** argv) {
  using namespace allot;
  const int seeds = argc > 1 ? std::atoi(argv[1]) : 1000;
  const long completions = argc > 2 ? std::atol(argv[2]) : 100'000;
  if (argc > 3 || seeds < 1 || completions < 100) {
    std::fprintf(stderr, "usage: bench_coverage [SEEDS [COMPLETIONS]]\n");
    return 2;
  }
  const Scenario scenario = generate({.seed = 7});
  const double x = solve(*find_solver("map"), Problem{scenario.system}).performance.throughput;
  const double response = static_cast<double>(scenario.system.population()) / x;
  std::printf("%d seeds, 10 replications of %ld completions: intervals that hold the truth\n", seeds,
              completions);
  std::printf("  %-20s %12s %14s   %s\n", "sizes", "throughput", "response time", "notes in");
  for (const DistributionInfo* info : builtin_distributions()) {
    if (info->name == "trace") continue;
    const auto sizes = make_distribution(info->name);
    int hits = 0;
    int response_hits = 0;
    int noted = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
      SimulateOptions options;
      options.completions = static_cast<std::uint64_t>(completions);
      options.seed = static_cast<std::uint64_t>(seed);
      const SimulationResult result = simulate(scenario, *find_policy("map"), *sizes, options);
      hits += std::abs(result.throughput.mean - x) <= result.throughput.half_width.value_or(0) ? 1 : 0;
      response_hits +=
          std::abs(result.response_time.mean - response) <= result.response_time.half_width.value_or(0) ? 1
                                                                                                        : 0;
      noted += result.notes.empty() ? 0 : 1;
    }
    std::printf("  %-20s %11.1f%% %13.1f%%   %.1f%%\n", std::string(info->name).c_str(), 100.0 * hits / seeds,
                100.0 * response_hits / seeds, 100.0 * noted / seeds);
    std::fflush(stdout);
  }
  return 0;
}
