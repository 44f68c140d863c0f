#include "integrations/starpu/placement.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace allot::starpu {
namespace {

constexpr TaskType kA = task_type(0);
constexpr TaskType kB = task_type(1);
constexpr ResourceId kCpu = resource_id(0);
constexpr ResourceId kGpu = resource_id(1);
constexpr ResourceSet kBoth = set_of(kCpu) | set_of(kGpu);

bool any(const HeldTask&) { return true; }

/// A: 8 ms on the CPU, 4 ms on the device; B: 20 and 10. The best for six of each in flight: one A alone on
/// the device.
class StarpuPlacement : public ::testing::Test {
 protected:
  explicit StarpuPlacement(std::vector<RatePrior> priors = {RatePrior::measured(125),
                                                            RatePrior::measured(250), RatePrior::measured(50),
                                                            RatePrior::measured(100)})
      : dispatcher_({{.name = "cpu"}, {.name = "gpu"}},
                    {{.name = "A", .count = 6}, {.name = "B", .count = 6}}, std::move(priors), options()) {
    placement_.resize(2, 2);
    follow();
  }

  static DispatcherOptions options() {
    DispatcherOptions options;
    options.planning = Planning::kDeferred;
    options.exploration = 0;
    return options;
  }

  void follow() { placement_.follow(*dispatcher_.plan(), dispatcher_); }
  void plan_for(Count a, Count b) {
    dispatcher_.set_counts(std::vector<Count>{a, b});
    dispatcher_.solve();
    follow();
  }
  HeldTask& push_at(TaskType i, ResourceId j, ResourceSet able = kBoth) {
    HeldTask& held = tasks_.emplace_back();
    held.able = able;
    held.ticket = dispatcher_.place_at(i, j);
    placement_.put(held);
    return held;
  }
  HeldTask& push(TaskType i) {
    return push_at(i, dispatcher_.plan()->target->row_sum(i) > 0 ? place(i) : kCpu);
  }
  ResourceId place(TaskType i) {
    const auto ticket = dispatcher_.place(i);
    dispatcher_.cancel(*ticket);
    return ticket->resource;
  }
  HeldTask* take(ResourceId j) { return placement_.take(j, 0, dispatcher_, any); }
  void end(HeldTask& held, double seconds) { placement_.end(held, seconds, Clock::now(), dispatcher_); }
  void expect_consistent() {
    const DispatchStatistics seen = dispatcher_.statistics();
    for (const TaskType i : {kA, kB}) {
      for (const ResourceId j : {kCpu, kGpu}) {
        EXPECT_EQ(placement_.in_flight(i, j), seen.in_flight[2 * index(i) + index(j)]);
      }
      EXPECT_EQ(placement_.in_flight(i), placement_.in_flight(i, kCpu) + placement_.in_flight(i, kGpu));
    }
  }

