#include "allot/run/progress.hpp"

#include <gtest/gtest.h>

namespace allot::progress_test {
namespace {

using namespace std::chrono_literals;

constexpr TaskType kSort = task_type(0);
constexpr ResourceId kCpu = resource_id(0);
const Clock::time_point kNow{1h};

/// One type of ten tasks, at a rate of 2 on each of the two servers.
Job one_type() {
  Job job;
  JobResource& resource = job.resources.emplace_back();
  resource.name = "cpu";
  resource.servers = 2;
  resource.power = 10;
  resource.idle_power = 1;
  JobTask& task = job.tasks.emplace_back();
  task.name = "sort";
  task.inputs = inputs_by_counting(10);
  task.commands.emplace_back(CommandTemplate());
  task.rates = {2.0};
  return job;
}

class ProgressTest : public ::testing::Test {
 protected:
  ProgressTest() : placer_(job_, options(), kNow) {}
  static PlacerOptions options() {
    PlacerOptions options;
    options.planning = Planning::kDeferred;
    return options;
  }
  /// A task that holds a slot.
  static RunningAttempt attempt() {
    RunningAttempt attempt;
    attempt.placed.ticket.type = kSort;
    attempt.placed.ticket.resource = kCpu;
    attempt.holding = {kSort, kCpu, {{kCpu, 0, 1}}};
    return attempt;
  }
  const RunView& view_after(Clock::duration time, Count left) {
    const std::vector<Count> by_type = {left};
    progress_.refresh(placer_, attempts_, slots_, by_type, kNow + time);
    return progress_.view();
  }

  const Job job_ = one_type();
  Placer placer_;
  Attempts attempts_{1, 1};
  std::vector<Slot> slots_ = {{kCpu, 0, Slot::State::kIdle}, {kCpu, 1, Slot::State::kStuck}};
  Progress progress_{job_, kNow};
};

TEST_F(ProgressTest, CountsEarlierRunsAndThisOneApart) {
  progress_.found_done(kSort);
  progress_.found_failed(kSort);
  progress_.ended(kSort, true);
  progress_.ended(kSort, false);
  const RunView& view = view_after(1s, 6);
  EXPECT_EQ(view.total, 10U);
  EXPECT_EQ(view.done, 2U);
  EXPECT_EQ(view.failed, 2U);
  EXPECT_EQ(progress_.done_now(), 1U);
  EXPECT_EQ(progress_.failed_now(), 1U);
}

TEST_F(ProgressTest, EnergyIsThatOfBusyAndIdleServersAndPausesAreNoTime) {
  progress_.attempt_ended(attempt(), 3, true, kNow + 3s);
  progress_.paused(90s);
  const RunView& view = view_after(94s, 9);
  EXPECT_DOUBLE_EQ(view.elapsed_s, 4);
  EXPECT_DOUBLE_EQ(view.resources[0].busy_s, 3);
  EXPECT_DOUBLE_EQ(view.resources[0].energy_j, 3 * 10 + (2 * 4 - 3) * 1);
  EXPECT_EQ(view.resources[0].open, 1) << "a stuck slot is not open";
}

TEST_F(ProgressTest, TheBoundOnWhatIsLeftIsThatOfTheProgram) {
  const RunView& view = view_after(1s, 10);
  ASSERT_TRUE(view.bound_s);
  EXPECT_NEAR(*view.bound_s, 10 / (2 * 2.0), 1e-9);  // two servers of rate 2
  EXPECT_NEAR(view.left_s.value(), *view.bound_s, 1e-9);
}

TEST_F(ProgressTest, BetweenEstimatesTheTimeLeftCountsDown) {
  EXPECT_NEAR(view_after(1s, 8).left_s.value(), 2, 1e-9);
  const RunView& view = view_after(1500ms, 8);
  EXPECT_NEAR(view.left_s.value(), 1.5, 1e-9);
  EXPECT_NEAR(view.bound_s.value(), 1.5, 1e-9);
  EXPECT_NEAR(view_after(2s, 8).left_s.value(), 2, 1e-9) << "a second has passed: it is estimated again";
  EXPECT_NEAR(view_after(2500ms, 0).left_s.value(), 0, 1e-9) << "the end is seen at once";
}

TEST_F(ProgressTest, RatesAreNotedOnceSomethingHasEnded) {
  view_after(1s, 10);
  EXPECT_TRUE(progress_.rates(5).empty());
  progress_.attempt_ended(attempt(), 0.5, true, kNow + 1s);
  view_after(2s, 9);
  const std::vector<LearntRate> rates = progress_.rates(5);
  ASSERT_EQ(rates.size(), 1U);
  EXPECT_EQ(rates[0].type + rates[0].resource, "sortcpu");
  EXPECT_EQ(rates[0].completions, 1);
  EXPECT_EQ(rates[0].time_unix, 5);
}

}  // namespace
}  // namespace allot::progress_test
