#include "allot/dispatch/lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <queue>
#include <vector>

#include "allot/base/random.hpp"
#include "tests/support/dense_simplex.hpp"
#include "tests/support/random_systems.hpp"

namespace allot::lines_test {
namespace {

using WhenAhead = Lines::WhenAhead;

constexpr TaskType kA = task_type(0);
constexpr TaskType kB = task_type(1);
constexpr ResourceId kCpu = resource_id(0);
constexpr ResourceId kGpu = resource_id(1);

const auto kAll = [](TaskType) { return true; };

/// Two types, two resources.
struct TwoByTwo {
  explicit TwoByTwo(Lines::Options options = {}) : lines(options) { lines.resize(2, 2); }

  WaitingTask& make(TaskType i, ResourceId j = {}) {
    WaitingTask& task = tasks.emplace_back();
    task.ticket.type = i;
    task.ticket.resource = j;
    return task;
  }
  WaitingTask& put(TaskType i, ResourceId j, bool trial = false) {
    WaitingTask& task = make(i, j);
    task.ticket.explores = trial;
    lines.put(task);
    return task;
  }
  WaitingTask& put_unbound(TaskType i) {
    WaitingTask& task = make(i);
    lines.put_unbound(task);
    return task;
  }
  WaitingTask* take(ResourceId j, double now = 0) { return lines.take(j, now, kAll); }

