// How good are the answers? Mean distances from the optimum, shares met, and proofs, over random systems: the
// figures that README.md quotes.
//
// usage: bench_quality [RUNS]   (default 600 systems per line; the proofs always use 20)
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/model/generate.hpp"
#include "allot/solve/solver.hpp"

namespace {

using namespace allot;

System paper_system(std::size_t general, std::size_t specialized, Count threads, std::uint64_t seed,
                    bool priorities = false) {
  GenerateOptions options;
  options.general = general;
  options.specialized = specialized;
  options.threads = threads;
  options.seed = seed;
  options.priorities = priorities;
  return generate(options).system;
}

/// k resource types, two thirds of them general, 2 k^2 threads: the paper's scaling.
System scaled_system(std::size_t k, std::uint64_t seed) {
  const std::size_t general = (2 * k + 2) / 3;
  return paper_system(general, k - general, static_cast<Count>(2 * k * k), seed);
}

Solution run(const char* solver, const System& system, Objective objective = Objective::kThroughput,
             SolveOptions options = {}, double seconds = 60) {
  options.stop.deadline = Clock::now() + std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6));
  return solve(*find_solver(solver), Problem{system, objective}, options);
}

void gaps(const char* title, const char* reference, int runs,
          const std::function<System(std::uint64_t)>& make) {
  std::printf("\n%s: throughput below the proven optimum, %d systems\n", title, runs);
  std::printf("  %-17s %10s %10s %12s %12s\n", "solver", "mean", "worst", "optimal in", "mean time");
  std::vector<System> systems;
  std::vector<double> optimum;
  for (int seed = 1; seed <= runs; ++seed) {
    systems.push_back(make(static_cast<std::uint64_t>(seed)));
    const Solution best = run(reference, systems.back());
    if (!best.proven_optimal) std::printf("  seed %d: no proof by %s\n", seed, reference);
    optimum.push_back(best.performance.throughput);
  }
  struct Line {
    const char* name;
    const char* solver;
    MapMoves moves = MapMoves::kBulk;
  };
  for (const Line& line : {Line{"best-fit", "best-fit"}, Line{"map, single moves", "map", MapMoves::kSingle},
                           Line{"map", "map"}, Line{"local", "local"}, Line{"best", "best"}}) {
    SolveOptions options;
    options.settings.set("map_moves", line.moves);
    double sum = 0;
    double worst = 0;
    double seconds = 0;
    int hits = 0;
    for (std::size_t at = 0; at < systems.size(); ++at) {
      const Solution answer = run(line.solver, systems[at], Objective::kThroughput, options);
      const double gap = 1 - answer.performance.throughput / optimum[at];
      sum += gap;
      worst = std::max(worst, gap);
      seconds += answer.seconds;
      hits += gap < 1e-9 ? 1 : 0;
    }
    std::printf("  %-17s %9.4f%% %9.2f%% %11.1f%% %9.1f us\n", line.name, 100 * sum / runs, 100 * worst,
                100.0 * hits / runs, 1e6 * seconds / runs);
  }
}

void priorities(int runs) {
  std::printf("\n2 GP + 1 SA, 18 threads, random priorities: against MAP, %d systems\n", runs);
  std::printf("  %-16s %18s %18s %18s\n", "solver", "error cut by", "least error in", "X relative to MAP");
  std::vector<double> least;  // by whole tasks
  for (int seed = 1; seed <= runs; ++seed) {
    const System system = paper_system(2, 1, 18, static_cast<std::uint64_t>(seed), true);
    least.push_back(*run("exhaustive", system, Objective::kPriority).performance.priority_error);
  }
  struct Line {
    const char* name;
    const char* solver;
    SolveOptions options;
  };
  std::vector<Line> lines = {{"mis, as printed", "mis", {}},
                             {"mis", "mis", {}},
                             {"local", "local", {}},
                             {"exhaustive", "exhaustive", {}},
                             {"weighted, exact", "weighted", {}},
                             {"weighted, floor", "weighted", {}}};
  lines[0].options.settings.set("mis_moves", MisMoves::kForward);
  lines[5].options.settings.set("shares", ShareReading::kFloor);
  double worst_error = 0;
  for (const Line& line : lines) {
    double cut = 0;
    double throughput = 0;
    int hits = 0;
    for (int seed = 1; seed <= runs; ++seed) {
      const System system = paper_system(2, 1, 18, static_cast<std::uint64_t>(seed), true);
      const Performance map = run("map", system).performance;
      const Solution answer = run(line.solver, system, Objective::kPriority, line.options);
      const double before = *map.priority_error;
      const double after = *answer.performance.priority_error;
      cut += before > 0 ? 1 - after / before : 0;
      throughput += answer.performance.throughput / map.throughput;
      hits += after <= least[static_cast<std::size_t>(seed - 1)] + 1e-12 ? 1 : 0;
      if (std::string(line.name) == "weighted, exact") worst_error = std::max(worst_error, after);
    }
    std::printf("  %-16s %17.1f%% %17.1f%% %18.3f\n", line.name, 100 * cut / runs, 100.0 * hits / runs,
                throughput / runs);
  }
  std::printf("  largest error of weighted with exact shares: %.1e\n", worst_error);
}

