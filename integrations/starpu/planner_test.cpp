#include "integrations/starpu/planner.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <stdexcept>

namespace allot::starpu {
namespace {

using namespace std::chrono_literals;

void wait_for(const std::atomic<int>& count, int least) {
  const auto limit = std::chrono::steady_clock::now() + 60s;
  while (count < least && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(1ms);
}

TEST(StarpuPlanner, LooksAgainAndAgainAlsoAfterALookThatFails) {
  std::atomic<int> looks = 0;
  Planner planner([&]() -> bool {
    if (++looks % 2 == 0) throw std::runtime_error("no memory");
    return true;
  });
  wait_for(looks, 6);
  EXPECT_GE(looks, 6);
}

TEST(StarpuPlanner, LooksSoonWhenItIsWokenAndRarelyElse) {
  std::atomic<int> looks = 0;
  Planner planner([&] {
    ++looks;
    return false;
  });
  for (int k = 1; k <= 5; ++k) {
    planner.wake();
    wait_for(looks, k);
  }
  EXPECT_GE(looks, 5);
}

/// As a context does that ends: its last tasks are closed, which wakes, when nobody looks any more.
TEST(StarpuPlanner, MayBeWokenByItsOwnLookWhileItStopsAndAfter) {
  std::atomic<int> looks = 0;
  Planner* self = nullptr;
  std::atomic<bool> ready = false;
  Planner planner([&] {
    if (ready) self->wake();
    ++looks;
    return true;
  });
  self = &planner;
  ready = true;
  wait_for(looks, 3);
  planner.stop();
  const int at_the_end = looks;
  EXPECT_GE(at_the_end, 3);
  planner.wake();
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(looks, at_the_end);
  planner.stop();
}

std::chrono::nanoseconds processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// Two looks are at least 20 times as far apart as the first of them computes.
TEST(StarpuPlanner, KeepsToItsPartOfTheTime) {
  std::atomic<int> looks = 0;
  std::chrono::steady_clock::time_point ended;
  std::chrono::duration<double> pause{};
  Planner planner([&] {
    if (looks == 1) pause = std::chrono::steady_clock::now() - ended;
    const auto begin = processor_time();
    while (processor_time() - begin < 10ms) {
    }
    ended = std::chrono::steady_clock::now();
    ++looks;
    return true;
  });
  wait_for(looks, 2);
  EXPECT_GE(pause, 10ms / Planner::kPart);
}

/// Whoever is kept from the processor looks again soon: here after 3 x 100 ms, and not after 3 x 2 s.
TEST(StarpuPlanner, DoesNotCountTheTimeInWhichOthersRun) {
  std::atomic<int> looks = 0;
  const auto begin = std::chrono::steady_clock::now();
  Planner planner([&] {
    std::this_thread::sleep_for(100ms);
    ++looks;
    return true;
  });
  wait_for(looks, 4);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

}  // namespace
}  // namespace allot::starpu