  Lines lines;
  std::deque<WaitingTask> tasks;
};

// ---- bound

TEST(Lines, AServerTakesTheTypeWithTheLeastServiceForItsWeight) {
  TwoByTwo room;
  room.lines.set_weights(kCpu, std::vector<double>{3, 1});
  for (int k = 0; k < 40; ++k) {
    room.put(kA, kCpu);
    room.put(kB, kCpu);
  }
  int a = 0;
  for (int k = 0; k < 40; ++k) {
    WaitingTask* const task = room.take(kCpu, k);
    ASSERT_NE(task, nullptr);
    EXPECT_TRUE(task->in_order);
    a += task->ticket.type == kA ? 1 : 0;
    room.lines.served(task->ticket.type, kCpu, 1);
  }
  EXPECT_NEAR(a, 30, 1);
  EXPECT_EQ(room.take(kGpu), nullptr) << "what is bound waits for its resource";
}

TEST(Lines, AResourceMayServeInTheOrderOfArrival) {
  TwoByTwo room;
  room.lines.set_order(kCpu, Lines::Order::kArrival);
  std::vector<WaitingTask*> came;
  for (const TaskType i : {kB, kA, kA, kB, kB}) came.push_back(&room.put(i, kCpu));
  for (WaitingTask* const task : came) {
    EXPECT_EQ(room.take(kCpu), task);
    EXPECT_FALSE(task->in_order);
  }
  EXPECT_EQ(room.take(kCpu), nullptr);
}

TEST(Lines, TrialsGoFirstUnlessToldOtherwise) {
  for (const bool first : {true, false}) {
    TwoByTwo room({.trials_first = first});
    room.put(kA, kCpu);
    room.put(kA, kCpu);
    WaitingTask& trial = room.put(kB, kCpu, true);
    WaitingTask* const taken = room.take(kCpu);
    EXPECT_EQ(taken == &trial, first);
    EXPECT_EQ(taken->in_order, !first);
  }
}

TEST(Lines, OnlyWhatIsAvailableIsTaken) {
  TwoByTwo room;
  WaitingTask& a = room.put(kA, kCpu);
  WaitingTask& b = room.put(kB, kCpu);
  EXPECT_EQ(room.lines.take(kCpu, 0, [](TaskType i) { return i == kB; }), &b);
  EXPECT_EQ(room.lines.take(kCpu, 0, [](TaskType) { return false; }), nullptr);
  EXPECT_EQ(room.take(kCpu), &a);
}

TEST(Lines, OneThatCouldNotBeStartedIsTheNextAgainAndCountsForNothing) {
  TwoByTwo room;
  room.put(kA, kCpu);
  room.put(kA, kCpu);
  room.put(kB, kCpu);
  WaitingTask* const first = room.take(kCpu);
  ASSERT_EQ(first->ticket.type, kA);
  room.lines.put_back(*first, kCpu);
  EXPECT_EQ(room.lines.waiting(), 3);
  EXPECT_EQ(room.take(kCpu), first);
}

TEST(Lines, ATaskThatIsReboundKeepsItsTurn) {
  TwoByTwo room;
  WaitingTask& early = room.put_unbound(kA);
  WaitingTask& middle = room.put(kA, kCpu);
  WaitingTask& late = room.put(kA, kGpu);
  room.lines.rebind(middle, {kA, kGpu});
  EXPECT_EQ(room.lines.first(kA, kGpu), &middle);
  room.lines.rebind(early, {kA, kGpu});  // bound ahead
  EXPECT_FALSE(early.unbound);
  EXPECT_EQ(room.lines.waiting(kA), 3);
  for (WaitingTask* const task : {&early, &middle, &late}) EXPECT_EQ(room.take(kGpu), task);
  EXPECT_EQ(room.lines.waiting(), 0);
}

// ---- unbound

TEST(Lines, AnUnboundTaskGoesToWhicheverResourceHasAPartForIt) {
  TwoByTwo room;
  room.lines.set_weights(kCpu, std::vector<double>{1, 0});
  room.lines.set_weights(kGpu, std::vector<double>{1, 1});
  WaitingTask& a = room.put_unbound(kA);
  WaitingTask& b = room.put_unbound(kB);
  EXPECT_EQ(room.take(kCpu), &a);
  EXPECT_EQ(room.take(kCpu), nullptr) << "B has no part of the CPU";
  EXPECT_EQ(room.take(kGpu), &b);
}

TEST(Lines, WhatIsBoundAheadComesBeforeWhatIsNot) {
  TwoByTwo room;
  WaitingTask& unbound = room.put_unbound(kA);
  WaitingTask& bound = room.put(kA, kCpu);
  EXPECT_EQ(room.take(kCpu), &bound);
  EXPECT_EQ(room.take(kCpu), &unbound);
}

TEST(Lines, AServerStaysIdleRatherThanRunATypeFarAheadOfItsPlan) {
  TwoByTwo room({WhenAhead::kIdleFarAhead, false});
  room.lines.set_weights(kCpu, std::vector<double>{0.25, 0});
  for (int k = 0; k < 100; ++k) room.put_unbound(kA);
  double now = 0;
  double busy = 0;
  int idle = 0;
  while (now < 40) {
    if (room.take(kCpu, now) != nullptr) {
      room.lines.served(kA, kCpu, 0.5);
      now += 0.5;
      busy += 0.5;
      continue;
    }
    ASSERT_TRUE(room.lines.idle_until(kCpu).has_value());
    ASSERT_GT(*room.lines.idle_until(kCpu), now);
    now = *room.lines.idle_until(kCpu);
    ++idle;
  }
  EXPECT_GT(idle, 10);
  EXPECT_LE(busy, 0.25 * 40 + 3 * 0.5) << "its plan, two tasks that it may be ahead, and the one that runs";
  EXPECT_GE(busy, 0.25 * 40);
  EXPECT_NE(room.lines.take(kCpu, now, kAll, false), nullptr) << "nobody is helped by idling";
}

/// The plain program of planned service, by a solver of the tests' own: x maximises the sum of mu x with the
/// servers and the threads as limits.
struct PlannedService {
  explicit PlannedService(const System& system) {
    const std::size_t resources = system.resource_count();
    const std::size_t pairs = system.type_count() * resources;
    std::vector<long double> rates;
    for (const double rate : system.rates().values()) rates.push_back(rate);
    testing::DenseSimplex program(rates);
    for (const TaskType i : system.types()) {
      std::vector<long double> row(pairs, 0);
      for (const ResourceId j : system.resource_ids()) row[index(i) * resources + index(j)] = 1;
      program.at_most(row, static_cast<long double>(system.count(i)));
    }
    for (const ResourceId j : system.resource_ids()) {
      std::vector<long double> row(pairs, 0);
      for (const TaskType i : system.types()) row[index(i) * resources + index(j)] = 1;
      program.at_most(row, static_cast<long double>(system.resource(j).servers));
    }
    std::vector<long double> solution;
    throughput = static_cast<double>(*program.solve(&solution));
    // A pair that cannot run gains nothing, and may be in the solution all the same.
    std::vector<double> values;
    for (std::size_t at = 0; at < pairs; ++at) {
      values.push_back(rates[at] > 0 && solution[at] > 1e-9L ? static_cast<double>(solution[at]) : 0.0);
    }
    service = PerPair<double>(system.type_count(), resources, std::move(values));
  }

