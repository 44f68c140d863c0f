#include "integrations/starpu/lines.hpp"

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

bool any(const Job&) { return true; }

/// A: 8 ms on the CPU, 4 ms on the device; B: 20 and 10. The best for six of each in flight: one A alone on
/// the device.
class StarpuLines : public testing::Test {
 protected:
  explicit StarpuLines(std::vector<RatePrior> priors = {RatePrior::measured(125), RatePrior::measured(250),
                                                        RatePrior::measured(50), RatePrior::measured(100)})
      : dispatcher_({{.name = "cpu"}, {.name = "gpu"}},
                    {{.name = "A", .count = 6}, {.name = "B", .count = 6}}, std::move(priors), options()) {
    lines_.resize(2, 2);
    follow();
  }

  static DispatcherOptions options() {
    DispatcherOptions options;
    options.planning = Planning::kDeferred;
    options.exploration = 0;
    return options;
  }

  void follow() { lines_.follow(*dispatcher_.plan(), dispatcher_); }
  void plan_for(Count a, Count b) {
    dispatcher_.set_counts(std::vector<Count>{a, b});
    dispatcher_.solve();
    follow();
  }
  Job& push_at(TaskType i, ResourceId j, ResourceSet able = kBoth) {
    Job& job = jobs_.emplace_back();
    job.able = able;
    job.ticket = dispatcher_.place_at(i, j);
    lines_.put(job);
    return job;
  }
  Job& push(TaskType i) { return push_at(i, dispatcher_.plan()->target->row_sum(i) > 0 ? place(i) : kCpu); }
  ResourceId place(TaskType i) {
    const auto ticket = dispatcher_.place(i);
    dispatcher_.cancel(*ticket);
    return ticket->resource;
  }
  Job* take(ResourceId j) { return lines_.take(j, 0, dispatcher_, any); }
  void end(Job& job, double seconds) {
    lines_.end(job, seconds);
    dispatcher_.complete(job.ticket, seconds, true);
  }
  void expect_consistent() {
    const DispatchStatistics seen = dispatcher_.statistics();
    for (const TaskType i : {kA, kB}) {
      for (const ResourceId j : {kCpu, kGpu}) {
        EXPECT_EQ(lines_.in_flight(i, j), seen.in_flight[2 * index(i) + index(j)]);
      }
      EXPECT_EQ(lines_.in_flight(i), lines_.in_flight(i, kCpu) + lines_.in_flight(i, kGpu));
    }
  }

  Dispatcher dispatcher_;
  Lines lines_{ServiceOrder::WhenAhead::kServe};
  std::deque<Job> jobs_;
};

/// A closed loop in virtual time, each resource one task after the other: what is completed comes near what
/// the model predicts for the plan, which is 250 + (5 x 125 + 6 x 50) / 11 = 334 per second.
TEST_F(StarpuLines, DeliverTheRateOfThePlan) {
  for (int k = 0; k < 6; ++k) {
    push(kA);
    push(kB);
  }
  const double promised = dispatcher_.plan()->predicted->throughput;
  ASSERT_NEAR(promised, 334.09, 0.01);
  struct Running {
    Job* job = nullptr;
    double until = 0;
  };
  std::map<ResourceId, Running> running;
  double now = 0;
  int completed = 0;
  const auto start = [&](ResourceId j) {
    Job* const job = lines_.take(j, now, dispatcher_, any);
    const double mean =
        job == nullptr ? 1e9 : 1 / (job->ticket.type == kA ? 125.0 : 50.0) / (j == kGpu ? 2 : 1);
    running[j] = {job, now + mean};
  };
  start(kCpu);
  start(kGpu);
  while (now < 30) {
    const ResourceId j = running[kCpu].until < running[kGpu].until ? kCpu : kGpu;
    const double began = now;
    now = running[j].until;
    ASSERT_NE(running[j].job, nullptr) << began;
    Job& job = *running[j].job;
    end(job, 1 / (job.ticket.type == kA ? 125.0 : 50.0) / (j == kGpu ? 2 : 1));
    ++completed;
    // The worker asks before the program has submitted the next task.
    const TaskType type = job.ticket.type;
    start(j);
    push(type);
    if (running[j].job == nullptr) start(j);
    expect_consistent();
  }
  EXPECT_GT(completed / now, 0.98 * promised);
}

