// Many threads at once: counts stay exact, nothing is lost, and the thread sanitizer has something to watch.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/dispatch/detail/published.hpp"
#include "allot/dispatch/detail/sample_ring.hpp"
#include "allot/dispatch/detail/shared_counts.hpp"
#include "allot/dispatch/dispatcher.hpp"

namespace allot {
namespace {

constexpr int kThreads = 8;

std::vector<Resource> resources(std::size_t count) {
  std::vector<Resource> result(count);
  for (std::size_t j = 0; j < count; ++j) result[j].name = "r" + std::to_string(j);
  return result;
}

std::vector<TaskClass> types(std::size_t count) {
  std::vector<TaskClass> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    result[i].name = "t" + std::to_string(i);
    result[i].count = kThreads;
  }
  return result;
}

/// Every thread keeps some tasks in flight and ends them in an order of its own.
void work(Dispatcher& dispatcher, std::size_t type_count, int thread, int rounds) {
  RandomStream random(9, static_cast<std::uint64_t>(thread));
  std::vector<Ticket> tickets;
  for (int k = 0; k < rounds; ++k) {
    const auto ticket = dispatcher.place(task_type(random.below(type_count)));
    if (ticket) tickets.push_back(*ticket);
    if (tickets.size() < 8) continue;
    const std::size_t at = random.below(tickets.size());
    if (k % 16 == 0) {
      dispatcher.cancel(tickets[at]);
    } else {
      dispatcher.complete(tickets[at], 1e-3 * (0.5 + random.uniform()), k % 5 != 0);
    }
    tickets[at] = tickets.back();
    tickets.pop_back();
  }
  for (const Ticket& ticket : tickets) dispatcher.complete(ticket, 1e-3, true);
}

/// Threads that come one after the other, each with a slot while all are there.
TEST(Threads, EachGoesRoundByItselfAndTheyDoNotAllBeginAtTheSameResource) {
  DispatcherOptions options;
  options.policy = "round-robin";
  options.planning = Planning::kDeferred;
  constexpr std::size_t kResources = 4;
  Dispatcher dispatcher(resources(kResources), types(1),
                        std::vector<RatePrior>(kResources, RatePrior::measured(10)), options);
  std::vector<std::vector<std::size_t>> orders(kThreads);
  std::vector<std::thread> threads;
  std::atomic<int> turn{0};
  for (int k = 0; k < kThreads; ++k) {
    threads.emplace_back([&, k] {
      while (turn.load() != k) std::this_thread::yield();
      for (std::size_t at = 0; at < 2 * kResources; ++at)
        orders[static_cast<std::size_t>(k)].push_back(index(dispatcher.place(task_type(0))->resource));
      turn.fetch_add(1);
      while (turn.load() != kThreads) std::this_thread::yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<int> first(kResources, 0);
  for (const std::vector<std::size_t>& order : orders) {
    ++first[order.front()];
    for (std::size_t at = 1; at < order.size(); ++at) EXPECT_EQ(order[at], (order[at - 1] + 1) % kResources);
  }
  EXPECT_EQ(first, std::vector<int>(kResources, kThreads / static_cast<int>(kResources)));
}

TEST(Threads, CountsAreExactWhilePlansAndResourcesChange) {
  for (const char* policy : {"map", "round-robin", "min-completion-time", "load-balance", "power-of-two"}) {
    SCOPED_TRACE(policy);
    DispatcherOptions options;
    options.policy = policy;
    options.look_every = std::chrono::milliseconds(1);
    Dispatcher dispatcher(resources(4), types(4), std::vector<RatePrior>(16), options);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&dispatcher, t] { work(dispatcher, 4, t, 3000); });
    }
    for (int round = 0; round < 20; ++round) {  // meanwhile
      dispatcher.drain(resource_id(1));
      dispatcher.set_count(task_type(0), round);
      dispatcher.statistics();
      dispatcher.plan();
      dispatcher.estimate(task_type(1), resource_id(2));
      dispatcher.restore(resource_id(1));
      if (round == 5) dispatcher.add_type({.name = "late", .count = 1}, std::vector<RatePrior>(4));
      if (round == 9) dispatcher.add_resource({.name = "late"}, std::vector<RatePrior>(5));
      dispatcher.solve();
    }
    for (std::thread& thread : threads) thread.join();
    const DispatchStatistics seen = dispatcher.statistics();
    std::uint64_t ended = 0;
    for (std::size_t at = 0; at < seen.in_flight.size(); ++at) {
      EXPECT_EQ(seen.in_flight[at], 0) << at;
      ended += seen.completions[at] + seen.failures[at];
    }
    EXPECT_EQ(seen.placed, seen.ended);
    EXPECT_EQ(ended, seen.ended);
    EXPECT_NEAR(seen.little, 1, 1e-6);
  }
}

TEST(Threads, APlaceThatIsHeldAtAResourceNewerThanThePlanIsLeftAlone) {
  // A thread may still decide by a plan that was made before the resource came.
  constexpr std::size_t kHolder = 0;
  for (const std::size_t slot : {kHolder, std::size_t{1}}) {
    SCOPED_TRACE(::testing::Message() << "slot=" << slot);
    detail::Places<> places(1, 3);
    places.add(task_type(0), resource_id(2));
    places.leave(task_type(0), resource_id(2), kHolder);
    std::array<Count, 3> row{0, 0, 77};  // the plan has two resources
    const ResourceId j = places.take(task_type(0), {row.data(), 2}, slot, [] { return resource_id(1); });
    EXPECT_EQ(j, resource_id(1));
    EXPECT_EQ(row[2], 77);
    EXPECT_EQ(places.count(task_type(0), resource_id(1)), 1);
    EXPECT_EQ(places.count(task_type(0), resource_id(2)), 0);
  }
}

/// A dispatcher whose own thread does not look again soon; the test looks, in moments that it chooses.
DispatcherOptions looking_by_itself() {
  DispatcherOptions options;
  options.look_every = std::chrono::hours(1);
  return options;
}

Count planned_count(Dispatcher& dispatcher) {
  dispatcher.solve(Clock::now(), true);
  return dispatcher.plan()->system.count(task_type(0));
}

TEST(Threads, ASuccessorOfATaskThatIsStillEndingIsNoFurtherTask) {
  // Six threads with fast tasks: at every look one has just ended, and at some its successor is there
  // already. A plan for seven would leave nothing for others on the servers of the seventh.
  const RatePrior known = RatePrior::measured(1000);
  Dispatcher dispatcher({{.name = "cpu", .servers = 8}}, {{.name = "a", .count = 6}}, {known},
                        looking_by_itself());
  std::deque<Ticket> running;
  for (int thread = 0; thread < 6; ++thread) running.push_back(*dispatcher.place(task_type(0)));
  for (int end = 0; end < 300; ++end) {
    running.push_back(*dispatcher.place(task_type(0)));
    if (end % 20 == 0) dispatcher.learn();
    dispatcher.complete(running.front(), 1e-3, true);
    running.pop_front();
    dispatcher.learn();
  }
  EXPECT_EQ(planned_count(dispatcher), 6);
  for (int more = 0; more < 2; ++more) running.push_back(*dispatcher.place(task_type(0)));
  for (int look = 0; look < 2; ++look) dispatcher.learn();
  EXPECT_EQ(planned_count(dispatcher), 8);
  for (int more = 0; more < 40; ++more) running.push_back(*dispatcher.place(task_type(0)));
  dispatcher.learn();
  EXPECT_EQ(planned_count(dispatcher), 48) << "a crowd counts at once";
}

TEST(Threads, ATypeWhoseTasksEndBetweenTwoLooksIsStillPlannedFor) {
  // One short task of 'b' for every eight looks, none of which sees it in flight.
  const RatePrior known = RatePrior::measured(1000);
  Dispatcher dispatcher({{.name = "cpu", .servers = 2}},
                        {{.name = "a", .count = 4}, {.name = "b", .count = 1}}, {known, known},
                        looking_by_itself());
  for (int thread = 0; thread < 4; ++thread) (void)dispatcher.place(task_type(0));
  for (int look = 0; look < 800; ++look) {
    if (look % 8 == 3) dispatcher.complete(*dispatcher.place(task_type(1)), 1e-3, true);
    dispatcher.learn();
    if (look % 20 != 0) continue;
    dispatcher.solve(Clock::now(), true);
    ASSERT_EQ(dispatcher.plan()->system.count(task_type(1)), 1) << "look " << look;
  }
}

TEST(Threads, ATargetIsNotOvershotByThreadsThatDecideAtTheSameTime) {
  std::vector<RatePrior> priors;
  for (const double rate : {10.0, 3.0, 4.0, 2.0, 9.0, 3.0, 5.0, 2.0, 8.0})
    priors.push_back(RatePrior::measured(rate));
  DispatcherOptions options;
  options.planning = Planning::kDeferred;
  for (int round = 0; round < 50; ++round) {
    Dispatcher dispatcher(resources(3), types(3), priors, options);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {  // one task of each type: together the whole population
      threads.emplace_back([&dispatcher] {
        for (std::size_t i = 0; i < 3; ++i) dispatcher.place(task_type(i));
      });
    }
    for (std::thread& thread : threads) thread.join();
    const DispatchStatistics seen = dispatcher.statistics();
    const std::shared_ptr<const Plan> plan = dispatcher.plan();
    const std::span<const Count> target = plan->target->values();
    for (std::size_t at = 0; at < target.size(); ++at) EXPECT_EQ(seen.in_flight[at], target[at]) << at;
  }
}

TEST(Threads, TheRingPassesOnEverySampleThatItTook) {
  detail::SampleRing ring;
  std::atomic<std::uint64_t> taken_in{0};
  std::atomic<int> working{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      std::uint64_t mine = 0;
      for (int k = 1; k <= 5000; ++k) {
        detail::Sample sample;
        sample.end_ns = static_cast<std::uint64_t>(k);
        if (ring.put(sample)) mine += sample.end_ns;
      }
      taken_in.fetch_add(mine);
      working.fetch_sub(1);
    });
  }
  std::uint64_t taken_out = 0;
  detail::Sample sample;
  while (working.load() > 0) {
    while (ring.take(sample)) taken_out += sample.end_ns;
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  while (ring.take(sample)) taken_out += sample.end_ns;
  EXPECT_EQ(taken_out, taken_in.load());
  EXPECT_GT(taken_out, 0U);
}

