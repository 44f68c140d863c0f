// Everything at once: tasks that throw, that submit and that wait, callbacks that submit and throw,
// cancelling, shutting down. Nothing hangs, nothing is lost, nothing ends twice.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/execute/executor.hpp"

#if defined(__SANITIZE_THREAD__)
/// Who destroys an exception last is counted in the standard library, which is not built with the sanitizer.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char* __tsan_default_suppressions() {
  return "race:std::__exception_ptr::exception_ptr::_M_release\nrace:std::runtime_error::~runtime_error\n";
}
#endif

namespace allot {
namespace {

/// What was promised, and what came of it. Tasks outlive the schedule that made them, but not this.
struct Books {
  std::atomic<std::uint64_t> submitted{0};
  std::atomic<std::uint64_t> told{0};  ///< callbacks, futures that are ready
  std::atomic<std::uint64_t> begun{0};
  std::atomic<std::uint64_t> cancelled{0};
  std::atomic<std::uint64_t> threw{0};
};

/// A random life of an executor, drawn from a seed.
class Schedule {
 public:
  explicit Schedule(std::uint64_t seed) : seed_(seed), random_(seed) {
    const std::size_t resources = 1 + below(3);
    for (std::size_t j = 0; j < resources; ++j)
      places_.push_back(
          setup_.resource({.name = "r" + std::to_string(j), .servers = 1 + static_cast<Count>(below(3))}));
    const std::size_t kinds = 1 + below(3);
    for (std::size_t i = 0; i < kinds; ++i) {
      const auto work = [this](int depth, std::uint64_t luck) { run(depth, luck); };
      // Everywhere, or in one place.
      const std::size_t only = below(2 * resources);
      if (only < resources || resources == 1) {
        kinds_.push_back(setup_.kind<void(int, std::uint64_t)>({.name = "k" + std::to_string(i)},
                                                               on(places_[only % resources], work)));
      } else if (resources == 2) {
        kinds_.push_back(setup_.kind<void(int, std::uint64_t)>({.name = "k" + std::to_string(i)},
                                                               on(places_[0], work), on(places_[1], work)));
      } else {
        kinds_.push_back(setup_.kind<void(int, std::uint64_t)>({.name = "k" + std::to_string(i)},
                                                               on(places_[0], work), on(places_[1], work),
                                                               on(places_[2], work)));
      }
    }
    const char* const policies[] = {"planned", "planned", "map", "jsq", "round-robin"};
    options_.policy = policies[below(5)];
    options_.backlog = below(3) == 0 ? 1 + below(40) : 0;
    options_.trace_tasks = below(4) == 0 ? 50 : 0;
  }

  void live() {
    executor_ = std::make_unique<Executor>(setup_, options_);
    std::vector<std::thread> submitters;
    for (std::size_t t = 0; t < 1 + below(2); ++t)
      submitters.emplace_back([this, t, tasks = 20 + below(150)] { submit_from_outside(t, tasks); });
    if (below(3) == 0) executor_->cancel_waiting(kinds_[below(kinds_.size())].id());
    if (below(3) == 0) executor_->wait_for(std::chrono::microseconds(below(500)));
    if (below(3) == 0) (void)executor_->metrics();
    switch (below(3)) {
      case 0:
        executor_->shutdown();
        break;
      case 1:
        executor_->shutdown_now();
        break;
      default:
        break;
    }
    for (std::thread& thread : submitters) thread.join();
    const FeedStatistics before = executor_->statistics();
    executor_->shutdown();
    const FeedStatistics after = executor_->statistics();
    std::uint64_t ended = 0;
    for (const FeedStatistics::Pair& pair : after.pairs.values()) {
      ended += pair.completed + pair.failed;
      EXPECT_EQ(pair.running, 0);
    }
    for (const Count waiting : after.waiting) EXPECT_EQ(waiting, 0);
    EXPECT_GE(after.seconds, before.seconds);
    EXPECT_EQ(executor_->pending(), 0u);
    const DispatchStatistics dispatched = executor_->dispatcher().statistics();
    EXPECT_EQ(dispatched.ended, ended);
    // A ticket to learn a rate may be left over where its task was cancelled: one for each pair at most.
    EXPECT_GE(dispatched.placed, ended);
    EXPECT_LE(dispatched.placed, ended + after.pairs.values().size());
    executor_.reset();
    EXPECT_EQ(books_.told.load(), books_.submitted.load());
    EXPECT_EQ(books_.begun.load() + books_.cancelled.load(), books_.submitted.load());
    EXPECT_EQ(ended, books_.begun.load());
  }

