#include "allot/execute/task_feed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <queue>
#include <string>
#include <thread>
#include <vector>

#include "allot/base/error.hpp"

namespace allot {
namespace {

using testing::HasSubstr;

/// A box as in the README: which resource suits which kind is known from the start.
System box() {
  return System({{.name = "cpu", .servers = 6}, {.name = "gpu"}},
                {{.name = "resize", .count = 6}, {.name = "detect", .count = 6}},
                Rates(2, 2, {45, 480, 14, 120}));
}

FeedOptions options(const std::string& policy) {
  FeedOptions options;
  options.dispatcher.policy = policy;
  options.dispatcher.planning = Planning::kDeferred;
  options.dispatcher.exploration = 0;
  return options;
}

/// A closed loop in virtual time: a task that ends is followed by another one of its kind.
class Loop {
 public:
  Loop(const System& system, const FeedOptions& options) : system_(system), feed_(system, options, now_) {}

  /// Completions per second.
  double run(double seconds) {
    for (const TaskType i : system_.types()) {
      for (Count n = 0; n < system_.count(i); ++n) feed_.put(tasks_.emplace_back(), i);
    }
    const Clock::time_point end = now_ + to_duration(seconds);
    std::size_t done = 0;
    serve();
    while (now_ < end) {
      const auto again = feed_.ask_again(now_);
      EXPECT_TRUE(again || !running_.empty()) << "nothing runs, and nobody is to ask again";
      if (!again && running_.empty()) break;
      if (running_.empty() || (again && *again < running_.top().first)) {
        now_ = std::max(now_, *again);
      } else {
        const auto [at, turn] = running_.top();
        running_.pop();
        now_ = at;
        feed_.ended(turn, to_seconds(at - turn.began), 0, now_);
        for (WaitingTask* task = turn.first; task != nullptr;) {
          WaitingTask* const next = task->next;
          feed_.put(static_cast<FeedTask&>(*task), turn.kind());
          ++done;
          task = next;
        }
        feed_.dispatcher().solve(now_);
      }
      serve();
    }
    return static_cast<double>(done) / seconds;
  }
  TaskFeed& feed() { return feed_; }

 private:
  void serve() {
    feed_.feed_servers(now_, 1, [&](const TaskFeed::Turn& turn) {
      running_.emplace(now_ + to_duration(system_.seconds_per_task(turn.kind(), turn.resource())), turn);
    });
  }

