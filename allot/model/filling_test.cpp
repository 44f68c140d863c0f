#include "allot/model/filling.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "allot/base/random.hpp"
#include "allot/model/throughput.hpp"
#include "tests/support/random_needs.hpp"

namespace allot {
namespace {

using testing::random_needs;
using testing::random_placement;

/// One filling once more, by bisection on the level of one step at a time, in long double.
std::vector<double> levels_by_steps(const System& system, const std::vector<double>& tasks, bool shared) {
  const std::size_t width = system.resource_count();
  std::vector<double> level(tasks.size(), -1);
  const auto draws = [&](std::size_t pair) {
    std::vector<Draw> out;
    for (const Draw& draw : system.needs(task_type(pair / width), resource_id(pair % width))) {
      if (system.is_shared(draw.capacity) == shared) out.push_back(draw);
    }
    return out;
  };
  long double now = 0;
  for (;;) {
    long double next = 1;
    std::vector<CapacityId> full;
    for (const CapacityId r : system.capacity_ids()) {
      if (system.is_shared(r) != shared) continue;
      long double used = 0;
      long double rising = 0;
      for (std::size_t pair = 0; pair < tasks.size(); ++pair) {
        for (const Draw& draw : draws(pair)) {
          if (draw.capacity != r) continue;
          const long double all = static_cast<long double>(draw.amount) * tasks[pair];
          if (level[pair] < 0) {
            rising += all;
          } else {
            used += all * level[pair];
          }
        }
      }
      if (!(rising > 0)) continue;
      const long double stop = std::max(now, (system.amount(r) - used) / rising);
      if (stop < next * (1 - 1e-13L)) {
        next = stop;
        full.clear();
      }
      if (stop <= next * (1 + 1e-13L)) full.push_back(r);
    }
    now = next;
    bool stopped = false;
    for (std::size_t pair = 0; pair < tasks.size(); ++pair) {
      if (level[pair] >= 0) continue;
      bool stops = now >= 1;
      for (const Draw& draw : draws(pair)) {
        for (const CapacityId r : full) stops = stops || draw.capacity == r;
      }
      if (stops && !(now < 1))
        level[pair] = 1;
      else if (stops)
        level[pair] = static_cast<double>(now);
      stopped = stopped || stops;
    }
    if (!stopped || now >= 1) break;
  }
  for (double& one : level) one = one < 0 ? 1 : one;
  return level;
}

std::vector<double> as_numbers(const Assignment& assignment) {
  std::vector<double> out;
  for (std::size_t i = 0; i < assignment.types(); ++i) {
    for (std::size_t j = 0; j < assignment.resources(); ++j)
      out.push_back(static_cast<double>(assignment(task_type(i), resource_id(j))));
  }
  return out;
}

TEST(Filling, IsWhatStepsInLongArithmeticGive) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed, 0);
    const System system = random_needs(random);
    const Assignment state = random_placement(system, random);
    const std::vector<double> n = as_numbers(state);
    EvenSharing sharing(system);
    const EvenSharing::Service service = sharing(n);
    std::vector<double> m = levels_by_steps(system, n, false);
    for (std::size_t pair = 0; pair < n.size(); ++pair) {
      m[pair] *= n[pair];
      EXPECT_NEAR(service.in_service[pair], m[pair], 1e-9 * (1 + m[pair]));
    }
    const std::vector<double> shared = levels_by_steps(system, m, true);
    for (std::size_t pair = 0; pair < n.size(); ++pair)
      EXPECT_NEAR(service.at_full_speed[pair], m[pair] * shared[pair], 1e-9 * (1 + m[pair]));
  }
}

TEST(Filling, NeverOverdrawsACapacity) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    RandomStream random(seed, 1);
    const System system = random_needs(random);
    const std::vector<double> n = as_numbers(random_placement(system, random));
    EvenSharing sharing(system);
    const EvenSharing::Service service = sharing(n);
    std::vector<double> used(system.capacity_count());
    for (const TaskType i : system.types()) {
      for (const ResourceId j : system.resources_for(i)) {
        const std::size_t pair = index(i) * system.resource_count() + index(j);
        for (const Draw& draw : system.needs(i, j))
          used[index(draw.capacity)] += draw.amount * service.at_full_speed[pair];
      }
    }
    for (const CapacityId r : system.capacity_ids())
      EXPECT_LE(used[index(r)], system.amount(r) * (1 + 1e-12)) << seed;
  }
}

TEST(Filling, IsProcessorSharingWhereTasksTakeOneServer) {
  const System system({{.name = "a", .servers = 3}, {.name = "b"}},
                      {{.name = "x", .count = 5}, {.name = "y", .count = 2}}, Rates(2, 2, {1, 1, 1, 1}));
  EvenSharing sharing(system);
  const auto service = sharing(std::vector<double>{4, 1, 2, 0});
  EXPECT_DOUBLE_EQ(service.at_full_speed[0], 4 * 3.0 / 6);
  EXPECT_DOUBLE_EQ(service.at_full_speed[1], 1);
  EXPECT_DOUBLE_EQ(service.at_full_speed[2], 2 * 3.0 / 6);
}

/// A box with memory: a task needs so much of 80.
System with_memory(double need, Count count = 3) {
  return System({{.name = "gpu", .servers = 4}},
                {{.name = "x", .count = count, .needs = {{resource_id(0), capacity_id(1), need}}}},
                Rates(1, 1, {2}), {{.name = "memory", .amount = 80}});
}