 private:
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(random_.uniform() * static_cast<double>(n));
  }

  /// As a task, some of which go on up to three times: sometimes it throws, sometimes it submits others, now
  /// and then it takes a while.
  void run(int depth, std::uint64_t luck) {
    ++books_.begun;
    if (luck % 13 == 0) std::this_thread::sleep_for(std::chrono::microseconds(luck % 300));
    if (depth > 0 && luck % 3 == 0) submit(depth - 1, luck / 3);
    if (luck % 7 == 0) {
      ++books_.threw;
      throw std::runtime_error("on purpose");
    }
  }

  void submit(int depth, std::uint64_t luck) {
    ++books_.submitted;
    try {
      executor_->submit_while(
          kinds_[luck % kinds_.size()],
          [this, depth, luck, more = luck % 4](const TaskResult<void>& result) mutable {
            ++books_.told;
            try {
              if (!result.ok()) std::rethrow_exception(result.error());
            } catch (const TaskCancelled&) {
              ++books_.cancelled;
              more = 0;
            } catch (const std::runtime_error&) {
            }
            if (depth > 0 && luck % 5 == 0) submit(depth - 1, luck / 5);
            if (luck % 11 == 0) throw std::runtime_error("nobody hears it");
            if (more == 0) return false;
            --more;
            ++books_.submitted;
            return true;
          },
          depth, luck);
    } catch (const ExecutorClosed&) {
      --books_.submitted;
    }
  }

  void submit_from_outside(std::size_t thread, std::size_t tasks) {
    RandomStream random(seed_, 1 + thread);
    std::vector<std::future<void>> futures;
    for (std::size_t k = 0; k < tasks; ++k) {
      const auto luck = static_cast<std::uint64_t>(random.uniform() * 1e6);
      if (luck % 2 == 0) {
        submit(3, luck);
        continue;
      }
      ++books_.submitted;
      try {
        futures.push_back(executor_->submit(kinds_[luck % kinds_.size()], 2, luck));
      } catch (const ExecutorClosed&) {
        --books_.submitted;
      }
    }
    for (std::future<void>& future : futures) {
      try {
        future.get();
      } catch (const TaskCancelled&) {
        ++books_.cancelled;
      } catch (const std::runtime_error&) {
      }
      ++books_.told;
    }
  }

  std::uint64_t seed_;
  RandomStream random_;
  ExecutorSetup setup_;
  std::vector<Place<void>> places_;
  std::vector<TaskKind<void(int, std::uint64_t)>> kinds_;
  ExecutorOptions options_;
  Books books_;
  std::unique_ptr<Executor> executor_;
};

/// ALLOT_SCHEDULES: how many; 1,000 in the long tests.
TEST(Faults, NothingIsLostInRandomSchedules) {
  const char* const asked = std::getenv("ALLOT_SCHEDULES");
  const std::uint64_t schedules = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 40;
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    Schedule(seed).live();
    if (HasFailure()) return;
  }
}

/// Tells of its end.
struct Witness {
  std::shared_ptr<std::promise<void>> gone;
  explicit Witness(std::shared_ptr<std::promise<void>> given) : gone(std::move(given)) {}
  Witness(Witness&&) = default;
  ~Witness() {
    if (gone) gone->set_value();
  }
};