  using Running = std::pair<Clock::time_point, TaskFeed::Turn>;
  struct Later {
    bool operator()(const Running& a, const Running& b) const { return a.first > b.first; }
  };
  System system_;
  Clock::time_point now_{};
  TaskFeed feed_;
  std::deque<FeedTask> tasks_;
  std::priority_queue<Running, std::vector<Running>, Later> running_;
};

TEST(TaskFeed, ReachesThePlanInVirtualTime) {
  Loop loop(box(), options("planned"));
  const double reached = loop.run(20);
  EXPECT_GT(reached, 0.97 * loop.feed().dispatcher().plan()->predicted->throughput);
}

TEST(TaskFeed, HostsPoliciesThatPlaceTasks) {
  for (const PolicyInfo* const policy : suitable_policies(box())) {
    SCOPED_TRACE(policy->name);
    Loop loop(box(), options(std::string(policy->name)));
    EXPECT_GT(loop.run(5), 50);  // no policy leaves tasks lying
  }
}

TEST(TaskFeed, GivesWhatIsHeldToOneAtATime) {
  // Two GPUs, and each of their tasks holds the one licence.
  const System system({{.name = "gpu", .servers = 2}},
                      {{.name = "train", .count = 4, .needs = {{resource_id(0), capacity_id(1), 1}}}},
                      Rates(1, 1, {10}), {{.name = "licence", .amount = 1}});
  TaskFeed feed(system, options("planned"));
  std::deque<FeedTask> tasks(2);
  for (FeedTask& task : tasks) feed.put(task, task_type(0));
  const auto first = feed.next(resource_id(0));
  ASSERT_TRUE(first);
  EXPECT_FALSE(feed.next(resource_id(0)));
  feed.ended(*first, 0.1);
  EXPECT_TRUE(feed.next(resource_id(0)));
}

TEST(TaskFeed, RefusesNeedsUnderAPolicyThatPlaces) {
  const System system({{.name = "gpu", .servers = 2}},
                      {{.name = "train", .count = 4, .needs = {{resource_id(0), capacity_id(0), 2}}}},
                      Rates(1, 1, {10}));
  EXPECT_THROW(TaskFeed(system, options("jsq")), InvalidModel);
  FeedOptions ruled = options("planned");
  ruled.rule = [](ResourceId, const FeedView&) { return task_type(0); };
  EXPECT_THROW(TaskFeed(system, ruled), InvalidModel);
  // What is shared makes tasks slower, and holds nobody back.
  const System sharing({{.name = "gpu", .servers = 2}},
                       {{.name = "train", .count = 4, .needs = {{resource_id(0), capacity_id(1), 0.7}}}},
                       Rates(1, 1, {10}), {{.name = "bus", .amount = 1, .shared = true}});
  TaskFeed feed(sharing, options("jsq"));
  FeedTask task;
  feed.put(task, task_type(0));
  EXPECT_TRUE(feed.next(resource_id(0)));
}

TEST(TaskFeed, FollowsARuleInPlaceOfAPolicy) {
  const System system = box();
  FeedOptions ruled = options("jsq");
  // First come, first served, where each is fastest; the others stay free.
  std::vector<Count> free;
  ruled.rule = [&](ResourceId j, const FeedView& view) -> std::optional<TaskType> {
    free.assign(view.free.begin(), view.free.end());
    std::optional<TaskType> first;
    for (const TaskType i : system.types()) {
      if (view.arrivals[index(i)] > 0 && (!first || view.arrivals[index(i)] < view.arrivals[index(*first)]))
        first = i;
    }
    return j == resource_id(1) ? first : std::nullopt;
  };
  TaskFeed feed(system, ruled);
  std::deque<FeedTask> tasks(4);
  const std::vector<TaskType> kinds{task_type(1), task_type(0), task_type(0), task_type(1)};
  for (std::size_t k = 0; k < tasks.size(); ++k) feed.put(tasks[k], kinds[k]);
  EXPECT_FALSE(feed.next(resource_id(0)));
  EXPECT_EQ(free, (std::vector<Count>{6, 1}));
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    const auto turn = feed.next(resource_id(1));
    ASSERT_TRUE(turn);
    EXPECT_EQ(turn->first, &tasks[k]);
    EXPECT_EQ(turn->kind(), kinds[k]);
    feed.ended(*turn, 0.01);
  }
  EXPECT_FALSE(feed.next(resource_id(1)));
  EXPECT_EQ(feed.statistics().pairs(task_type(1), resource_id(1)).completed, 2u);
}

TEST(TaskFeed, GivesWhatThePlanGivesNothingAFreeServerUnlessToldNotTo) {
  // Whoever runs the slow ones makes the others slower, by more than they are worth.
  const System system({{.name = "cpu", .servers = 2}},
                      {{.name = "quick", .count = 1, .needs = {{resource_id(0), capacity_id(1), 1}}},
                       {.name = "slow", .count = 1, .needs = {{resource_id(0), capacity_id(1), 1}}}},
                      Rates(2, 1, {1000, 10}), {{.name = "bus", .amount = 1, .shared = true}});
  for (const bool to_the_letter : {false, true}) {
    FeedOptions options_now = options("planned");
    if (to_the_letter) options_now.moment = std::chrono::nanoseconds(0);
    Loop loop(system, options_now);
    loop.run(5);
    const std::uint64_t slow = loop.feed().statistics().pairs(task_type(1), resource_id(0)).completed;
    EXPECT_EQ(slow == 0, to_the_letter) << slow;
  }
}

TEST(TaskFeed, HoldsAPlacementOfTasksThatGoOn) {
  FeedOptions fixed = options("fixed");
  Assignment& target = fixed.dispatcher.policy_options.assignment.emplace(2, 2);
  target(task_type(0), resource_id(0)) = 4;
  target(task_type(0), resource_id(1)) = 2;
  target(task_type(1), resource_id(0)) = target(task_type(1), resource_id(1)) = 3;
  TaskFeed feed(box(), fixed);
  std::deque<FeedTask> tasks(12);
  for (std::size_t k = 0; k < tasks.size(); ++k) feed.put(tasks[k], task_type(k % 2));
  std::deque<TaskFeed::Turn> turns;
  const auto hand = [&](const TaskFeed::Turn& turn) { turns.push_back(turn); };
  feed.feed_servers(Clock::now(), 1, hand);
  for (int k = 0; k < 1000; ++k) {
    ASSERT_FALSE(turns.empty());
    const TaskFeed::Turn turn = turns.front();
    turns.pop_front();
    feed.ended(turn, 0.01, 0, Clock::now(), 1, hand, turn.first);
    // All are there again: where, the policy says, and it saw the one that had ended leave.
    const DispatchStatistics now = feed.dispatcher().statistics();
    ASSERT_THAT(now.in_flight, testing::ElementsAreArray(target.values()));
  }
}

TEST(TaskFeed, CancelsWhatWaitsAndNothingElse) {
  for (const char* const policy : {"planned", "jsq"}) {
    SCOPED_TRACE(policy);
    TaskFeed feed(box(), options(policy));
    std::deque<FeedTask> tasks(20);
    for (FeedTask& task : tasks) feed.put(task, task_type(0));
    std::vector<TaskFeed::Turn> turns;
    feed.feed_servers(Clock::now(), 1, [&](const TaskFeed::Turn& turn) { turns.push_back(turn); });
    ASSERT_FALSE(turns.empty());
    EXPECT_FALSE(feed.cancel(*turns.front().first));
    std::size_t cancelled = feed.cancel(tasks.back()) ? 1 : 0;
    EXPECT_EQ(cancelled, 1u);
    EXPECT_FALSE(feed.cancel(tasks.back()));
    for (WaitingTask* task = feed.cancel_waiting(task_type(0)); task != nullptr; task = task->next)
      ++cancelled;
    EXPECT_EQ(cancelled + turns.size(), tasks.size());
    for (const TaskFeed::Turn& turn : turns) feed.ended(turn, 0.01);
    EXPECT_FALSE(feed.ask_again());
    EXPECT_EQ(feed.dispatcher().statistics().placed, turns.size());
  }
}

TEST(TaskFeed, GivesAServerSeveralTasksThatAreShort) {
  TaskFeed feed(System({{.name = "cpu", .servers = 2}}, {{.name = "tiny", .count = 100}}, Rates(1, 1, {1e6})),
                options("planned"));
  std::deque<FeedTask> tasks(1000);
  for (FeedTask& task : tasks) feed.put(task, task_type(0));
  const auto first = feed.next(resource_id(0), Clock::now(), 32);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->tasks(), 1);  // nobody knows yet that they are short
  feed.ended(*first, 1e-6);
  auto turn = feed.next(resource_id(0), Clock::now(), 32);
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->tasks(), 32);
  EXPECT_EQ(feed.statistics().pairs(task_type(0), resource_id(0)).running, 32);

  // The second one hangs: the others are given back.
  feed.give_back(*turn, [](const TaskFeed::Turn& held) {
    WaitingTask* const second = held.first->next;
    WaitingTask* const rest = second->next;
    second->next = nullptr;
    return static_cast<FeedTask*>(rest);
  });
  EXPECT_EQ(turn->tasks(), 2);
  EXPECT_EQ(feed.next(resource_id(0))->first, &tasks[3]);  // as if they had never been taken
  feed.ended(*turn, 1, 1);
  const FeedStatistics all = feed.statistics();
  EXPECT_EQ(all.waiting[0], 1000 - 4);
  EXPECT_EQ(all.pairs(task_type(0), resource_id(0)).completed, 2u);
  EXPECT_EQ(all.pairs(task_type(0), resource_id(0)).failed, 1u);
  EXPECT_EQ(feed.dispatcher().statistics().ended, 3u);
}

