#include "allot/solve/detail/filled_state.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "allot/solve/detail/needs_starts.hpp"
#include "tests/support/amount.hpp"
#include "tests/support/needs_oracle.hpp"

namespace allot::detail {
namespace {

using allot::testing::NeedsOracle;
using allot::testing::NeedsShape;
using allot::testing::random_needs;
using allot::testing::random_placement;

/// A random move of tasks that are there.
std::optional<std::array<Shift, 2>> random_move(const System& system, const Assignment& state,
                                                RandomStream& random) {
  const TaskType i = task_type(random.below(system.type_count()));
  const auto allowed = system.resources_for(i);
  const ResourceId a = allowed[random.below(allowed.size())];
  const ResourceId b = allowed[random.below(allowed.size())];
  if (a == b || state(i, a) == 0) return std::nullopt;
  const Count n = 1 + static_cast<Count>(random.below(static_cast<std::uint64_t>(state(i, a))));
  return std::array{Shift{i, a, -n}, Shift{i, b, n}};
}

// Walks at random; what is foretold, what the state says and the definition must agree all the way.
TEST(FilledState, ForetellsWhatAMoveChanges) {
  std::uint64_t seen = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(300); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed, 0);
    NeedsShape shape;
    shape.joined = seed % 2 == 0;
    const System system = random_needs(random, shape);
    const NeedsOracle oracle(system);
    Assignment state = random_placement(system, random);
    FilledState filled(system);
    filled.place(state.values());
    std::vector<double> foretold(system.type_count());
    std::vector<double> told(system.type_count());
    for (int step = 0; step < 20; ++step) {
      const auto move = random_move(system, state, random);
      if (!move) continue;
      const double before = filled.value();
      const double change = filled.value_change(*move);
      filled.throughputs_after(*move, foretold);
      EXPECT_EQ(filled.value(), before);
      for (const Shift& shift : *move) state(shift.type, shift.resource) += shift.n;
      filled.apply(*move);
      filled.throughputs(told);
      EXPECT_EQ(told, foretold);
      const std::vector<double> by_task = oracle.throughput_by_task(state);
      for (std::size_t i = 0; i < by_task.size(); ++i) EXPECT_NEAR(told[i], by_task[i], 1e-9 * by_task[i]);
      const double value = oracle.value(by_task);
      EXPECT_NEAR(filled.value(), value, 1e-9 * value);
      EXPECT_NEAR(before + change, value, 1e-9 * (value + before));
      FilledState fresh(system);
      fresh.place(state.values());
      EXPECT_EQ(fresh.value(), filled.value()) << "the way there does not matter";
      ++seen;
    }
  }
  EXPECT_GT(seen, testing::amount(1000));
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Rates moves by groups and by filling everything, and prints what each took.
void rate_moves(std::size_t most_types, std::size_t most_resources, bool joined) {
  NeedsShape shape{.most_types = most_types, .most_resources = most_resources, .most_threads = 10};
  shape.extreme = false;
  shape.joined = joined;
  double rated = 0;
  double by_group = 0;
  double by_all = 0;
  double groups = 0;
  int systems = 0;
  for (std::uint64_t seed = 0; systems < 20; ++seed) {
    RandomStream random(seed, 77);
    const System system = random_needs(random, shape);
    if (system.type_count() < most_types * 3 / 4 || system.resource_count() < most_resources * 3 / 4)
      continue;
    ++systems;
    const Assignment state = random_placement(system, random);
    std::vector<std::array<Shift, 2>> moves;
    for (int tries = 0; tries < 500; ++tries) {
      if (const auto move = random_move(system, state, random)) moves.push_back(*move);
    }
    FilledState filled(system);
    filled.place(state.values());
    groups += static_cast<double>(filled.group_count()) / static_cast<double>(system.resource_count());
    rated += static_cast<double>(moves.size());
    std::vector<double> changes;
    changes.reserve(moves.size());
    by_group += seconds_of([&] {
      for (const auto& move : moves) changes.push_back(filled.value_change(move));
    });
    EvenSharing all(system);
    std::vector<double> tasks(state.values().begin(), state.values().end());
    const std::size_t width = system.resource_count();
    std::vector<double> values;
    values.reserve(moves.size());
    by_all += seconds_of([&] {
      for (const auto& move : moves) {
        for (const Shift& shift : move)
          tasks[index(shift.type) * width + index(shift.resource)] += static_cast<double>(shift.n);
        const auto served = all(tasks).at_full_speed;
        double value = 0;
        for (std::size_t at = 0; at < served.size(); ++at)
          value += served[at] * system.value_rate(task_type(at / width), resource_id(at % width));
        values.push_back(value);
        for (const Shift& shift : move)
          tasks[index(shift.type) * width + index(shift.resource)] -= static_cast<double>(shift.n);
      }
    });
    for (std::size_t at = 0; at < moves.size(); ++at)
      ASSERT_NEAR(filled.value() + changes[at], values[at], 1e-9 * (1 + values[at]));
  }
  std::printf("%2zu x %2zu, %s: %.2f groups a resource, %.0f ns by groups, %.0f ns by filling all\n",
              most_types, most_resources, joined ? "joined" : "apart", groups / systems,
              1e9 * by_group / rated, 1e9 * by_all / rated);
}

TEST(FilledState, RatesMovesByGroupsAsByFillingAll) {
  for (const bool joined : {true, false}) {
    rate_moves(4, 4, joined);
    rate_moves(8, 6, joined);
    rate_moves(16, 8, joined);
    rate_moves(32, 16, joined);
  }
}

TEST(FilledState, KnowsWhichResourcesHaveToDoWithEachOther) {
  // A core feeds each GPU stream; the tape drive stands alone.
  const Need core{ResourceId{1}, servers_of(ResourceId{0}), 1};
  const System system({{.name = "cpu", .servers = 4}, {.name = "gpu", .servers = 2}, {.name = "tape"}},
                      {{.name = "a", .count = 3, .needs = {core}}, {.name = "b", .count = 2}},
                      Rates(2, 3, {1, 8, 0, 2, 0, 3}));
  EXPECT_EQ(FilledState(system).group_count(), 2);
}

TEST(FilledState, HasRoomForAsManyAsNobodyHasToGiveWayTo) {
  const Need memory{ResourceId{0}, capacity_id(1), 3};
  const System system({{.name = "gpu", .servers = 4}}, {{.name = "a", .count = 9, .needs = {memory}}},
                      Rates(1, 1, {1}), {{.name = "memory", .amount = 10}});
  FilledState state(system);
  EXPECT_EQ(state.room(TaskType{0}, ResourceId{0}), 3);
  state.apply(std::array{Shift{TaskType{0}, ResourceId{0}, 2}});
  EXPECT_EQ(state.room(TaskType{0}, ResourceId{0}), 1);
  state.apply(std::array{Shift{TaskType{0}, ResourceId{0}, 5}});
  EXPECT_EQ(state.room(TaskType{0}, ResourceId{0}), 0);
}

TEST(NeedsStarts, PlaceEveryTaskWhereItCanRun) {
  for (std::uint64_t seed = 0; seed < testing::amount(200); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed, 1);
    NeedsShape shape;
    if (seed % 10 == 0) shape.most_types = shape.most_resources = 12;  // then offers are believed for a while
    if (seed % 3 == 0) shape.most_threads = 1000;                      // then placed in portions
    const System system = random_needs(random, shape);
    for (const Assignment& start : starts_by_needs(system, 4)) EXPECT_TRUE(is_placement(system, start));
  }
}

// Six tasks, a server for each: by gain the first type takes the place that the second has no other for.
TEST(NeedsStarts, ByRegretAreForTasksThatHaveNoOtherPlace) {
  const System system(
      {{.name = "fast", .servers = 2}, {.name = "slow", .servers = 2}},
      {{.name = "either", .count = 2, .needs = {{ResourceId{0}, servers_of(ResourceId{0}), 1}}},
       {.name = "only", .count = 2}},
      Rates(2, 2, {10, 9, 8, 0}));
  const std::vector<Assignment> starts = starts_by_needs(system, 4);
  EXPECT_EQ(starts[1](TaskType{0}, ResourceId{1}), 2);
  EXPECT_EQ(starts[1](TaskType{1}, ResourceId{0}), 2);
}

}  // namespace
}  // namespace allot::detail
