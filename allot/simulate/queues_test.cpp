// Every queue against the plainest one of the standard library.
#include "allot/simulate/detail/queues.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <queue>

#include "allot/base/random.hpp"

namespace allot::detail {
namespace {

using Entry = std::pair<double, ThreadId>;
using Reference = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;

template <typename Queue>
class ByFinish : public ::testing::Test {};
using Queues = ::testing::Types<ScanQueue, HeapQueue>;
TYPED_TEST_SUITE(ByFinish, Queues);

/// Random pushes and pops, as many of each, with distinct finishes: the order of leaving is that of the
/// reference.
TYPED_TEST(ByFinish, LeavesInTheOrderOfAPriorityQueue) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed);
    TypeParam queue;
    Reference reference;
    const double pushes = random.uniform(0.4, 0.7);
    for (ThreadId step = 0; step < 3000; ++step) {
      if (reference.empty() || random.uniform() < pushes) {
        const double finish = random.uniform(0, 1000);
        queue.push(finish, step);
        reference.emplace(finish, step);
      } else {
        EXPECT_EQ(queue.pop(), reference.top().second);
        reference.pop();
      }
      queue.settle();
      ASSERT_EQ(queue.size(), reference.size());
      ASSERT_EQ(queue.empty(), reference.empty());
      ASSERT_EQ(queue.first_finish(), reference.empty() ? kNever : reference.top().first);
    }
  }
}

TYPED_TEST(ByFinish, ShiftsEveryFinish) {
  RandomStream random(4);
  TypeParam queue;
  std::vector<Entry> entries;
  double sum = 0;
  for (ThreadId thread = 0; thread < 100; ++thread) {
    entries.emplace_back(random.uniform(10, 20), thread);
    queue.push(entries.back().first, thread);
    sum += entries.back().first;
  }
  queue.settle();
  EXPECT_NEAR(queue.shift(8), sum - 800, 1e-9);
  std::sort(entries.begin(), entries.end());
  for (const auto& [finish, thread] : entries) {
    EXPECT_NEAR(queue.first_finish(), finish - 8, 1e-12);
    EXPECT_EQ(queue.pop(), thread);
    queue.settle();
  }
  EXPECT_EQ(queue.first_finish(), kNever);
}

/// Equal finishes must all leave, each once.
TYPED_TEST(ByFinish, LosesNobodyAmongEquals) {
  TypeParam queue;
  for (ThreadId thread = 0; thread < 50; ++thread) queue.push(thread % 3, thread);
  std::vector<ThreadId> left;
  for (double last = 0; !queue.empty();) {
    queue.settle();
    EXPECT_GE(queue.first_finish(), last);
    last = queue.first_finish();
    left.push_back(queue.pop());
  }
  std::sort(left.begin(), left.end());
  for (ThreadId thread = 0; thread < 50; ++thread) EXPECT_EQ(left[thread], thread);
}

TEST(FifoQueue, LeavesInTheOrderOfArrival) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed);
    FifoQueue<int> queue;
    std::deque<int> reference;
    const double pushes = random.uniform(0.3, 0.8);
    for (int step = 0; step < 3000; ++step) {
      if (reference.empty() || random.uniform() < pushes) {
        queue.push(step);
        reference.push_back(step);
      } else {
        ASSERT_EQ(queue.pop(), reference.front());
        reference.pop_front();
      }
      ASSERT_EQ(queue.size(), reference.size());
      ASSERT_EQ(queue.empty(), reference.empty());
    }
  }
}

template <typename Due>
class DueFirst : public ::testing::Test {};
using Dues = ::testing::Types<DueScan, DueTree>;
TYPED_TEST_SUITE(DueFirst, Dues);

/// From few distinct moments, so that ties are frequent: of equals the lowest index.
TYPED_TEST(DueFirst, IsTheLeastAndOfEqualsTheFirst) {
  for (const std::size_t resources : {1U, 2U, 3U, 7U, 8U, 9U, 64U, 100U}) {
    SCOPED_TRACE(resources);
    RandomStream random(resources);
    TypeParam due(resources);
    std::vector<double> reference(resources, kNever);
    EXPECT_EQ(due.due(due.first()), kNever);
    for (int step = 0; step < 2000; ++step) {
      const std::size_t at = random.below(resources);
      const double moment = random.below(5) == 0 ? kNever : static_cast<double>(random.below(8));
      due.set(at, moment);
      reference[at] = moment;
      const auto first =
          static_cast<std::size_t>(std::min_element(reference.begin(), reference.end()) - reference.begin());
      ASSERT_EQ(due.first(), first);
      ASSERT_EQ(due.due(first), reference[first]);
    }
  }
}

}  // namespace
}  // namespace allot::detail
