#include "allot/sweep/workers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/tiny_experiment.hpp"

namespace allot {
namespace {

using ::testing::HasSubstr;

std::vector<Unit> units_of(std::size_t count) {
  std::vector<Unit> units;
  for (std::size_t unit = 0; unit < count; ++unit) units.push_back({0, unit});
  return units;
}

TEST(ThreadWorkers, DoEveryUnitOnceAndHandItOverOnTheCallersThread) {
  const std::vector<Experiment> experiments = {testing::tiny_experiment("a", 200)};
  const SweepJob job{experiments, {5, 100}};
  for (const unsigned threads : {1u, 2u, 7u, 300u}) {
    const std::vector<Unit> units = units_of(100);
    std::set<std::size_t> seen;
    const auto caller = std::this_thread::get_id();
    ThreadWorkers(threads).run(job, units, {}, [&](const UnitOutcome& outcome) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_TRUE(seen.insert(outcome.unit.unit).second);
      EXPECT_EQ(outcome.error, "");
      EXPECT_EQ(outcome.result.timing, testing::tiny_result(5, outcome.unit.unit).timing);
      EXPECT_GT(outcome.seconds, 0);
    });
    EXPECT_EQ(seen.size(), 100u) << threads << " threads";
  }
}

TEST(ThreadWorkers, UseAllCoresUnlessTold) {
  EXPECT_EQ(ThreadWorkers(3).count(), 3u);
  EXPECT_GE(ThreadWorkers().count(), 1u);
}

TEST(ThreadWorkers, HandOverNothingThatWasStoppedMidway) {
  StopFlag flag{false};
  std::vector<Experiment> experiments = {testing::tiny_experiment("a", 2000)};
  const SweepJob job{experiments, {1, 10000}};
  std::size_t done = 0;
  const Clock::time_point start = Clock::now();
  ThreadWorkers(4).run(job, units_of(10000), {{}, &flag}, [&](const UnitOutcome& outcome) {
    EXPECT_EQ(outcome.result.timing, testing::tiny_result(1, outcome.unit.unit).timing);
    if (++done == 8) flag = true;
  });
  EXPECT_GE(done, 8u);
  EXPECT_LT(done, 5000u);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(3));
}

TEST(ThreadWorkers, EndWhenTheReceiverThrows) {
  const std::vector<Experiment> experiments = {testing::tiny_experiment("a", 500)};
  const SweepJob job{experiments, {1, 10000}};
  std::size_t done = 0;
  EXPECT_THROW(ThreadWorkers(4).run(job, units_of(10000), {},
                                    [&](const UnitOutcome&) {
                                      if (++done == 5) throw std::runtime_error("disk full");
                                    }),
               std::runtime_error);
  EXPECT_EQ(done, 5u);
}

TEST(DoUnit, TurnsWhatAnExperimentThrowsIntoAnError) {
  std::vector<Experiment> experiments = {testing::tiny_experiment("a")};
  const SweepJob job{experiments, {1, 1}};
  experiments[0].run = [](const Effort&, std::size_t, const StopLimits&) -> UnitResult {
    throw std::runtime_error("no such thing");
  };
  EXPECT_EQ(do_unit(job, {0, 0}, {})->error, "no such thing");
  experiments[0].run = [](const Effort&, std::size_t, const StopLimits&) -> UnitResult { throw 3; };
  EXPECT_NE(do_unit(job, {0, 0}, {})->error, "");
  experiments[0].run = [](const Effort&, std::size_t, const StopLimits&) {
    return UnitResult{{{1, 2, 3}}, {}};
  };
  EXPECT_THAT(do_unit(job, {0, 0}, {})->error, HasSubstr("3 numbers for 4 columns"));
}

}  // namespace
}  // namespace allot
