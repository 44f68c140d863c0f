#include "allot/execute/executor.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "allot/base/error.hpp"

namespace allot {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Two resources and one kind for each of some signatures.
struct Two {
  ExecutorSetup setup;
  Place<void> cpu = setup.resource({.name = "cpu", .servers = 2});
  Place<void> gpu = setup.resource({.name = "gpu"});
  TaskKind<int(int)> twice = setup.kind<int(int)>({.name = "twice"}, on(cpu, [](int n) { return 2 * n; }),
                                                  on(gpu, [](int n) { return 2 * n; }));
  TaskKind<void()> fail =
      setup.kind<void()>({.name = "fail"}, on(cpu, []() -> void { throw std::runtime_error("on purpose"); }));
};

/// Holds up tasks until it is opened.
class Door {
 public:
  void open() { opened_.set_value(); }
  void pass() const { open_.wait(); }

 private:
  std::promise<void> opened_;
  std::shared_future<void> open_ = opened_.get_future().share();
};

TEST(Executor, ReturnsWhatFunctionsReturn) {
  Two two;
  Executor executor(two.setup);
  std::vector<std::future<int>> futures;
  for (int n = 0; n < 1000; ++n) futures.push_back(executor.submit(two.twice, n));
  for (int n = 0; n < 1000; ++n) EXPECT_EQ(futures[static_cast<std::size_t>(n)].get(), 2 * n);
  executor.wait();
  EXPECT_EQ(executor.pending(), 0u);
  const FeedStatistics all = executor.statistics();
  EXPECT_EQ(all.pairs(two.twice.id(), two.cpu.id).completed + all.pairs(two.twice.id(), two.gpu.id).completed,
            1000u);
}

TEST(Executor, ReturnsReferences) {
  ExecutorSetup setup;
  const auto cpu = setup.resource({.name = "cpu"});
  int value = 3;
  const auto own = setup.kind<int&()>({.name = "own"}, on(cpu, [&]() -> int& { return value; }));
  const auto kept = setup.kind<const int&(bool)>({.name = "kept"}, on(cpu, [&](bool fails) -> const int& {
                                                   if (fails) throw std::runtime_error("on purpose");
                                                   return value;
                                                 }));
  Executor executor(setup);
  EXPECT_EQ(&executor.submit(own).get(), &value);
  EXPECT_THROW(executor.submit(kept, true).get(), std::runtime_error);
  std::promise<const int*> promise;
  executor.submit_then(
      kept, [&](TaskResult<const int&> result) { promise.set_value(&result.get()); }, false);
  EXPECT_EQ(promise.get_future().get(), &value);
}

TEST(Executor, RefusesFunctionsThatDoNotFit) {
  const auto of_text = [](const std::string&) { return 1; };
  const auto of_state = [](std::string&, int) { return 1; };
  const auto changing = [k = 0](int) mutable { return ++k; };
  using Kind = TaskKind<int(int)>;
  EXPECT_TRUE((Kind::fits<std::string, decltype(of_state)>()));
  EXPECT_FALSE((Kind::fits<void, decltype(of_text)>()));
  EXPECT_FALSE((Kind::fits<void, decltype(of_state)>()));
  EXPECT_FALSE((Kind::fits<void, decltype(changing)>()));
  EXPECT_FALSE((TaskKind<int&()>::fits<void, int (*)()>()));
}

#if defined(__linux__)
TEST(Executor, PinsServersWhereAsked) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &before)) cores.push_back(core);
  }
  cores = {cores.back(), cores.front()};
  std::array<cpu_set_t, 3> pinned{};
  cpu_set_t free{};
  ExecutorSetup setup;
  setup.resource(
      {.name = "cpu", .servers = 3},
      [&](std::size_t server) { return sched_getaffinity(0, sizeof(cpu_set_t), &pinned.at(server)); }, cores);
  const auto gpu =
      setup.resource({.name = "gpu"}, [&] { return sched_getaffinity(0, sizeof(cpu_set_t), &free); });
  setup.kind<void()>({.name = "any"}, on(gpu, [](int) {}));
  const Executor executor(setup);
  for (std::size_t server = 0; server < 3; ++server) {
    EXPECT_EQ(CPU_COUNT(&pinned.at(server)), 1);
    EXPECT_TRUE(CPU_ISSET(cores[server % 2], &pinned.at(server)));
  }
  EXPECT_TRUE(CPU_EQUAL(&free, &before));
}
#endif