TEST_F(StarpuLines, AResourceShortOfATypeTakesWhatWaitsElsewhere) {
  for (int k = 0; k < 6; ++k) push_at(kA, kCpu);
  Job* const first = take(kGpu);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->ticket.resource, kGpu);
  EXPECT_EQ(lines_.moved(), 1U);
  EXPECT_EQ(take(kGpu), nullptr) << "the plan has one A there, and as many are in flight as planned";
  expect_consistent();
}

TEST_F(StarpuLines, WhatCannotRunElsewhereStays) {
  for (int k = 0; k < 6; ++k) push_at(kA, kCpu, set_of(kCpu));
  EXPECT_EQ(take(kGpu), nullptr);
  EXPECT_NE(take(kCpu), nullptr);
}

TEST_F(StarpuLines, AChoosyTaskGoesToAWorkerThatAcceptsItOnly) {
  Job& job = push_at(kA, kCpu);
  job.choosy = true;
  EXPECT_EQ(lines_.take(kCpu, 0, dispatcher_, [](const Job&) { return false; }), nullptr);
  EXPECT_EQ(take(kCpu), &job);
  lines_.put_back(job);
  EXPECT_EQ(lines_.waiting(), 1);
  EXPECT_EQ(take(kCpu), &job);
}

TEST_F(StarpuLines, WhereThePlanDoesNotFitTasksMoveOnlyToEndSooner) {
  push_at(kB, kGpu);
  EXPECT_FALSE(lines_.fits_plan(kB)) << "two are not six";
  EXPECT_EQ(take(kCpu), nullptr) << "20 ms here, 10 ms there";
  push_at(kB, kGpu);
  push_at(kB, kGpu);
  Job* const taken = take(kCpu);
  ASSERT_NE(taken, nullptr) << "20 ms here, 30 ms there";
  EXPECT_EQ(taken->ticket.resource, kCpu);
  expect_consistent();
}

/// One A in flight: the plan has it on the device, which takes 4 ms, and nothing on the CPU, which takes 8.
TEST_F(StarpuLines, NobodyWaitsForAPlaceThatCannotRunIt) {
  plan_for(1, 0);
  ASSERT_EQ((*dispatcher_.plan()->target)(kA, kGpu), 1);
  Job& both = push_at(kA, kCpu);
  EXPECT_EQ(take(kCpu), nullptr) << "better on the device";
  EXPECT_EQ(take(kGpu), &both);
  end(both, 0.004);
  Job& bound_to_cpu = push_at(kA, kCpu, set_of(kCpu));
  EXPECT_EQ(take(kGpu), nullptr);
  EXPECT_EQ(take(kCpu), &bound_to_cpu);
  end(bound_to_cpu, 0.008);
  lines_.set_servers(kGpu, 0);
  Job& left = push_at(kA, kCpu);
  EXPECT_EQ(take(kCpu), &left) << "the device has left, which the plan does not know yet";
}

TEST_F(StarpuLines, WhatOneResourceLeavesToAnotherThatOneTakes) {
  plan_for(1, 0);
  lines_.set_servers(kCpu, 8);
  for (int k = 0; k < 3; ++k) push_at(kA, kCpu);
  ASSERT_FALSE(lines_.fits_plan(kA));
  EXPECT_EQ(take(kCpu), nullptr) << "8 ms here, 4 ms there";
  EXPECT_NE(take(kGpu), nullptr) << "although 4 ms is more than the 24 / 8 ms until all here have ended";
  EXPECT_NE(take(kCpu), nullptr) << "8 ms here, 8 ms there by now";
  expect_consistent();
}

TEST_F(StarpuLines, WhatWaitsWhereNobodyWorksIsForTheOthers) {
  for (int k = 0; k < 3; ++k) push_at(kB, kGpu);
  lines_.set_servers(kGpu, 0);
  EXPECT_EQ(lines_.soonest(kA, kBoth), kCpu);
  EXPECT_NE(take(kCpu), nullptr);
}

/// Under exact shares, too, where who is ahead waits.
TEST_F(StarpuLines, TypesNewerThanThePlanAreServedBeforeTheNext) {
  Lines exact(ServiceOrder::WhenAhead::kIdle);
  exact.resize(0, 2);
  exact.resize(2, 2);
  std::deque<Job> jobs(3);
  for (Job& job : jobs) {
    job.able = kBoth;
    job.ticket = dispatcher_.place_at(kB, kCpu);
  }
  jobs[0].bound = true;
  exact.put(jobs[0]);
  exact.end(jobs[0], 0.02);
  exact.put(jobs[1]);
  exact.put(jobs[2]);
  EXPECT_EQ(exact.in_flight(), 2);
  EXPECT_EQ(exact.take(kCpu, 1, dispatcher_, any), &jobs[1]);
  exact.end(jobs[1], 0.02);
  EXPECT_EQ(exact.take(kCpu, 1, dispatcher_, any), &jobs[2]) << "a wait would keep nobody's share";
  EXPECT_FALSE(exact.idle_until(kCpu));
  EXPECT_EQ(exact.take(kCpu, 2, dispatcher_, any), nullptr) << "nothing waits";
  EXPECT_FALSE(exact.idle_until(kCpu)) << "so there is no time to ask again";
  exact.end(jobs[2], 0.02);
  EXPECT_EQ(exact.in_flight(), 0);
}

