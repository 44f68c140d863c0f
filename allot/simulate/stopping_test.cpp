// A simulation that is asked to stop, or has little time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>

#include "allot/model/generate.hpp"
#include "allot/simulate/simulate.hpp"
#include "tests/support/small_scenarios.hpp"

namespace allot {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::HasSubstr;

TEST(Simulate, StopsWhenAskedWithWhatItHas) {
  StopFlag flag{false};
  SimulateOptions options;
  options.completions = 1'000'000'000'000;
  options.replications = 4;
  options.threads = 2;
  options.warmup = 100;
  options.stop.flag = &flag;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    flag = true;
  });
  const SimulationResult result = run(small_scenario(), "best-fit", options);
  stopper.join();
  EXPECT_TRUE(result.partial);
  EXPECT_GE(result.replications, 1U);
  EXPECT_GT(result.completions, 0U);
  EXPECT_LT(result.completions, 1'000'000'000'000U);
  EXPECT_NEAR(result.throughput.mean, 4 * 2 + 6, 1);
}

TEST(Simulate, StopsAtADeadlineAndBeforeItBegins) {
  SimulateOptions options;
  options.completions = 1'000'000'000'000;
  options.stop.deadline = Clock::now() + std::chrono::milliseconds(100);
  EXPECT_TRUE(run(small_scenario(), "jsq", options).partial);
  const StopFlag flag{true};
  options.stop = {std::nullopt, &flag};
  const SimulationResult nothing = run(small_scenario(), "jsq", options);
  EXPECT_TRUE(nothing.partial);
  EXPECT_EQ(nothing.replications, 0U);
  EXPECT_EQ(nothing.throughput.mean, 0);
  EXPECT_EQ(nothing.throughput_by_task.size(), 2U);
}

/// Tasks that take for ever, and more of them all the time: events, but no completions.
Scenario arrivals_without_end() {
  Scenario scenario = single_scenario(0, 1e-12);
  scenario.arrivals = {{task_type(0), 1e6}};
  return scenario;
}

TEST(Simulate, StopsAtADeadlineWhileTasksOnlyArrive) {
  for (const bool warm : {false, true}) {
    SimulateOptions options;
    if (warm) options.warmup = 0;  // else the pilot run is what must stop
    options.stop.deadline = Clock::now() + std::chrono::milliseconds(50);
    const SimulationResult result = run(arrivals_without_end(), "best-fit", options);
    EXPECT_TRUE(result.partial);
    EXPECT_EQ(result.throughput.mean, 0);
  }
}

TEST(Simulate, StopsByFlagWhileTasksOnlyArrive) {
  StopFlag flag{false};
  SimulateOptions options;
  options.warmup = 0;
  options.stop.flag = &flag;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    flag = true;
  });
  EXPECT_TRUE(run(arrivals_without_end(), "jsq", options).partial);
  stopper.join();
}

/// A user who wants to stop does not wait for a target.
TEST(Simulate, StopsWhileAPolicySolves) {
  const Scenario scenario = generate({.general = 43, .specialized = 21, .threads = 8192, .seed = 1});
  StopFlag flag{false};
  SimulateOptions options;
  options.stop.flag = &flag;
  options.policy.solve.steps = std::numeric_limits<std::uint64_t>::max();
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    flag = true;
  });
  const SimulationResult result = run(scenario, "optimal", options);
  stopper.join();
  EXPECT_TRUE(result.partial);
}

/// Takes half a millisecond for each decision, as a policy of somebody else's may.
class Slow final : public Policy {
 public:
  ResourceId place(TaskType i, const Situation& situation, PolicyMemory,
                   RandomStream&) const noexcept override {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    return situation.system->resources_for(i)[0];
  }
};

const NamedPolicy kSlow{"slow", [](const System&, const PolicyOptions&) -> std::unique_ptr<Policy> {
                          return std::make_unique<Slow>();
                        }};

TEST(Simulate, MeasuresASlowPolicyWithinTheTimeThereIs) {
  SimulateOptions options;
  options.threads = 1;
  options.stop.deadline = Clock::now() + std::chrono::seconds(3);
  const SimulationResult result =
      simulate(small_scenario(), kSlow, *make_distribution("exponential"), options);
  EXPECT_TRUE(result.partial);
  EXPECT_GT(result.throughput.mean, 0);
  EXPECT_LT(result.wall_seconds,
            60);  // a chunk of as many completions as a fast policy has would take longer
}

TEST(Simulate, SaysSoWhenNothingWasMeasured) {
  const StopFlag flag{true};
  SimulateOptions options = quick();
  options.stop.flag = &flag;
  const SimulationResult result =
      simulate(small_scenario(), *find_policy("jsq"), *make_distribution("exponential"), options);
  EXPECT_TRUE(result.partial);
  EXPECT_FALSE(result.precise);
  EXPECT_THAT(result.notes, Contains(HasSubstr("before anything was measured")));
}

}  // namespace
}  // namespace allot