TEST(Executor, HostsEveryPolicyThatFits) {
  for (const PolicyInfo* const policy : builtin_policies()) {
    if (policy->needs_assignment || policy->needs_shares) continue;
    SCOPED_TRACE(policy->name);
    Two two;
    Executor executor(two.setup, {.policy = std::string(policy->name)});
    std::vector<std::future<int>> futures;
    for (int n = 0; n < 300; ++n) futures.push_back(executor.submit(two.twice, n));
    for (int n = 0; n < 300; ++n) EXPECT_EQ(futures[static_cast<std::size_t>(n)].get(), 2 * n);
  }
}

TEST(Executor, PassesArgumentsOnAsTheyAreAskedFor) {
  ExecutorSetup setup;
  const auto cpu = setup.resource({.name = "cpu"});
  const auto move = setup.kind<std::string(std::unique_ptr<std::string>, const std::string&)>(
      {.name = "move"}, on(cpu, [](std::unique_ptr<std::string> a, const std::string& b) { return *a + b; }));
  // Too large for the room that a task has.
  struct Large {
    std::array<char, 4096> bytes{};
  };
  const auto large = setup.kind<char(Large)>({.name = "large"},
                                             on(cpu, [](const Large& given) { return given.bytes.back(); }));
  Executor executor(setup);
  EXPECT_EQ(executor.submit(move, std::make_unique<std::string>("a"), "b").get(), "ab");
  Large given;
  given.bytes.back() = 'x';
  EXPECT_EQ(executor.submit(large, given).get(), 'x');
}

TEST(Executor, PassesExceptionsThroughTheFuture) {
  Two two;
  Executor executor(two.setup);
  for (int k = 0; k < 100; ++k) {  // many in a row: a kind that always fails is not held up
    EXPECT_THROW(
        {
          try {
            executor.submit(two.fail).get();
          } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "on purpose");
            throw;
          }
        },
        std::runtime_error);
  }
  executor.wait();
  EXPECT_EQ(executor.statistics().pairs(two.fail.id(), two.cpu.id).failed, 100u);
}

TEST(Executor, CallsBackWithTheResult) {
  Two two;
  Executor executor(two.setup);
  std::promise<int> value;
  executor.submit_then(
      two.twice, [&](TaskResult<int> result) { value.set_value(result.get()); }, 21);
  EXPECT_EQ(value.get_future().get(), 42);
  std::promise<bool> failed;
  executor.submit_then(two.fail, [&](const TaskResult<void>& result) { failed.set_value(!result.ok()); });
  EXPECT_TRUE(failed.get_future().get());
  executor.submit_then(
      two.twice, [](const TaskResult<int>&) { throw std::runtime_error("lost"); }, 1);
  EXPECT_EQ(executor.submit(two.twice, 2).get(), 4);
}

TEST(Executor, SubmitsATaskAgainWhileItsCallbackWantsThat) {
  ExecutorSetup setup;
  const std::vector places{setup.resource({.name = "cpu", .servers = 2}), setup.resource({.name = "gpu"})};
  const auto grow = [](std::vector<int>& numbers) {
    numbers.push_back(static_cast<int>(numbers.size()));
    if (numbers.size() == 50) throw std::runtime_error("once");
    return numbers.size();
  };
  // Places in a container, as of a machine that is looked at when the program runs.
  std::vector<decltype(on(places[0], grow))> functions;
  for (const auto& place : places) functions.push_back(on(place, grow));
  const auto kind = setup.kind<std::size_t(std::vector<int>&)>({.name = "grow"}, functions);
  Executor executor(setup);
  std::array<std::atomic<std::size_t>, 4> reached{};
  std::atomic<int> failures{0};
  for (auto& size : reached) {
    executor.submit_while(
        kind,
        [&](TaskResult<std::size_t> result) {
          if (!result.ok()) return ++failures > 0;
          size = result.get();
          return size < 100;
        },
        std::vector<int>());
  }
  executor.wait();
  for (const auto& size : reached) EXPECT_EQ(size.load(), 100u);
  EXPECT_EQ(failures.load(), 4);
  const FeedStatistics all = executor.statistics();
  EXPECT_EQ(all.pairs(kind.id(), places[0].id).completed + all.pairs(kind.id(), places[1].id).completed,
            4u * 99);
}