TEST_F(StarpuLines, SoonestCountsBacklogOwnTimeAndTransfers) {
  EXPECT_EQ(lines_.soonest(kB, kBoth), kGpu);
  EXPECT_EQ(lines_.soonest(kB, set_of(kCpu)), kCpu);
  EXPECT_EQ(lines_.soonest(kB, kBoth, std::vector<double>{0, 0.011}), kCpu);
  push_at(kB, kGpu);
  push_at(kA, kGpu);
  EXPECT_EQ(lines_.soonest(kB, kBoth), kCpu);  // 20 ms against 14 + 10
  lines_.set_servers(kGpu, 2);
  EXPECT_EQ(lines_.soonest(kB, kBoth), kGpu);  // 14 / 2 + 10
}

/// A is known on the CPU only, 8 ms; B nowhere.
class StarpuLinesUnknown : public StarpuLines {
 protected:
  StarpuLinesUnknown() : StarpuLines({RatePrior::measured(125), {}, {}, {}}) {}

  /// Where each of a burst goes.
  std::map<ResourceId, int> burst(TaskType i, int tasks) {
    std::map<ResourceId, int> at;
    for (int k = 0; k < tasks; ++k) ++at[push_at(i, lines_.soonest(i, kBoth)).ticket.resource];
    return at;
  }
};

TEST_F(StarpuLinesUnknown, APlaceNeverTriedGetsNoMoreThanItCanRunAtOnce) {
  plan_for(0, 0);
  EXPECT_EQ(burst(kA, 100), (std::map<ResourceId, int>{{kCpu, 99}, {kGpu, 1}}));
  lines_.set_servers(kGpu, 3);
  EXPECT_EQ(burst(kA, 100), (std::map<ResourceId, int>{{kCpu, 98}, {kGpu, 2}}));
}

TEST_F(StarpuLinesUnknown, OnlyWhereThereIsNoOtherPlaceItGetsThemAll) {
  for (int k = 0; k < 10; ++k) EXPECT_EQ(push_at(kA, lines_.soonest(kA, set_of(kGpu))).ticket.resource, kGpu);
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
  Job* const first = take(kGpu);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(take(kGpu), nullptr);
  end(*first, 0.004);
  EXPECT_NE(take(kGpu), nullptr);
}

TEST_F(StarpuLines, WhatWaitsFollowsANewPlan) {
  for (int k = 0; k < 6; ++k) push_at(kB, kCpu);
  plan_for(0, 6);  // without A, B uses both
  const Assignment target = *dispatcher_.plan()->target;
  ASSERT_GT(target(kB, kGpu), 0);
  EXPECT_EQ(lines_.in_flight(kB, kGpu), target(kB, kGpu));
  EXPECT_EQ(lines_.in_flight(kB, kCpu), target(kB, kCpu));
  expect_consistent();
}

TEST_F(StarpuLines, PeaksAreOfTheTimeSinceTheLastCall) {
  Job& job = push_at(kA, kCpu);
  push_at(kA, kCpu);
  ASSERT_NE(take(kCpu), nullptr);
  end(job, 0.008);
  EXPECT_EQ(lines_.take_peaks(), (std::vector<Count>{2, 0}));
  EXPECT_EQ(lines_.take_peaks(), (std::vector<Count>{1, 0}));
}

TEST_F(StarpuLines, WhoIsTakenOutAndPutAgainKeepsItsTurn) {
  Job& b = push_at(kB, kGpu);
  Job& a = push_at(kA, kGpu);
  Job& last = push_at(kA, kCpu);
  EXPECT_EQ(lines_.waiting_jobs(), (std::vector<Job*>{&b, &a, &last}));
  lines_.take_out(a);
  EXPECT_EQ(lines_.waiting_jobs(), (std::vector<Job*>{&b, &last}));
  EXPECT_EQ(lines_.waiting(), 2);
  EXPECT_EQ(lines_.in_flight(kA), 1);
  a.ticket = dispatcher_.move(a.ticket, kCpu);
  lines_.put(a);
  EXPECT_EQ(lines_.waiting_jobs(), (std::vector<Job*>{&b, &a, &last}));
  EXPECT_EQ(take(kCpu), &a);
  expect_consistent();
}

