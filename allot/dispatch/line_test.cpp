#include "allot/dispatch/line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace allot {
namespace {

TEST(Line, TheMostUrgentFirstAndAmongEqualsTheFirstThatCame) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    std::mt19937 random(seed);
    std::vector<WaitingTask> tasks(40);
    std::vector<WaitingTask*> here;
    Line line;
    std::uint64_t arrivals = 0;
    const auto before = [](const WaitingTask* a, const WaitingTask* b) {
      return a->urgency != b->urgency ? a->urgency > b->urgency : a->arrival < b->arrival;
    };
    EXPECT_EQ(line.first(), nullptr);
    EXPECT_EQ(line.last(), nullptr);
    for (int step = 0; step < 400; ++step) {
      const bool put = here.size() < tasks.size() && (here.empty() || random() % 2 == 0);
      if (put) {
        WaitingTask& task = *std::find_if(tasks.begin(), tasks.end(), [&](WaitingTask& one) {
          return std::find(here.begin(), here.end(), &one) == here.end();
        });
        task.urgency = static_cast<int>(random() % 5) - 2;
        task.arrival = ++arrivals;
        line.put(task);
        here.push_back(&task);
      } else if (random() % 4 == 0) {  // one that goes elsewhere
        WaitingTask* const task = here[random() % here.size()];
        line.remove(*task);
        std::erase(here, task);
      } else {
        WaitingTask* const first = line.first();
        ASSERT_EQ(first, *std::min_element(here.begin(), here.end(), before));
        ASSERT_EQ(line.last(), *std::max_element(here.begin(), here.end(), before));
        line.remove(*first);
        std::erase(here, first);
      }
      ASSERT_EQ(line.size(), here.size());
      ASSERT_EQ(line.empty(), here.empty());
    }
  }
}

TEST(Line, GivesTheFirstThatIsAcceptedAndTakesOneBackToItsPlace) {
  std::vector<WaitingTask> tasks(3);
  Line line;
  for (std::size_t k = 0; k < 3; ++k) {
    tasks[k].arrival = k + 1;
    line.put(tasks[k]);
  }
  EXPECT_EQ(line.first([&](const WaitingTask& task) { return task.arrival > 1; }), &tasks[1]);
  EXPECT_EQ(line.first([](const WaitingTask&) { return false; }), nullptr);
  line.remove(tasks[0]);
  line.remove(tasks[1]);
  line.put(tasks[1]);
  line.put(tasks[0]);
  EXPECT_EQ(line.first(), &tasks[0]);
  EXPECT_EQ(line.last(), &tasks[2]);
  std::size_t seen = 0;
  line.for_each([&](const WaitingTask&) { ++seen; });
  EXPECT_EQ(seen, 3U);
}

TEST(TaskPool, GivesATaskThatWasReleasedAsIfItWereNew) {
  TaskPool<WaitingTask> pool;
  WaitingTask& first = pool.make();
  WaitingTask& second = pool.make();
  first.urgency = second.urgency = 7;
  pool.release(first);
  pool.release(second);
  EXPECT_EQ(&pool.make(), &second);
  EXPECT_EQ(&pool.make(), &first);
  EXPECT_EQ(first.urgency, 0);
  EXPECT_EQ(first.next, nullptr);
  EXPECT_NE(&pool.make(), &first);
}

}  // namespace
}  // namespace allot