TEST(TaskFeed, GoesOnWithAKindThatAlwaysFails) {
  for (const char* const policy : {"planned", "map"}) {
    SCOPED_TRACE(policy);
    Clock::time_point now{};
    TaskFeed feed(box(), options(policy), now);
    std::deque<FeedTask> tasks(200);
    for (FeedTask& task : tasks) feed.put(task, task_type(1));
    std::size_t ended = 0;
    for (int round = 0; round < 1000 && ended < tasks.size(); ++round) {
      std::vector<TaskFeed::Turn> turns;
      feed.feed_servers(now, 1, [&](const TaskFeed::Turn& turn) { turns.push_back(turn); });
      now += std::chrono::milliseconds(1);
      for (const TaskFeed::Turn& turn : turns) feed.ended(turn, 1e-3, 1, now);
      ended += turns.size();
      feed.dispatcher().solve(now);
    }
    EXPECT_EQ(ended, tasks.size());  // within a second: no breaker holds them up
  }
}

TEST(TaskFeed, TakesAKindThatComesLater) {
  for (const char* const policy : {"planned", "jsq"}) {
    SCOPED_TRACE(policy);
    TaskFeed feed(box(), options(policy));
    const TaskType rotate =
        feed.add_kind({.name = "rotate", .count = 1}, {RatePrior::measured(100), RatePrior::cannot_run()});
    EXPECT_EQ(feed.kind("rotate"), rotate);
    feed.dispatcher().solve();
    FeedTask task;
    feed.put(task, rotate);
    const auto turn = feed.next(feed.resource("cpu"));
    ASSERT_TRUE(turn);
    EXPECT_EQ(turn->kind(), rotate);
    feed.ended(*turn, 0.01);
  }
}