/// However a job comes and goes, `could_run` is what a look through the lines finds, and `placed` is of all
/// that were put.
TEST_F(StarpuLines, CountsStayRightWhateverHappens) {
  std::mt19937 random(1);
  const auto one_of = [&](std::size_t n) { return random() % n; };
  std::vector<Job*> taken;
  std::map<std::pair<TaskType, ResourceId>, std::uint64_t> placed;
  for (int step = 0; step < 5000; ++step) {
    SCOPED_TRACE(testing::Message() << "step " << step);
    const std::vector<Job*> waiting = lines_.waiting_jobs();
    const TaskType i = one_of(2) == 0 ? kA : kB;
    const ResourceId j = one_of(2) == 0 ? kCpu : kGpu;
    const std::size_t what = one_of(8);
    if (what < 3) {
      push_at(i, j, set_of(j) | (one_of(2) == 0 ? kBoth : 0));
      ++placed[{i, j}];
    } else if (what == 3) {
      if (Job* const job = take(j)) taken.push_back(job);
    } else if (what == 4 && !taken.empty()) {
      end(*taken.back(), 0.01);
      taken.pop_back();
    } else if (what == 5 && !taken.empty()) {
      lines_.put_back(*taken.back());
      taken.pop_back();
    } else if (what == 6 && !waiting.empty()) {
      Job& job = *waiting[one_of(waiting.size())];
      lines_.take_out(job);
      --placed[{job.ticket.type, job.placed}];
      dispatcher_.cancel(job.ticket);
    } else if (what == 7 && !waiting.empty()) {
      Job& job = *waiting[one_of(waiting.size())];
      lines_.set_able(job, set_of(job.ticket.resource) | (one_of(2) == 0 ? kBoth : 0));
    }
    if (step % 100 == 0) plan_for(static_cast<Count>(one_of(8)), static_cast<Count>(one_of(8)));
    std::map<std::pair<TaskType, ResourceId>, Count> could;
    for (const Job* job : lines_.waiting_jobs()) {
      for (const ResourceId k : {kCpu, kGpu}) could[{job->ticket.type, k}] += holds(job->able, k) ? 1 : 0;
    }
    for (const TaskType type : {kA, kB}) {
      for (const ResourceId k : {kCpu, kGpu}) {
        ASSERT_EQ(lines_.could_run(type, k), (could[{type, k}]));
        ASSERT_EQ(lines_.placed(type, k), (placed[{type, k}]));
      }
    }
    expect_consistent();
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(StarpuLines, NobodyIsAskedAboutTasksThatCannotRunThere) {
  for (int k = 0; k < 6; ++k) push_at(kA, kCpu, set_of(kCpu)).choosy = true;
  int asked = 0;
  const auto refuse = [&](const Job&) {
    ++asked;
    return false;
  };
  EXPECT_EQ(lines_.take(kGpu, 0, dispatcher_, refuse), nullptr);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(lines_.could_run(kA, kGpu), 0);
  EXPECT_EQ(lines_.could_run(kA, kCpu), 6);
}

TEST_F(StarpuLines, BoundTasksCountButWaitForNobody) {
  Job& job = jobs_.emplace_back();
  job.bound = true;
  job.ticket = dispatcher_.place_at(kA, kGpu);
  lines_.put(job);
  EXPECT_EQ(lines_.waiting(), 0);
  EXPECT_EQ(lines_.in_flight(kA, kGpu), 1);
  EXPECT_EQ(take(kGpu), nullptr);
  end(job, 0.004);
  EXPECT_EQ(lines_.in_flight(kA), 0);
}

TEST_F(StarpuLines, TypesAndResourcesThatComeLaterFindRoom) {
  Job& job = push_at(kA, kCpu);
  const RatePrior known = RatePrior::measured(10);
  dispatcher_.add_type({.name = "C", .count = 1}, std::vector{known, known});
  dispatcher_.add_resource({.name = "gpu2"}, std::vector<RatePrior>(3));
  lines_.resize(3, 3);
  Job& other = push_at(task_type(2), resource_id(2), set_of(resource_id(2)));
  EXPECT_EQ(take(resource_id(2)), &other);
  EXPECT_EQ(take(kCpu), &job);
}

}  // namespace
}  // namespace allot::starpu