  Dispatcher dispatcher_;
  Placement placement_{Lines::WhenAhead::kServe};
  std::deque<HeldTask> tasks_;
};

TEST_F(StarpuPlacement, ATryDoesNotWaitBehindATaskThatWouldRatherGoElsewhere) {
  for (int k = 0; k < 6; ++k) push_at(kA, kCpu);
  for (int k = 0; k < 4; ++k) push_at(kB, kCpu);
  push_at(kB, kGpu);  // where the plan has none
  HeldTask& trial = tasks_.emplace_back();
  trial.able = kBoth;
  trial.ticket = dispatcher_.place_at(kB, kGpu);
  trial.ticket.explores = true;
  placement_.put(trial);
  EXPECT_EQ(take(kGpu), &trial);
}

/// A closed loop in virtual time, each resource one task after the other: what is completed comes near what
/// the model predicts for the plan, which is 250 + (5 x 125 + 6 x 50) / 11 = 334 per second.
TEST_F(StarpuPlacement, DeliverTheRateOfThePlan) {
  for (int k = 0; k < 6; ++k) {
    push(kA);
    push(kB);
  }
  const double promised = dispatcher_.plan()->predicted->throughput;
  ASSERT_NEAR(promised, 334.09, 0.01);
  struct Running {
    HeldTask* held = nullptr;
    double until = 0;
  };
  std::map<ResourceId, Running> running;
  double now = 0;
  int completed = 0;
  const auto start = [&](ResourceId j) {
    HeldTask* const held = placement_.take(j, now, dispatcher_, any);
    const double mean =
        held == nullptr ? 1e9 : 1 / (held->ticket.type == kA ? 125.0 : 50.0) / (j == kGpu ? 2 : 1);
    running[j] = {held, now + mean};
  };
  start(kCpu);
  start(kGpu);
  while (now < 30) {
    const ResourceId j = running[kCpu].until < running[kGpu].until ? kCpu : kGpu;
    const double began = now;
    now = running[j].until;
    ASSERT_NE(running[j].held, nullptr) << began;
    HeldTask& held = *running[j].held;
    end(held, 1 / (held.ticket.type == kA ? 125.0 : 50.0) / (j == kGpu ? 2 : 1));
    ++completed;
    // The worker asks before the program has submitted the next task.
    const TaskType type = held.ticket.type;
    start(j);
    push(type);
    if (running[j].held == nullptr) start(j);
    expect_consistent();
  }
  EXPECT_GT(completed / now, 0.98 * promised);
}

TEST_F(StarpuPlacement, AResourceShortOfATypeTakesWhatWaitsElsewhere) {
  for (int k = 0; k < 6; ++k) push_at(kA, kCpu);
  HeldTask* const first = take(kGpu);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->ticket.resource, kGpu);
  EXPECT_EQ(placement_.moved(), 1U);
  EXPECT_EQ(take(kGpu), nullptr) << "the plan has one A there, and as many are in flight as planned";
  expect_consistent();
}

TEST_F(StarpuPlacement, WhatCannotRunElsewhereStays) {
  for (int k = 0; k < 6; ++k) push_at(kA, kCpu, set_of(kCpu));
  EXPECT_EQ(take(kGpu), nullptr);
  EXPECT_NE(take(kCpu), nullptr);
}

TEST_F(StarpuPlacement, AChoosyTaskGoesToAWorkerThatAcceptsItOnly) {
  HeldTask& held = push_at(kA, kCpu);
  held.choosy = true;
  EXPECT_EQ(placement_.take(kCpu, 0, dispatcher_, [](const HeldTask&) { return false; }), nullptr);
  EXPECT_EQ(take(kCpu), &held);
  placement_.put_back(held);
  EXPECT_EQ(placement_.waiting(), 1);
  EXPECT_EQ(take(kCpu), &held);
}

TEST_F(StarpuPlacement, WhereThePlanDoesNotFitTasksMoveOnlyToEndSooner) {
  push_at(kB, kGpu);
  EXPECT_FALSE(placement_.fits_plan(kB)) << "two are not six";
  EXPECT_EQ(take(kCpu), nullptr) << "20 ms here, 10 ms there";
  push_at(kB, kGpu);
  push_at(kB, kGpu);
  HeldTask* const taken = take(kCpu);
  ASSERT_NE(taken, nullptr) << "20 ms here, 30 ms there";
  EXPECT_EQ(taken->ticket.resource, kCpu);
  expect_consistent();
}

/// One A in flight: the plan has it on the device, which takes 4 ms, and nothing on the CPU, which takes 8.
TEST_F(StarpuPlacement, NobodyWaitsForAPlaceThatCannotRunIt) {
  plan_for(1, 0);
  ASSERT_EQ((*dispatcher_.plan()->target)(kA, kGpu), 1);
  HeldTask& both = push_at(kA, kCpu);
  EXPECT_EQ(take(kCpu), nullptr) << "better on the device";
  EXPECT_EQ(take(kGpu), &both);
  end(both, 0.004);
  HeldTask& bound_to_cpu = push_at(kA, kCpu, set_of(kCpu));
  EXPECT_EQ(take(kGpu), nullptr);
  EXPECT_EQ(take(kCpu), &bound_to_cpu);
  end(bound_to_cpu, 0.008);
  placement_.set_servers(kGpu, 0);
  HeldTask& left = push_at(kA, kCpu);
  EXPECT_EQ(take(kCpu), &left) << "the device has left, which the plan does not know yet";
}

