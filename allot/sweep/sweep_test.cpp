#include "allot/sweep/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "allot/sweep/encoding.hpp"
#include "tests/support/tiny_experiment.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;

class SweepTest : public ::testing::Test {
 protected:
  SweepTest() { fs::remove(path_); }
  ~SweepTest() override {
    for (const char* const suffix : {"", "-wal", "-journal"}) fs::remove(path_.string() + suffix);
  }

  SweepOutcome run(unsigned threads = 2, const SweepOptions& options = {}) const {
    Store store(path_);
    ThreadWorkers workers(threads);
    return run_sweep({experiments_, effort_}, store, workers, options);
  }

  /// Counts how often each unit is done.
  void count(Experiment& experiment) {
    experiment.run = [this, inner = experiment.run](const Effort& effort, std::size_t unit,
                                                    const StopLimits& stop) {
      const std::lock_guard lock(mutex_);
      done_.push_back(unit);
      return inner(effort, unit, stop);
    };
  }

  static std::string bytes(const SweepOutcome& outcome) {
    std::string all;
    for (const auto& results : outcome.results) {
      for (const UnitResult& result : results) all += encode_result(result);
    }
    return all;
  }

  fs::path path_ = fs::temp_directory_path() / ("allot-sweep-" + std::to_string(::getpid()) + ".sqlite");
  std::vector<Experiment> experiments_ = {testing::tiny_experiment("a"), testing::tiny_experiment("b")};
  Effort effort_{3, 40};
  std::mutex mutex_;
  std::vector<std::size_t> done_;
};

TEST_F(SweepTest, GivesResultsInTheOrderOfUnitsWhateverTheWorkers) {
  std::string expected;
  for (int experiment = 0; experiment < 2; ++experiment) {
    for (std::size_t unit = 0; unit < 40; ++unit) expected += encode_result(testing::tiny_result(3, unit));
  }
  for (const unsigned threads : {1u, 2u, 9u}) {
    fs::remove(path_);
    const SweepOutcome outcome = run(threads);
    EXPECT_EQ(bytes(outcome), expected) << threads << " threads";
    EXPECT_EQ(outcome.complete, std::vector<bool>({true, true}));
    EXPECT_EQ(outcome.all, 80u);
    EXPECT_EQ(outcome.done, 80u);
    EXPECT_EQ(outcome.found, 0u);
    EXPECT_FALSE(outcome.stopped);
  }
}

TEST_F(SweepTest, DoesNothingTwice) {
  count(experiments_[0]);
  const std::string first = bytes(run());
  EXPECT_EQ(done_.size(), 40u);
  const SweepOutcome again = run();
  EXPECT_EQ(done_.size(), 40u);
  EXPECT_EQ(again.found, 80u);
  EXPECT_EQ(again.done, 0u);
  EXPECT_EQ(bytes(again), first);
}

TEST_F(SweepTest, ExtendsASmallerRun) {
  count(experiments_[0]);
  run();
  done_.clear();
  effort_.runs = 55;
  EXPECT_EQ(run().done, 30u);
  std::sort(done_.begin(), done_.end());
  ASSERT_EQ(done_.size(), 15u);
  EXPECT_EQ(done_.front(), 40u);
  effort_.runs = 10;  // and a smaller one takes its part
  const SweepOutcome small = run();
  EXPECT_EQ(small.all, 20u);
  EXPECT_EQ(small.results[0].size(), 10u);
}

TEST_F(SweepTest, DoesANewVersionAnew) {
  run();
  experiments_[1].version = 2;
  EXPECT_EQ(run().done, 40u);
}

TEST_F(SweepTest, StoppedRunsEndInTheSameBytes) {
  experiments_ = {testing::tiny_experiment("a", 1000), testing::tiny_experiment("b", 1000)};
  const std::string undisturbed = bytes(run());
  count(experiments_[0]);
  int runs = 0;
  // On a busy machine all may be done before anybody hears of the stop.
  for (int attempt = 0; attempt < 20 && runs < 2; ++attempt) {
    fs::remove(path_);
    std::size_t saved = 0;
    runs = 0;
    for (bool stopped = true; stopped; ++runs) {
      StopFlag flag{false};
      SweepOptions options;
      options.stop.flag = &flag;
      const std::size_t goal = saved + 17;
      options.progress = [&](const SweepProgress& progress) {
        saved = progress.done;
        if (saved >= goal) flag = true;
      };
      const SweepOutcome outcome = run(2, options);
      stopped = outcome.stopped;
      EXPECT_TRUE(outcome.failures.empty());
      if (!stopped) {
        EXPECT_EQ(bytes(outcome), undisturbed);
      }
    }
  }
  EXPECT_GT(runs, 1);
}

TEST_F(SweepTest, AFailingUnitStopsNoOther) {
  experiments_[0].run = [](const Effort& effort, std::size_t unit, const StopLimits&) {
    if (unit == 31 || unit == 7) throw std::runtime_error("cannot");
    return testing::tiny_result(effort.seed, unit);
  };
  const SweepOutcome outcome = run();
  ASSERT_EQ(outcome.failures.size(), 2u);
  EXPECT_EQ(outcome.failures[0].experiment, "a");
  EXPECT_EQ(outcome.failures[0].unit, 7u);
  EXPECT_EQ(outcome.failures[0].message, "cannot");
  EXPECT_EQ(outcome.failures[1].unit, 31u);
  EXPECT_EQ(outcome.complete, std::vector<bool>({false, true}));
  EXPECT_TRUE(outcome.results[0].empty());
  EXPECT_EQ(outcome.done, 78u);
  EXPECT_FALSE(outcome.stopped);
  experiments_[0] = testing::tiny_experiment("a");  // mended: only the two are left
  EXPECT_EQ(run().done, 2u);
}

TEST_F(SweepTest, ExclusiveUnitsRunAloneAndLast) {
  std::atomic<int> running{0};
  std::atomic<int> shared_done{0};
  for (Experiment& experiment : experiments_) {
    const bool exclusive = experiment.name == "a";
    experiment.exclusive = exclusive;
    experiment.run = [&, exclusive](const Effort& effort, std::size_t unit, const StopLimits&) {
      const int others = running++;
      if (exclusive) {
        EXPECT_EQ(others, 0);
        EXPECT_EQ(shared_done, 40);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (!exclusive) ++shared_done;
      --running;
      return testing::tiny_result(effort.seed, unit);
    };
  }
  EXPECT_EQ(run(4).done, 80u);
}

TEST_F(SweepTest, ProgressCountsToTheEndAndEstimatesTheTimeLeft) {
  experiments_[0] = testing::tiny_experiment("a", 2000);
  std::vector<SweepProgress> seen;
  SweepOptions options;
  options.progress = [&](const SweepProgress& progress) { seen.push_back(progress); };
  run(2, options);
  ASSERT_EQ(seen.size(), 81u);
  EXPECT_EQ(seen.front().done, 0u);
  EXPECT_FALSE(seen.front().seconds_left);
  EXPECT_EQ(seen.back().done, 80u);
  EXPECT_EQ(seen.back().all, 80u);
  EXPECT_EQ(seen.back().seconds_left, 0.0);
  // Once one of each has been measured, 32 or more units of at least two milliseconds are left for two
  // threads.
  ASSERT_TRUE(seen[8].seconds_left);
  EXPECT_GT(*seen[8].seconds_left, 0.5 * 32 * 0.002 / 2);
  seen.clear();
  effort_.runs = 41;
  run(2, options);
  EXPECT_TRUE(seen.front().seconds_left);  // the store remembers what units took
}

}  // namespace
}  // namespace allot