TEST(Faults, AnExecutorCanBeDestroyedByItsOwnTask) {
  const auto gone = std::make_shared<std::promise<void>>();
  std::future<void> over = gone->get_future();
  std::atomic<int> ran = 0;
  std::promise<void> opened;
  const std::shared_future<void> open = opened.get_future().share();
  ExecutorSetup setup;
  const auto cpu = setup.resource({.name = "cpu"}, [gone] { return Witness(gone); });
  const auto kind = setup.kind<void(std::shared_ptr<void>)>(
      {.name = "owner"}, on(cpu, [&](Witness&, std::shared_ptr<void> owned) {
        open.wait();
        owned.reset();
        ++ran;
      }));
  auto executor = std::make_shared<Executor>(setup);
  executor->submit(kind, std::shared_ptr<void>(executor));
  for (int k = 0; k < 10; ++k) executor->submit(kind, nullptr);
  executor.reset();
  opened.set_value();
  ASSERT_EQ(over.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_EQ(ran.load(), 11);
}

TEST(Faults, AMillionTasksWait) {
  constexpr std::size_t kTasks = 1'000'000;
  ExecutorSetup setup;
  const auto cpu = setup.resource({.name = "cpu", .servers = 2});
  std::promise<void> opened;
  const std::shared_future<void> open = opened.get_future().share();
  std::atomic<std::size_t> done{0};
  const auto hold = setup.kind<void()>({.name = "hold"}, on(cpu, [open] { open.wait(); }));
  const auto count =
      setup.kind<void()>({.name = "count"}, on(cpu, [&] { done.fetch_add(1, std::memory_order_relaxed); }));
  Executor executor(setup);
  for (int k = 0; k < 2; ++k) executor.submit(hold);
  for (std::size_t k = 0; k < kTasks; ++k) executor.submit_then(count, [](const TaskResult<void>&) {});
  EXPECT_GE(executor.pending(), kTasks);
  opened.set_value();
  executor.wait();
  EXPECT_EQ(done.load(), kTasks);
}

TEST(Faults, SubmittingGoesOnWhileItShutsDown) {
  for (int round = 0; round < 20; ++round) {
    ExecutorSetup setup;
    const auto cpu = setup.resource({.name = "cpu", .servers = 2});
    std::atomic<std::uint64_t> run{0};
    const auto count = setup.kind<void()>({.name = "count"}, on(cpu, [&] { ++run; }));
    std::atomic<std::uint64_t> accepted{0};
    std::vector<std::thread> submitters;
    {
      Executor executor(setup, {.backlog = round % 2 == 0 ? std::size_t{4} : std::size_t{0}});
      for (int t = 0; t < 3; ++t) {
        submitters.emplace_back([&] {
          try {
            for (;;) {
              executor.submit(count);
              ++accepted;
            }
          } catch (const ExecutorClosed&) {
          }
        });
      }
      while (run.load() < 100) std::this_thread::yield();
      executor.shutdown();
      EXPECT_EQ(executor.pending(), 0u);
      for (std::thread& thread : submitters) thread.join();
    }
    EXPECT_EQ(run.load(), accepted.load());
  }
}

TEST(Faults, ATaskMayShutItDown) {
  ExecutorSetup setup;
  const auto cpu = setup.resource({.name = "cpu", .servers = 2});
  Executor* the_executor = nullptr;
  const auto end = setup.kind<void(bool)>({.name = "end"}, on(cpu, [&](bool now) {
                                            now ? the_executor->shutdown_now() : the_executor->shutdown();
                                          }));
  for (const bool now : {false, true}) {
    Executor executor(setup);
    the_executor = &executor;
    executor.submit(end, now).get();
    EXPECT_THROW(executor.submit(end, now), ExecutorClosed);
  }
}

}  // namespace
}  // namespace allot
