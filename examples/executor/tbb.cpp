// A runtime with its own threads: oneTBB runs the tasks, in an arena for each resource, and a feed decides
// what runs where.
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "allot/execute/task_feed.hpp"

using namespace allot;

namespace {

struct Task : FeedTask {
  std::function<void(ResourceId)> work;
};

class Host {
 public:
  explicit Host(const System& system) : feed_(system) {
    for (const Resource& resource : system.resources())
      arenas_.emplace_back(static_cast<int>(resource.servers), 0).initialize();
  }

  void put(Task& task, TaskType kind) {
    ++pending_;
    feed_.put(task, kind);
    feed_.feed_servers(Clock::now(), 1, hand_);
  }
  /// A task may be waiting for a certain time, so the feed must be asked now and then.
  void wait() {
    while (pending_ > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      feed_.feed_servers(Clock::now(), 1, hand_);
    }
  }
  const TaskFeed& feed() const { return feed_; }

 private:
  void serve(const TaskFeed::Turn& turn) {
    const Clock::time_point begin = Clock::now();
    static_cast<Task*>(turn.first)->work(turn.resource());
    const Clock::time_point end = Clock::now();
    feed_.ended(turn, to_seconds(end - begin), 0, end, 1, hand_);
    --pending_;
  }

  tbb::global_control threads_{tbb::global_control::max_allowed_parallelism, 8};
  std::deque<tbb::task_arena> arenas_;
  std::atomic<int> pending_{0};
  TaskFeed feed_;
  /// A server of a resource is free, and this is for it: under the feed's lock, so it is only passed on.
  const std::function<void(const TaskFeed::Turn&)> hand_ = [this](const TaskFeed::Turn& turn) {
    arenas_[index(turn.resource())].enqueue([this, turn] { serve(turn); });
  };
};

}  // namespace

int main() {
  constexpr double kMilliseconds[2][2] = {{22, 2}, {71, 8}};
  Host host(System({{.name = "cpu", .servers = 6}, {.name = "gpu"}},
                   {{.name = "resize", .count = 100}, {.name = "detect", .count = 100}},
                   Rates(2, 2, {45, 480, 14, 120})));
  std::atomic<int> done{0};
  std::deque<Task> tasks(200);
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    tasks[k].work = [&, k](ResourceId j) {
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(kMilliseconds[k % 2][index(j)]));
      ++done;
    };
    host.put(tasks[k], task_type(k % 2));
  }
  host.wait();
  const FeedStatistics all = host.feed().statistics();
  std::printf("%d tasks: resize %llu on cpu, %llu on gpu; detect %llu on cpu, %llu on gpu\n", done.load(),
              static_cast<unsigned long long>(all.pairs(task_type(0), resource_id(0)).completed),
              static_cast<unsigned long long>(all.pairs(task_type(0), resource_id(1)).completed),
              static_cast<unsigned long long>(all.pairs(task_type(1), resource_id(0)).completed),
              static_cast<unsigned long long>(all.pairs(task_type(1), resource_id(1)).completed));
}