TEST_F(StarpuPlacement, WhatOneResourceLeavesToAnotherThatOneTakes) {
  plan_for(1, 0);
  placement_.set_servers(kCpu, 8);
  for (int k = 0; k < 3; ++k) push_at(kA, kCpu);
  ASSERT_FALSE(placement_.fits_plan(kA));
  EXPECT_EQ(take(kCpu), nullptr) << "8 ms here, 4 ms there";
  EXPECT_NE(take(kGpu), nullptr) << "although 4 ms is more than the 24 / 8 ms until all here have ended";
  EXPECT_NE(take(kCpu), nullptr) << "8 ms here, 8 ms there by now";
  expect_consistent();
}

TEST_F(StarpuPlacement, WhatWaitsWhereNobodyWorksIsForTheOthers) {
  for (int k = 0; k < 3; ++k) push_at(kB, kGpu);
  placement_.set_servers(kGpu, 0);
  EXPECT_EQ(placement_.soonest(kA, kBoth), kCpu);
  EXPECT_NE(take(kCpu), nullptr);
}

/// Under exact shares, too, where who is ahead waits.
TEST_F(StarpuPlacement, TypesNewerThanThePlanAreServedBeforeTheNext) {
  Placement exact(Lines::WhenAhead::kIdle);
  exact.resize(0, 2);
  exact.resize(2, 2);
  std::deque<HeldTask> tasks(3);
  for (HeldTask& held : tasks) {
    held.able = kBoth;
    held.ticket = dispatcher_.place_at(kB, kCpu);
  }
  tasks[0].pinned = true;
  exact.put(tasks[0]);
  exact.end(tasks[0], 0.02, Clock::now(), dispatcher_);
  exact.put(tasks[1]);
  exact.put(tasks[2]);
  EXPECT_EQ(exact.in_flight(), 2);
  EXPECT_EQ(exact.take(kCpu, 1, dispatcher_, any), &tasks[1]);
  exact.end(tasks[1], 0.02, Clock::now(), dispatcher_);
  EXPECT_EQ(exact.take(kCpu, 1, dispatcher_, any), &tasks[2]) << "a wait would keep nobody's share";
  EXPECT_FALSE(exact.idle_until(kCpu));
  EXPECT_EQ(exact.take(kCpu, 2, dispatcher_, any), nullptr) << "nothing waits";
  EXPECT_FALSE(exact.idle_until(kCpu)) << "so there is no time to ask again";
  exact.end(tasks[2], 0.02, Clock::now(), dispatcher_);
  EXPECT_EQ(exact.in_flight(), 0);
}

TEST_F(StarpuPlacement, SoonestCountsBacklogOwnTimeAndTransfers) {
  EXPECT_EQ(placement_.soonest(kB, kBoth), kGpu);
  EXPECT_EQ(placement_.soonest(kB, set_of(kCpu)), kCpu);
  EXPECT_EQ(placement_.soonest(kB, kBoth, std::vector<double>{0, 0.011}), kCpu);
  push_at(kB, kGpu);
  push_at(kA, kGpu);
  EXPECT_EQ(placement_.soonest(kB, kBoth), kCpu);  // 20 ms against 14 + 10
  placement_.set_servers(kGpu, 2);
  EXPECT_EQ(placement_.soonest(kB, kBoth), kGpu);  // 14 / 2 + 10
}

/// A is known on the CPU only, 8 ms; B nowhere.
class StarpuLinesUnknown : public StarpuPlacement {
 protected:
  StarpuLinesUnknown() : StarpuPlacement({RatePrior::measured(125), {}, {}, {}}) {}

  /// Where each of a burst goes.
  std::map<ResourceId, int> burst(TaskType i, int tasks) {
    std::map<ResourceId, int> at;
    for (int k = 0; k < tasks; ++k) ++at[push_at(i, placement_.soonest(i, kBoth)).ticket.resource];
    return at;
  }
};