TEST(Executor, EndsWhatWouldGoOnForEver) {
  for (const bool at_once : {false, true}) {
    Two two;
    Executor executor(two.setup);
    std::atomic<int> done{0};
    std::atomic<int> cancelled{0};
    for (int k = 0; k < 10; ++k) {
      executor.submit_while(
          two.twice,
          [&](const TaskResult<int>& result) {
            ++(result.ok() ? done : cancelled);
            return true;
          },
          k);
    }
    while (done < 100) std::this_thread::yield();
    at_once ? executor.shutdown_now() : executor.shutdown();
    EXPECT_EQ(cancelled.load(), 10);
    EXPECT_EQ(executor.pending(), 0u);
  }
}

TEST(Executor, MakesTheStateOfAServerOnceOnItsThread) {
  struct State {
    std::thread::id thread = std::this_thread::get_id();
    std::size_t server = 0;
    std::shared_ptr<std::atomic<int>> alive;
    ~State() {
      EXPECT_EQ(thread, std::this_thread::get_id());
      --*alive;
    }
    State(std::size_t number, std::shared_ptr<std::atomic<int>> count)
        : server(number), alive(std::move(count)) {
      ++*alive;
    }
    State(const State&) = delete;
  };
  const auto alive = std::make_shared<std::atomic<int>>(0);
  std::set<std::size_t> seen;
  std::mutex mutex;
  {
    ExecutorSetup setup;
    const auto gpu = setup.resource({.name = "gpu", .servers = 3},
                                    [alive](std::size_t server) { return State(server, alive); });
    const auto run = setup.kind<void()>({.name = "run"}, on(gpu, [&](State& state) {
                                          EXPECT_EQ(state.thread, std::this_thread::get_id());
                                          const std::lock_guard lock(mutex);
                                          seen.insert(state.server);
                                        }));
    Executor executor(setup);
    EXPECT_EQ(alive->load(), 3);
    for (int k = 0; k < 300; ++k) executor.submit(run);
  }
  EXPECT_EQ(alive->load(), 0);
  EXPECT_FALSE(seen.empty());
  EXPECT_LT(*seen.rbegin(), 3u);
}

TEST(Executor, RefusesToStartWhereAServerCannot) {
  ExecutorSetup setup;
  const auto gpu = setup.resource({.name = "gpu", .servers = 3}, [](std::size_t server) -> int {
    if (server == 1) throw std::runtime_error("no such device");
    return 0;
  });
  setup.kind<void()>({.name = "run"}, on(gpu, [](int&) {}));
  EXPECT_THROW(Executor{setup}, std::runtime_error);
  EXPECT_THROW((Executor{setup, {.policy = "none"}}), InvalidModel);
}

TEST(Executor, WaitsForRoomInABoundedBacklog) {
  ExecutorSetup setup;
  const auto cpu = setup.resource({.name = "cpu", .servers = 2});
  std::atomic<std::size_t> most{0};
  Executor* the_executor = nullptr;
  const auto look = setup.kind<void()>({.name = "look"}, on(cpu, [&] {
                                         const std::size_t now = the_executor->pending();
                                         std::size_t before = most.load();
                                         while (before < now && !most.compare_exchange_weak(before, now)) {
                                         }
                                       }));
  Executor executor(setup, {.backlog = 8});
  the_executor = &executor;
  std::vector<std::thread> submitters;
  for (int t = 0; t < 4; ++t) {
    submitters.emplace_back([&] {
      for (int k = 0; k < 500; ++k) executor.submit(look);
    });
  }
  for (std::thread& thread : submitters) thread.join();
  executor.wait();
  // Those that try count for a moment.
  EXPECT_LE(most.load(), 8u + submitters.size());
  EXPECT_EQ(executor.statistics().pairs(look.id(), cpu.id).completed, 2000u);
}

