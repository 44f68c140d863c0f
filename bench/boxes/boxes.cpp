// How good are the answers on boxes, with pools of cores, GPUs and engines? Distances from the proven optimum
// over random boxes, for every solver that maximises throughput.
//
// usage: bench_boxes [BOXES [FIRST]]      BOXES random boxes (default 200), seeds from FIRST (default 1)
//        bench_boxes --map SET [TIMES]    only MAP, so that its instructions can be counted: over the systems
//                                         of SET (k3, k16 or boxes), TIMES times (default 1), as in
//   valgrind --tool=callgrind --toggle-collect='allot::MapSolver::solve*' bench_boxes --map boxes
//        bench_boxes --agree [BOXES]      whether all who answer "the best" agree, on boxes with fcfs and
//        least
//                                         depths (default 500)
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allot/model/generate.hpp"
#include "allot/solve/best.hpp"
#include "allot/solve/map.hpp"
#include "allot/solve/pareto.hpp"
#include "allot/solve/solver.hpp"
#include "allot/solve/whatif.hpp"
#include "tests/support/random_box.hpp"

namespace {

using namespace allot;

Solution run(const char* solver, const System& system, SolveOptions options = {},
             std::optional<double> seconds = {}) {
  if (seconds) {
    options.stop.deadline =
        Clock::now() + std::chrono::microseconds(static_cast<std::int64_t>(*seconds * 1e6));
  }
  return solve(*find_solver(solver), Problem{system, Objective::kThroughput}, options);
}

void gaps(int boxes, int first) {
  constexpr double kSecondsPerProof = 20;
  std::vector<System> systems;
  std::vector<double> optimum;
  int unproven = 0;
  for (int seed = first; seed < first + boxes; ++seed) {
    const System system = testing::random_box(static_cast<std::uint64_t>(seed));
    const Solution best = run("exact", system, {}, kSecondsPerProof);
    unproven += best.proven_optimal ? 0 : 1;
    systems.push_back(system);
    optimum.push_back(best.proven_optimal ? best.performance.throughput : *best.upper_bound);
  }
  std::printf("%d random boxes, throughput below the proven optimum (%d: below the proven bound)\n", boxes,
              unproven);
  std::printf("  %-17s %10s %10s %12s %12s %12s %12s\n", "solver", "mean", "worst", "optimal in", "mean time",
              "longest", "with bound");
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
    double longest = 0;
    int hits = 0;
    int bounds = 0;
    std::size_t worst_at = 0;
    for (std::size_t at = 0; at < systems.size(); ++at) {
      const Solution answer = run(line.solver, systems[at], options);
      const double gap = 1 - answer.performance.throughput / optimum[at];
      sum += gap;
      if (gap > worst) {
        worst = gap;
        worst_at = at;
      }
      seconds += answer.seconds;
      longest = std::max(longest, answer.seconds);
      hits += gap < 1e-9 ? 1 : 0;
      bounds += answer.upper_bound ? 1 : 0;
    }
    std::printf("  %-17s %9.4f%% %9.2f%% %11.1f%% %9.1f us %9.1f us %11.1f%%  (worst: box %zu)\n", line.name,
                100 * sum / boxes, 100 * worst, 100.0 * hits / boxes, 1e6 * seconds / boxes, 1e6 * longest,
                100.0 * bounds / boxes, static_cast<std::size_t>(first) + worst_at);
  }
}

/// k resource types, two thirds of them general, 2 k^2 threads: the paper's scaling.
System scaled_system(std::size_t k, std::uint64_t seed) {
  GenerateOptions options;
  options.general = (2 * k + 2) / 3;
  options.specialized = k - options.general;
  options.threads = static_cast<Count>(2 * k * k);
  options.seed = seed;
  return generate(options).system;
}

int only_map(const std::string& set, int times) {
  const int systems = set == "k16" ? 20 : 200;
  MapSolver solver;
  Assignment assignment;
  double sum = 0;
  for (int seed = 1; seed <= systems; ++seed) {
    const auto s = static_cast<std::uint64_t>(seed);
    const System system = set == "k3"    ? scaled_system(3, s)
                          : set == "k16" ? scaled_system(16, s)
                                         : testing::random_box(s);
    for (int at = 0; at < times; ++at) sum += solver.solve(system, assignment).throughput;
  }
  std::printf("%s: %d systems, %d times, throughputs sum to %.17g\n", set.c_str(), systems, times, sum);
  return 0;
}