/// What other threads have placed is seen once four microseconds have passed by the host's clock, and after
/// some decisions even if that stands still.
TEST(Threads, TheLoadThatOthersHavePlacedIsSeen) {
  for (const char* policy : {"jsq", "min-completion-time"}) {
    for (const bool time_passes : {true, false}) {
      SCOPED_TRACE(::testing::Message() << policy << (time_passes ? "" : ", time stands still"));
      DispatcherOptions options;
      options.policy = policy;
      options.planning = Planning::kDeferred;
      const Clock::time_point now = Clock::now();
      Dispatcher dispatcher(resources(2), types(1), std::vector<RatePrior>(2, RatePrior::measured(10)),
                            options, now);
      const auto others_do = [](const auto& what) { std::thread(what).join(); };
      others_do([&] { dispatcher.place_at(task_type(0), resource_id(0), now); });
      EXPECT_EQ(dispatcher.place(task_type(0), now)->resource, resource_id(1));
      others_do([&] {
        for (int k = 0; k < 100; ++k) dispatcher.place_at(task_type(0), resource_id(1), now);
      });
      const Clock::time_point later = now + (time_passes ? std::chrono::microseconds(4) : Clock::duration(0));
      for (int k = 0; k < (time_passes ? 0 : detail::Tally::kMostUnread); ++k)
        dispatcher.place(task_type(0), later);
      for (int k = 0; k < 40; ++k)
        EXPECT_EQ(dispatcher.place(task_type(0), later)->resource, resource_id(0)) << k;
    }
  }
}

