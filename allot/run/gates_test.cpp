#include "allot/run/gates.hpp"

#include <gmock/gmock.h>

#include "allot/jobs/job_reader.hpp"

namespace allot {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = TaskState::Kind;

/// Types a (three tasks, 0 to 2), b from a (3 to 5), c from b (6 to 8), d after b (9).
class GatesTest : public ::testing::Test {
 protected:
  GatesTest() {
    job_ = read_job_text(
               "[[resources]]\nname = \"cpu\"\n"
               "[[tasks]]\nname = \"a\"\nrepeat = 3\ncommand = [\"x\"]\noutput = \"{}.a\"\n"
               "[[tasks]]\nname = \"b\"\nfrom = \"a\"\ncommand = [\"x\"]\noutput = \"{}.b\"\n"
               "[[tasks]]\nname = \"c\"\nfrom = \"b\"\ncommand = [\"x\"]\n"
               "[[tasks]]\nname = \"d\"\nrepeat = 1\nafter = \"b\"\ncommand = [\"x\"]\n",
               FileFormat::kToml)
               .value();
    items_ = list_items(job_);
    states_.resize(items_.size());
  }
  void found(std::initializer_list<std::size_t> tasks, Kind kind) {
    for (const std::size_t task : tasks) states_[task].kind = kind;
  }
  static std::vector<std::size_t> doomed(const Gates::News& news) {
    std::vector<std::size_t> tasks;
    for (const auto& each : news.doomed) tasks.push_back(each.task);
    return tasks;
  }

  Job job_;
  std::vector<JobItem> items_;
  std::vector<TaskState> states_;
};

TEST_F(GatesTest, ATaskOpensWhenTheOneBeforeItIsDone) {
  Gates gates(job_, items_);
  EXPECT_THAT(gates.begin(states_).open, ElementsAre(0, 1, 2));
  EXPECT_EQ(gates.waiting(task_type(1)), 3);
  EXPECT_EQ(gates.streaming(task_type(1)), 3);
  EXPECT_THAT(gates.ended(1, true).open, ElementsAre(4));
  EXPECT_THAT(gates.ended(4, true).open, ElementsAre(7));
  EXPECT_EQ(gates.waiting(task_type(1)), 2);
}

TEST_F(GatesTest, ATypeOpensWhenAllBeforeItAreDone) {
  Gates gates(job_, items_);
  gates.begin(states_);
  EXPECT_EQ(gates.streaming(task_type(3)), 0) << "a plan should not count on it yet";
  for (const std::size_t task : {0, 1, 2, 3, 4}) gates.ended(task, true);
  EXPECT_THAT(gates.ended(5, true).open, ElementsAre(8, 9));
}

TEST_F(GatesTest, AFailureFailsAllThatWaitedForIt) {
  Gates gates(job_, items_);
  gates.begin(states_);
  const Gates::News news = gates.ended(1, false);
  EXPECT_THAT(doomed(news), ElementsAre(4, 7, 9));
  for (const auto& each : news.doomed) EXPECT_EQ(each.cause, 1U);
  EXPECT_THAT(gates.ended(0, true).open, ElementsAre(3)) << "others go on";
}

TEST_F(GatesTest, AnEarlierFailureDoesTheSame) {
  found({1}, Kind::kFailed);
  found({0, 3}, Kind::kDone);
  Gates gates(job_, items_);
  const Gates::News news = gates.begin(states_);
  EXPECT_THAT(doomed(news), ::testing::UnorderedElementsAre(4, 7, 9));
  for (const auto& each : news.doomed) EXPECT_EQ(each.cause, 1U);
  EXPECT_THAT(news.open, ElementsAre(2, 6));
}

TEST_F(GatesTest, OutputsAreLimitedUntilTheyHaveBeenWorkedOn) {
  job_.tasks[0].at_most = 2;
  Gates gates(job_, items_);
  EXPECT_THAT(gates.begin(states_).open, ElementsAre(0, 1));
  EXPECT_EQ(gates.waiting(task_type(0)), 1);
  EXPECT_THAT(gates.ended(0, true).open, ElementsAre(3));
  EXPECT_THAT(gates.ended(3, true).open, ElementsAre(6, 2));
  EXPECT_EQ(gates.in_use(task_type(0)), 2);
}

TEST_F(GatesTest, AFailureLeavesItsRoomToOthers) {
  job_.tasks[0].at_most = 1;
  Gates gates(job_, items_);
  EXPECT_THAT(gates.begin(states_).open, ElementsAre(0));
  EXPECT_THAT(gates.ended(0, false).open, ElementsAre(1));
  gates.ended(1, true);
  EXPECT_THAT(gates.ended(4, false).open, ElementsAre(2)) << "nobody takes that output any more";
}

TEST_F(GatesTest, AnOutputIsRemovableWhenAllWhoTakeItAreDone) {
  job_.tasks[0].keep = false;
  job_.tasks[0].at_most = 1;
  Gates gates(job_, items_);
  gates.begin(states_);
  gates.ended(0, true);
  const Gates::News news = gates.ended(3, true);
  EXPECT_THAT(news.removable, ElementsAre(0));
  EXPECT_THAT(news.open, ElementsAre(6)) << "no room before it is removed";
  EXPECT_THAT(gates.removed(0).open, ElementsAre(1));
}

TEST_F(GatesTest, AnOutputStaysForWhoFailed) {
  job_.tasks[0].keep = false;
  Gates gates(job_, items_);
  gates.begin(states_);
  gates.ended(0, true);
  EXPECT_THAT(gates.ended(3, false).removable, IsEmpty());
}

TEST_F(GatesTest, WhatARunThatWasKilledLeftIsRemoved) {
  job_.tasks[0].keep = false;
  job_.tasks[0].at_most = 2;
  found({0, 3, 1}, Kind::kDone);
  Gates gates(job_, items_);
  const Gates::News news = gates.begin(states_);
  EXPECT_THAT(news.removable, ElementsAre(0));
  EXPECT_THAT(news.open, ElementsAre(4, 6)) << "both outputs are there";
  EXPECT_THAT(gates.removed(0).open, ElementsAre(2));
}

TEST_F(GatesTest, ATaskThatIsDoneAgainForOneNeedsNoOther) {
  job_.tasks[0].keep = false;
  found({3, 6, 9}, Kind::kDone);  // 0 was made pending again
  Gates gates(job_, items_);
  EXPECT_THAT(gates.begin(states_).open, ElementsAre(0, 1, 2));
  EXPECT_THAT(gates.ended(0, true).removable, ElementsAre(0));
}

}  // namespace
}  // namespace allot