/// How many of all answers were found to disagree.
struct Agreement {
  int boxes = 0;
  int proven = 0;
  int compared = 0;
  int apart = 0;
  int monotone = 0;
  int against = 0;
};

/// A floor must not raise the proven best, a server or a faster pair must not lower it.
void check_changes(const System& system, const Solution& best, RandomStream& random, Agreement& found) {
  const double x = best.performance.throughput;
  const TaskType i = task_type(random.below(system.type_count()));
  const ResourceId j = resource_id(random.below(system.resource_count()));
  std::vector<TaskClass> tasks = system.tasks();
  tasks[index(i)].floor = best.performance.throughput_by_task[index(i)] * random.uniform(0.5, 1.2);
  const auto check = [&](const System& other, int direction) {
    const Solution changed = run("exact", other, {}, 5.0);
    if (!changed.proven_optimal) return;
    ++found.monotone;
    const double gain = direction * (changed.performance.throughput - x);
    if (gain < -1e-9 * x) {
      ++found.against;
      std::printf("  a change in the wrong direction: %.17g becomes %.17g\n", x,
                  changed.performance.throughput);
    }
  };
  check(system.with_tasks(std::move(tasks)), -1);
  const Resource& resource = system.resource(j);
  const bool may_shrink = resource.discipline == Discipline::kFcfs && resource.servers > 1;
  if (!may_shrink) check(system.with_servers(j, resource.servers + 1), 1);
  if (system.can_run(i, j)) check(system.with_rate(i, j, 1.1 * system.rate(i, j)), 1);
}

int agree(int boxes) {
  Agreement found;
  for (int seed = 1; seed <= boxes; ++seed) {
    RandomStream random(static_cast<std::uint64_t>(seed), 0xa9ee);
    testing::BoxShape shape{.fcfs = true, .depths = true, .priorities = true};
    if (seed % 2 == 0) shape.max_types = 4, shape.max_count = 5;
    const System system = testing::random_box(static_cast<std::uint64_t>(seed), shape);
    ++found.boxes;
    const Solution certified = run("exact", system, {}, 10.0);
    const Solution best = best_known(system);
    const Solution enumerated = run("exhaustive", system, {.settings = {{"max_states", 2e6}}});
    bool proven = false;
    double x = 0;
    for (const Solution* solution : {&certified, &best, &enumerated}) {
      if (!solution->proven_optimal) continue;
      proven = true;
      x = std::max(x, solution->performance.throughput);
    }
    if (!proven && enumerated.outcome == Outcome::kConverged) x = enumerated.performance.throughput;
    if (!(x > 0)) continue;
    found.proven += proven ? 1 : 0;
    const auto compare = [&](const char* who, double theirs) {
      ++found.compared;
      if (std::abs(theirs - x) <= 1e-9 * x) return;
      ++found.apart;
      std::printf("  box %d: %s has %.17g instead of %.17g\n", seed, who, theirs, x);
    };
    compare("exact", certified.performance.throughput);
    compare("best", best.performance.throughput);
    compare("what_if", what_if(system).base.performance.throughput);
    const ParetoFrontier frontier = pareto(system, 20);
    compare("pareto", frontier.points.empty() ? 0.0 : frontier.points.front().throughput);
    if (best.proven_optimal) check_changes(system, best, random, found);
  }
  std::printf("%d boxes with fcfs and minimum depths, %d proven: %d answers compared, %d apart\n",
              found.boxes, found.proven, found.compared, found.apart);
  std::printf("%d floors, servers and faster pairs with a proof: %d in the wrong direction\n", found.monotone,
              found.against);
  return found.apart + found.against == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 3 && std::strcmp(argv[1], "--map") == 0)
    return only_map(argv[2], argc > 3 ? std::atoi(argv[3]) : 1);
  if (argc >= 2 && std::strcmp(argv[1], "--agree") == 0) return agree(argc > 2 ? std::atoi(argv[2]) : 500);
  const int boxes = argc > 1 ? std::atoi(argv[1]) : 200;
  const int first = argc > 2 ? std::atoi(argv[2]) : 1;
  if (argc > 3 || boxes < 1 || first < 1) {
    std::fprintf(stderr, "usage: bench_boxes [BOXES [FIRST]] | bench_boxes --map k3|k16|boxes [TIMES]\n");
    return 2;
  }
  gaps(boxes, first);
  return 0;
}
