// How good are the answers under even sharing where tasks have needs, how tight is the bound, and what does
// it save that a move fills only the groups of resources anew that it touches?
//
// usage: bench_needs [SYSTEMS]   (default 200 per line)
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "allot/model/throughput.hpp"
#include "allot/solve/detail/filled_state.hpp"
#include "allot/solve/detail/states.hpp"
#include "allot/solve/solver.hpp"
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
    const double states = detail::count_states(system);
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

double seconds_of(const std::function<void()>& work) {
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One task from one resource to another, rated in three ways.
void ratings(std::size_t types, std::size_t width, bool joined) {
  testing::NeedsShape shape;
  shape.most_types = types;
  shape.most_resources = width;
  shape.most_threads = 10;
  shape.extreme = false;
  shape.joined = joined;
  double by_group = 0;
  double whole = 0;
  double from_scratch = 0;
  double rated = 0;
  double groups = 0;
  volatile double sink = 0;
  int systems = 0;
  for (std::uint64_t seed = 1; systems < 20; ++seed) {
    RandomStream random(seed, 77);
    const System system = testing::random_needs(random, shape);
    if (!system.has_needs() || system.type_count() < types * 3 / 4 || system.resource_count() < width * 3 / 4)
      continue;
    ++systems;
    Assignment state = testing::random_placement(system, random);
    std::vector<std::array<detail::Shift, 2>> moves;
    for (int tries = 0; tries < 1000; ++tries) {
      const TaskType i = task_type(random.below(system.type_count()));
      const auto allowed = system.resources_for(i);
      const ResourceId a = allowed[random.below(allowed.size())];
      const ResourceId b = allowed[random.below(allowed.size())];
      if (a != b && state(i, a) > 0) moves.push_back({detail::Shift{i, a, -1}, detail::Shift{i, b, 1}});
    }
    detail::FilledState filled(system);
    filled.place(state.values());
    groups += static_cast<double>(filled.group_count()) / static_cast<double>(system.resource_count());
    rated += static_cast<double>(moves.size());
    by_group += seconds_of([&] {
      for (const auto& move : moves) sink = sink + filled.value_change(move);
    });
    EvenSharing sharing(system);
    std::vector<double> tasks(state.values().begin(), state.values().end());
    const std::size_t columns = system.resource_count();
    const auto shift = [&](const std::array<detail::Shift, 2>& move, Count sign) {
      for (const detail::Shift& one : move) {
        tasks[index(one.type) * columns + index(one.resource)] += static_cast<double>(sign * one.n);
        state(one.type, one.resource) += sign * one.n;
      }
    };
    whole += seconds_of([&] {
      for (const auto& move : moves) {
        shift(move, 1);
        const auto served = sharing(tasks).at_full_speed;
        double value = 0;
        for (std::size_t at = 0; at < served.size(); ++at)
          value += served[at] * system.value_rate(task_type(at / columns), resource_id(at % columns));
        sink = sink + value;
        shift(move, -1);
      }
    });
    from_scratch += seconds_of([&] {
      for (const auto& move : moves) {
        shift(move, 1);
        sink = sink + evaluate(system, state).value;
        shift(move, -1);
      }
    });
  }
  std::printf("  %2zu x %-2zu %-7s %6.2f %12.0f %12.0f %12.0f\n", types, width, joined ? "yes" : "no",
              groups / systems, 1e9 * by_group / rated, 1e9 * whole / rated, 1e9 * from_scratch / rated);
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
  std::printf("\nrating a move, ns: by groups of resources, filling all, evaluate\n");
  std::printf("  %-7s %-7s %6s %12s %12s %12s\n", "T x R", "joined", "groups", "by group", "all", "evaluate");
  for (const bool joined : {true, false}) {
    for (const auto& [types, width] : {std::pair<std::size_t, std::size_t>{4, 4}, {8, 6}, {16, 8}, {32, 16}})
      ratings(types, width, joined);
  }
  return 0;
}
