#include "allot/run/metrics.hpp"

#include <gmock/gmock.h>

#include "allot/run/progress.hpp"

namespace allot::metrics_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two resources, of which the first type can use one.
Job two_types() {
  Job job;
  for (const char* const name : {"cpu", "g\"p\\u\n"}) {
    JobResource& resource = job.resources.emplace_back();
    resource.name = name;
    resource.servers = 2;
  }
  for (const char* const name : {"sort", "sum"}) {
    JobTask& task = job.tasks.emplace_back();
    task.name = name;
    task.inputs = inputs_by_counting(5);
    task.commands.emplace_back(CommandTemplate());
    task.commands.emplace_back();
    task.rates = {std::nullopt, std::nullopt};
  }
  job.tasks[1].commands[1] = CommandTemplate();
  return job;
}

AttemptEnd end_on(const std::string& resource, AttemptStatus status) {
  AttemptEnd end;
  end.resource = resource;
  end.status = status;
  end.wall_s = 0.5;
  end.queue_s = 0.25;
  return end;
}

class Metrics : public ::testing::Test {
 protected:
  const Job job_ = two_types();
  RunMetrics metrics_{job_, {"id", "a.toml", "finish", "weighted", "1", 1.5e9}};
  RunView view_ = Progress(job_, Clock::time_point{}).view();
};

TEST_F(Metrics, CountAttemptsByTypeResourceAndStatus) {
  metrics_.ended(end_on("cpu", AttemptStatus::kOk), task_type(0));
  metrics_.ended(end_on("cpu", AttemptStatus::kOk), task_type(0));
  metrics_.ended(end_on("cpu", AttemptStatus::kTimeout), task_type(0));
  metrics_.ended(end_on("", AttemptStatus::kFailed), task_type(1));
  const std::string text = metrics_.text(view_, false);
  EXPECT_THAT(text, HasSubstr("allot_attempts_total{type=\"sort\",resource=\"cpu\",status=\"ok\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("allot_attempts_total{type=\"sort\",resource=\"cpu\",status=\"timeout\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("allot_attempts_total{type=\"sum\",resource=\"\",status=\"failed\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("allot_attempt_seconds_count{type=\"sort\",resource=\"cpu\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("allot_attempt_seconds_sum{type=\"sort\",resource=\"cpu\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("allot_wait_seconds_sum{type=\"sort\",resource=\"cpu\"} 0.75\n"));
  EXPECT_THAT(text, Not(HasSubstr("{type=\"sort\",resource=\"g")));  // it has no command there
  EXPECT_THAT(text, HasSubstr("allot_attempts_running{type=\"sum\",resource=\"g\\\"p\\\\u\\n\"} 0\n"));
  EXPECT_THAT(text, EndsWith("\n# EOF\n"));
}

TEST_F(Metrics, WhatIsUnknownIsAbsent) {
  EXPECT_THAT(metrics_.text(view_, false), Not(HasSubstr("\nallot_rate{")));
  EXPECT_THAT(metrics_.text(view_, false), Not(HasSubstr("\nallot_left_seconds ")));
  view_.pairs(task_type(0), resource_id(0)).rate = 2;
  view_.pairs(task_type(0), resource_id(0)).high = std::numeric_limits<double>::infinity();
  view_.left_s = 3;
  const std::string text = metrics_.text(view_, false);
  EXPECT_THAT(text, HasSubstr("allot_rate{type=\"sort\",resource=\"cpu\"} 2.0\n"));
  EXPECT_THAT(text, HasSubstr("allot_rate_high{type=\"sort\",resource=\"cpu\"} +Inf\n"));
  EXPECT_THAT(text, HasSubstr("allot_left_seconds 3.0\n"));
}

TEST_F(Metrics, CountersNeverFall) {
  view_.resources[0].busy_s = 4;
  metrics_.text(view_, false);
  view_.resources[0].busy_s = 3;
  EXPECT_THAT(metrics_.text(view_, false), HasSubstr("allot_busy_seconds_total{resource=\"cpu\"} 4.0\n"));
}

TEST_F(Metrics, BusyTimeIsOfAllThatHoldASlot) {
  Job job = two_types();
  job.resources[1].name = "gpu";
  Progress progress(job, Clock::time_point{});
  RunningAttempt attempt;  // on the second resource, with a slot of the first and half of another
  attempt.placed.ticket.type = task_type(1);
  attempt.placed.ticket.resource = resource_id(1);
  attempt.holding = {task_type(1),
                     resource_id(1),
                     {{resource_id(1), 0, 1}, {resource_id(0), 0, 1}, {resource_id(0), 1, 0.5}}};
  progress.attempt_ended(attempt, 4, true, Clock::time_point(std::chrono::seconds(4)));
  attempt.began = Clock::time_point(std::chrono::seconds(6));
  Attempts attempts(2, 2);
  attempts.add(1, attempt);
  PlacerOptions options;
  options.planning = Planning::kDeferred;
  const Placer placer(job, options, Clock::time_point{});
  const std::vector<Count> left = {5, 3};
  progress.refresh(placer, attempts, {}, left, Clock::time_point(std::chrono::seconds(8)));
  const std::string text = RunMetrics(job, {}).text(progress.view(), false);
  EXPECT_THAT(text, HasSubstr("allot_busy_seconds_total{resource=\"cpu\"} 9.0\n"));
  EXPECT_THAT(text, HasSubstr("allot_busy_seconds_total{resource=\"gpu\"} 6.0\n"));
  EXPECT_THAT(text, HasSubstr("allot_slots_busy{resource=\"cpu\"} 2\n"));
  EXPECT_DOUBLE_EQ(progress.view().resources[0].energy_j, 0) << "nobody runs there, and idle power is 0";
  EXPECT_DOUBLE_EQ(progress.view().resources[1].energy_j, 6);
}

TEST_F(Metrics, WaitingIsWhatIsNeitherDoneNorFailedNorRunning) {
  view_.types[0].done = 2;
  view_.types[0].running = 1;
  EXPECT_THAT(metrics_.text(view_, false), HasSubstr("allot_tasks{type=\"sort\",state=\"waiting\"} 2\n"));
}

TEST_F(Metrics, OnePhaseIsTheRunsOwn) {
  EXPECT_THAT(metrics_.text(view_, false), HasSubstr("allot_run_phase{phase=\"running\"} 1\n"));
  view_.phase = RunPhase::kAbandoning;
  EXPECT_THAT(metrics_.text(view_, false), HasSubstr("allot_run_phase{phase=\"killing\"} 1\n"));
  const std::string over = metrics_.text(view_, true);
  EXPECT_THAT(over, HasSubstr("allot_run_phase{phase=\"over\"} 1\n"));
  EXPECT_THAT(over, HasSubstr("allot_run_phase{phase=\"killing\"} 0\n"));
}

}  // namespace
}  // namespace allot::metrics_test