TEST(Executor, CancelsWhatWaits) {
  ExecutorSetup setup;
  const auto cpu = setup.resource({.name = "cpu"});
  Door door;
  std::promise<void> in;
  const auto hold = setup.kind<void()>({.name = "hold"}, on(cpu, [&] {
                                         in.set_value();
                                         door.pass();
                                       }));
  const auto count = setup.kind<int(int)>({.name = "count"}, on(cpu, [](int n) { return n; }));
  Executor executor(setup);
  std::future<void> held = executor.submit(hold);
  in.get_future().wait();
  std::vector<std::future<int>> waiting;
  for (int n = 0; n < 10; ++n) waiting.push_back(executor.submit(count, n));
  EXPECT_EQ(executor.cancel_waiting(hold), 0u);
  EXPECT_EQ(executor.cancel_waiting(count), 10u);
  for (auto& future : waiting) EXPECT_THROW(future.get(), TaskCancelled);

  std::stop_source stop;
  std::future<int> stopped = executor.submit(stop.get_token(), count, 1);
  std::future<int> other = executor.submit(std::stop_token(), count, 2);
  std::promise<bool> told;
  executor.submit_then(
      count, [&](const TaskResult<int>& result) { told.set_value(result.ok()); }, 3);
  stop.request_stop();
  door.open();
  held.get();
  EXPECT_THROW(stopped.get(), TaskCancelled);
  EXPECT_EQ(other.get(), 2);
  EXPECT_TRUE(told.get_future().get());
}

TEST(Executor, LetsCallbacksOfCancelledTasksSubmit) {
  ExecutorSetup setup;
  const auto cpu = setup.resource({.name = "cpu"});
  Door door;
  const auto hold = setup.kind<void()>({.name = "hold"}, on(cpu, [&] { door.pass(); }));
  Executor executor(setup, {.backlog = 3});
  std::future<void> held = executor.submit(hold);
  while (executor.statistics().busy[0] == 0) std::this_thread::yield();
  std::atomic<int> done{0};
  for (int k = 0; k < 2; ++k) {
    executor.submit_then(hold, [&](const TaskResult<void>&) {
      executor.submit_then(hold, [&](const TaskResult<void>& result) { done += result.ok() ? 1 : 0; });
    });
  }
  EXPECT_EQ(executor.cancel_waiting(), 2u);  // although there is no room
  door.open();
  executor.wait();
  EXPECT_EQ(done.load(), 2);
}

TEST(Executor, ShutsDownWithoutLoss) {
  std::atomic<int> done{0};
  {
    ExecutorSetup setup;
    const auto cpu = setup.resource({.name = "cpu", .servers = 2});
    const auto nap = setup.kind<void()>({.name = "nap"}, on(cpu, [&] {
                                          std::this_thread::sleep_for(100us);
                                          ++done;
                                        }));
    Executor executor(setup);
    for (int k = 0; k < 200; ++k) executor.submit(nap);
  }
  EXPECT_EQ(done.load(), 200);
}

TEST(Executor, TakesNothingOnceItIsClosed) {
  Two two;
  Executor executor(two.setup, {.backlog = 1});
  executor.shutdown();
  EXPECT_THROW(executor.submit(two.twice, 1), ExecutorClosed);
  executor.shutdown_now();
}

TEST(Executor, LetsTasksSubmitTasksButNotWaitForAll) {
  ExecutorSetup setup;
  const auto cpu = setup.resource({.name = "cpu", .servers = 2});
  Executor* the_executor = nullptr;
  TaskKind<int(int)> sum;
  // One server runs it, the other what it submits: so one level deep is what two servers can do.
  const auto leaf = setup.kind<int(int)>({.name = "leaf"}, on(cpu, [](int n) { return n; }));
  const auto waits = setup.kind<void()>({.name = "waits"}, on(cpu, [&] { the_executor->wait(); }));
  sum = setup.kind<int(int)>({.name = "sum"}, on(cpu, [&](int n) {
                               std::vector<std::future<int>> parts;
                               for (int k = 1; k <= n; ++k) parts.push_back(the_executor->submit(leaf, k));
                               int all = 0;
                               for (auto& part : parts) all += part.get();
                               return all;
                             }));
  Executor executor(setup, {.backlog = 1});  // which tasks do not wait for
  the_executor = &executor;
  for (int k = 0; k < 20; ++k) EXPECT_EQ(executor.submit(sum, 100).get(), 5050);
  EXPECT_THROW(executor.submit(waits).get(), std::logic_error);
}

