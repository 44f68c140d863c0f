#include "allot/run/pairs.hpp"

#include <gtest/gtest.h>

namespace allot {
namespace {

TEST(Pairs, ArePossibleWhereThereIsACommandAndUntilItIsNotFound) {
  Job job;
  job.resources.resize(2);
  job.tasks.resize(2);
  for (JobTask& task : job.tasks) task.commands.resize(2);
  job.tasks[0].commands[0].emplace();
  job.tasks[0].commands[1].emplace();
  job.tasks[1].commands[1].emplace();
  Pairs pairs(job);
  EXPECT_TRUE(pairs.usable(task_type(0), resource_id(0)));
  EXPECT_FALSE(pairs.usable(task_type(1), resource_id(0)));
  EXPECT_TRUE(pairs.usable(task_type(1)));
  EXPECT_FALSE(pairs.take_change());
  EXPECT_TRUE(pairs.unusable().empty());
  pairs.disable(task_type(1), resource_id(1), "no such command");
  EXPECT_FALSE(pairs.usable(task_type(1)));
  pairs.disable(task_type(1), resource_id(1), "no such command");
  EXPECT_EQ(pairs.unusable(), std::vector{task_type(1)}) << "once";
  EXPECT_TRUE(pairs.usable(task_type(0), resource_id(1))) << "another type's command is another command";
  EXPECT_EQ(pairs.why_not(task_type(1)), "no such command");
  EXPECT_TRUE(pairs.take_change());
  EXPECT_FALSE(pairs.take_change());
}

}  // namespace
}  // namespace allot
