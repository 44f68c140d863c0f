#include "integrations/starpu/queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace allot::starpu {
namespace {

bool any(const Job&) { return true; }

TEST(StarpuQueue, TheMostUrgentFirstAndAmongEqualsTheFirstThatCame) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    std::mt19937 random(seed);
    std::vector<Job> jobs(40);
    std::vector<Job*> here;
    Queue queue;
    std::uint64_t arrivals = 0;
    const auto before = [](const Job* a, const Job* b) {
      return a->priority != b->priority ? a->priority > b->priority : a->arrival < b->arrival;
    };
    for (int step = 0; step < 400; ++step) {
      const bool put = !jobs.empty() && here.size() < jobs.size() && (here.empty() || random() % 2 == 0);
      if (put) {
        Job& job = *std::find_if(jobs.begin(), jobs.end(), [&](Job& one) {
          return std::find(here.begin(), here.end(), &one) == here.end();
        });
        job.priority = static_cast<int>(random() % 5) - 2;
        job.arrival = ++arrivals;
        queue.put(job);
        here.push_back(&job);
      } else if (random() % 4 == 0) {  // one that goes elsewhere
        Job* const job = here[random() % here.size()];
        queue.remove(*job);
        std::erase(here, job);
      } else {
        Job* const first = queue.first(any);
        ASSERT_EQ(first, *std::min_element(here.begin(), here.end(), before));
        ASSERT_EQ(&queue.last(), *std::max_element(here.begin(), here.end(), before));
        queue.remove(*first);
        std::erase(here, first);
      }
      ASSERT_EQ(queue.size(), here.size());
      ASSERT_EQ(queue.empty(), here.empty());
    }
  }
}

TEST(StarpuQueue, GivesTheFirstThatIsAcceptedAndTakesOneBackToItsPlace) {
  std::vector<Job> jobs(3);
  Queue queue;
  for (std::size_t k = 0; k < 3; ++k) {
    jobs[k].arrival = k + 1;
    queue.put(jobs[k]);
  }
  EXPECT_EQ(queue.first([&](const Job& job) { return job.arrival > 1; }), &jobs[1]);
  EXPECT_EQ(queue.first([](const Job&) { return false; }), nullptr);
  queue.remove(jobs[0]);
  queue.remove(jobs[1]);
  queue.put(jobs[1]);
  queue.put(jobs[0]);
  EXPECT_EQ(queue.first(any), &jobs[0]);
  EXPECT_EQ(&queue.last(), &jobs[2]);
}

}  // namespace
}  // namespace allot::starpu
