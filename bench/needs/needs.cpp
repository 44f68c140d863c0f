// How good are the answers under even sharing where tasks have needs, and how tight is the bound?
//
// usage: bench_needs [SYSTEMS]   (default 200 per line)
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <vector>

#include "allot/model/throughput.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/needs_oracle.hpp"
#include "tests/support/random_box.hpp"
#include "tests/support/random_needs.hpp"

namespace {

using namespace allot;

/// A box in which a task on a GPU holds a core, memory of the GPU and a part of the bus, and on the cores
/// one to four of them.
System box_with_needs(std::uint64_t seed, const testing::BoxShape& shape) {
  const System box = testing::random_box(seed, shape);
  RandomStream random(seed, 0x6eed);
  const std::size_t width = box.resource_count();
  std::vector<Capacity> capacities = {{"bus", 1.0, true}};
  for (std::size_t j = 1; j < width; ++j) capacities.push_back({"memory" + std::to_string(j), 80, false});
  std::vector<TaskClass> tasks = box.tasks();
  for (const TaskType i : box.types()) {
    std::vector<Need>& needs = tasks[index(i)].needs;
    for (const ResourceId j : box.resources_for(i)) {
      if (index(j) == 0) {
        needs.push_back({j, servers_of(j), 1 + static_cast<double>(random.below(4))});
        continue;
      }
      needs.push_back({j, servers_of(ResourceId{0}), 1});
      needs.push_back({j, capacity_id(width), random.uniform(0.05, 0.6)});
      if (random.below(2) == 0) needs.push_back({j, capacity_id(width + index(j)), random.uniform(5, 60)});
    }
  }
  return System(box.resources(), std::move(tasks), box.rates(), std::move(capacities));
}

struct Line {
  const char* name;
  double sum = 0;
  double worst = 0;
  double seconds = 0;
  int hits = 0;
};

double best_of_many(const System& system) {
  double most = 0;
  SolveOptions options;
  for (options.seed = 1; options.seed <= 20; ++options.seed)
    most = std::max(most, solve(*find_solver("local"), Problem{system}, options).performance.value);
  return std::max(most, solve(*find_solver("best"), Problem{system}).performance.value);
}

/// `make` may give a system that is not wanted: without a value.
void gaps(const char* title, int systems, bool enumerated, const std::function<System(std::uint64_t)>& make) {
  std::array<Line, 4> lines{Line{"best-fit"}, Line{"map"}, Line{"local"}, Line{"best"}};
  std::vector<double> bounds;
  std::vector<double> plans;
  int met = 0;
  int done = 0;
  for (std::uint64_t seed = 1; done < systems; ++seed) {
    const System system = make(seed);
    const double states = testing::states_of(system);
    if (!system.has_needs() || (enumerated && (states < 200 || states > 1e5))) continue;
    const double most = enumerated ? solve(*find_solver("exhaustive"), Problem{system}).performance.value
                                   : best_of_many(system);
    if (!(most > 0)) continue;
    ++done;
    for (Line& line : lines) {
      const Solution answer = solve(*find_solver(line.name), Problem{system});
      const double gap = 1 - answer.performance.value / most;
      line.sum += gap;
      line.worst = std::max(line.worst, gap);
      line.seconds += answer.seconds;
      line.hits += gap < 1e-9 ? 1 : 0;
      if (std::string_view(line.name) == "best") bounds.push_back(*answer.upper_bound / most - 1);
    }
    met += bounds.back() < 1e-9 ? 1 : 0;
    plans.push_back(*solve(*find_solver("planned"), Problem{system}).upper_bound / most - 1);
  }
  std::printf("\n%s: value below %s, %d systems\n", title,
              enumerated ? "the best of all states" : "the best that 20 seeds of local find", done);
  std::printf("  %-10s %10s %10s %12s %12s\n", "solver", "mean", "worst", "none in", "mean time");
  for (const Line& line : lines) {
    std::printf("  %-10s %9.4f%% %9.2f%% %11.1f%% %9.1f us\n", line.name, 100 * line.sum / done,
                100 * line.worst, 100.0 * line.hits / done, 1e6 * line.seconds / done);
  }
  std::sort(bounds.begin(), bounds.end());
  std::sort(plans.begin(), plans.end());
  const auto part = [done](const std::vector<double>& sorted, int tenths) {
    return 100 * sorted[static_cast<std::size_t>(std::min(done - 1, done * tenths / 10))];
  };
  std::printf("  the bound of best is above it by %.2f%% (median), %.2f%% (9 of 10); none in %d\n",
              part(bounds, 5), part(bounds, 9), met);
  std::printf("  planned service is above it by %.2f%% (median), %.2f%% (9 of 10)\n", part(plans, 5),
              part(plans, 9));
}

}  // namespace

int main(int argc, char** argv) {
  const int systems = argc > 1 ? std::atoi(argv[1]) : 200;
  if (argc > 2 || systems < 1) {
    std::fprintf(stderr, "usage: bench_needs [SYSTEMS]\n");
    return 2;
  }
  gaps("random needs", systems, true, [](std::uint64_t seed) {
    RandomStream random(seed, 9);
    return testing::random_needs(random);
  });
  gaps("small boxes with needs", systems, true,
       [](std::uint64_t seed) { return box_with_needs(seed, {.max_types = 4, .max_count = 6}); });
  gaps("boxes with needs", std::max(1, systems / 4), false,
       [](std::uint64_t seed) { return box_with_needs(seed, {}); });
  return 0;
}