/// More threads than have a slot of their own: the others share some.
TEST(Threads, CountsAreExactWithMoreThreadsThanSlots) {
  DispatcherOptions options;
  options.planning = Planning::kDeferred;
  Dispatcher dispatcher(resources(2), types(2), std::vector<RatePrior>(4, RatePrior::measured(10)), options);
  std::vector<std::thread> threads;
  std::atomic<std::size_t> here{0};
  constexpr std::size_t kMany = detail::kOwnSlots + 4;
  for (std::size_t t = 0; t < kMany; ++t) {
    threads.emplace_back([&, t] {
      work(dispatcher, 2, static_cast<int>(t), 50);
      here.fetch_add(1);
      while (here.load() < kMany) std::this_thread::yield();  // nobody leaves a slot to another
      work(dispatcher, 2, static_cast<int>(t), 50);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const DispatchStatistics seen = dispatcher.statistics();
  for (const Count tasks : seen.in_flight) EXPECT_EQ(tasks, 0);
  EXPECT_EQ(seen.placed, seen.ended);
  EXPECT_NEAR(seen.little, 1, 1e-6);
}

/// A worker ends tasks and sleeps; what it has freed is there for the thread that places.
TEST(Threads, APlaceThatAnotherThreadHasFreedIsTaken) {
  std::vector<RatePrior> priors;
  for (const double rate : {10.0, 3.0, 2.0, 9.0}) priors.push_back(RatePrior::measured(rate));
  DispatcherOptions options;
  options.planning = Planning::kDeferred;
  options.follow_counts = false;
  Dispatcher dispatcher(resources(2), types(2), priors, options);
  std::vector<Ticket> tickets;
  for (int k = 0; k < kThreads; ++k) {
    for (std::size_t i = 0; i < 2; ++i) tickets.push_back(*dispatcher.place(task_type(i)));
  }
  for (const Ticket& ticket : tickets) {
    std::thread([&] { dispatcher.complete(ticket, 1, true); }).join();
    EXPECT_EQ(dispatcher.place(ticket.type)->resource, ticket.resource);
  }
  const std::shared_ptr<const Plan> plan = dispatcher.plan();
  const std::vector<Count> in_flight = dispatcher.statistics().in_flight;
  for (std::size_t at = 0; at < in_flight.size(); ++at) EXPECT_EQ(in_flight[at], plan->target->values()[at]);
}

TEST(Threads, ARingThatIsFullSaysSo) {
  detail::SampleRing ring;
  for (std::size_t k = 0; k < detail::SampleRing::kCapacity; ++k) ASSERT_TRUE(ring.put({}));
  EXPECT_FALSE(ring.put({}));
  detail::Sample sample;
  EXPECT_TRUE(ring.take(sample));
  EXPECT_TRUE(ring.put({}));
}

/// Knows whether it is alive.
struct Canary {
  explicit Canary(std::atomic<int>& alive) : alive_(alive) { alive_.fetch_add(1); }
  ~Canary() {
    song = 0;
    alive_.fetch_sub(1);
  }
  Canary(const Canary&) = delete;
  Canary& operator=(const Canary&) = delete;
  int song = 42;

 private:
  std::atomic<int>& alive_;
};

TEST(Threads, WhatIsPublishedLivesAsLongAsAReaderHasIt) {
  std::atomic<int> alive{0};
  {
    detail::Published<Canary> published(std::make_unique<Canary>(alive));
    std::atomic<bool> stop{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> readers;
    for (int t = 0; t < 4; ++t) {
      readers.emplace_back([&] {
        while (!stop.load(std::memory_order_relaxed)) {
          const detail::Published<Canary>::Reader reader(published);
          if (reader->song != 42) wrong.fetch_add(1);
        }
      });
    }
    for (int k = 0; k < 2000; ++k) published.replace(std::make_unique<Canary>(alive));
    stop = true;
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(wrong.load(), 0);
    published.reclaim();
    EXPECT_LE(alive.load(), 1 + 4);  // all others are gone, but for what each reader saw last
  }
  EXPECT_EQ(alive.load(), 0);
}

}  // namespace
}  // namespace allot
