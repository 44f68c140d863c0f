#include "allot/run/backlog.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace allot {
namespace {

using std::chrono::seconds;

constexpr TaskType kSort = task_type(0);
constexpr TaskType kScan = task_type(1);
constexpr ResourceId kCpu = resource_id(0);
constexpr ResourceId kGpu = resource_id(1);

TEST(Backlog, GivesTasksOfATypeInOrder) {
  Backlog backlog(2);
  backlog.add(kSort, 1);
  backlog.add(kScan, 2);
  backlog.add(kSort, 3);
  EXPECT_EQ(backlog.take(kSort, kCpu, false), 1U);
  EXPECT_EQ(backlog.take(kSort, kGpu, false), 3U);
  EXPECT_EQ(backlog.take(kSort, kGpu, false), std::nullopt);
  EXPECT_EQ(backlog.left(), 1);
}

TEST(Backlog, RetriesElsewhereFirstAndOnlyWhenTheirTimeHasCome) {
  Backlog backlog(1);
  const Clock::time_point now{};
  backlog.add(kSort, 1);
  backlog.retry(kSort, {7, kCpu}, now + seconds(1));
  EXPECT_EQ(backlog.left(kSort), 2);
  EXPECT_EQ(backlog.ready(kSort), 1);
  EXPECT_EQ(backlog.next_wake(), now + seconds(1));
  backlog.wake(now + seconds(1));
  EXPECT_EQ(backlog.next_wake(), std::nullopt);
  EXPECT_EQ(backlog.take(kSort, kCpu, false), 1U) << "the one that failed here waits for another resource";
  EXPECT_FALSE(backlog.has(kSort, kCpu, false));
  EXPECT_TRUE(backlog.has(kSort, kGpu, false));
  EXPECT_EQ(backlog.take(kSort, kGpu, false), 7U);
}

TEST(Backlog, RetriesWhereItFailedWhenThereIsNowhereElse) {
  Backlog backlog(1);
  backlog.retry(kSort, {7, kCpu}, {});
  backlog.wake({});
  EXPECT_FALSE(backlog.take(kSort, kCpu, false));
  EXPECT_EQ(backlog.take(kSort, kCpu, true), 7U);
}

TEST(Backlog, TasksThatRunAloneAreTakenApart) {
  Backlog backlog(1);
  backlog.add(kSort, 1);
  backlog.retry(kSort, {7, kCpu, true}, {});
  backlog.wake({});
  EXPECT_EQ(backlog.ready(kSort), 1);
  EXPECT_EQ(backlog.left(kSort), 2);
  EXPECT_EQ(backlog.take(kSort, kGpu, true), 1U);
  EXPECT_FALSE(backlog.take(kSort, kGpu, true));
  EXPECT_FALSE(backlog.has_alone(kSort, kCpu, false));
  EXPECT_EQ(backlog.take_alone(kSort, kGpu, false), 7U);
  EXPECT_EQ(backlog.left(), 0);
}

TEST(Backlog, GroupsAreTasksThatMayGoToTheSamePlaces) {
  Backlog backlog(2);
  backlog.add(kSort, 1);
  backlog.add(kSort, 2);
  backlog.add(kScan, 3);
  backlog.retry(kSort, {4, kCpu}, {});
  backlog.retry(kSort, {5, kCpu}, {});
  backlog.retry(kSort, {6, std::nullopt}, {});
  backlog.retry(kScan, {7, std::nullopt, true}, {});                // alone: in no group
  backlog.retry(kScan, {8, kGpu}, Clock::time_point(seconds(99)));  // asleep: neither
  backlog.wake({});
  std::vector<std::tuple<TaskType, std::optional<ResourceId>, Count>> groups;
  for (const Backlog::Group& group : backlog.groups())
    groups.emplace_back(group.type, group.avoid, group.count);
  const std::vector<std::tuple<TaskType, std::optional<ResourceId>, Count>> expected = {
      {kSort, kCpu, 2}, {kSort, std::nullopt, 3}, {kScan, std::nullopt, 1}};
  EXPECT_EQ(groups, expected);
}

TEST(Backlog, GivesUpATypeWithItsSleepers) {
  Backlog backlog(2);
  backlog.add(kSort, 4);
  backlog.add(kScan, 5);
  backlog.retry(kSort, {2, kCpu}, Clock::time_point(seconds(9)));
  backlog.retry(kScan, {3, kCpu}, Clock::time_point(seconds(9)));
  backlog.retry(kSort, {6, std::nullopt, true}, {});
  backlog.wake({});
  EXPECT_EQ(backlog.give_up(kSort), (std::vector<std::uint64_t>{2, 4, 6}));
  EXPECT_EQ(backlog.left(kSort), 0);
  EXPECT_EQ(backlog.left(kScan), 2);
}

}  // namespace
}  // namespace allot