TEST(Filling, SaysWhereHeldNeedsAreLumpy) {
  EXPECT_TRUE(with_memory(41).approximate());
  EXPECT_FALSE(with_memory(40).approximate());
  EXPECT_FALSE(with_memory(41, 1).approximate());  // enough for all there are
  Assignment three(1, 1);
  three(task_type(0), resource_id(0)) = 3;
  const Performance lumpy = evaluate(with_memory(41), three);
  EXPECT_TRUE(lumpy.approximate);
  EXPECT_DOUBLE_EQ(lumpy.throughput, 2 * 80.0 / 41);
  EXPECT_FALSE(evaluate(with_memory(40), three).approximate);
  // Three types that each hold two of three units.
  const auto unit = [](int a, int b) {
    return std::vector<Need>{{resource_id(0), capacity_id(static_cast<std::size_t>(a)), 1},
                             {resource_id(0), capacity_id(static_cast<std::size_t>(b)), 1}};
  };
  const System circle({{.name = "gpu", .servers = 3}},
                      {{.name = "x", .count = 1, .needs = unit(1, 2)},
                       {.name = "y", .count = 1, .needs = unit(2, 3)},
                       {.name = "z", .count = 1, .needs = unit(3, 1)}},
                      Rates(3, 1, {1, 1, 1}), {{.name = "p"}, {.name = "q"}, {.name = "r"}});
  EXPECT_TRUE(circle.approximate());
  EXPECT_DOUBLE_EQ(evaluate(circle, home_assignment(circle)).throughput, 1.5);
  // What fills a capacity fits, however it is rounded.
  const auto tenths = [](double need) { return std::vector<Need>{{resource_id(0), capacity_id(1), need}}; };
  const System tenth(
      {{.name = "gpu", .servers = 3}},
      {{.name = "x", .count = 1, .needs = tenths(0.1)}, {.name = "y", .count = 1, .needs = tenths(0.2)}},
      Rates(2, 1, {1, 1}), {{.name = "memory", .amount = 0.3}});
  EXPECT_GT(0.1 + 0.2, 0.3);
  EXPECT_FALSE(tenth.approximate());
  EXPECT_FALSE(evaluate(tenth, home_assignment(tenth)).approximate);
}

TEST(Filling, KnowsWhereFcfsLeavesNoFormula) {
  const auto box = [](Discipline cpu, Discipline gpu, std::vector<Need> needs) {
    return System({{.name = "cpu", .servers = 4, .discipline = cpu}, {.name = "gpu", .discipline = gpu}},
                  {{.name = "x", .count = 2, .needs = std::move(needs)}}, Rates(1, 2, {1, 5}));
  };
  const std::vector<Need> core = {{resource_id(1), capacity_id(0), 1}};
  EXPECT_FALSE(why_no_even_sharing(box(Discipline::kPs, Discipline::kPs, core)));
  EXPECT_TRUE(why_no_even_sharing(box(Discipline::kFcfs, Discipline::kPs, core)));
  EXPECT_TRUE(why_no_even_sharing(box(Discipline::kPs, Discipline::kFcfs, core)));
  EXPECT_FALSE(why_no_even_sharing(box(Discipline::kFcfs, Discipline::kFcfs, {})));
  EXPECT_FALSE(
      why_no_even_sharing(box(Discipline::kPs, Discipline::kFcfs, {{resource_id(0), capacity_id(0), 4}})));
  EXPECT_EQ(why_no_even_sharing(box(Discipline::kPs, Discipline::kFcfs, core)),
            "'gpu' is fcfs and its tasks have needs, for which even sharing has no formula");
  EXPECT_EQ(why_no_even_sharing(box(Discipline::kFcfs, Discipline::kPs, core)),
            "'cpu' is fcfs and 'x' needs it on 'gpu', for which even sharing has no formula");
}

TEST(Filling, OfSomePairsIsThatOfAllWhereTheOthersHaveNoTasks) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed, 0x50b);
    const System system = random_needs(random);
    std::vector<PairId> some;
    std::vector<double> few;
    std::vector<double> all;
    for (const TaskType i : system.types()) {
      for (const ResourceId j : system.resource_ids()) {
        const bool is_there = system.can_run(i, j) && random.below(2) == 0;
        all.push_back(is_there ? static_cast<double>(random.below(4)) : 0.0);
        if (!is_there) continue;
        some.push_back({i, j});
        few.push_back(all.back());
      }
    }
    for (const Filling::Of of : {Filling::Of::kHeld, Filling::Of::kShared}) {
      Filling part(system, of, some);
      Filling whole(system, of);
      const std::span<const double> here = part.levels(few);
      const std::span<const double> there = whole.levels(all);
      for (std::size_t at = 0; at < some.size(); ++at)
        EXPECT_NEAR(here[at],
                    there[index(some[at].type) * system.resource_count() + index(some[at].resource)], 1e-12);
    }
  }
}

TEST(Filling, LeavesToTheOthersWhatIsTaken) {
  std::vector<Resource> machine(1);
  machine[0].name = "cpu";
  machine[0].servers = 4;
  std::vector<TaskClass> tasks(1);
  tasks[0].name = "t";
  const System system(std::move(machine), std::move(tasks), Rates(1, 1, {1}));
  Filling filling(system, Filling::Of::kHeld);
  const std::vector<double> eight{8};
  EXPECT_DOUBLE_EQ(filling.levels(eight)[0], 0.5);
  EXPECT_DOUBLE_EQ(filling.levels(eight, std::vector<double>{3})[0], 0.125);
  EXPECT_DOUBLE_EQ(filling.levels(eight, std::vector<double>{4})[0], 0);
}

}  // namespace
}  // namespace allot
