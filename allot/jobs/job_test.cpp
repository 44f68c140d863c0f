#include "allot/jobs/job.hpp"

#include <gmock/gmock.h>

namespace allot {
namespace {

Job two_types() {
  Job job;
  job.resources.resize(2);
  job.resources[0].name = "cpu";
  job.resources[1].name = "gpu";
  job.tasks.resize(2);
  job.tasks[0].name = "decode";
  job.tasks[0].inputs.values = {"a", "b", "a", "a"};
  std::vector<std::string> problems;
  job.tasks[0].commands = {CommandTemplate::from_words({"djpeg", "{}"}, {{""}, false, true}, problems),
                           std::nullopt};
  job.tasks[1].name = "count";
  job.tasks[1].inputs = inputs_by_counting(2);
  job.tasks[1].commands.resize(2);
  return job;
}

TEST(Job, ListsItsTasksWithEqualInputsToldApart) {
  const Job job = two_types();
  std::vector<std::string> names;
  for (const JobItem& item : list_items(job)) names.push_back(item.identity);
  EXPECT_THAT(names, ::testing::ElementsAre("decode:a", "decode:b", "decode:a#2", "decode:a#3", "count:1",
                                            "count:2"));
  EXPECT_EQ(job.task_count(), 6U);
}

// The identity of a task does not depend on its place: what is put in front neither hides nor repeats
// another.
TEST(Job, KeepsIdentitiesWhenInputsAreInserted) {
  Job job = two_types();
  job.tasks[0].inputs.values.insert(job.tasks[0].inputs.values.begin(), "new");
  const std::vector<JobItem> items = list_items(job);
  EXPECT_EQ(items[0].identity, "decode:new");
  EXPECT_EQ(items[1].identity, "decode:a");
  EXPECT_EQ(items[3].identity, "decode:a#2");
}

TEST(Job, SaysWhatEachTypeDoes) {
  const std::vector<WorkDefinition> work = definitions(two_types());
  ASSERT_EQ(work.size(), 7U);
  EXPECT_EQ(work[0], (WorkDefinition{"decode", "command", "cpu", "djpeg {}"}));
  EXPECT_EQ(work[1], (WorkDefinition{"decode", "output", "", ""}));
}

TEST(Job, VeryLongInputsAreKnownByADigest) {
  Job job;
  job.resources.resize(1);
  JobTask& task = job.tasks.emplace_back();
  task.name = "t";
  task.inputs.values = {std::string(1 << 20, 'x'), std::string(1 << 20, 'y'), std::string(1 << 20, 'x'),
                        "short"};
  const std::vector<JobItem> items = list_items(job);
  ASSERT_EQ(items.size(), 4U);
  for (const JobItem& item : items) EXPECT_LT(item.identity.size(), 400U);
  EXPECT_NE(items[0].identity, items[1].identity);
  EXPECT_EQ(items[2].identity, items[0].identity + "#2");
  EXPECT_EQ(items[3].identity, "t:short");
}

}  // namespace
}  // namespace allot