TEST_F(StarpuLinesUnknown, APlaceNeverTriedGetsNoMoreThanItCanRunAtOnce) {
  plan_for(0, 0);
  EXPECT_EQ(burst(kA, 100), (std::map<ResourceId, int>{{kCpu, 99}, {kGpu, 1}}));
  placement_.set_servers(kGpu, 3);
  EXPECT_EQ(burst(kA, 100), (std::map<ResourceId, int>{{kCpu, 98}, {kGpu, 2}}));
}

TEST_F(StarpuLinesUnknown, OnlyWhereThereIsNoOtherPlaceItGetsThemAll) {
  for (int k = 0; k < 10; ++k)
    EXPECT_EQ(push_at(kA, placement_.soonest(kA, set_of(kGpu))).ticket.resource, kGpu);
}

TEST_F(StarpuLinesUnknown, TasksOfWhichNothingIsKnownAreSpreadByNumber) {
  EXPECT_EQ(burst(kB, 100), (std::map<ResourceId, int>{{kCpu, 50}, {kGpu, 50}}));
}

/// Three of A wait where nobody has run one: they are weighed as 8 ms each, so that the CPU may have some.
TEST_F(StarpuLinesUnknown, WhatWaitsAtAPlaceNeverTriedIsNotForgotten) {
  plan_for(0, 0);
  for (int k = 0; k < 3; ++k) push_at(kA, kGpu);
  EXPECT_NE(take(kCpu), nullptr) << "8 ms here, 24 ms there";
  EXPECT_NE(take(kCpu), nullptr) << "8 ms here, 16 ms there";
  EXPECT_EQ(take(kCpu), nullptr) << "8 ms here, 8 ms there";
}

TEST_F(StarpuLinesUnknown, ToFindOutAResourceTakesOneTaskForEachWorker) {
  plan_for(0, 0);
  for (int k = 0; k < 3; ++k) push_at(kA, kCpu);
  HeldTask* const first = take(kGpu);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(take(kGpu), nullptr);
  end(*first, 0.004);
  EXPECT_NE(take(kGpu), nullptr);
}

TEST_F(StarpuPlacement, WhatWaitsFollowsANewPlan) {
  for (int k = 0; k < 6; ++k) push_at(kB, kCpu);
  plan_for(0, 6);  // without A, B uses both
  const Assignment target = *dispatcher_.plan()->target;
  ASSERT_GT(target(kB, kGpu), 0);
  EXPECT_EQ(placement_.in_flight(kB, kGpu), target(kB, kGpu));
  EXPECT_EQ(placement_.in_flight(kB, kCpu), target(kB, kCpu));
  expect_consistent();
}

TEST_F(StarpuPlacement, PeaksAreOfTheTimeSinceTheLastCall) {
  HeldTask& held = push_at(kA, kCpu);
  push_at(kA, kCpu);
  ASSERT_NE(take(kCpu), nullptr);
  end(held, 0.008);
  EXPECT_EQ(placement_.take_peaks(), (std::vector<Count>{2, 0}));
  EXPECT_EQ(placement_.take_peaks(), (std::vector<Count>{1, 0}));
}

TEST_F(StarpuPlacement, WhoIsTakenOutAndPutAgainKeepsItsTurn) {
  HeldTask& b = push_at(kB, kGpu);
  HeldTask& a = push_at(kA, kGpu);
  HeldTask& last = push_at(kA, kCpu);
  EXPECT_EQ(placement_.waiting_tasks(), (std::vector<HeldTask*>{&b, &a, &last}));
  placement_.take_out(a);
  EXPECT_EQ(placement_.waiting_tasks(), (std::vector<HeldTask*>{&b, &last}));
  EXPECT_EQ(placement_.waiting(), 2);
  EXPECT_EQ(placement_.in_flight(kA), 1);
  a.ticket = dispatcher_.move(a.ticket, kCpu);
  placement_.put(a);
  EXPECT_EQ(placement_.waiting_tasks(), (std::vector<HeldTask*>{&b, &a, &last}));
  EXPECT_EQ(take(kCpu), &a);
  expect_consistent();
}