/// Tasks that have long been short are given to a server together. If one of them hangs, the others must not
/// hang with it: here it waits for one that comes after it.
TEST(Executor, RelievesAServerThatIsHeldUp) {
  ExecutorSetup setup;
  const auto cpu = setup.resource({.name = "cpu", .servers = 2});
  const auto run = setup.kind<void(std::function<void()>)>(
      {.name = "run"}, on(cpu, [](const std::function<void()>& work) { work(); }));
  Executor executor(setup);
  for (int k = 0; k < 2000; ++k) executor.submit(run, [] {});
  executor.wait();
  for (int round = 0; round < 5; ++round) {
    Door door;
    executor.submit(run, [&] { door.pass(); });
    for (int k = 0; k < 500; ++k) executor.submit(run, [] {});
    executor.submit(run, [&] { door.open(); });
    for (int k = 0; k < 500; ++k) executor.submit(run, [] {});
    executor.wait();
  }
  EXPECT_EQ(executor.statistics().pairs(run.id(), cpu.id).completed, 2000u + 5 * 1002u);
}

TEST(Executor, KeepsToWhatTasksHold) {
  ExecutorSetup setup;
  const auto gpu = setup.resource({.name = "gpu", .servers = 4});
  const auto memory = setup.capacity({.name = "memory", .amount = 10});
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  const auto train = setup.kind<void()>({.name = "train"}, on(gpu, [&] {
                                          const int now = ++inside;
                                          int before = most.load();
                                          while (before < now && !most.compare_exchange_weak(before, now)) {
                                          }
                                          std::this_thread::sleep_for(1ms);
                                          --inside;
                                        }));
  setup.needs(train, gpu, memory, 5.0);
  Executor executor(setup);
  for (int k = 0; k < 60; ++k) executor.submit(train);
  executor.wait();
  EXPECT_LE(most.load(), 2);  // of four servers
}

TEST(Executor, GivesEachKindItsShare) {
  ExecutorSetup setup;
  const auto cpu = setup.resource({.name = "cpu", .servers = 2});
  const auto nap = [] { std::this_thread::sleep_for(500us); };
  const auto often = setup.kind<void()>({.name = "often", .priority = 3}, on(cpu, nap));
  const auto rarely = setup.kind<void()>({.name = "rarely", .priority = 1}, on(cpu, nap));
  Executor executor(setup, {.objective = Objective::kPriority});
  // Enough of both, all the time; and long enough that a task which the machine holds up weighs little.
  for (int k = 0; k < 8000; ++k) {
    executor.submit(often);
    executor.submit(rarely);
  }
  while (executor.statistics().pairs(often.id(), cpu.id).completed < 3000) std::this_thread::sleep_for(1ms);
  const FeedStatistics now = executor.statistics();
  executor.cancel_waiting();
  const auto done = [&](TaskType i) { return static_cast<double>(now.pairs(i, cpu.id).completed); };
  EXPECT_NEAR(done(often.id()) / done(rarely.id()), 3, 0.75);
}

TEST(Executor, TellsMetricsAndATrace) {
  Two two;
  Executor executor(two.setup, {.trace_tasks = 100});
  for (int n = 0; n < 10; ++n) executor.submit(two.twice, n);
  executor.wait();
  EXPECT_THAT(executor.metrics(), HasSubstr("allot_tasks{type=\"twice\",state=\"done\"} 10\n"));
  EXPECT_THAT(executor.trace(), HasSubstr("\"name\": \"twice\""));
}

}  // namespace
}  // namespace allot