  double throughput = 0;
  PerPair<double> service;
};

/// Completions per second of a closed loop in virtual time with exponential sizes.
double late_binding(const System& system, const PlannedService& plan, WhenAhead when_ahead,
                    std::uint64_t seed) {
  constexpr int kWarmUp = 1000;
  constexpr int kMeasured = 8000;
  RandomStream random(seed, 0x1a7e);
  Lines lines({when_ahead, false});
  lines.resize(system.type_count(), system.resource_count());
  std::vector<double> weights(system.type_count());
  for (const ResourceId j : system.resource_ids()) {
    for (const TaskType i : system.types()) weights[index(i)] = plan.service(i, j);
    lines.set_weights(j, weights);
  }
  std::deque<WaitingTask> tasks;
  for (const TaskType i : system.types()) {
    for (Count n = 0; n < system.count(i); ++n) {
      tasks.emplace_back().ticket.type = i;
      lines.put_unbound(tasks.back());
    }
  }
  struct End {
    double at = 0;
    double service = 0;
    WaitingTask* task = nullptr;
    ResourceId j{};
    bool operator<(const End& other) const { return at > other.at; }
  };
  std::priority_queue<End> ends;
  std::vector<Count> free;
  for (const ResourceId j : system.resource_ids()) free.push_back(system.resource(j).servers);
  double now = 0;
  double began = 0;
  for (int ended = 0; ended < kWarmUp + kMeasured;) {
    double wake = HUGE_VAL;
    for (const ResourceId j : system.resource_ids()) {
      while (free[index(j)] > 0) {
        WaitingTask* const task = lines.take(j, now, kAll);
        if (task == nullptr) {
          wake = std::min(wake, lines.idle_until(j).value_or(HUGE_VAL));
          break;
        }
        EXPECT_GT(plan.service(task->ticket.type, j), 0);
        const double service = -std::log(random.uniform()) / system.rate(task->ticket.type, j);
        ends.push({now + service, service, task, j});
        --free[index(j)];
      }
    }
    if (ends.empty() && wake == HUGE_VAL) return 0;  // nothing is planned
    if (ends.empty() || wake < ends.top().at) {
      now = std::nextafter(wake, HUGE_VAL);
      continue;
    }
    const End end = ends.top();
    ends.pop();
    now = end.at;
    ++free[index(end.j)];
    lines.served(end.task->ticket.type, end.j, end.service);
    end.task->arrival = 0;
    lines.put_unbound(*end.task);
    if (++ended == kWarmUp) began = now;
  }
  return kMeasured / (now - began);
}

/// Whatever the policy, no long run beats the program; late binding comes near it. Where a type runs far
/// ahead of its plan, it takes tasks from where they are needed more: without idling the worst case is far
/// worse.
TEST(Lines, LateBindingComesNearTheProgramOfPlannedService) {
  double sum = 0;
  int systems = 0;
  double worst = 1;
  double worst_without_idling = 1;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = testing::random_system(seed, {.max_count = 5, .fcfs = false});
    const PlannedService plan(system);
    if (!(plan.throughput > 0)) continue;
    const double part = late_binding(system, plan, WhenAhead::kIdleFarAhead, seed) / plan.throughput;
    EXPECT_LT(part, 1.05);
    sum += part;
    ++systems;
    worst = std::min(worst, part);
    worst_without_idling =
        std::min(worst_without_idling, late_binding(system, plan, WhenAhead::kServe, seed) / plan.throughput);
  }
  EXPECT_GT(sum / systems, 0.99);
  EXPECT_GT(worst, 0.85);
  EXPECT_LT(worst_without_idling, 0.7);
}

// ---- everything together

/// What the lines should do, written down the slow way: all tasks in one list.
class SlowRoom {
 public:
  explicit SlowRoom(bool trials_first) : trials_first_(trials_first) {}

  std::vector<WaitingTask*> waiting;

  WaitingTask* first(TaskType i, ResourceId j, double weight) const {
    WaitingTask* best = nullptr;
    for (WaitingTask* const task : waiting) {
      if (task->ticket.type != i || (task->unbound ? !(weight > 0) : task->ticket.resource != j)) continue;
      if (best == nullptr || before(*task, *best)) best = task;
    }
    return best;
  }
  /// Of a resource in the order of arrival.
  WaitingTask* by_arrival(const Lines& lines, ResourceId j) const {
    WaitingTask* best = nullptr;
    for (std::size_t i = 0; i < lines.types(); ++i) {
      WaitingTask* const task = first(task_type(i), j, lines.weight(task_type(i), j));
      if (task == nullptr) continue;
      if (trials_first_ && task->ticket.explores) return task;
      if (best == nullptr || task->arrival < best->arrival) best = task;
    }
    return best;
  }