/// However a held comes and goes, `could_run` is what a look through the lines finds, and `placed` is of all
/// that were put.
TEST_F(StarpuPlacement, CountsStayRightWhateverHappens) {
  std::mt19937 random(1);
  const auto one_of = [&](std::size_t n) { return random() % n; };
  std::vector<HeldTask*> taken;
  std::map<std::pair<TaskType, ResourceId>, std::uint64_t> placed;
  for (int step = 0; step < 5000; ++step) {
    SCOPED_TRACE(::testing::Message() << "step " << step);
    const std::vector<HeldTask*> waiting = placement_.waiting_tasks();
    const TaskType i = one_of(2) == 0 ? kA : kB;
    const ResourceId j = one_of(2) == 0 ? kCpu : kGpu;
    const std::size_t what = one_of(8);
    if (what < 3) {
      push_at(i, j, set_of(j) | (one_of(2) == 0 ? kBoth : 0));
      ++placed[{i, j}];
    } else if (what == 3) {
      if (HeldTask* const held = take(j)) taken.push_back(held);
    } else if (what == 4 && !taken.empty()) {
      end(*taken.back(), 0.01);
      taken.pop_back();
    } else if (what == 5 && !taken.empty()) {
      placement_.put_back(*taken.back());
      taken.pop_back();
    } else if (what == 6 && !waiting.empty()) {
      HeldTask& held = *waiting[one_of(waiting.size())];
      placement_.take_out(held);
      --placed[{held.ticket.type, held.placed}];
      dispatcher_.cancel(held.ticket);
    } else if (what == 7 && !waiting.empty()) {
      HeldTask& held = *waiting[one_of(waiting.size())];
      placement_.set_able(held, set_of(held.ticket.resource) | (one_of(2) == 0 ? kBoth : 0));
    }
    if (step % 100 == 0) plan_for(static_cast<Count>(one_of(8)), static_cast<Count>(one_of(8)));
    std::map<std::pair<TaskType, ResourceId>, Count> could;
    for (const HeldTask* held : placement_.waiting_tasks()) {
      for (const ResourceId k : {kCpu, kGpu}) could[{held->ticket.type, k}] += holds(held->able, k) ? 1 : 0;
    }
    for (const TaskType type : {kA, kB}) {
      for (const ResourceId k : {kCpu, kGpu}) {
        ASSERT_EQ(placement_.could_run(type, k), (could[{type, k}]));
        ASSERT_EQ(placement_.placed(type, k), (placed[{type, k}]));
      }
    }
    expect_consistent();
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(StarpuPlacement, NobodyIsAskedAboutTasksThatCannotRunThere) {
  for (int k = 0; k < 6; ++k) push_at(kA, kCpu, set_of(kCpu)).choosy = true;
  int asked = 0;
  const auto refuse = [&](const HeldTask&) {
    ++asked;
    return false;
  };
  EXPECT_EQ(placement_.take(kGpu, 0, dispatcher_, refuse), nullptr);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(placement_.could_run(kA, kGpu), 0);
  EXPECT_EQ(placement_.could_run(kA, kCpu), 6);
}

TEST_F(StarpuPlacement, BoundTasksCountButWaitForNobody) {
  HeldTask& held = tasks_.emplace_back();
  held.pinned = true;
  held.ticket = dispatcher_.place_at(kA, kGpu);
  placement_.put(held);
  EXPECT_EQ(placement_.waiting(), 0);
  EXPECT_EQ(placement_.in_flight(kA, kGpu), 1);
  EXPECT_EQ(take(kGpu), nullptr);
  end(held, 0.004);
  EXPECT_EQ(placement_.in_flight(kA), 0);
}

TEST_F(StarpuPlacement, TypesAndResourcesThatComeLaterFindRoom) {
  HeldTask& held = push_at(kA, kCpu);
  const RatePrior known = RatePrior::measured(10);
  dispatcher_.add_type({.name = "C", .count = 1}, std::vector{known, known});
  dispatcher_.add_resource({.name = "gpu2"}, std::vector<RatePrior>(3));
  placement_.resize(3, 3);
  HeldTask& other = push_at(task_type(2), resource_id(2), set_of(resource_id(2)));
  EXPECT_EQ(take(resource_id(2)), &other);
  EXPECT_EQ(take(kCpu), &held);
}

/// Late binding: A is worth three times B, and the device is for it.
class StarpuLatePlacement : public ::testing::Test {
 protected:
  StarpuLatePlacement()
      : dispatcher_({{.name = "cpu"}, {.name = "gpu"}},
                    {{.name = "A", .count = 2, .worth = 3}, {.name = "B", .count = 2}},
                    {RatePrior::measured(125), RatePrior::measured(250), RatePrior::measured(50),
                     RatePrior::measured(100)},
                    options(), at(0)) {
    placement_.resize(2, 2);
    placement_.bind_late(dispatcher_, at(0));
  }
  static Clock::time_point at(double seconds) {
    return Clock::time_point(
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
  }
  static DispatcherOptions options() {
    DispatcherOptions options;
    options.policy = "planned";
    options.planning = Planning::kDeferred;
    options.follow_counts = false;
    options.exploration = 0;
    return options;
  }
  HeldTask& push(TaskType i, ResourceSet able = kBoth, bool choosy = false) {
    HeldTask& held = tasks_.emplace_back();
    held.ticket.type = i;
    held.able = able;
    held.choosy = choosy;
    placement_.put(held);
    return held;
  }
  HeldTask* take(ResourceId j) { return placement_.take(j, 0, dispatcher_, any); }

  Dispatcher dispatcher_;
  Placement placement_{Lines::WhenAhead::kServe};
  std::deque<HeldTask> tasks_;
};

TEST_F(StarpuLatePlacement, AWorkerTakesWhatThePlanHasNext) {
  HeldTask& b = push(kB);
  HeldTask& a = push(kA);
  EXPECT_EQ(placement_.waiting(), 2);
  EXPECT_EQ(dispatcher_.statistics().placed, 0U) << "nobody has taken them";
  HeldTask* const first = take(kGpu);
  ASSERT_EQ(first, &a);
  EXPECT_EQ(first->ticket.resource, kGpu);
  EXPECT_EQ(placement_.in_flight(kA, kGpu), 1);
  EXPECT_EQ(placement_.could_run(kA, kCpu), 0);
  placement_.put_back(*first);
  EXPECT_EQ(placement_.in_flight(kA), 1);
  EXPECT_EQ(dispatcher_.statistics().placed, 0U);
  ASSERT_EQ(take(kGpu), &a);
  placement_.end(a, 0.004, at(0.004), dispatcher_);
  EXPECT_EQ(placement_.in_flight(kA), 0);
  EXPECT_EQ(dispatcher_.statistics().completions[1], 1U);
  EXPECT_EQ(placement_.waiting_tasks(), std::vector<HeldTask*>{&b});
  placement_.take_out(b);
  EXPECT_EQ(placement_.in_flight(), 0);
}

TEST_F(StarpuLatePlacement, TasksThatCannotRunWhereThePlanHasThemAreTakenRatherThanIdle) {
  dispatcher_.set_counts(std::vector<Count>{1, 1});
  dispatcher_.solve(at(0));
  HeldTask& stranded = push(kB, set_of(kGpu), true);
  HeldTask& a = push(kA);
  HeldTask& b = push(kB, kBoth, true);
  EXPECT_EQ(take(kCpu), &b) << "the plan has B on the processor";
  EXPECT_EQ(take(kGpu), &a);
  EXPECT_EQ(take(kGpu), &stranded) << "a second worker of the device has nothing else";
  EXPECT_EQ(stranded.ticket.resource, kGpu);
  EXPECT_EQ(placement_.in_flight(kB, kGpu), 1);
}

TEST_F(StarpuLatePlacement, TasksOfTheProgramsOwnChoiceCount) {
  HeldTask& held = tasks_.emplace_back();
  held.pinned = true;
  held.ticket.type = kB;
  held.ticket.resource = kGpu;
  placement_.pin(held, at(0), dispatcher_);
  EXPECT_EQ(placement_.in_flight(kB, kGpu), 1);
  EXPECT_EQ(placement_.waiting(), 0);
  placement_.end(held, std::nullopt, at(1), dispatcher_);
  EXPECT_EQ(placement_.in_flight(), 0);
  for (const Count n : dispatcher_.statistics().in_flight) EXPECT_EQ(n, 0);
}

}  // namespace
}  // namespace allot::starpu