/// The paper's system with each resource ps or fcfs by the toss of a coin, at least one of them fcfs.
System mixed_system(std::uint64_t seed, bool all_fcfs) {
  const System ps = paper_system(2, 1, 18, seed);
  RandomStream coin(seed, 77);
  std::vector<Resource> resources = ps.resources();
  resources[0].discipline = Discipline::kFcfs;
  for (Resource& resource : resources) {
    if (all_fcfs || coin.below(2) == 0) resource.discipline = Discipline::kFcfs;
  }
  return ps.with_resources(std::move(resources));
}

void disciplines(int runs) {
  std::printf("\n2 GP + 1 SA, 18 threads: what knowing the discipline is worth to MAP, %d systems each\n",
              runs);
  std::printf("  %-16s %14s %14s %12s %20s\n", "resources", "mean gain", "largest", "ever worse",
              "below optimum");
  for (const bool all_fcfs : {true, false}) {
    double gain = 0;
    double largest = 0;
    double below = 0;
    int worse = 0;
    for (int seed = 1; seed <= runs; ++seed) {
      const System system = mixed_system(static_cast<std::uint64_t>(seed), all_fcfs);
      const Solution blind = run("map", system.with_discipline(Discipline::kPs));
      const double blind_x = evaluate(system, blind.assignment).throughput;
      const double x = run("map", system).performance.throughput;
      gain += x / blind_x - 1;
      largest = std::max(largest, x / blind_x - 1);
      worse += x < blind_x * (1 - 1e-12) ? 1 : 0;
      below += 1 - x / run("exact", system).performance.throughput;
    }
    std::printf("  %-16s %13.3f%% %13.2f%% %12d %19.3f%%\n", all_fcfs ? "all fcfs" : "mixed",
                100 * gain / runs, 100 * largest, worse, 100 * below / runs);
  }
}

void proofs() {
  std::printf("\nProofs by `exact`, g = ceil(2k/3), Q = 2 k^2, 20 systems each\n");
  std::printf("  %4s %8s %10s %10s %12s %12s %14s %14s\n", "k", "threads", "limit", "proven", "mean time",
              "max time", "mean gap", "largest gap");
  struct Line {
    std::size_t k;
    double seconds;
  };
  for (const Line& line : {Line{6, 1}, Line{8, 10}, Line{12, 10}, Line{16, 10}, Line{32, 2}, Line{64, 10}}) {
    int proven = 0;
    double seconds = 0;
    double longest = 0;
    double gap = 0;
    double largest = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Solution answer =
          run("exact", scaled_system(line.k, seed), Objective::kThroughput, {}, line.seconds);
      proven += answer.proven_optimal ? 1 : 0;
      seconds += answer.seconds;
      longest = std::max(longest, answer.seconds);
      gap += answer.gap().value_or(1);
      largest = std::max(largest, answer.gap().value_or(1));
    }
    std::printf("  %4zu %8zu %8.0f s %7d/20 %10.3f s %10.3f s %13.6f%% %13.6f%%\n", line.k,
                2 * line.k * line.k, line.seconds, proven, seconds / 20, longest, 100 * gap / 20,
                100 * largest);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 600;
  if (argc > 2 || runs < 1) {
    std::fprintf(stderr, "usage: bench_quality [RUNS]\n");
    return 2;
  }
  gaps("2 GP + 1 SA, 18 threads", "exact", runs,
       [](std::uint64_t seed) { return paper_system(2, 1, 18, seed); });
  gaps("2 GP + 2 SA, 32 threads", "exact", runs,
       [](std::uint64_t seed) { return paper_system(2, 2, 32, seed); });
  priorities(runs);
  disciplines(runs);
  proofs();
  return 0;
}