 private:
  static bool before(const WaitingTask& a, const WaitingTask& b) {
    if (a.unbound != b.unbound) return b.unbound;
    return a.urgency != b.urgency ? a.urgency > b.urgency : a.arrival < b.arrival;
  }
  bool trials_first_;
};

/// A room to which anything happens, and the same in the slow one.
class Random {
 public:
  explicit Random(std::uint64_t seed)
      : random_(seed, 0x11e5),
        trials_first_(random_.below(2) == 0),
        lines_({random_.below(2) == 0 ? WhenAhead::kServe : WhenAhead::kIdleFarAhead, trials_first_}),
        slow_(trials_first_),
        types_(1 + random_.below(4)),
        resources_(1 + random_.below(4)) {
    lines_.resize(types_, resources_);
  }

  void step() {
    const ResourceId j = resource_id(random_.below(resources_));
    const std::uint64_t what = random_.below(12);
    if (what < 3) {
      change_plan(j, what);
    } else if (what == 3) {
      move_one(j);
    } else if (what < 8) {
      put_one(j);
    } else {
      take_one(j);
    }
    compare(j);
  }

 private:
  void change_plan(ResourceId j, std::uint64_t what) {
    if (what == 0) {
      types_ = std::min<std::size_t>(6, types_ + random_.below(2));
      resources_ = std::min<std::size_t>(6, resources_ + random_.below(2));
      lines_.resize(types_, resources_);
    } else if (what == 1) {
      std::vector<double> weights(types_);
      for (double& weight : weights) weight = random_.below(3) == 0 ? 0 : random_.uniform();
      lines_.set_weights(j, weights);
    } else {
      by_arrival_[index(j)] = random_.below(2) == 0;
      lines_.set_order(j, by_arrival_[index(j)] ? Lines::Order::kArrival : Lines::Order::kService);
    }
  }

  void move_one(ResourceId j) {
    if (slow_.waiting.empty()) return;
    WaitingTask* const task = slow_.waiting[random_.below(slow_.waiting.size())];
    if (random_.below(2) == 0) {
      lines_.rebind(*task, {task->ticket.type, j});
    } else {
      lines_.remove(*task);
      std::erase(slow_.waiting, task);
    }
  }

  void put_one(ResourceId j) {
    WaitingTask& task = tasks_.emplace_back();
    task.ticket = {task_type(random_.below(types_)), j, random_.below(8) == 0};
    task.urgency = static_cast<int>(random_.below(3));
    random_.below(2) == 0 ? lines_.put(task) : lines_.put_unbound(task);
    slow_.waiting.push_back(&task);
  }

  void take_one(ResourceId j) {
    now_ += random_.uniform();
    WaitingTask* const expected = by_arrival_[index(j)] ? slow_.by_arrival(lines_, j) : nullptr;
    WaitingTask* const task = lines_.take(j, now_, kAll, random_.below(2) == 0);
    if (by_arrival_[index(j)]) {
      ASSERT_EQ(task, expected);
    }
    if (task == nullptr) return;
    ASSERT_EQ(task, slow_.first(task->ticket.type, j, lines_.weight(task->ticket.type, j)));
    if (random_.below(4) == 0) {
      lines_.put_back(*task, j);
      return;
    }
    std::erase(slow_.waiting, task);
    if (task->in_order) lines_.served(task->ticket.type, j, random_.uniform());
  }

  void compare(ResourceId j) const {
    ASSERT_EQ(lines_.waiting(), static_cast<Count>(slow_.waiting.size()));
    for (std::size_t k = 0; k < types_; ++k) {
      const TaskType type = task_type(k);
      ASSERT_EQ(lines_.first(type, j), slow_.first(type, j, lines_.weight(type, j)));
      ASSERT_EQ(lines_.waiting(type),
                std::count_if(slow_.waiting.begin(), slow_.waiting.end(),
                              [&](const WaitingTask* task) { return task->ticket.type == type; }));
    }
  }

  RandomStream random_;
  bool trials_first_;
  Lines lines_;
  SlowRoom slow_;
  std::size_t types_;
  std::size_t resources_;
  std::deque<WaitingTask> tasks_;
  std::vector<bool> by_arrival_ = std::vector<bool>(8, false);
  double now_ = 0;
};

TEST(Lines, AgreeWithAListOfAllTasksWhateverHappens) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    Random room(seed);
    for (int step = 0; step < 600 && !HasFatalFailure(); ++step) room.step();
  }
}

}  // namespace
}  // namespace allot::lines_test