TEST(TaskFeed, KnowsItsNames) {
  const TaskFeed feed(box(), options("planned"));
  EXPECT_EQ(feed.kind("detect"), task_type(1));
  EXPECT_EQ(feed.resource("gpu"), resource_id(1));
  EXPECT_THROW(feed.kind("gpu"), InvalidModel);
  EXPECT_THROW(feed.resource("detect"), InvalidModel);
}

TEST(TaskFeed, TellsMetricsAndATrace) {
  FeedOptions with_trace = options("planned");
  with_trace.trace_tasks = 2;
  TaskFeed feed(box(), with_trace);
  std::deque<FeedTask> tasks(4);
  for (FeedTask& task : tasks) feed.put(task, task_type(0));
  for (int k = 0; k < 3; ++k) {
    const auto turn = feed.next(resource_id(1));
    ASSERT_TRUE(turn);
    feed.ended(*turn, 0.002, k == 2 ? 1 : 0, turn->began + std::chrono::milliseconds(2));
  }
  const std::string metrics = feed.metrics();
  EXPECT_THAT(metrics, HasSubstr("allot_attempts_total{type=\"resize\",resource=\"gpu\",status=\"ok\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("allot_tasks{type=\"resize\",state=\"waiting\"} 1\n"));
  EXPECT_THAT(metrics, testing::EndsWith("# EOF\n"));
  const std::string trace = feed.trace();
  EXPECT_THAT(trace, HasSubstr("\"dur\": 2000.000, \"cat\": \"failed\""));
  std::size_t slices = 0;
  for (std::size_t at = trace.find("\"ph\": \"X\""); at != std::string::npos;
       at = trace.find("\"ph\": \"X\"", at + 1))
    ++slices;
  EXPECT_EQ(slices, 2u);  // the latest
}

TEST(TaskFeed, LosesNothingBetweenThreads) {
  constexpr int kThreads = 4;
  constexpr std::size_t kEach = 2000;
  TaskFeed feed(box(), options("planned"));
  std::vector<std::deque<FeedTask>> tasks(kThreads);
  std::atomic<std::size_t> ended{0};
  std::vector<std::thread> threads;
  for (auto& mine : tasks) {
    mine.resize(kEach);
    threads.emplace_back([&] {
      for (std::size_t k = 0; k < mine.size(); ++k) feed.put(mine[k], task_type(k % 2));
    });
    threads.emplace_back([&] {
      while (ended < kThreads * kEach) {
        for (const ResourceId j : {resource_id(0), resource_id(1)}) {
          if (const auto turn = feed.next(j, Clock::now(), 8)) {
            feed.ended(*turn, 1e-6 * static_cast<double>(turn->tasks()));
            ended += static_cast<std::size_t>(turn->tasks());
          }
        }
        std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ended, kThreads * kEach);
  EXPECT_EQ(feed.dispatcher().statistics().ended, kThreads * kEach);
  EXPECT_EQ(feed.free_servers(), 7);
}

}  // namespace
}  // namespace allot
